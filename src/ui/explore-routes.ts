import type { Hono } from 'hono';
import * as z from 'zod';
import type { ColumnDef } from '../declare/column.ts';
import { describeExplanation } from '../show/describe-row.ts';
import { explainRowIn } from '../show/explain-row.ts';
import { showThing } from '../show/show-thing.ts';
import { requireThing } from '../show/thing.ts';
import { quoteName, quoteText } from '../sql/canonical-text.ts';
import { readBalances } from './balance-history.ts';
import { heldBy, type OwnReader } from './own-reader.ts';
import type { QueryRuns } from './query-runs.ts';
import { cellsOf } from './table-routes.ts';
import type { UiEnvironment } from './ui-options.ts';
import type { ExplainedRow, FoundColumn, FoundRows } from './ui-types.ts';
import { valid } from './valid-request.ts';

/** Rows that are shown of a table. */
const MAX_ROWS = 50;

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
