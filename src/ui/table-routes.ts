import type { Hono } from 'hono';
import { readBuiltTables } from '../marts/built-tables.ts';
import { loadMarts } from '../marts/load-marts.ts';
import { FUNCTION_NAMES, KEYWORDS, relationColumns } from '../marts/relation-columns.ts';
import { quoteName } from '../sql/canonical-text.ts';
import { textOf } from '../sql/row-text.ts';
import { describeRelation, findRelation, listTables } from './list-tables.ts';
import type { OwnReader } from './own-reader.ts';
import { profileColumn } from './profile-column.ts';
import type { QueryRuns } from './query-runs.ts';
import type { UiEnvironment } from './ui-options.ts';
import type { Cell, Names } from './ui-types.ts';

/** Rows of a sample. */
const SAMPLE_ROWS = 100;

/** What the warehouse holds, table by table. */
export function addTableRoutes(app: Hono<UiEnvironment>, own: OwnReader, runs: QueryRuns): void {
  app.get('/api/tables', async (c) => c.json(await own.use(listTables)));
  app.get('/api/tables/:name', async (c) =>
    c.json(await own.use((opened) => describeRelation(opened, c.req.param('name')))),
  );
  app.get('/api/tables/:name/sample', async (c) => {
    const { name } = await own.use((opened) => findRelation(opened, c.req.param('name')));
    const sql = `SELECT * FROM ${quoteName(name)} LIMIT ${SAMPLE_ROWS}`;
    const { columns, rows } = await runs.withQueries(c.req.raw.signal, (read) => read(sql));
    return c.json({ columns, rows: rows.map(cellsOf) });
  });
  app.get('/api/tables/:name/columns/:column/profile', async (c) => {
    const { name, columns } = await own.use((opened) => findRelation(opened, c.req.param('name')));
    const column = columns.find((each) => each.name === c.req.param('column'));
    if (column === undefined) return c.notFound();
    const profile = await runs.withQueries(c.req.raw.signal, (read) =>
      profileColumn(read, name, column.name, column.type),
    );
    return c.json(profile);
  });
  app.get('/api/names', async (c) => {
    const names = await own.use(async ({ reader, registry }): Promise<Names> => {
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

/** The values of a row as text. */
export function cellsOf(row: readonly unknown[]): readonly Cell[] {
  return row.map((value) => textOf(value) ?? null);
}
