import PQueue from 'p-queue';
import type { Endpoint } from '../../api/endpoint.ts';
import { endpointByPath, endpointOf } from '../../api/endpoints.ts';
import { TonlakeError } from '../../core/errors.ts';
import type { Span } from '../../core/span.ts';
import type { LookupWalk } from '../../declare/pipeline.ts';
import { lookupsBatch } from '../../decode/lookups-table.ts';
import type { Given } from '../../decode/table-rows.ts';
import { describeCause, LastingFailure } from '../lasting-failure.ts';
import { commitList, PARTIAL, type PageRows, Pages, quarantineSpan, type RefusedRow } from '../list-pages.ts';
import type { ListContext } from '../list-run.ts';
import { countRefused, findKeys, type Key } from '../lookup-keys.ts';
import { batchesOf, lookupRequest } from '../lookup-request.ts';

/** Masterchain blocks whose keys are looked up and committed at once. */
const SPAN_BLOCKS = 2_000;
/** Attempts for a batch that can be halved. */
const BATCH_ATTEMPTS = 3;

/** A key whose reading is over: with rows, without, or refused by the source. */
interface Outcome {
  readonly key: string;
  readonly error: string | null;
}

/** Looks up the keys that the declared query finds in the range, or those of another query. */
export async function walkKeys(context: ListContext, walk: LookupWalk, missing: readonly Span[]): Promise<void> {
  const { from: query, asked, stop, requestsPerSpan } = context;
  if (query !== undefined) {
    const span = { from: asked[0]?.from ?? 0, to: asked.at(-1)?.to ?? 0 };
    return new Looking(context, walk, new LastingFailure()).readSpan(query, span, query);
  }
  const lasting = new LastingFailure();
  const size = Math.min(SPAN_BLOCKS, Math.max(1, requestsPerSpan));
  for (const whole of missing) {
    for (let from = whole.from; from <= whole.to && !stop.aborted && !lasting.signal.aborted; from += size) {
      const span = { from, to: Math.min(whole.to, from + size - 1) };
      await new Looking(context, walk, lasting).readSpan(walk.query, span, undefined);
    }
  }
}

/** The keys of one span. */
class Looking {
  private readonly context: ListContext;
  private readonly walk: LookupWalk;
  private readonly lasting: LastingFailure;
  private readonly endpoint: Endpoint;
  private readonly pages: Pages;
  private readonly shape: string | undefined;
  private readonly given: Given;
  private readonly outcomes: Outcome[] = [];
  private readonly refused: RefusedRow[] = [];
  /** Pages of keys that were not read whole: none of their rows is kept, and their keys are asked for again. */
  private readonly dropped: PageRows[] = [];
  private readonly failures: TonlakeError[] = [];

  constructor(context: ListContext, walk: LookupWalk, lasting: LastingFailure) {
    this.context = context;
    this.lasting = lasting;
    this.walk = walk;
    const [method = 'GET', path = ''] = context.pipeline.endpoint.split(' ');
    this.endpoint = endpointOf(endpointByPath(path, method === 'POST' ? 'POST' : 'GET'));
    this.pages = new Pages(context);
    const [table] = context.pipeline.tables;
    this.shape = table?.rows.kind === 'records' ? table.rows.shape : undefined;
    this.given = { read_at: BigInt(Math.round(context.effects.now())) * 1000n, as_of: BigInt(context.ends.last) };
  }

  async readSpan(query: string, span: Span, scope: string | undefined): Promise<void> {
    const { context, walk } = this;
    const { store, pipeline, ends, stop } = context;
    const keys = await findKeys(context, walk, query, span);
    const stage = store.stage(pipeline.name, span);
    try {
      await this.readKeys(keys);
      await this.pages.stage(stage, this.distinct());
      const readAt = Number((this.given['read_at'] as bigint) / 1000n);
      const leftOut = pipeline.leftOut === undefined ? null : JSON.stringify(pipeline.leftOut);
      const reading = { pipeline: pipeline.name, leftOut, readAt, asOf: ends.last };
      const asked = this.outcomes.map((outcome) => ({ ...reading, ...outcome }));
      if (asked.length > 0) await stage.write(lookupsBatch(asked));
      const isWhole = this.failures.length === 0 && this.refused.length === 0 && !stop.aborted;
      const asOf = { from: ends.last, to: ends.last };
      // What was read stays; a span with keys that could not be read is not done.
      const partial = isWhole ? scope : (scope ?? PARTIAL);
      if (isWhole || asked.length > 0) await commitList(context, await stage.finish(), { span, asOf, scope: partial });
      else await stage.discard();
    } catch (error) {
      await stage.discard();
      throw error;
    }
    if (this.refused.length > 0) await quarantineSpan(context, span, this.refused);
    if (context.from !== undefined) await this.tellRefused(query, span);
    this.tellFailure(keys.length, span);
  }

  /** Of keys that a query of the user gave; that not every address is a wallet is no news. */
  private async tellRefused(query: string, span: Span): Promise<void> {
    const { context, walk } = this;
    const { keys, refused, message } = await countRefused(context, walk, query, span);
    if (message === undefined) return;
    context.report({ event: 'refused-keys', pipeline: context.pipeline.name, ...span, keys, refused, message });
  }

  /** One line for all keys of the span that could not be read. */
  private tellFailure(keys: number, span: Span): void {
    const { context, lasting, failures, outcomes } = this;
    const [failure] = failures;
    if (failure === undefined) return;
    const { name } = context.pipeline;
    const { code } = failure;
    const more = failures.length === 1 ? '' : `; ${failures.length} of ${keys} keys failed`;
    const left = keys - outcomes.length;
    const message = lasting.signal.aborted
      ? `source ${name} ${span.from}:${span.to}: gave up after ${lasting.failedKeys} keys failed alike, ${left} of ${keys} keys not read: ${describeCause(failures.at(-1) ?? failure)}`
      : `${failure.message}${more}`;
    context.report({ event: 'problem', pipeline: name, ...span, code, message });
  }

  private async readKeys(keys: readonly Key[]): Promise<void> {
    const { context, walk, lasting } = this;
    const { concurrency, report, pipeline, stop } = context;
    const queue = new PQueue({ concurrency });
    let fatal: { readonly error: unknown } | undefined;
    const batches = batchesOf(keys, walk);
    report({ event: 'planned', pipeline: pipeline.name, requests: batches.length });
    for (const batch of batches) {
      await queue.onSizeLessThan(2 * concurrency);
      if (fatal !== undefined || stop.aborted || lasting.signal.aborted) break;
      void queue.add(() =>
        this.readBatch(batch).catch((error: unknown) => {
          fatal ??= { error };
        }),
      );
    }
    await queue.onIdle();
    if (fatal !== undefined) throw fatal.error;
  }

  /** Reads a batch; one that fails, that fills a page, or that holds a record which cannot be decoded is read in halves. */
  private async readBatch(keys: readonly Key[]): Promise<void> {
    const { walk, context, lasting } = this;
    if (context.stop.aborted || lasting.signal.aborted) return;
    const isSingle = keys.length === 1;
    const read: PageRows[] = [];
    try {
      let page = await this.readPage(keys, 0);
      lasting.noteAnswer();
      read.push(page);
      const { limit } = walk;
      if (limit !== undefined && page.records >= limit) {
        if (!isSingle) return await this.readHalves(keys);
        for (let offset = limit; page.records >= limit; offset += limit) {
          page = await this.readPage(keys, offset);
          read.push(page);
        }
      }
      const refused = read.flatMap((one) => one.refused);
      if (refused.length > 0) {
        this.dropped.push(...read);
        if (!isSingle) return await this.readHalves(keys);
        this.refused.push(...refused);
        return;
      }
      for (const { text } of keys) this.outcomes.push({ key: text, error: null });
    } catch (error) {
      this.dropped.push(...read);
      if (error === lasting.signal.reason) return;
      if (!isOfKeys(error)) throw error;
      if (!isSingle) return this.readHalves(keys);
      if (error.retryable) {
        this.failures.push(error);
        lasting.noteFailure(error);
        return;
      }
      lasting.noteAnswer();
      for (const { text } of keys) this.outcomes.push({ key: text, error: error.message });
    }
  }

  private async readHalves(keys: readonly Key[]): Promise<void> {
    const middle = Math.ceil(keys.length / 2);
    await this.readBatch(keys.slice(0, middle));
    await this.readBatch(keys.slice(middle));
  }

  private async readPage(keys: readonly Key[], offset: number): Promise<PageRows> {
    const { context, walk, pages, lasting } = this;
    const ask = lookupRequest(this.endpoint, { ...context.pipeline, walk }, keys, offset);
    const isSingle = keys.length === 1;
    const attempts = { signal: lasting.signal, ...(isSingle ? {} : { attempts: BATCH_ATTEMPTS }) };
    const full = isSingle ? undefined : walk.limit;
    const page = await context.source.fetch(
      ask,
      ({ status, body, request }) =>
        status === 404
          ? { records: 0, from: 0, to: 0, refused: [] }
          : pages.add(body, request, this.givenOf(keys), full),
      attempts,
    );
    context.report({ event: 'progress', pipeline: context.pipeline.name, seqnos: 0, records: page.records });
    return page;
  }

  /** What rows are told of their key: all of it for a single key, or by position. */
  private givenOf(keys: readonly Key[]): Given | readonly Given[] {
    if (this.shape === 'bodies') return keys.map(({ values }) => ({ ...values, ...this.given }));
    return keys.length === 1 ? { ...keys[0]?.values, ...this.given } : this.given;
  }

  /** The rows, each key once: where one came twice, the last. */
  private distinct(): Int32Array {
    const { pages, context, walk, dropped } = this;
    const [table] = context.pipeline.tables;
    const keyOf = pages.keyOf(table?.key ?? []);
    const chosen = new Map<string, number>();
    for (const row of pages.all()) {
      if (dropped.some(({ from, to }) => row >= from && row < to)) continue;
      const key = keyOf(row);
      if (walk.copies === 'last') chosen.delete(key);
      if (!chosen.has(key)) chosen.set(key, row);
    }
    return Int32Array.from(chosen.values()).sort();
  }
}

const OF_KEYS: ReadonlySet<string> = new Set([
  ...[
    'bad-request',
    'conflict',
    'not-found',
    'not-implemented',
    'server-error',
    'not-configured',
    'bad-parameter',
    'too-large',
  ],
]);

/** Whether a failure may be due to one of the keys. */
function isOfKeys(error: unknown): error is TonlakeError {
  return error instanceof TonlakeError && (OF_KEYS.has(error.code) || error.stage === 'decode');
}
