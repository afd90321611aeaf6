import type { Hono } from 'hono';
import * as z from 'zod';
import type { ColumnDef } from '../declare/column.ts';
import type { TableDef } from '../declare/table.ts';
import { describeExplanation } from '../show/describe-row.ts';
import { explainRowIn } from '../show/explain-row.ts';
import { findPlaces } from '../show/find-places.ts';
import { readFacts } from '../show/show-thing.ts';
import type { Thing } from '../show/shown-thing.ts';
import { requireThing } from '../show/thing.ts';
import { quoteName, quoteText } from '../sql/canonical-text.ts';
import { textOf } from '../sql/row-text.ts';
import type { OpenWarehouse } from '../warehouse/query/warehouse-registry.ts';
import { CommitCache, type StatusCache } from './commit-cache.ts';
import type { QueryRuns } from './query-runs.ts';
import { findTable } from './shared-reader.ts';
import { cellsOf } from './table-routes.ts';
import type { UiEnvironment } from './ui-options.ts';
import type { BalanceHistory, ExplainedRow, ExploreExample, FoundColumn, FoundRows } from './ui-types.ts';
import { valid } from './valid-request.ts';

/** Rows that are shown of a table. */
const MAX_ROWS = 50;
/** Newest blocks that examples are taken from. */
const EXAMPLE_BLOCKS = 100;

const thingSchema = z.strictObject({ q: z.string().min(1).max(200) });
const placesSchema = z.strictObject({ q: z.string().min(1).max(200), where: z.enum(['indexed', 'others']) });
const rowsSchema = z.strictObject({ q: z.string().min(1).max(200), table: z.string(), column: z.string() });
const keySchema = z.strictObject({ table: z.string(), key: z.string().max(2000) });

/** Finds rows by hash, address or block, and says where they are from. */
export function addExploreRoutes(app: Hono<UiEnvironment>, status: StatusCache, runs: QueryRuns): void {
  const examples = new CommitCache(async (opened) => readExamples(opened, (await status.get(opened)).newest?.seqno));
  app.get('/api/explore', valid('query', thingSchema), async (c) => {
    const thing = requireThing(c.req.valid('query').q);
    return c.json(await runs.inWarehouse(c.req.raw.signal, (opened) => readFacts(opened, thing)));
  });
  app.get('/api/explore/places', valid('query', placesSchema), async (c) => {
    const { q, where } = c.req.valid('query');
    return c.json(await runs.inWarehouse(c.req.raw.signal, (opened) => findPlaces(opened, requireThing(q), where)));
  });
  app.get('/api/explore/examples', async (c) => c.json(await runs.inWarehouse(c.req.raw.signal, examples.get)));
  app.get('/api/explore/balances', valid('query', thingSchema), async (c) => {
    const sought = requireThing(c.req.valid('query').q);
    if (sought.kind !== 'address') return c.notFound();
    return c.json(await runs.inWarehouse(c.req.raw.signal, (opened) => readBalances(opened, sought.value)));
  });
  app.get('/api/explore/rows', valid('query', rowsSchema), async (c) => {
    const { q, table: name, column } = c.req.valid('query');
    const found = await runs.inWarehouse(c.req.raw.signal, (opened) => readRows(opened, requireThing(q), name, column));
    return found === undefined ? c.notFound() : c.json(found);
  });
  // The text of tonlake show.
  app.get('/api/explain', valid('query', keySchema), async (c) => {
    const { table, key } = c.req.valid('query');
    const words = key.split('\n');
    const explanation = await runs.inWarehouse(c.req.raw.signal, ({ reader, registry }) =>
      explainRowIn(reader, registry, table, words),
    );
    const explained: ExplainedRow = { text: describeExplanation(explanation, words) };
    return c.json(explained);
  });
}

/** The newest rows of a table that have a thing in a column; undefined if there is no such column. */
async function readRows(
  { reader, registry }: OpenWarehouse,
  sought: Thing,
  name: string,
  column: string,
): Promise<FoundRows | undefined> {
  const table = registry.table(name);
  if (!table.columns.some((each) => each.name === column)) return undefined;
  const columns = table.columns.map((each) => quoteName(each.name));
  const value = sought.kind === 'block' ? sought.value : quoteText(sought.value);
  const order = table.sort.map((each) => `${quoteName(each)} DESC`).join(', ') || 'ALL';
  const { rows, columns: types } = await reader.query(
    `SELECT ${columns.join(', ')} FROM ${quoteName(table.name)} WHERE ${quoteName(column)} = ${value} ORDER BY ${order} LIMIT ${MAX_ROWS}`,
  );
  return {
    columns: types.map((each, at) => ({ ...each, format: formatOf(table.columns[at]) })),
    rows: rows.map(cellsOf),
    key: table.key.map((each) => ({ name: each, at: table.columns.findIndex((of) => of.name === each) })),
  };
}

/** The newest block, and of the blocks before it the largest trace and the busiest account. */
async function readExamples(opened: OpenWarehouse, seqno: number | undefined): Promise<readonly ExploreExample[]> {
  if (seqno === undefined) return [];
  const inTraces = ['account', 'trace_id', 'mc_block_seqno'];
  const table = await findTable(opened, ({ columns }) =>
    inTraces.every((sought) => columns.some(({ name }) => name === sought)),
  );
  const most = async (title: string, column: string): Promise<readonly ExploreExample[]> => {
    if (table === undefined) return [];
    const { rows } = await opened.reader.query(
      `SELECT ${column} FROM ${quoteName(table.name)} WHERE mc_block_seqno > ${seqno - EXAMPLE_BLOCKS} AND ${column} IS NOT NULL GROUP BY 1 ORDER BY count(*) DESC, 1 LIMIT 1`,
    );
    return rows.map(([value]) => ({ title, value: String(value) }));
  };
  return [
    ...(await most('a busy account', 'account')),
    ...(await most('a large trace', 'trace_id')),
    { title: 'the newest block', value: String(seqno) },
  ];
}

/** How a column appears in the summary of a row; undefined if it does not. */
function formatOf(column: ColumnDef | undefined): FoundColumn['format'] {
  if (column?.unit === 'nanoton') return 'ton';
  switch (column?.kind) {
    case 'timestamp':
      return 'time';
    case 'raw-address':
      return 'address';
    case 'text':
    case 'text-comment':
      return 'text';
    default:
      return undefined;
  }
}

/** Maximum number of points; more balances are thinned out evenly. */
const MAX_POINTS = 1_000;

/** The balances of an account after its transactions; null if no table of the warehouse has them. */
async function readBalances(opened: OpenWarehouse, account: string): Promise<BalanceHistory | null> {
  const table = await findTable(opened, hasBalances);
  if (table === undefined) return null;
  const order = table.sort.map(quoteName).join(', ');
  const { rows } = await opened.reader.query(
    `WITH own AS (
      SELECT block_time, balance, row_number() OVER (ORDER BY ${order}) AS place, count(*) OVER () AS total
      FROM ${quoteName(table.name)} WHERE account = ${quoteText(account)} AND balance IS NOT NULL)
    SELECT block_time::VARCHAR, ton(balance)::VARCHAR, total::DOUBLE FROM own
    WHERE place = 1 OR place = total OR place % ceil(total / ${MAX_POINTS}.0)::BIGINT = 0 ORDER BY place`,
  );
  return {
    table: table.name,
    count: Number(rows[0]?.[2] ?? 0),
    points: rows.map(([time, ton]) => ({ time: textOf(time) ?? '', ton: textOf(ton) ?? '' })),
  };
}

/** True if a table has a row for each state of an account, with its time and balance. */
function hasBalances({ columns, time, key }: TableDef): boolean {
  const balance = columns.find(({ name }) => name === 'balance');
  return time !== undefined && key.includes('account') && balance?.unit === 'nanoton';
}
