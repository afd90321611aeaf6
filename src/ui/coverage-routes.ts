import type { Hono } from 'hono';
import * as z from 'zod';
import { usage } from '../core/errors.ts';
import { haveCommon, hullOf, intersectSpans, type Span, shortSpans, unionSpans } from '../core/span.ts';
import type { TableDef } from '../declare/table.ts';
import { quoteName } from '../sql/canonical-text.ts';
import { FORGOTTEN, type LedgerEntry, spansOf } from '../warehouse/index.ts';
import { describeParts, isForgotten, type Part, type UnprovenWhy } from '../warehouse/query/coverage.ts';
import type { PipelineStatus, WarehouseStatus } from '../warehouse/query/status.ts';
import type { OpenWarehouse } from '../warehouse/query/warehouse-registry.ts';
import { CommitCache, type StatusCache } from './commit-cache.ts';
import { extentOf, isMapped, mapCells } from './coverage-map.ts';
import type { QueryRuns } from './query-runs.ts';
import { fillCommand, readOverview } from './read-overview.ts';
import { findTable, type SharedReader } from './shared-reader.ts';
import { cellsOf } from './table-routes.ts';
import type { UiEnvironment } from './ui-options.ts';
import type { Activity, CellDetail, Coverage, EntryItem } from './ui-types.ts';
import { valid } from './valid-request.ts';

/** Entries of a cell that are shown. */
const MAX_ENTRIES = 20;

const block = z.coerce
  .number()
  .int()
  .min(0)
  .max(2 ** 32);
const viewSchema = z.strictObject({
  from: block.optional(),
  to: block.optional(),
  cells: z.coerce.number().int().min(1).max(400).default(100),
});
const spanSchema = z.strictObject({ from: block, to: block });

/** Coverage of the pipelines, and activity over time. */
export function addCoverageRoutes(
  app: Hono<UiEnvironment>,
  shared: SharedReader,
  status: StatusCache,
  runs: QueryRuns,
): void {
  const activity = new CommitCache(readActivity);
  app.get('/api/overview', async (c) =>
    c.json(await shared.use(async (opened) => readOverview(opened, await status.get(opened)))),
  );
  app.get('/api/activity', async (c) => c.json(await runs.inWarehouse(c.req.raw.signal, activity.get)));
  app.get('/api/coverage', valid('query', viewSchema), async (c) => {
    const { from, to, cells } = c.req.valid('query');
    return c.json(
      await shared.use(async (opened) => {
        const { pipelines } = await status.get(opened);
        const shown = pipelines.filter(({ pipeline }) => isMapped(opened.registry, pipeline));
        return coverageOf(shown, { from, to }, cells);
      }),
    );
  });
  app.get('/api/coverage/:pipeline', valid('query', spanSchema), async (c) => {
    const span = c.req.valid('query');
    return c.json(
      await shared.use(async (opened) =>
        describeCell(await status.get(opened), await opened.reader.ledger(), c.req.param('pipeline'), span),
      ),
    );
  });
}

function coverageOf(
  shown: readonly PipelineStatus[],
  range: { readonly from?: number | undefined; readonly to?: number | undefined },
  cells: number,
): Coverage {
  const whole = hullOf(shown.flatMap((each) => extentOf(each) ?? []));
  if (whole === undefined) return { whole: null, from: 0, to: 0, pipelines: [] };
  const from = Math.max(range.from ?? whole.from, 0);
  const view = { from, to: Math.max(range.to ?? whole.to, from) };
  return {
    ...view,
    whole,
    pipelines: shown.map((each) => ({ name: each.pipeline, cells: mapCells(view, cells, each) })),
  };
}

function describeCell(
  status: WarehouseStatus,
  ledger: readonly LedgerEntry[],
  pipeline: string,
  span: Span,
): CellDetail {
  const own = status.pipelines.find((each) => each.pipeline === pipeline);
  if (own === undefined) throw usage('a pipeline', pipeline, undefined, { code: 'unknown-pipeline' });
  const within = (spans: readonly Span[]): readonly Span[] => intersectSpans([span], spans);
  const partsWithin = <Why extends string>(parts: readonly Part<Why>[]) =>
    parts.map((part) => ({ ...part, spans: within(part.spans) })).filter(({ spans }) => spans.length > 0);
  const [unproven, missing] = [partsWithin(own.unproven), partsWithin(own.missing)];
  const fetched = missing.filter((part) => !isForgotten(part));
  const entries = ledger.filter(
    (entry) => entry.pipeline === pipeline && entry.mart === undefined && within(spansOf(entry)).length > 0,
  );
  return {
    proven: textOf(within(own.proven)),
    unproven: describeParts(unproven),
    missing: describeParts(missing),
    days: own.days.filter((day) => within([day]).length > 0).map(({ date }) => date),
    entries: entries
      .slice(-MAX_ENTRIES)
      .reverse()
      .map((entry) => entryItem(entry, own)),
    entryCount: entries.length,
    fill: fillCommand([pipeline], unionSpans(fetched.flatMap(({ spans }) => spans)), status),
  };
}

function textOf(spans: readonly Span[]): string {
  return spans.length === 0 ? '' : shortSpans(spans);
}

function entryItem(entry: LedgerEntry, { unproven }: PipelineStatus): EntryItem {
  const { number, tables, requests, retries, committedAt } = entry;
  const evidence = Object.entries(tables).map(([table, { rows, keyHash }]) => ({ table, rows, keyHash }));
  const whys = unproven.filter(({ spans }) => haveCommon(spansOf(entry), spans)).map(({ why }) => why);
  return {
    number,
    requests,
    retries,
    committedAt,
    evidence,
    spans: shortSpans(spansOf(entry)),
    proof: proofText(entry, whys),
  };
}

function proofText({ proof, verdict, scope }: LedgerEntry, unproven: readonly UnprovenWhy[]): string {
  if (verdict === 'quarantined') return 'a record could not be decoded';
  if (scope === FORGOTTEN) return 'removed on purpose';
  if (scope !== undefined) return `only a part was read: ${scope}`;
  if (unproven.length > 0) return `unproven: ${unproven.join(', ')}`;
  if (proof === undefined) return 'proven by the block headers: links and counts';
  return 'compared with the transactions of the same blocks';
}

/** Points of a chart at most. */
const MAX_POINTS = 200;

const UNITS = [
  { unit: 'second', ms: 1000 },
  { unit: 'minute', ms: 60_000 },
  { unit: 'hour', ms: 3_600_000 },
  { unit: 'day', ms: 86_400_000 },
] as const;

/** Transactions by the headers, and their fees, in each whole second, minute, hour or day of the newest blocks; null without any. */
async function readActivity(opened: OpenWarehouse): Promise<Activity | null> {
  const { query } = opened.reader;
  const ends = await query(
    'SELECT epoch_ms(min(block_time)), epoch_ms(max(block_time)) FROM _headers WHERE workchain = -1',
  );
  const [first, last] = (ends.rows[0] ?? []).map(Number);
  if (first === undefined || last === undefined || last === 0) return null;
  const { unit, ms } = UNITS.find((each) => (last - first) / each.ms <= MAX_POINTS) ?? UNITS[3];
  const end = Math.floor(last / ms) * ms;
  const start = Math.max(Math.ceil(first / ms) * ms, end - MAX_POINTS * ms);
  if (end - start < 2 * ms) return null;
  const [from, to] = [start, end].map((at) => new Date(at).toISOString().slice(0, 19));
  const within = `block_date BETWEEN '${from}'::DATE AND '${to}'::DATE AND block_time >= '${from}'::TIMESTAMP AND block_time < '${to}'::TIMESTAMP`;
  const byTime = (sum: string, relation: string): string =>
    `SELECT time_bucket(INTERVAL 1 ${unit}, block_time) AS time, ${sum} FROM ${relation} WHERE ${within} GROUP BY ALL`;
  const fees = (await findTable(opened, hasFees))?.name;
  const { rows } = await query(
    fees === undefined
      ? `SELECT *, NULL FROM (${byTime('sum(tx_count)', '_headers')}) ORDER BY 1`
      : `SELECT time, transactions, fees FROM (${byTime('sum(tx_count) AS transactions', '_headers')})
        LEFT JOIN (${byTime('ton(sum(total_fees)) AS fees', quoteName(fees))}) USING (time) ORDER BY 1`,
  );
  return { unit, fees: fees ?? null, points: rows.map(cellsOf) };
}

function hasFees({ columns }: TableDef): boolean {
  return columns.some(({ name, unit }) => name === 'total_fees' && unit === 'nanoton');
}
