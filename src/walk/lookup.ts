import PQueue from 'p-queue';
import type { Endpoint } from '../api/endpoint.ts';
import { endpointByPath, endpointOf } from '../api/endpoints.ts';
import { planRequest } from '../client/request.ts';
import type { LookupWalk } from '../declare/pipeline.ts';
import { TonlakeError } from '../errors.ts';
import { lookupsBatch } from '../flatten/lookups.ts';
import type { Given } from '../flatten/rows.ts';
import type { Span } from '../span.ts';
import { findKeys, type Key } from './keys.ts';
import type { ListContext } from './lists.ts';
import { commitList, PARTIAL, type PageRows, Pages, quarantineSpan, type RefusedRow } from './pages.ts';

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
  const { from: query, asked, stop, spanAsks } = context;
  if (query !== undefined) {
    const span = { from: asked[0]?.from ?? 0, to: asked.at(-1)?.to ?? 0 };
    return new Looking(context, walk).readSpan(query, span, query);
  }
  const size = Math.min(SPAN_BLOCKS, Math.max(1, spanAsks));
  for (const whole of missing) {
    for (let from = whole.from; from <= whole.to && !stop.aborted; from += size) {
      const span = { from, to: Math.min(whole.to, from + size - 1) };
      await new Looking(context, walk).readSpan(walk.query, span, undefined);
    }
  }
}

/** The keys of one span. */
class Looking {
  private readonly context: ListContext;
  private readonly walk: LookupWalk;
  private readonly endpoint: Endpoint;
  private readonly pages: Pages;
  private readonly shape: string | undefined;
  private readonly given: Given;
  private readonly outcomes: Outcome[] = [];
  private readonly refused: RefusedRow[] = [];
  /** Pages with refused records: none of their rows is kept, and their keys are asked for again. */
  private readonly dropped: PageRows[] = [];
  private readonly failures: TonlakeError[] = [];

  constructor(context: ListContext, walk: LookupWalk) {
    this.context = context;
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
    const { store, pipeline, ends, report, stop } = context;
    const keys = await findKeys(context, walk, query, span);
    const stage = store.stage(pipeline.name, span);
    try {
      await this.readKeys(keys);
      await this.pages.stage(stage, this.distinct());
      const readAt = Number((this.given['read_at'] as bigint) / 1000n);
      const asked = this.outcomes.map((outcome) => ({ pipeline: pipeline.name, ...outcome, readAt, asOf: ends.last }));
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
    this.tellRefused(span);
    const [failure] = this.failures;
    if (failure === undefined) return;
    const { code, message } = failure;
    report({ event: 'problem', pipeline: pipeline.name, from: span.from, to: span.to, code, message });
  }

  /** Of keys that a query of the user gave; that not every address is a wallet is no news. */
  private tellRefused({ from, to }: Span): void {
    const { context, outcomes } = this;
    if (context.from === undefined) return;
    const reasons = outcomes.flatMap(({ error }) => (error === null ? [] : [error]));
    const [message] = reasons;
    if (message === undefined) return;
    const [keys, refused] = [outcomes.length, reasons.length];
    context.report({ event: 'refused-keys', pipeline: context.pipeline.name, from, to, keys, refused, message });
  }

  private async readKeys(keys: readonly Key[]): Promise<void> {
    const { context, walk } = this;
    const { concurrency, report, pipeline, stop } = context;
    const queue = new PQueue({ concurrency });
    let fatal: { readonly error: unknown } | undefined;
    const batches = batchesOf(keys, walk);
    report({ event: 'planned', pipeline: pipeline.name, requests: batches.length });
    for (const batch of batches) {
      await queue.onSizeLessThan(2 * concurrency);
      if (fatal !== undefined || stop.aborted) break;
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
    const { walk, context } = this;
    if (context.stop.aborted) return;
    const isSingle = keys.length === 1;
    try {
      let page = await this.readPage(keys, 0);
      const read = [page];
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
      if (!isOfKeys(error)) throw error;
      if (!isSingle) return this.readHalves(keys);
      if (error.retryable) this.failures.push(error);
      else for (const { text } of keys) this.outcomes.push({ key: text, error: error.message });
    }
  }

  private async readHalves(keys: readonly Key[]): Promise<void> {
    const middle = Math.ceil(keys.length / 2);
    await this.readBatch(keys.slice(0, middle));
    await this.readBatch(keys.slice(middle));
  }

  private async readPage(keys: readonly Key[], offset: number): Promise<PageRows> {
    const { context, walk, pages } = this;
    const ask = this.askOf(keys, offset);
    const isSingle = keys.length === 1;
    const attempts = isSingle ? {} : { attempts: BATCH_ATTEMPTS };
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

  private askOf(keys: readonly Key[], offset: number) {
    const { walk, context, endpoint } = this;
    const { pipeline } = context;
    const listed = walk.keys.at(-1) ?? '';
    const values: Record<string, unknown> = { ...pipeline.parameters };
    for (const name of walk.keys) {
      const parameter = endpoint.parameters[name];
      const texts = keys.map((key) => key.values[name] ?? '');
      const value = name === listed && parameter?.many === true ? texts : texts[0];
      values[name] = parameter?.kind === 'stack' ? JSON.parse(String(value)) : value;
    }
    if (walk.limit !== undefined) Object.assign(values, { limit: walk.limit, ...(offset === 0 ? {} : { offset }) });
    const typed = Object.entries(values).map(([name, value]) => [name, typedValue(endpoint, name, value)]);
    const { text = '' } = keys[0] ?? {};
    const label = `${pipeline.name} ${text.slice(0, 80)}${keys.length > 1 ? ` and ${keys.length - 1} more` : ''}`;
    return { ...planRequest(endpoint, Object.fromEntries(typed)), label };
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

function typedValue(endpoint: Endpoint, name: string, value: unknown): unknown {
  const kind = endpoint.parameters[name]?.kind;
  if (typeof value !== 'string') return value;
  if (kind === 'bool') return value === 'true';
  return kind === 'int32' ? Number(value) : value;
}

function batchesOf(keys: readonly Key[], { batch }: LookupWalk): readonly (readonly Key[])[] {
  const batches: Key[][] = [];
  for (let at = 0; at < keys.length; at += batch) batches.push(keys.slice(at, at + batch));
  return batches;
}

const OF_KEYS: ReadonlySet<string> = new Set([
  ...['bad-request', 'conflict', 'not-found', 'not-implemented', 'server-error', 'bad-parameter', 'too-large'],
]);

/** Whether a failure may be due to one of the keys. */
function isOfKeys(error: unknown): error is TonlakeError {
  return error instanceof TonlakeError && (OF_KEYS.has(error.code) || error.stage === 'decode');
}
