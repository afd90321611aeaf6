import { planRequest } from '../../api/client/build-request.ts';
import type { Endpoint } from '../../api/endpoint.ts';
import { declaredEndpoint } from '../../api/endpoints.ts';
import { lackingRows, type RequestedRows } from '../../audit/page-audit.ts';
import { TonlakeError } from '../../core/errors.ts';
import { hullOf, type Span } from '../../core/span.ts';
import type { PipelineDef, PipelineOf } from '../../declare/pipeline.ts';
import type { LookupWalk } from '../../declare/walk.ts';
import type { Batch } from '../../decode/batch.ts';
import { lookupsBatch } from '../../decode/lookups-table.ts';
import type { Given } from '../../decode/table-rows.ts';
import type { SourceRequest } from '../../http/request.ts';
import { PARTIAL } from '../../warehouse/index.ts';
import { inBatches } from '../item-requests.ts';
import { type Latch, newLatch } from '../latch.ts';
import type { RowRules } from '../load-rules.ts';
import { countRefused, findKeys, type Key } from '../lookup-keys.ts';
import { planSpans } from '../lt-windows.ts';
import { isWrong } from '../page-loading.ts';
import { describeCause, RepeatedFailure } from '../repeated-failure.ts';
import type { PageReport } from '../span-loader.ts';
import type { EntryTerms, Prepare, Reading, Round, SpanWalk } from '../span-walk.ts';
import { lastSeen, type WalkContext } from '../walk-context.ts';
import type { WalkKind } from '../walk-kind.ts';
import type { WalkRequest } from '../walk-request.ts';

/** Masterchain blocks per query for keys. */
const SPAN_BLOCKS = 2_000;
/** Maximum requests per commit: a killed run repeats as many. */
const LOT_REQUESTS = 200;
/** Attempts for a batch that can be halved. */
const BATCH_ATTEMPTS = 3;

/** Result of a key: answered, or refused by the source. */
interface Outcome {
  readonly key: string;
  readonly error: string | null;
}

/** One page of some keys. */
interface KeyRequest extends WalkRequest {
  readonly batch: number;
  readonly keys: readonly Key[];
  readonly offset: number;
  /** True in the second round, for keys without a row in the first. */
  readonly isAgain: boolean;
}

type Context = WalkContext<PipelineOf<LookupWalk>>;

/** Looks up the keys that the declared query finds, span by span, or those of the query `from`. */
export const lookupWalk: WalkKind<LookupWalk> = { plan: planLookups };

/** Reads and commits keys lot by lot, in sequence, so that each span skips the keys of earlier ones. */
async function* planLookups(context: Context, missing: readonly Span[]): AsyncGenerator<Prepare> {
  const { asked, from, pipeline, requestsPerSpan, stop } = context;
  const { batch, query } = pipeline.walk;
  const repeated = new RepeatedFailure();
  const limits = { records: Number.POSITIVE_INFINITY, seqnos: SPAN_BLOCKS };
  const spans = from === undefined ? planSpans(missing, () => 0, limits) : [hullOf(asked) ?? { from: 0, to: 0 }];
  for (const span of spans) {
    let seen = lastSeen(context);
    const keys = await findKeys(context, pipeline.walk, from ?? query, span);
    const all: SpanKeys = { span, found: keys.length, read: 0, unknown: 0, failures: [], isWhole: true, lots: 0 };
    const lots = inBatches(keys, batch * Math.min(LOT_REQUESTS, Math.max(1, requestsPerSpan)));
    try {
      for (const [at, own] of (lots.length === 0 ? [[]] : lots).entries()) {
        const lot = { keys: own, isLast: at >= lots.length - 1, seen, ended: newLatch() };
        yield () => new KeyLot(context, repeated, all, lot);
        await lot.ended.opened;
        if (stop.aborted || repeated.signal.aborted) return;
        seen = lastSeen(context);
      }
    } finally {
      // A stopped run starts no more lots, but its last lot may still be committing.
      await all.begun?.opened;
      if (all.lots > 0) await reportKeys(context, repeated, all);
    }
  }
}

/** Progress of the keys of a span. */
interface SpanKeys {
  readonly span: Span;
  readonly found: number;
  read: number;
  unknown: number;
  readonly failures: TonlakeError[];
  /** False if some keys could not be read. */
  isWhole: boolean;
  /** Number of finished lots. */
  lots: number;
  /** Opens when the last started lot has ended. */
  begun?: Latch;
}

/** Keys that are read and committed together. */
interface Lot {
  readonly keys: readonly Key[];
  /** True for the last lot of its span. */
  readonly isLast: boolean;
  /** See `CommitDraft`. */
  readonly seen: number;
  readonly ended: Latch;
}

class KeyLot implements SpanWalk<KeyRequest> {
  readonly span: Span;
  readonly isReading = true;
  readonly rows: RowRules;
  readonly onEnd: () => void;
  private readonly context: Context;
  private readonly repeated: RepeatedFailure;
  private readonly all: SpanKeys;
  private readonly lot: Lot;
  private readonly readAtMs: number;
  private readonly outcomes: Outcome[] = [];
  private readonly refusedBatches = new Set<number>();
  /** Keys without a row, to request once more. */
  private readonly absent: Key[] = [];
  private isAgain = false;
  private batches = 0;
  private unknown = 0;

  constructor(context: Context, repeated: RepeatedFailure, all: SpanKeys, lot: Lot) {
    const { walk, tables } = context.pipeline;
    this.context = context;
    this.repeated = repeated;
    this.all = all;
    this.lot = lot;
    this.span = all.span;
    this.onEnd = lot.ended.open;
    all.begun = lot.ended;
    this.readAtMs = Math.round(context.effects.now());
    const keep = walk.copies === 'last' ? 'last' : 'first';
    this.rows = { block: undefined, audit: { kind: 'none' }, copies: { key: tables[0]?.key ?? [], keep } };
  }

  async *plan(): AsyncGenerator<Round<KeyRequest>> {
    yield this.roundOf(this.lot.keys);
    // A source may leave out a key that it knows.
    this.isAgain = true;
    if (this.absent.length > 0) yield this.roundOf(this.absent);
  }

  next({ keys, offset, batch, isAgain }: KeyRequest, page: PageReport): readonly KeyRequest[] {
    const { context, repeated, outcomes } = this;
    const { limit, isEachListed = false } = context.pipeline.walk;
    repeated.noteSuccess();
    if (!page.isTaken) return this.halves(keys);
    // Refused records go to the quarantine; the next run requests their key again.
    if (page.refused.length > 0) this.refusedBatches.add(batch);
    if (limit !== undefined && page.records >= limit) return [this.requestOf(keys, offset + limit, batch)];
    if (this.refusedBatches.has(batch)) return [];
    this.checkWhole(offset + page.records, page, offset);
    const without = new Set(isEachListed && offset === 0 ? page.without : []);
    for (const key of keys) {
      const isMissing = without.has(keyValue(context, key));
      if (isMissing && !isAgain) this.absent.push(key);
      else outcomes.push({ key: key.text, error: null });
      if (isMissing && isAgain) this.unknown++;
    }
    return [];
  }

  failed({ keys }: KeyRequest, error: unknown): readonly KeyRequest[] | undefined {
    if (error === this.repeated.signal.reason) return [];
    return isOfKeys(error) || isWrong(error) ? this.withoutBadKey(keys, error) : undefined;
  }

  entry(span: Span, { refused, isStopped }: Reading): EntryTerms | undefined {
    const { all, outcomes, unknown } = this;
    const { isLast, seen } = this.lot;
    const { ends, from: scope } = this.context;
    all.isWhole &&= all.failures.length === 0 && refused === 0 && !isStopped;
    if (!all.isWhole && outcomes.length === 0) return undefined;
    return {
      span,
      asOf: { from: ends.last, to: ends.last },
      proof: 'none',
      seen,
      // Rows are committed lot by lot, but a span is done only when all of its keys are read.
      scope: isLast && all.isWhole ? scope : (scope ?? PARTIAL),
      unknownKeys: unknown === 0 ? undefined : unknown,
    };
  }

  /** Every requested key, also those without a row. */
  more(): readonly Batch[] {
    const { ends, pipeline } = this.context;
    const leftOut = pipeline.leftOut === undefined ? null : JSON.stringify(pipeline.leftOut);
    const reading = { pipeline: pipeline.name, leftOut, readAt: this.readAtMs, asOf: ends.last };
    if (this.outcomes.length === 0) return [];
    return [lookupsBatch(this.outcomes.map((outcome) => ({ ...reading, ...outcome })))];
  }

  async onCommitted(): Promise<void> {
    const { all } = this;
    all.lots++;
    all.read += this.outcomes.length;
    all.unknown += this.unknown;
  }

  /** Detects a page that was sent in place of another: it duplicates rows. @throws {AuditError} */
  private checkWhole(rows: number, { distinct = rows }: PageReport, offset: number): void {
    const { name, walk } = this.context.pipeline;
    if (offset === 0 || distinct === rows || walk.copies === 'last') return;
    throw lackingRows(name, rows, distinct);
  }

  private roundOf(keys: readonly Key[]): Round<KeyRequest> {
    const batches = inBatches(keys, this.context.pipeline.walk.batch);
    const { requestsOf } = this;
    const requests = (function* () {
      for (const batch of batches) yield* requestsOf(batch);
    })();
    return { requests, count: batches.length };
  }

  private requestOf(keys: readonly Key[], offset: number, batch: number): KeyRequest {
    const { context, repeated, isAgain } = this;
    const { ends, pipeline } = context;
    const isSingle = keys.length === 1;
    const given: Given = { read_at: BigInt(this.readAtMs) * 1000n, as_of: BigInt(ends.last) };
    return {
      keys,
      offset,
      batch,
      isAgain,
      http: lookupRequest(declaredEndpoint(pipeline.endpoint), pipeline, keys, offset),
      page: {
        unit: batch,
        given: givenOf(pipeline, keys, given),
        only: onlyOf(context, keys),
        ...(isSingle
          ? { list: { list: batch, isContinued: offset > 0, counted: { list: String(batch), offset } } }
          : { full: pipeline.walk.limit, overflow: 'divide' }),
      },
      fetch: { signal: repeated.signal, ...(isSingle ? {} : { attempts: BATCH_ATTEMPTS }) },
    };
  }

  /** The request for a batch. A key that cannot be sent is recorded like one that the source refuses. */
  private readonly requestsOf = (keys: readonly Key[]): readonly KeyRequest[] => {
    try {
      return [this.requestOf(keys, 0, this.batches++)];
    } catch (error) {
      if (!isOfKeys(error)) throw error;
      return this.withoutBadKey(keys, error);
    }
  };

  private halves(keys: readonly Key[]): readonly KeyRequest[] {
    const middle = Math.ceil(keys.length / 2);
    return [...this.requestsOf(keys.slice(0, middle)), ...this.requestsOf(keys.slice(middle))];
  }

  /** The halves of a batch that failed, until the bad key is found and noted. */
  private withoutBadKey(keys: readonly Key[], error: TonlakeError): readonly KeyRequest[] {
    if (keys.length > 1) return this.halves(keys);
    if (error.retryable) {
      this.all.failures.push(error);
      this.repeated.noteFailure(error);
      return [];
    }
    this.repeated.noteSuccess();
    for (const { text } of keys) this.outcomes.push({ key: text, error: error.message });
    return [];
  }
}

/** The request for one page of some keys. */
function lookupRequest(
  endpoint: Endpoint,
  { name: pipeline, parameters, walk }: PipelineOf<LookupWalk>,
  keys: readonly Key[],
  offset: number,
): SourceRequest {
  const listed = walk.keys.at(-1) ?? '';
  const values: Record<string, unknown> = { ...parameters };
  for (const name of walk.keys) {
    const parameter = endpoint.parameters[name];
    const texts = keys.map((key) => key.values[name] ?? '');
    const value = name === listed && parameter?.many === true ? texts : texts[0];
    values[name] = parameter?.kind === 'stack' ? JSON.parse(String(value)) : value;
  }
  if (walk.limit !== undefined) Object.assign(values, { limit: walk.limit, ...(offset === 0 ? {} : { offset }) });
  const typed = Object.entries(values).map(([name, value]) => [name, typedValue(endpoint, name, value)]);
  const { text = '' } = keys[0] ?? {};
  const label = `${pipeline} ${text.slice(0, 80)}${keys.length > 1 ? ` and ${keys.length - 1} more` : ''}`;
  return { ...planRequest(endpoint, Object.fromEntries(typed)), label };
}

function typedValue(endpoint: Endpoint, name: string, value: unknown): unknown {
  const kind = endpoint.parameters[name]?.kind;
  if (typeof value !== 'string') return value;
  if (kind === 'bool') return value === 'true';
  return kind === 'int32' ? Number(value) : value;
}

/** Request values copied into each row: those of a single key, or of each key by position. */
function givenOf({ tables }: PipelineDef, keys: readonly Key[], given: Given): Given | readonly Given[] {
  const rows = tables[0]?.rows;
  const shape = rows?.kind === 'records' ? rows.shape : undefined;
  if (shape === 'bodies') return keys.map(({ values }) => ({ ...values, ...given }));
  return keys.length === 1 ? { ...keys[0]?.values, ...given } : given;
}

/** The value of the last key parameter, which rows contain. */
function keyValue({ pipeline: { walk } }: Context, { values }: Key): string {
  return values[walk.keys.at(-1) ?? ''] ?? '';
}

function onlyOf(context: Context, keys: readonly Key[]): readonly RequestedRows[] {
  const { columns, hasOthers, match } = context.pipeline.walk;
  const values =
    match === undefined
      ? keys.map((key) => keyValue(context, key))
      : keys.flatMap((key) => (key.values[match] ?? '').split(' ')).filter((text) => text !== '');
  if (columns.length === 0 || (match !== undefined && values.length === 0)) return [];
  return [{ kind: 'keys', columns, values, hasOthers }];
}

/** Reports on the keys of a span after its last lot. */
async function reportKeys(context: Context, repeated: RepeatedFailure, all: SpanKeys): Promise<void> {
  const { from, pipeline, report } = context;
  const { span, found: keys, unknown } = all;
  // Report refused keys only if the user named them: not every address is a wallet.
  if (from !== undefined) await reportRefused(context, from, span);
  if (unknown > 0) report({ event: 'unknown-keys', pipeline: pipeline.name, ...span, keys, unknown });
  reportFailures(context, repeated, all);
}

/** One line for all keys of a span that could not be read. */
function reportFailures(
  { pipeline: { name }, report }: Context,
  repeated: RepeatedFailure,
  { span, found, read, failures }: SpanKeys,
): void {
  const [failure] = failures;
  if (failure === undefined) return;
  const more = failures.length === 1 ? '' : `; ${failures.length} of ${found} keys failed`;
  const message = repeated.signal.aborted
    ? `source ${name} ${span.from}:${span.to}: gave up after ${repeated.failedKeys} keys failed in the same way, ${found - read} of ${found} keys not read: ${describeCause(failures.at(-1) ?? failure)}`
    : `${failure.message}${more}`;
  report({ event: 'problem', pipeline: name, ...span, code: failure.code, message });
}

async function reportRefused(context: Context, query: string, span: Span): Promise<void> {
  const { pipeline, report } = context;
  const { keys, refused, message } = await countRefused(context, pipeline.walk, query, span);
  if (message === undefined) return;
  report({ event: 'refused-keys', pipeline: pipeline.name, ...span, keys, refused, message });
}

const OF_KEYS: ReadonlySet<string> = new Set([
  ...['bad-request', 'conflict', 'not-found', 'not-implemented'],
  ...['server-error', 'not-configured', 'bad-parameter', 'too-large'],
]);

/** True if a failure may be due to one of the keys. */
function isOfKeys(error: unknown): error is TonlakeError {
  return error instanceof TonlakeError && (OF_KEYS.has(error.code) || error.stage === 'decode');
}
