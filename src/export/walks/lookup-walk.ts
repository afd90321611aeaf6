import type { Endpoint } from '../../api/endpoint.ts';
import { endpointByPath, endpointOf } from '../../api/endpoints.ts';
import { TonlakeError } from '../../core/errors.ts';
import { hullOf, type Span } from '../../core/span.ts';
import type { PipelineDef, PipelineOf } from '../../declare/pipeline.ts';
import type { LookupWalk } from '../../declare/walk.ts';
import { lookupsBatch } from '../../decode/lookups-table.ts';
import type { Given } from '../../decode/table-rows.ts';
import { PARTIAL } from '../../warehouse/index.ts';
import { closedGate } from '../gate.ts';
import { inBatches } from '../item-requests.ts';
import { describeCause, LastingFailure } from '../lasting-failure.ts';
import { countRefused, findKeys, type Key } from '../lookup-keys.ts';
import { lookupRequest } from '../lookup-request.ts';
import { quoteLookup } from '../quote/quote-lookup.ts';
import type { Prepare, SpanWalk } from '../span-walk.ts';
import { lastSeen, type WalkContext } from '../walk-context.ts';
import type { WalkKind } from '../walk-kind.ts';
import { onlyRequested, type RequestedOnly, type WalkRequest } from '../walk-request.ts';

/** Masterchain blocks whose keys are looked up and committed together. */
const SPAN_BLOCKS = 2_000;
/** Attempts for a batch that can be halved. */
const BATCH_ATTEMPTS = 3;

/** A key that was answered, or that the source refused. */
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

/** Looks up the keys that the declared query finds, span by span, or those of the query `from`, which are one span. */
export const lookupWalk: WalkKind<LookupWalk> = { plan: planLookups, quote: quoteLookup };

async function* planLookups(context: Context, missing: readonly Span[]): AsyncGenerator<Prepare> {
  const { from: query, asked, stop } = context;
  const lasting = new LastingFailure();
  if (query !== undefined) {
    yield () => lookupSpan(context, lasting, hullOf(asked) ?? { from: 0, to: 0 });
    return;
  }
  const size = Math.min(SPAN_BLOCKS, Math.max(1, context.requestsPerSpan));
  for (const whole of missing) {
    for (let from = whole.from; from <= whole.to && !stop.aborted && !lasting.signal.aborted; from += size) {
      const gate = closedGate(stop);
      const span = { from, to: Math.min(whole.to, from + size - 1) };
      yield () => lookupSpan(context, lasting, span, gate.open);
      // The next span skips the keys that this one reads.
      await gate.opened;
    }
  }
}

/** The keys of one span. */
function lookupSpan(
  context: Context,
  lasting: LastingFailure,
  span: Span,
  onEnd: () => void = () => undefined,
): SpanWalk<KeyRequest> {
  const { pipeline, ends, from: scope } = context;
  const { walk, name } = pipeline;
  const query = scope ?? walk.query;
  const { limit } = walk;
  const readAtMs = Math.round(context.effects.now());
  const given: Given = { read_at: BigInt(readAtMs) * 1000n, as_of: BigInt(ends.last) };
  const endpoint = endpointFor(pipeline);
  const outcomes: Outcome[] = [];
  const failures: TonlakeError[] = [];
  const refusedLots = new Set<number>();
  let [found, lots] = [0, 0];
  let seen: number | undefined;

  const requestOf = (keys: readonly Key[], offset: number, lot: number): KeyRequest => {
    const isSingle = keys.length === 1;
    return {
      ...{ keys, offset, lot },
      http: lookupRequest(endpoint, pipeline, keys, offset),
      page: {
        ...{ unit: lot, given: givenOf(pipeline, keys, given), only: onlyOf(context, keys) },
        ...(isSingle ? {} : { full: limit, overflow: 'divide' }),
      },
      fetch: { signal: lasting.signal, ...(isSingle ? {} : { attempts: BATCH_ATTEMPTS }) },
    };
  };
  /** The request of a batch. A key that fits no request fails like one that the source refuses. */
  const requestsOf = (keys: readonly Key[]): readonly KeyRequest[] => {
    try {
      return [requestOf(keys, 0, lots++)];
    } catch (error) {
      if (!isOfKeys(error)) throw error;
      return withoutBadKey(keys, error);
    }
  };
  const halves = (keys: readonly Key[]): readonly KeyRequest[] => {
    const middle = Math.ceil(keys.length / 2);
    return [...requestsOf(keys.slice(0, middle)), ...requestsOf(keys.slice(middle))];
  };
  /** The halves of a batch that failed, until the bad key is found and noted. */
  const withoutBadKey = (keys: readonly Key[], error: TonlakeError): readonly KeyRequest[] => {
    if (keys.length > 1) return halves(keys);
    if (error.retryable) {
      failures.push(error);
      lasting.noteFailure(error);
      return [];
    }
    lasting.noteAnswer();
    for (const { text } of keys) outcomes.push({ key: text, error: error.message });
    return [];
  };

  const keep = walk.copies === 'last' ? 'last' : 'first';
  return {
    ...{ span, unit: 'reading', onEnd },
    rows: { block: undefined, audit: { kind: 'none' }, copies: { key: pipeline.tables[0]?.key ?? [], keep } },
    async *plan() {
      seen = lastSeen(context);
      const keys = await findKeys(context, walk, query, span);
      found = keys.length;
      const batches = inBatches(keys, walk.batch);
      const requests = (function* () {
        for (const batch of batches) yield* requestsOf(batch);
      })();
      yield { requests, count: batches.length };
    },
    next({ keys, offset, lot }, page) {
      lasting.noteAnswer();
      if (!page.isTaken) return halves(keys);
      // Refused records go to the quarantine; the next run requests their key again.
      if (page.refused.length > 0) refusedLots.add(lot);
      if (limit !== undefined && page.records >= limit) return [requestOf(keys, offset + limit, lot)];
      if (!refusedLots.has(lot)) for (const { text } of keys) outcomes.push({ key: text, error: null });
      return [];
    },
    failed({ keys }, error) {
      if (error === lasting.signal.reason) return [];
      return isOfKeys(error) ? withoutBadKey(keys, error) : undefined;
    },
    entry(part, { refused, isStopped }) {
      const isWhole = failures.length === 0 && refused === 0 && !isStopped;
      if (!isWhole && outcomes.length === 0) return undefined;
      // What was read stays, but a span with keys that could not be read is not done.
      const asOf = { from: ends.last, to: ends.last };
      return { span: part, asOf, scope: isWhole ? scope : (scope ?? PARTIAL), proof: 'none', seen };
    },
    /** Every requested key, also those without a row. */
    more() {
      const leftOut = pipeline.leftOut === undefined ? null : JSON.stringify(pipeline.leftOut);
      const reading = { pipeline: name, leftOut, readAt: readAtMs, asOf: ends.last };
      return outcomes.length === 0 ? [] : [lookupsBatch(outcomes.map((outcome) => ({ ...reading, ...outcome })))];
    },
    async onCommitted() {
      // That not every address is a wallet is no news, unless the user gave the keys.
      if (scope !== undefined) await reportRefused(context, scope, span);
      reportFailures(context, lasting, span, { failures, found, left: found - outcomes.length });
    },
  };
}

function endpointFor({ endpoint }: PipelineDef): Endpoint {
  const [method = 'GET', path = ''] = endpoint.split(' ');
  return endpointOf(endpointByPath(path, method === 'POST' ? 'POST' : 'GET'));
}

/** What rows are told of their key: all of it for a single key, or by position. */
function givenOf({ tables }: PipelineDef, keys: readonly Key[], given: Given): Given | readonly Given[] {
  const rows = tables[0]?.rows;
  const shape = rows?.kind === 'records' ? rows.shape : undefined;
  if (shape === 'bodies') return keys.map(({ values }) => ({ ...values, ...given }));
  return keys.length === 1 ? { ...keys[0]?.values, ...given } : given;
}

/** Rows have the last of the names that a key is sent by. */
function onlyOf(context: Context, keys: readonly Key[]): RequestedOnly | undefined {
  const { walk } = context.pipeline;
  const name = walk.keys.at(-1) ?? '';
  const values = keys.map((key) => key.values[name] ?? '');
  return onlyRequested(context, walk.column, values);
}

interface Failed {
  readonly failures: readonly TonlakeError[];
  /** Keys of the span, and those that were not read. */
  readonly found: number;
  readonly left: number;
}

/** One line for all keys of a span that could not be read. */
function reportFailures(
  { pipeline: { name }, report }: Context,
  lasting: LastingFailure,
  span: Span,
  { failures, found, left }: Failed,
): void {
  const [failure] = failures;
  if (failure === undefined) return;
  const more = failures.length === 1 ? '' : `; ${failures.length} of ${found} keys failed`;
  const message = lasting.signal.aborted
    ? `source ${name} ${span.from}:${span.to}: gave up after ${lasting.failedKeys} keys failed in the same way, ${left} of ${found} keys not read: ${describeCause(failures.at(-1) ?? failure)}`
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
