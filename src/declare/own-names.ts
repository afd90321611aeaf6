import { type UsageError, usage } from '../core/errors.ts';
import { relationsOf } from './check-declaration.ts';
import type { PipelineDef } from './pipeline.ts';

/** Maximum size of a name, which is part of file names. */
const MAX_BYTES = 100;
/** Columns that queries of data files add. */
const RESERVED: readonly string[] = ['filename', 'file_row_number', '_entry'];

/**
 * Checks the names of a user's pipeline: they are parts of paths, and names in SQL, which ignores case. Stored declarations are not
 * checked, so that rows of older versions stay readable.
 *
 * @throws {UsageError}
 */
export function checkOwnNames(file: string, { name, tables }: PipelineDef): void {
  if (!/^[a-z][a-z0-9_]*$/.test(name) || !isUsable(name))
    throw badName(file, 'a name of lower-case letters, digits and underscores', name);
  for (const table of tables) {
    const isPath = /[/\\*?[\]\p{Cc}]/u.test(table.name) || /^[._]/.test(table.name);
    if (isPath || !isUsable(table.name))
      throw badName(file, 'a table name that can be a folder, and does not begin with a dot or underscore', table.name);
    const columns = [...RESERVED, ...table.columns.map((column) => column.name)];
    for (const column of columns) if (!isUsable(column)) throw badName(file, `a column name in ${table.name}`, column);
    requireDistinctCases(file, `column of ${table.name}`, columns);
  }
}

/** @throws {UsageError} if names of tables or views differ in their case only */
export function checkCases(pipelines: readonly PipelineDef[]): void {
  requireDistinctCases('pipelines', 'table or view', relationsOf(pipelines));
}

function isUsable(name: string): boolean {
  return name !== '' && Buffer.byteLength(name) <= MAX_BYTES && !(name in {});
}

function requireDistinctCases(file: string, what: string, names: readonly string[]): void {
  const seen = new Map<string, string>();
  for (const name of names) {
    const other = seen.get(name.toLowerCase());
    if (other !== undefined) {
      const got = other === name ? `${name} twice` : `${other} and ${name}`;
      throw usage(`each ${what} once`, got, 'rename one of them; case makes no difference in SQL', { of: file });
    }
    seen.set(name.toLowerCase(), name);
  }
}

function badName(file: string, expected: string, got: string): UsageError {
  return usage(
    expected,
    JSON.stringify(got.slice(0, MAX_BYTES)),
    `names have 1 to ${MAX_BYTES} bytes, such as own_orders`,
    { of: file },
  );
}
