import { rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { TableDef } from '../declare/table.ts';
import { quoteName, quoteText } from './canonical.ts';
import { Database } from './database.ts';
import { syncPath } from './disk.ts';
import { type LedgerFolder, layoutOf } from './ledger.ts';
import { defineMacros } from './macros.ts';
import { heldMarts } from './martviews.ts';
import { type FileGroup, selectFiles } from './relation.ts';
import type { LedgerEntry } from './store.ts';

/** Files of a table in force, by the columns they were written with. */
export function groupFiles(warehouse: string, ledger: LedgerFolder, table: string): readonly FileGroup[] {
  const groups = new Map<string, string[]>();
  for (const entry of ledger.entries.effective) {
    const part = entry.tables[table];
    if (part === undefined) continue;
    const paths = groups.get(part.schema) ?? [];
    groups.set(part.schema, paths);
    for (const file of part.files) paths.push(join(warehouse, file.path));
  }
  return [...groups].map(([schema, paths]) => ({ columns: ledger.schema(schema).columns, paths }));
}

/** SQL of the views of tables, and of `_commits`. */
export function catalogViews(warehouse: string, ledger: LedgerFolder, tables: readonly TableDef[]): readonly string[] {
  const all = [...tables, ...heldMarts(ledger)];
  return [...all.map((table) => tableView(warehouse, ledger, table)), commitsView(ledger.entries.effective)];
}

/**
 * SQL of the views that come with tables that hold rows. It is run before that of the tables themselves, over tables without
 * files: a view takes up what it stands on only when it is read, and many views over many files would be slow to make.
 */
function declaredViews(ledger: LedgerFolder, tables: readonly TableDef[]): readonly string[] {
  const held = new Set(ledger.entries.effective.flatMap((entry) => Object.keys(entry.tables)));
  const views = tables.flatMap((table) => (held.has(table.name) ? table.views : []));
  if (views.length === 0) return [];
  const empty = tables.map((table) => viewOf(table.name, selectFiles(table, [])));
  return [...empty, ...views.map(({ name, sql }) => viewOf(name, sql))];
}

export function viewOf(name: string, select: string): string {
  return `CREATE OR REPLACE VIEW ${quoteName(name)} AS ${select}`;
}

function tableView(warehouse: string, ledger: LedgerFolder, table: TableDef): string {
  return viewOf(table.name, selectFiles(table, groupFiles(warehouse, ledger, table.name)));
}

const commitColumns = {
  number: 'BIGINT',
  id: 'VARCHAR',
  pipeline: 'VARCHAR',
  span_from: 'BIGINT',
  span_to: 'BIGINT',
  verdict: 'VARCHAR',
  rows: 'JSON',
  requests: 'BIGINT',
  committed_at: 'VARCHAR',
} as const;

/** SQL of the view `_commits`: one row for each entry in force. */
export function commitsView(entries: readonly LedgerEntry[]): string {
  const commits = entries.map((entry) => ({
    number: entry.number,
    id: entry.id,
    pipeline: entry.pipeline,
    span_from: entry.span.from,
    span_to: entry.span.to,
    verdict: entry.verdict,
    rows: Object.fromEntries(Object.entries(entry.tables).map(([table, { rows }]) => [table, rows])),
    requests: entry.requests,
    committed_at: entry.committedAt,
  }));
  const columns = Object.keys(commitColumns).map((name) =>
    name === 'committed_at' ? `c.${name}::TIMESTAMP AS ${name}` : `c.${name}`,
  );
  const json = quoteText(JSON.stringify(commits));
  return `CREATE OR REPLACE VIEW _commits AS SELECT ${columns.join(', ')} FROM (SELECT unnest(from_json(${json}, ${quoteText(
    JSON.stringify([commitColumns]),
  )})) AS c)`;
}

/**
 * Builds the catalog aside and puts it in place of the old one in one step. It holds views only, with absolute paths, so that
 * any DuckDB can open it; an open reader keeps the old one.
 */
export async function writeCatalog(
  warehouse: string,
  ledger: LedgerFolder,
  tables: readonly TableDef[],
): Promise<void> {
  const { stage, catalog } = layoutOf(warehouse);
  // All at once, so that every view tells of the same commits.
  const views = [...declaredViews(ledger, tables), ...catalogViews(warehouse, ledger, tables)];
  const staged = join(stage, 'catalog.duckdb');
  await rm(staged, { force: true });
  await rm(`${staged}.wal`, { force: true });
  const database = await Database.open(staged, { threads: '1' });
  try {
    await defineMacros(database);
    for (const view of views) await database.run(view);
    await database.run('CHECKPOINT');
  } finally {
    database.close();
  }
  await syncPath(staged);
  // A log beside the old catalog was written by somebody else's session, and does not fit the new one.
  await rm(`${catalog}.wal`, { force: true });
  await rename(staged, catalog);
  await syncPath(warehouse);
}
