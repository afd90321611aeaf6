import type { Endpoint } from '../../api/endpoint.ts';
import { endpointByPath, endpointOf } from '../../api/endpoints.ts';
import { TonlakeError } from '../../core/errors.ts';
import type { Span } from '../../core/span.ts';
import type { PipelineOf } from '../../declare/pipeline.ts';
import type { LookupWalk } from '../../declare/walk.ts';
import type { Batch } from '../../decode/batch.ts';
import { lookupsBatch } from '../../decode/lookups-table.ts';
import type { Given } from '../../decode/table-rows.ts';
import { PARTIAL } from '../../warehouse/index.ts';
import { Gate } from '../gate.ts';
import { describeCause, LastingFailure } from '../lasting-failure.ts';
import { countRefused, findKeys, type Key } from '../lookup-keys.ts';
import { batchesOf, lookupRequest } from '../lookup-request.ts';
import { quoteLookup } from '../quote/quote-lookup.ts';
import type { PageReport } from '../span-loader.ts';
import type { EntryTerms, Reading, Round, SpanWalk } from '../span-walk.ts';
import type { WalkContext } from '../walk-context.ts';
import type { Prepare, WalkKind } from '../walk-kind.ts';
import type { WalkRequest } from '../walk-request.ts';

/** Masterchain blocks whose keys are looked up and committed at once. */
const SPAN_BLOCKS = 2_000;
/** Attempts for a batch that can be halved. */
const BATCH_ATTEMPTS = 3;

/** A key whose reading is over: with rows, without, or refused by the source. */
interface Outcome {
  readonly key: string;
  readonly error: string | null;
}

/** One page of some keys. */
interface KeyRequest extends WalkRequest {
  readonly lot: number;
  readonly keys: readonly Key[];
  readonly offset: number;
}

type Context = WalkContext<PipelineOf<LookupWalk>>;

/** The keys that the declared query finds in the range, span after span, or those of another query, which are one span. */
export const lookupWalk: WalkKind<LookupWalk> = { plan: planLookups, quote: quoteLookup };

async function* planLookups(context: Context, missing: readonly Span[]): AsyncGenerator<Prepare> {
  const { from: query, asked, stop, pipeline } = context;
  const lasting = new LastingFailure();
  const work = { context, lasting };
  if (query !== undefined) {
    const span = { from: asked[0]?.from ?? 0, to: asked.at(-1)?.to ?? 0 };
    yield () => new LookupSpan(work, span, query, query);
    return;
  }
  const size = Math.min(SPAN_BLOCKS, Math.max(1, context.requestsPerSpan));
  for (const whole of missing) {
    for (let from = whole.from; from <= whole.to && !stop.aborted && !lasting.signal.aborted; from += size) {
      const span = { from, to: Math.min(whole.to, from + size - 1) };
      const gate = new Gate(stop);
      yield () => new LookupSpan(work, span, pipeline.walk.query, undefined, () => gate.open());
      // What one span has read, the next need not.
      await gate.opened;
    }
  }
}

interface Work {
  readonly context: Context;
  readonly lasting: LastingFailure;
}

/** The keys of one span. */
class LookupSpan implements SpanWalk<KeyRequest> {
  readonly unit = 'reading';
  readonly span: Span;
  readonly rows: SpanWalk['rows'];
  readonly onEnd: () => void;
  private readonly context: Context;
  private readonly walk: LookupWalk;
  private readonly lasting: LastingFailure;
  private readonly query: string;
  private readonly scope: string | undefined;
  private readonly endpoint: Endpoint;
  private readonly given: Given;
  private readonly outcomes: Outcome[] = [];
  private readonly failures: TonlakeError[] = [];
  private keys = 0;
  private lots = 0;
  private readonly refusedLots = new Set<number>();

  constructor(work: Work, span: Span, query: string, scope: string | undefined, onEnd: () => void = () => undefined) {
    const { context, lasting } = work;
    const { walk } = context.pipeline;
    this.context = context;
    this.walk = walk;
    this.lasting = lasting;
    this.span = span;
    this.query = query;
    this.scope = scope;
    this.onEnd = onEnd;
    const [method = 'GET', path = ''] = context.pipeline.endpoint.split(' ');
    this.endpoint = endpointOf(endpointByPath(path, method === 'POST' ? 'POST' : 'GET'));
    this.given = { read_at: BigInt(Math.round(context.effects.now())) * 1000n, as_of: BigInt(context.ends.last) };
    const key = context.pipeline.tables[0]?.key ?? [];
    const keep = walk.copies === 'last' ? 'last' : 'first';
    this.rows = { block: undefined, audit: { kind: 'none' }, copies: { key, keep } };
  }

  async *plan(): AsyncGenerator<Round<KeyRequest>> {
    const keys = await findKeys(this.context, this.walk, this.query, this.span);
    this.keys = keys.length;
    const batches = batchesOf(keys, this.walk);
    yield { requests: this.requestsOfBatches(batches), count: batches.length };
  }

  /** A batch that fills a page, or that holds a record which cannot be decoded, is read in halves; a single key in pages. */
  next(request: KeyRequest, page: PageReport): readonly KeyRequest[] {
    const { keys, offset, lot } = request;
    const { limit } = this.walk;
    this.lasting.noteAnswer();
    if (!page.isTaken) return this.halves(request);
    // Refused records go to the quarantine; their key is asked for again.
    if (page.refused.length > 0) this.refusedLots.add(lot);
    if (limit !== undefined && page.records >= limit) return [this.request(keys, offset + limit, lot)];
    if (this.refusedLots.has(lot)) return [];
    for (const { text } of keys) this.outcomes.push({ key: text, error: null });
    return [];
  }

  /** A batch that fails is read in halves until the bad key is known. */
  failed(request: KeyRequest, error: unknown): readonly KeyRequest[] | undefined {
    const { lasting } = this;
    if (error === lasting.signal.reason) return [];
    return isOfKeys(error) ? this.withoutBadKey(request, error) : undefined;
  }

  /** What is left to ask for after a failure: the halves of a batch; nothing of a single key, which is noted. */
  private withoutBadKey(request: Pick<KeyRequest, 'keys'>, error: TonlakeError): readonly KeyRequest[] {
    const { lasting } = this;
    if (request.keys.length > 1) return this.halves(request);
    if (error.retryable) {
      this.failures.push(error);
      lasting.noteFailure(error);
      return [];
    }
    lasting.noteAnswer();
    for (const { text } of request.keys) this.outcomes.push({ key: text, error: error.message });
    return [];
  }

  entry(span: Span, { refused, isStopped }: Reading): EntryTerms | undefined {
    const { last } = this.context.ends;
    const isWhole = this.failures.length === 0 && refused === 0 && !isStopped;
    if (!isWhole && this.outcomes.length === 0) return undefined;
    // What was read stays; a span with keys that could not be read is not done.
    const scope = isWhole ? this.scope : (this.scope ?? PARTIAL);
    return { span, asOf: { from: last, to: last }, scope, proof: 'none' };
  }

  /** What was asked for, also where no row came back. */
  more(): readonly Batch[] {
    const { pipeline, ends } = this.context;
    const readAt = Number((this.given['read_at'] as bigint) / 1000n);
    const leftOut = pipeline.leftOut === undefined ? null : JSON.stringify(pipeline.leftOut);
    const reading = { pipeline: pipeline.name, leftOut, readAt, asOf: ends.last };
    return this.outcomes.length === 0
      ? []
      : [lookupsBatch(this.outcomes.map((outcome) => ({ ...reading, ...outcome })))];
  }

  async onCommitted(): Promise<void> {
    if (this.scope !== undefined) await this.tellRefused();
    this.tellFailure();
  }

  private *requestsOfBatches(batches: Iterable<readonly Key[]>): Generator<KeyRequest> {
    for (const batch of batches) yield* this.requestsOf(batch);
  }

  /** The request of a batch. A key that no request can hold fails as one that the source refuses. */
  private requestsOf(keys: readonly Key[]): readonly KeyRequest[] {
    try {
      return [this.request(keys, 0, this.lots++)];
    } catch (error) {
      if (!isOfKeys(error)) throw error;
      return this.withoutBadKey({ keys }, error);
    }
  }

  private halves({ keys }: Pick<KeyRequest, 'keys'>): readonly KeyRequest[] {
    const middle = Math.ceil(keys.length / 2);
    return [...this.requestsOf(keys.slice(0, middle)), ...this.requestsOf(keys.slice(middle))];
  }

  private request(keys: readonly Key[], offset: number, lot: number): KeyRequest {
    const { context, walk, lasting, endpoint } = this;
    const isSingle = keys.length === 1;
    return {
      ...{ keys, offset, lot },
      ask: lookupRequest(endpoint, { ...context.pipeline, walk }, keys, offset),
      page: { unit: lot, given: this.givenOf(keys), ...(isSingle ? {} : { full: walk.limit, overflow: 'divide' }) },
      fetch: { signal: lasting.signal, ...(isSingle ? {} : { attempts: BATCH_ATTEMPTS }) },
    };
  }

  /** What rows are told of their key: all of it for a single key, or by position. */
  private givenOf(keys: readonly Key[]): Given | readonly Given[] {
    const [table] = this.context.pipeline.tables;
    const shape = table?.rows.kind === 'records' ? table.rows.shape : undefined;
    if (shape === 'bodies') return keys.map(({ values }) => ({ ...values, ...this.given }));
    return keys.length === 1 ? { ...keys[0]?.values, ...this.given } : this.given;
  }

  /** Of keys that a query of the user gave; that not every address is a wallet is no news. */
  private async tellRefused(): Promise<void> {
    const { context, walk, query, span } = this;
    const { keys, refused, message } = await countRefused(context, walk, query, span);
    if (message === undefined) return;
    context.report({ event: 'refused-keys', pipeline: context.pipeline.name, ...span, keys, refused, message });
  }

  /** One line for all keys of the span that could not be read. */
  private tellFailure(): void {
    const { context, lasting, failures, outcomes, keys, span } = this;
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
}

const OF_KEYS: ReadonlySet<string> = new Set([
  ...['bad-request', 'conflict', 'not-found', 'not-implemented'],
  ...['server-error', 'not-configured', 'bad-parameter', 'too-large'],
]);

/** Whether a failure may be due to one of the keys. */
function isOfKeys(error: unknown): error is TonlakeError {
  return error instanceof TonlakeError && (OF_KEYS.has(error.code) || error.stage === 'decode');
}
