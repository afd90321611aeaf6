import type { Hono } from 'hono';
import * as z from 'zod';
import type { ColumnDef } from '../declare/column.ts';
import type { Registry } from '../declare/registry.ts';
import { describeExplanation } from '../show/describe-row.ts';
import { explainRowIn } from '../show/explain-row.ts';
import { showThing } from '../show/show-thing.ts';
import { requireThing } from '../show/thing.ts';
import { quoteName, quoteText } from '../sql/canonical-text.ts';
import type { QueryResult } from '../sql/query-result.ts';
import type { LedgerEntry } from '../warehouse/index.ts';
import { readBalances } from './balance-history.ts';
import { findHeld, heldBy, type OwnReader } from './own-reader.ts';
import type { QueryRuns } from './query-runs.ts';
import { cellsOf } from './table-routes.ts';
import type { UiEnvironment } from './ui-options.ts';
import type { ExplainedRow, ExploreExample, FoundColumn, FoundRows } from './ui-types.ts';
import { valid } from './valid-request.ts';

/** Rows that are shown of a table. */
const MAX_ROWS = 50;
/** Newest blocks that examples are taken from. */
const EXAMPLE_BLOCKS = 100;

const soughtSchema = z.strictObject({ q: z.string().min(1).max(200) });
const rowsSchema = z.strictObject({ q: z.string().min(1).max(200), table: z.string(), column: z.string() });
const keySchema = z.strictObject({ table: z.string(), key: z.string().max(2000) });

/** Finds rows by hash, address or block, and says where they are from. */
export function addExploreRoutes(app: Hono<UiEnvironment>, own: OwnReader, runs: QueryRuns): void {
  app.get('/api/explore', valid('query', soughtSchema), async (c) => {
    const thing = requireThing(c.req.valid('query').q);
    const held = await own.use(heldBy);
    return c.json(await runs.withQueries(c.req.raw.signal, (read) => showThing(read, held, thing)));
  });
  app.get('/api/explore/examples', async (c) => {
    const { registry, ledger } = await own.use(heldBy);
    return c.json(await runs.withQueries(c.req.raw.signal, (read) => readExamples(read, registry, ledger)));
  });
  app.get('/api/explore/balances', valid('query', soughtSchema), async (c) => {
    const sought = requireThing(c.req.valid('query').q);
    if (sought.kind !== 'address') return c.notFound();
    const { registry, ledger } = await own.use(heldBy);
    return c.json(
      await runs.withQueries(c.req.raw.signal, (read) => readBalances(read, registry, ledger, sought.value)),
    );
  });
  app.get('/api/explore/rows', valid('query', rowsSchema), async (c) => {
    const { q, table: name, column } = c.req.valid('query');
    const sought = requireThing(q);
    const { registry } = await own.use(async (opened) => opened);
    const table = registry.table(name);
    if (!table.columns.some((each) => each.name === column)) return c.notFound();
    const key = table.key.map((each) => table.columns.findIndex((of) => of.name === each));
    const columns = table.columns.map((each) => quoteName(each.name));
    const value = sought.kind === 'block' ? sought.value : quoteText(sought.value);
    const order = table.sort.map((each) => `${quoteName(each)} DESC`).join(', ') || 'ALL';
    const { rows, columns: types } = await runs.withQueries(c.req.raw.signal, (read) =>
      read(
        `SELECT ${columns.join(', ')} FROM ${quoteName(table.name)} WHERE ${quoteName(column)} = ${value} ORDER BY ${order} LIMIT ${MAX_ROWS}`,
      ),
    );
    const found: FoundRows = {
      columns: types.map((each, at) => ({ ...each, says: saidBy(table.columns[at]) })),
      rows: rows.map(cellsOf),
      key: table.key.map((each, at) => ({ name: each, at: key[at] ?? 0 })),
    };
    return c.json(found);
  });
  // The text of tonlake show.
  app.get('/api/explain', valid('query', keySchema), async (c) => {
    const { table, key } = c.req.valid('query');
    const words = key.split('\n');
    const explanation = await own.use(({ reader, registry }) =>
      runs.bounded(reader, c.req.raw.signal, () => explainRowIn(reader, registry, table, words)),
    );
    const explained: ExplainedRow = { text: describeExplanation(explanation, words) };
    return c.json(explained);
  });
}

/** The newest block, and of the blocks before it the largest trace and the busiest account. */
async function readExamples(
  read: (sql: string) => Promise<QueryResult>,
  registry: Registry,
  ledger: readonly LedgerEntry[],
): Promise<readonly ExploreExample[]> {
  const newest = await read('SELECT max(mc_block_seqno) FROM _headers WHERE workchain = -1');
  const seqno = newest.rows[0]?.[0];
  if (seqno == null) return [];
  const inTraces = ['account', 'trace_id', 'mc_block_seqno'];
  const table = findHeld(registry, ledger, ({ columns }) =>
    inTraces.every((sought) => columns.some(({ name }) => name === sought)),
  );
  const most = async (title: string, column: string): Promise<readonly ExploreExample[]> => {
    if (table === undefined) return [];
    const { rows } = await read(
      `SELECT ${column} FROM ${quoteName(table.name)} WHERE mc_block_seqno > ${Number(seqno) - EXAMPLE_BLOCKS} AND ${column} IS NOT NULL GROUP BY 1 ORDER BY count(*) DESC, 1 LIMIT 1`,
    );
    return rows.map(([value]) => ({ title, value: String(value) }));
  };
  return [
    ...(await most('a busy account', 'account')),
    ...(await most('a large trace', 'trace_id')),
    { title: 'the newest block', value: String(seqno) },
  ];
}

/** What a line about a row can say of a column. */
function saidBy(column: ColumnDef | undefined): FoundColumn['says'] {
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
