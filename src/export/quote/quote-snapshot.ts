import type { Span } from '../../core/span.ts';
import type { PipelineDef, PipelineOf } from '../../declare/pipeline.ts';
import type { SnapshotWalk } from '../../declare/walk.ts';
import { boundOf } from '../lookup-keys.ts';
import { fixedQuery, pathOf } from '../page-request.ts';
import { drySource, dryWalk, RequestCounts, readPage } from './dry-walk.ts';
import { measurePages } from './measure-pages.ts';
import { hasNeeds, type Planner, planningContext, type Quote, type Quoting } from './quote.ts';

/** Estimates a changing list: finds its length by bisection and simulates the walk. */
export async function quoteSnapshot(
  quoting: Quoting<PipelineOf<SnapshotWalk>>,
  missing: readonly Span[],
  plan: Planner<PipelineOf<SnapshotWalk>>,
): Promise<Quote> {
  const context = await planningContext(quoting);
  const { pipeline, ends, sink } = context;
  const { limit, most = Number.MAX_SAFE_INTEGER, parents } = pipeline.walk;
  const length = await lengthOf(quoting, pipeline, limit);
  const rows = Math.min(most, length.rows);
  const lists = parents === undefined ? 0 : await countParents(quoting, missing);
  const query = async () => ({ columns: [], rows: Array.from({ length: lists }, (_, at) => [String(at)]) });
  const counts = new RequestCounts();
  // A run also requests the head before the walk.
  counts.add('/masterchainInfo');
  const source = drySource(context.source, { ends, shards: 2, ltAt: () => 0n }, counts);
  await dryWalk(plan({ ...context, source, sink: { ...sink, query } }, missing), counts, ({ http }) => {
    const asked = new Map(http.query);
    const isOfParent = parents !== undefined && asked.has(parents.parameter);
    return isOfParent ? 0 : Math.min(limit, Math.max(0, rows - Number(asked.get('offset') ?? 0)));
  });
  // Further pages depend on how many parents share the rows.
  const extra = parents === undefined ? 0 : Math.floor(rows / limit) / 2;
  counts.add(pathOf(pipeline), Math.round(extra));
  return {
    ...{ rows, requests: Object.fromEntries(counts.byPath), band: Math.ceil(extra + 2), basis: 'sample' },
    ...{ isSampled: true, measured: await measurePages(pipeline, [length.first], context.effects) },
  };
}

/** Parents whose lists are read: those in the warehouse, or as many as the source lists. */
async function countParents(quoting: Quoting<PipelineOf<SnapshotWalk>>, missing: readonly Span[]): Promise<number> {
  const { context, reader } = quoting;
  const { needs, walk } = context.pipeline;
  if (reader !== undefined && hasNeeds(quoting, missing)) {
    const [span = { from: 0, to: 0 }] = missing;
    const query = walk.parents?.query ?? '';
    const { rows } = await reader.query(`SELECT count(*) FROM (${query})`, boundOf(query, span));
    return Number(rows[0]?.[0] ?? 0);
  }
  const list = context.registry.pipeline(needs[0] ?? '');
  return (await lengthOf(quoting, list, list.walk.kind === 'snapshot' ? list.walk.limit : 1000)).rows;
}

/** The length of an unfiltered list, and its first page. */
function lengthOf(quoting: Quoting, pipeline: PipelineDef, limit: number) {
  const { lengths } = quoting.memo;
  const length = lengths.get(pipeline.name) ?? findLength(quoting, pipeline, limit);
  lengths.set(pipeline.name, length);
  return length;
}

async function findLength({ context: { source } }: Quoting, pipeline: PipelineDef, limit: number) {
  const at = (page: number) => {
    const skip = page === 0 ? [] : [['offset', String(page * limit)] as const];
    const query = [['limit', String(limit)] as const, ...skip, ...fixedQuery(pipeline)];
    return readPage({ source, pipeline }, { path: pathOf(pipeline), query });
  };
  const first = await at(0);
  if (first.records < limit) return { rows: first.records, first: first.body };
  let [full, short] = [0, 1];
  let rows = (await at(short)).records;
  while (rows >= limit) {
    full = short;
    short *= 4;
    rows = (await at(short)).records;
  }
  while (short - full > 1) {
    const middle = (full + short) >> 1;
    const { records } = await at(middle);
    if (records >= limit) full = middle;
    else {
      short = middle;
      rows = records;
    }
  }
  return { rows: short * limit + rows, first: first.body };
}
