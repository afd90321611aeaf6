import type { Hono } from 'hono';
import * as z from 'zod';
import { usage } from '../core/errors.ts';
import { readBuiltTables } from '../marts/built-tables.ts';
import { loadMarts } from '../marts/load-marts.ts';
import { FUNCTION_NAMES, KEYWORDS, quantityRule, relationColumns } from '../marts/relation-columns.ts';
import { parseThing } from '../show/thing.ts';
import { quoteName, quoteText } from '../sql/canonical-text.ts';
import type { QueryResult } from '../sql/query-result.ts';
import { textOf } from '../sql/row-text.ts';
import { addStatesIn } from '../warehouse/query/state-relations.ts';
import { CommitCache } from './commit-cache.ts';
import { profileColumn } from './profile-column.ts';
import type { QueryRuns } from './query-runs.ts';
import { describeRelation, findRelation, itemOf, type Relation, readRelations } from './read-relations.ts';
import type { SharedReader } from './shared-reader.ts';
import type { UiEnvironment } from './ui-options.ts';
import type { Cell, Names, ResultColumn } from './ui-types.ts';
import { valid } from './valid-request.ts';

/** Rows of a sample. */
const SAMPLE_ROWS = 100;

/** Order of rows, by a column. */
export const sortSchema = {
  sort: z.string().optional(),
  order: z.enum(['asc', 'desc']).default('asc'),
} as const;
const sampleSchema = z.strictObject({ filter: z.string().trim().max(200).default(''), ...sortSchema });

/** What the warehouse holds, table by table. */
export function addTableRoutes(app: Hono<UiEnvironment>, shared: SharedReader, runs: QueryRuns): void {
  const relations = new CommitCache(readRelations);
  const find = (name: string): Promise<Relation> =>
    shared.use(async (opened) => findRelation(await relations.get(opened), name));
  app.get('/api/tables', async (c) => c.json((await shared.use(relations.get)).map(itemOf)));
  app.get('/api/tables/:name', async (c) => {
    const relation = await find(c.req.param('name'));
    return c.json(await shared.use((opened) => describeRelation(opened, relation)));
  });
  app.get('/api/tables/:name/sample', valid('query', sampleSchema), async (c) => {
    const table = await find(c.req.param('name'));
    const { filter, sort, order } = c.req.valid('query');
    const where = filter === '' ? '' : `WHERE ${containing(table.columns, filter)}`;
    const by = sort === undefined ? '' : `ORDER BY ${columnIn(table.columns, sort)} ${order} NULLS LAST`;
    const sql = `SELECT * FROM ${quoteName(table.name)} ${where} ${by} LIMIT ${SAMPLE_ROWS}`;
    const { columns, rows } = await runs.inWarehouse(c.req.raw.signal, async ({ reader, registry }) => {
      await addStatesIn(sql, reader, registry);
      return reader.query(sql);
    });
    return c.json({ columns: await resultColumns(shared, columns), rows: rows.map(cellsOf) });
  });
  app.get('/api/tables/:name/columns/:column/profile', async (c) => {
    const { name, columns } = await find(c.req.param('name'));
    const column = columns.find((each) => each.name === c.req.param('column'));
    if (column === undefined) return c.notFound();
    const profile = await runs.inWarehouse(c.req.raw.signal, async ({ reader, registry }) => {
      await addStatesIn(name, reader, registry);
      return profileColumn(reader.query, name, column.name, column.type);
    });
    return c.json(profile);
  });
  app.get('/api/names', async (c) => {
    const names = await shared.use(async ({ reader, registry }): Promise<Names> => {
      const built = await readBuiltTables(reader, registry, await loadMarts(registry));
      const { rows } = await reader.query(FUNCTION_NAMES);
      const columns = Object.fromEntries(await relationColumns(registry, built));
      const keywords = await reader.query(KEYWORDS);
      return { columns, functions: namesOf(rows), keywords: namesOf(keywords.rows) };
    });
    return c.json(names);
  });
}

function namesOf(rows: readonly (readonly unknown[])[]): readonly string[] {
  return rows.map(([name]) => String(name));
}

/** A condition: some column contains a text, or an address or hash that is written in another form. */
function containing(columns: readonly { readonly name: string }[], filter: string): string {
  const text = quoteText((parseThing(filter)?.value ?? filter).toLowerCase());
  return columns.map(({ name }) => `contains(lower(${quoteName(name)}::VARCHAR), ${text})`).join(' OR ');
}

/** The columns of a result, each with whether its numbers are quantities. */
export async function resultColumns(
  shared: SharedReader,
  columns: QueryResult['columns'],
): Promise<readonly ResultColumn[]> {
  const isQuantity = await shared.use(({ registry }) => quantityRule(registry));
  return columns.map((column) => ({ ...column, isQuantity: isQuantity(column) }));
}

/** @throws {UsageError} `unknown-column` */
export function columnIn(columns: readonly { readonly name: string }[], name: string): string {
  if (columns.some((column) => column.name === name)) return quoteName(name);
  throw usage('a column of these rows', name, undefined, { code: 'unknown-column' });
}

/** The values of a row as text. */
export function cellsOf(row: readonly unknown[]): readonly Cell[] {
  return row.map((value) => textOf(value) ?? null);
}
