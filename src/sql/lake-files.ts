import { existsSync, readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { type UsageError, usage } from '../core/errors.ts';
import { sha256Of } from '../core/sha256.ts';
import { PROJECT_FILE, readProject } from '../project/project-file.ts';
import { quoteName, quoteText } from './canonical-text.ts';
import { Database } from './database.ts';
import type { Declared } from './lazy-declarations.ts';
import { rowsVariable, rowType, type TonView, tonViews } from './ton-views.ts';

/** Columns that identify a row of a relation; a file may lack the others. */
const KEYS: Readonly<Record<string, readonly string[]>> = {
  prices_daily: ['timestamp', 'token_address'],
  labels: ['address', 'label'],
};

/** The rows of `ton` that come from files of the project, as variables that are set when a statement first reads them. */
export function lakeFiles(): readonly Declared[] {
  const [own, through] = [fileViews(), tonViews().filter(({ sql, file }) => sql !== '' && file !== undefined)];
  return [
    ...own.map((view) => ({
      name: view.name,
      body: '',
      statement: async () => {
        const path = pathOf(view);
        return `SET VARIABLE ${rowsVariable(view)} = ${path === undefined ? 'NULL' : await rowsOf(view, path)}`;
      },
    })),
    // Views of a database file already exist; these names lead to the files that they read.
    ...through.map(({ name, sql }) => ({ name, body: sql, statement: () => '' })),
  ];
}

/** A line for each relation of a statement that is empty because the project names no file for it. */
export function lakeFileNotes(sql: string): readonly string[] {
  return filesIn(sql)
    .filter((view) => pathOf(view) === undefined)
    .map(({ name, file }) => `ton.${name} is empty: ${PROJECT_FILE} names no file of ${file} (docs/project.md)`);
}

/** Hashes of the files whose rows a statement reads. */
export function lakeFileHashes(sql: string): readonly string[] {
  const paths = filesIn(sql).map(pathOf);
  return paths.flatMap((path) => (path !== undefined && existsSync(path) ? [sha256Of(readFileSync(path), 16)] : []));
}

/** The relations with rows of a file that a statement reads. */
function filesIn(sql: string): readonly TonView[] {
  const named = tonViews().filter(({ name }) => new RegExp(String.raw`\bton"?\s*\.\s*"?${name}\b`, 'i').test(sql));
  const files = new Set(named.map(({ file }) => file));
  return fileViews().filter(({ file }) => files.has(file));
}

function fileViews(): readonly TonView[] {
  return tonViews().filter(({ sql }) => sql === '');
}

function pathOf({ file = '' }: TonView): string | undefined {
  const path = readProject()?.[file];
  return path === undefined ? undefined : String(path);
}

/** SQL of the rows of a CSV or Parquet file, as a list of structs. @throws {UsageError} */
async function rowsOf(view: TonView, path: string): Promise<string> {
  if (!existsSync(path)) throw refusal(view, path, 'a CSV or Parquet file', 'none');
  const database = await Database.open();
  try {
    const found = await readColumns(database, view, path);
    const columns = castColumns(view, found);
    await requireRows(database, view, path, { found, columns });
    const { rows } = await database.query(
      `SELECT to_json(list(r))::VARCHAR FROM (SELECT ${columns.join(', ')} FROM file) AS r`,
    );
    const text = rows[0]?.[0];
    return text === null
      ? 'NULL'
      : `from_json(${quoteText(String(text))}, ${quoteText(JSON.stringify([rowType(view)]))})`;
  } finally {
    database.close();
  }
}

/** Reads a file into the table `file`. @returns names of its columns */
async function readColumns(database: Database, view: TonView, path: string): Promise<readonly string[]> {
  const scan = /\.parquet$/i.test(path)
    ? `read_parquet(${quoteText(resolve(path))})`
    : `read_csv(${quoteText(resolve(path))}, header := true, all_varchar := true)`;
  await database.run(`CREATE TEMP TABLE file AS SELECT * FROM ${scan}`).catch((error: unknown) => {
    const [why = ''] = String(error instanceof Error ? error.message : error).split('\n');
    throw refusal(view, path, 'a CSV or Parquet file', why, error);
  });
  const { rows } = await database.query('SELECT column_name FROM (DESCRIBE file)');
  const found = rows.map(([name]) => String(name));
  const names = view.columns.map(({ name }) => name);
  const unknown = found.find((name) => !names.includes(name));
  const absent = KEYS[view.name]?.find((name) => !found.includes(name));
  if (unknown !== undefined) throw refusal(view, path, `columns ${names.join(', ')}`, unknown);
  if (absent !== undefined) throw refusal(view, path, `a column ${absent}`, found.join(', '));
  return found;
}

/** SQL of the view's columns, from those of the file. */
function castColumns({ columns }: TonView, found: readonly string[]): readonly string[] {
  return columns.map(({ name, type }) => {
    const column = quoteName(name);
    if (!found.includes(name)) return `NULL::${type} AS ${column}`;
    return `${name.endsWith('address') ? `upper(${column})` : `TRY_CAST(${column} AS ${type})`} AS ${column}`;
  });
}

/** Requires valid types, raw addresses, and unique keys. */
async function requireRows(
  database: Database,
  view: TonView,
  path: string,
  { found, columns }: { readonly found: readonly string[]; readonly columns: readonly string[] },
): Promise<void> {
  await database.run(`CREATE TEMP VIEW cast_rows AS SELECT ${columns.join(', ')} FROM file`);
  for (const { name, type } of view.columns.filter(({ name }) => found.includes(name))) {
    const column = quoteName(name);
    const isAddress = name.endsWith('address');
    const wrong = isAddress
      ? `NOT regexp_full_match(${column}, '-?\\d+:[0-9A-Fa-f]{64}')`
      : `TRY_CAST(${column} AS ${type}) IS NULL`;
    const { rows } = await database.query(
      `SELECT ${column}::VARCHAR FROM file WHERE ${column} IS NOT NULL AND ${wrong} LIMIT 1`,
    );
    if (rows[0] !== undefined)
      throw refusal(view, path, `${isAddress ? 'a raw address' : type} in ${name}`, String(rows[0][0]));
  }
  const key = (KEYS[view.name] ?? []).map(quoteName).join(', ');
  const { rows } = await database.query(
    `SELECT concat_ws(' ', ${key}), count(*) FROM cast_rows GROUP BY ${key} HAVING count(*) > 1 ORDER BY ALL LIMIT 1`,
  );
  const [one, count] = rows[0] ?? [];
  if (one !== undefined) throw refusal(view, path, 'each key once', `${count} rows of ${one}`);
}

function refusal({ file }: TonView, path: string, expected: string, got: string, cause?: unknown): UsageError {
  return usage(`${expected} in ${path}`, got, `${PROJECT_FILE} names it as ${file}; docs/ton.md has its columns`, {
    cause,
  });
}
