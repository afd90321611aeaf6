import { parseHeaders } from '../chain/headers.ts';
import { fetchShardState } from '../chain/index-ends.ts';
import type { IndexEnds } from '../chain/index-head.ts';
import { blockAt, intersectSpans, type Span, spanSize, subtractSpans, totalSize, wholeRange } from '../core/span.ts';
import { comparedRoles } from '../declare/cross-check.ts';
import { isMasterchain, type MasterchainPipeline } from '../declare/pipeline.ts';
import type { RoleName } from '../declare/roles.ts';
import type { LookupWalk, SnapshotWalk } from '../declare/walk.ts';
import { Decoder } from '../decode/decoder.ts';
import type { SourceRequest } from '../http/request.ts';
import { quoteName } from '../sql/canonical-text.ts';
import { doneSpans, type LedgerEntry, type Reader, spansOf } from '../warehouse/index.ts';
import { WINDOW_FILL } from './block-windows.ts';
import { boundOf } from './lookup-keys.ts';
import { fixedQuery, PAGE_ROWS, pathOf } from './page-request.ts';
import { CHUNK_BLOCKS, planRows } from './row-packs.ts';
import { txCountOf } from './span-proof.ts';
import type { SpanWalk } from './span-walk.ts';
import type { WalkContext } from './walk-context.ts';
import type { WalkKind } from './walk-kind.ts';
import type { WalkRequest } from './walk-request.ts';
import { LIST_SPAN_ROWS, LIST_WINDOW_ROWS } from './walks/lt-walk.ts';

/**
 * Where the number of rows comes from. `headers`: they are in the warehouse, so rows and requests are exact. `keys`: those in the warehouse.
 * `history`: rows of earlier runs. `sample`: one page of the source. `least`: only a lower bound is known.
 */
export type EstimateBasis = 'headers' | 'keys' | 'history' | 'sample' | 'least';

/** What a run would take for the missing blocks of a pipeline. */
export interface Estimate {
  readonly rows: number;
  /** By path. */
  readonly requests: Readonly<Record<string, number>>;
  readonly basis: EstimateBasis;
}

/** What a estimate is made from. */
export interface EstimateContext {
  /** The walk sees the warehouse as it is. */
  readonly context: Omit<WalkContext, 'ends'>;
  readonly ledger: readonly LedgerEntry[];
  /** Undefined if there is no warehouse. */
  readonly reader: Reader | undefined;
  /** Sends a request the first time. */
  readonly ends: () => Promise<IndexEnds>;
  /** Sampled headers, by the block in their middle: those of `blocks` serve `transactions`, too. */
  readonly samples: Map<number, Promise<HeaderDensity>>;
}

/** Rows and headers of a masterchain block, on average. */
interface HeaderDensity {
  readonly rows: number;
  readonly headers: number;
}

const MASTERCHAIN_INFO = '/masterchainInfo';
const SHARD_STATE = '/masterchainBlockShardState';
/** Usual rows of a page planned from learned density, and from headers. */
const USUAL_ROWS = { headers: 930, counted: 995 } as const;
/** Masterchain blocks around the middle that a sample page of headers begins with. */
const SAMPLE_BLOCKS = 100;
/** Blocks of a list that are planned from the first one; of more, those from the middle. */
const PLANNED_BLOCKS = 1000;

/** What the missing blocks of a pipeline take. */
export function estimatePipeline(
  given: EstimateContext,
  missing: readonly Span[],
  kind: WalkKind,
): Estimate | Promise<Estimate> {
  const { pipeline } = given.context;
  const { walk } = pipeline;
  if (isMasterchain(pipeline)) {
    return pipeline.walk.proof === 'links'
      ? estimateHeaders(given, pipeline, missing)
      : estimateCounted(given, pipeline, missing);
  }
  switch (walk.kind) {
    case 'lookup':
      return estimateLookup(given, walk, missing);
    case 'snapshot':
      return estimateSnapshot(given, walk, missing);
    default:
      return estimatePlanned(given, missing, kind);
  }
}

async function estimateHeaders(
  given: EstimateContext,
  pipeline: MasterchainPipeline,
  missing: readonly Span[],
): Promise<Estimate> {
  const blocks = totalSize(missing);
  const rows = Math.round(blocks * (await sampleHeaders(given, missing)).headers);
  const states = missing.reduce((sum, span) => sum + 1 + Math.ceil(spanSize(span) / CHUNK_BLOCKS), 0);
  const isByBlock = given.context.mode === 'masterchain';
  const lists = isByBlock ? blocks : missing.length + Math.ceil(rows / USUAL_ROWS.headers);
  return { rows, requests: { [pathOf(pipeline)]: lists, [SHARD_STATE]: states }, basis: 'sample' };
}

/** Exactly the planned pages where the headers are in the warehouse; elsewhere by a sample of them. */
async function estimateCounted(
  given: EstimateContext,
  pipeline: MasterchainPipeline,
  missing: readonly Span[],
): Promise<Estimate> {
  const { context, ledger } = given;
  const known = intersectSpans(missing, doneSpans(ledger, context.registry.playing('headers').pipeline.name));
  const unknown = subtractSpans(missing, known);
  const requests: Record<string, number> = {};
  let rows = 0;
  for await (const planned of planRows({ ...context, pipeline }, known)) {
    rows += txCountOf(planned.own);
    const windows = planned.pages.filter(({ kind }) => kind === 'window').length;
    addRequests(requests, pipeline.walk.windows.path, windows);
    addRequests(requests, pathOf(pipeline), planned.pages.length - windows);
  }
  if (unknown.length === 0) return { rows, requests, basis: 'headers' };
  const blocks = totalSize(unknown);
  const sampled = Math.round(blocks * (await sampleHeaders(given, unknown)).rows);
  const pages = Math.ceil(sampled / USUAL_ROWS.counted);
  if (context.mode === 'masterchain') addRequests(requests, pathOf(pipeline), Math.max(blocks, pages));
  else addRequests(requests, pipeline.walk.windows.path, pages);
  return { rows: rows + sampled, requests, basis: 'sample' };
}

/** One page of headers from the middle of some blocks. */
function sampleHeaders({ context, ends, samples }: EstimateContext, missing: readonly Span[]): Promise<HeaderDensity> {
  const blocks = totalSize(missing);
  const middle = blockAt(missing, Math.max(0, Math.floor((blocks - SAMPLE_BLOCKS) / 2)));
  const known = samples.get(middle) ?? fetchDensity(context, middle, ends);
  samples.set(middle, known);
  return known;
}

async function fetchDensity({ source }: EstimateContext['context'], from: number, ends: EstimateContext['ends']) {
  const { first } = await ends();
  const state = await fetchShardState(source, Math.max(first, from - 1), `plan ${from}`);
  const start = state.reduce((most, { endLt }) => (endLt > most ? endLt : most), 0n);
  const query = [['start_lt', String(start)] as const, ['limit', String(PAGE_ROWS)] as const, ['sort', 'asc'] as const];
  const headers = await source.fetch({ path: '/blocks', query, label: `plan ${from}` }, ({ body, request }) =>
    parseHeaders(body, request),
  );
  const seqnos = new Set(headers.map(({ mcSeqno }) => mcSeqno));
  // The blocks at both ends are not whole.
  const inner = [...seqnos].sort((a, b) => a - b).slice(1, headers.length < PAGE_ROWS ? undefined : -2);
  const own = new Set(inner.length === 0 ? seqnos : inner);
  const counted = headers.filter(({ mcSeqno }) => own.has(mcSeqno));
  const perBlock = (sum: number): number => sum / Math.max(1, own.size);
  return { headers: perBlock(counted.length), rows: perBlock(counted.reduce((sum, { txCount }) => sum + txCount, 0)) };
}

/** Any other walk of blocks: by rows of earlier runs, or by what it plans for its first span in the middle, of which one page is read. */
async function estimatePlanned(given: EstimateContext, missing: readonly Span[], kind: WalkKind): Promise<Estimate> {
  const context: WalkContext = { ...given.context, ends: await given.ends() };
  const blocks = totalSize(missing);
  const middle = blockAt(missing, Math.floor(blocks / 2));
  const around = missing.filter(({ from, to }) => from <= middle && middle <= to);
  const stretch = around.map(({ from, to }) => ({ from: to - from < PLANNED_BLOCKS ? from : middle, to }));
  const [walk, planned] = await firstSpan(context, kind, stretch);
  const scale = blocks / spanSize(walk?.span ?? { from: 0, to: 0 });
  const history = rowsByHistory(given, missing);
  const request = planned[Math.floor(planned.length / 2)];
  const perRequest =
    history !== undefined || walk === undefined || request === undefined ? 0 : await countRows(context, walk, request);
  const rows = history ?? Math.round(perRequest * planned.length * scale);
  const requests: Record<string, number> = {};
  for (const { http } of planned) addRequests(requests, http.path, scale);
  const path = pathOf(context.pipeline);
  const windows = windowsFor(given, missing, rows);
  if (windows !== undefined) requests[path] = Math.min(requests[path] ?? 0, windows);
  if (context.pipeline.walk.kind === 'lt') {
    // Headers say where spans begin and end, but for the blocks before the first ones.
    const spans = isThere(given, ['headers'], missing) ? 0 : missing.length + Math.ceil(rows / LIST_SPAN_ROWS);
    Object.assign(requests, { [path]: listWindows(missing, rows), [SHARD_STATE]: missing.length + spans });
  }
  for (const [each, count] of Object.entries(requests)) requests[each] = Math.round(count);
  return { rows, requests, basis: history === undefined ? 'sample' : 'history' };
}

/** Windows of a list by logical time: of its spans, or of all from the first to the last where those are fewer. */
function listWindows(missing: readonly Span[], rows: number): number {
  const windowsOf = (spans: number, all: number): number =>
    spans + Math.ceil(all / LIST_SPAN_ROWS) + Math.ceil(all / LIST_WINDOW_ROWS);
  const hull = totalSize(wholeRange(missing));
  return Math.min(windowsOf(missing.length, rows), windowsOf(1, (rows * hull) / totalSize(missing)));
}

/** The first span that a walk plans for some blocks, with its requests. */
async function firstSpan(context: WalkContext, kind: WalkKind, spans: readonly Span[]) {
  const planned: WalkRequest[] = [];
  for await (const prepare of kind.plan(context, spans)) {
    const walk = await prepare();
    if ('error' in walk) continue;
    for await (const { requests } of walk.plan()) planned.push(...requests);
    walk.onEnd?.();
    return [walk, planned] as const;
  }
  return [undefined, planned] as const;
}

/** Rows of a request, by its first part that is no full page. */
async function countRows(context: WalkContext, walk: SpanWalk, request: WalkRequest): Promise<number> {
  const records = await countRecords(context, request.http);
  const parts = records >= (request.page.full ?? Number.POSITIVE_INFINITY) ? (walk.halve?.(request) ?? []) : [];
  return parts[0] === undefined ? records : parts.length * (await countRows(context, walk, parts[0]));
}

/** Windows of a list of blocks, if their transactions are in the warehouse by then; undefined if each block is requested by itself. */
function windowsFor(given: EstimateContext, missing: readonly Span[], rows: number): number | undefined {
  const { pipeline, mode } = given.context;
  const { walk, crossCheck } = pipeline;
  if (walk.kind !== 'block' || walk.windows === undefined || mode === 'masterchain' || crossCheck === undefined) return;
  const roles: readonly RoleName[] = ['headers', ...comparedRoles(crossCheck)];
  if (!isThere(given, roles, missing)) return undefined;
  return Math.ceil(rows / (walk.windows.limit * WINDOW_FILL)) + missing.length;
}

/** True if the tables that play some roles are in the warehouse, or exported by the same run. */
function isThere({ context, ledger }: EstimateContext, roles: readonly RoleName[], missing: readonly Span[]): boolean {
  const { pipelines, registry } = context;
  return roles.every((role) => {
    const { name } = registry.playing(role).pipeline;
    return pipelines.some((each) => each.name === name) || subtractSpans(missing, doneSpans(ledger, name)).length === 0;
  });
}

/** Rows of missing blocks by those of earlier runs; undefined if there were none. */
function rowsByHistory(
  { context: { pipeline }, ledger }: EstimateContext,
  missing: readonly Span[],
): number | undefined {
  const own = ledger.filter((entry) => entry.pipeline === pipeline.name && entry.scope === undefined);
  const blocks = totalSize(own.flatMap(spansOf));
  if (blocks === 0) return undefined;
  const rows = own.reduce((sum, { tables }) => sum + (tables[pipeline.tables[0]?.name ?? '']?.rows ?? 0), 0);
  // Each reading of a list is all of it, whatever the range.
  return Math.round(pipeline.walk.kind === 'snapshot' ? rows / own.length : (rows * totalSize(missing)) / blocks);
}

/** Counts the keys in SQL: they may not fit in memory. */
async function estimateLookup(
  given: EstimateContext,
  { query, keys, batch }: LookupWalk,
  missing: readonly Span[],
): Promise<Estimate> {
  const { context, reader } = given;
  const path = pathOf(context.pipeline);
  if (reader === undefined || !hasNeeds(given, missing)) return { rows: 0, requests: { [path]: 1 }, basis: 'least' };
  const select = `SELECT count(*) FROM (SELECT DISTINCT ${keys.map(quoteName).join(', ')} FROM (${query}))`;
  let rows = 0;
  for (const span of missing) rows += Number((await reader.query(select, boundOf(query, span))).rows[0]?.[0] ?? 0);
  return { rows, requests: rows === 0 ? {} : { [path]: Math.ceil(rows / batch) }, basis: 'keys' };
}

/** A changing list: its length by the reading before, or by its first page; more than a page is `least`. */
async function estimateSnapshot(
  given: EstimateContext,
  walk: SnapshotWalk,
  missing: readonly Span[],
): Promise<Estimate> {
  const { context, reader } = given;
  const path = pathOf(context.pipeline);
  const { limit, most = Number.POSITIVE_INFINITY, parents } = walk;
  const known = rowsByHistory(given, missing);
  const first = { path, query: [['limit', String(Math.min(limit, most))] as const, ...fixedQuery(context.pipeline)] };
  const rows = known ?? (await countRecords(context, first));
  const isOpen = known === undefined && rows >= limit && rows < most;
  let lists = 0;
  if (parents !== undefined && reader !== undefined && hasNeeds(given, missing)) {
    const [span = { from: 0, to: 0 }] = missing;
    const select = `SELECT count(*) FROM (${parents.query})`;
    lists = Number((await reader.query(select, boundOf(parents.query, span))).rows[0]?.[0] ?? 0);
  }
  // A list ends with a page that is not full, and one for the rest.
  const pages = lists + Math.floor(rows / limit) + (Number.isFinite(most) ? 0 : 1);
  const basis = isOpen || (parents !== undefined && lists === 0) ? 'least' : known === undefined ? 'sample' : 'history';
  return { rows, requests: { [path]: Math.max(1, pages), [MASTERCHAIN_INFO]: 2 }, basis };
}

/** True if the pipelines that this one needs are done in all missing blocks. */
function hasNeeds({ context, ledger }: EstimateContext, missing: readonly Span[]): boolean {
  return context.pipeline.needs.every((need) => subtractSpans(missing, doneSpans(ledger, need)).length === 0);
}

/** Requests a page and counts its records. */
function countRecords({ source, pipeline }: Omit<WalkContext, 'ends'>, http: SourceRequest): Promise<number> {
  return source.fetch({ ...http, label: `plan ${pipeline.name}` }, ({ body }) => {
    return new Decoder(pipeline).decode(body, { read_at: 0n, as_of: 0n, seqno: 0n }).records;
  });
}

function addRequests(requests: Record<string, number>, path: string, count: number): void {
  if (count > 0) requests[path] = (requests[path] ?? 0) + count;
}
