import { StoreError } from '../core/errors.ts';
import type { ExportedRows } from './exported-rows.ts';

/** Table in a target database that says which rows tonlake wrote: one row for each table and day. */
export const OWN_TABLE = '_tonlake_exports';

/** Day of a row of `OWN_TABLE` for tables that are replaced as a whole, and for rows without a day. */
export const NO_DAY = '';

/** Rows of one day that were replaced; null for rows without a day, undefined for a table without days. */
export interface DayReport {
  readonly day: string | null | undefined;
  readonly rows: number;
}

/** What is replaced together, in order. */
export async function unitsOf(rows: ExportedRows): Promise<readonly (string | null | undefined)[]> {
  return rows.isDated ? rows.days() : [undefined];
}

/** A column of a table in a target, with the type that the target reports. */
export interface TargetColumn {
  readonly name: string;
  readonly type: string;
}

/**
 * The columns to add to an existing table.
 *
 * @throws {StoreError} `wrong-target` if a column has another type
 */
export function columnsToAdd(
  table: string,
  wanted: readonly TargetColumn[],
  held: readonly TargetColumn[],
): readonly TargetColumn[] {
  const types = new Map(held.map(({ name, type }) => [name, type.toLowerCase()]));
  const other = wanted.find(({ name, type }) => types.has(name) && types.get(name) !== type.toLowerCase());
  if (other === undefined) return wanted.filter(({ name }) => !types.has(name));
  throw new StoreError(
    `store: table ${table} of the target: expected column ${other.name} of type ${other.type}, got ${types.get(other.name)}`,
    { code: 'wrong-target', hint: 'choose another name with --as, or remove the table' },
  );
}

/**
 * Refuses a table that tonlake did not write, because rows would be removed from it, and one with rows of another network.
 *
 * @param network recorded for the table in `OWN_TABLE`; undefined if there is no record
 * @throws {StoreError} `foreign-table`, `other-network`
 */
export function requireOwnTable(table: string, network: string | undefined, wanted: string): void {
  if (network === wanted) return;
  if (network === undefined) {
    throw new StoreError(
      `store: table ${table} of the target was not made by tonlake, and its rows would be replaced`,
      {
        code: 'foreign-table',
        hint: 'choose another name with --as',
      },
    );
  }
  throw new StoreError(`store: table ${table} of the target holds ${network}, not ${wanted}`, {
    code: 'other-network',
    hint: 'choose another name with --as, or another database',
  });
}
