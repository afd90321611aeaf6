import { StoreError, TonlakeError, usage } from '../core/errors.ts';
import { readServerText } from '../http/server-text.ts';
import type { CellNotes } from './cell-notes.ts';
import type { ExportedRows } from './exported-rows.ts';

/** Table in a target database that records the rows tonlake wrote: one row for each table and day. */
export const OWN_TABLE = '_tonlake_exports';

/** Day of a row of `OWN_TABLE` for tables that are replaced as a whole, and for rows without a day. */
export const NO_DAY = '';

/** A table of a target, and the schema or database that its name begins with. */
export interface TableName {
  readonly schema: string | undefined;
  readonly name: string;
}

/** A name such as `transactions` or `lake.transactions`. @throws {UsageError} */
export function parseTableName(text: string, expected: string, maxBytes = Number.POSITIVE_INFINITY): TableName {
  const names = text.split('.');
  if (names.length > 2 || names.some((name) => name === '' || Buffer.byteLength(name) > maxBytes)) {
    throw usage(expected, text, '--as transactions, or --as lake.transactions');
  }
  const [name = '', schema] = names.toReversed();
  return { schema, name };
}

/** Rows of one day that were replaced; null for rows without a day, undefined for a table without days. */
export interface DayReport {
  readonly day: string | null | undefined;
  readonly rows: number;
}

/** How a table is written to a database. */
export interface TableOptions {
  /** Name of the table in the target. */
  readonly name: string;
  readonly notes: CellNotes;
  readonly exportedAt: string;
  /** Called after each day that readers can see. */
  readonly onDay?: ((report: DayReport) => void) | undefined;
}

/**
 * Replaces one day after the other, or all rows together if they have no days.
 *
 * @param replace gives the number of rows
 * @param onDay called after each day
 */
export async function replaceEach(
  rows: ExportedRows,
  replace: (day: string | null | undefined) => Promise<number>,
  onDay: (report: DayReport) => void = () => undefined,
): Promise<readonly DayReport[]> {
  const reports: DayReport[] = [];
  for (const day of rows.isDated ? await rows.days() : [undefined]) {
    const report = { day, rows: await replace(day) };
    reports.push(report);
    onDay(report);
  }
  return reports;
}

/** Error codes of failed connections, for which no hint about passwords is shown. */
const UNANSWERED = new Set(['ECONNREFUSED', 'ENOTFOUND', 'EAI_AGAIN', 'EHOSTUNREACH', 'ENETUNREACH', 'ETIMEDOUT']);

/** The error of a server that cannot be connected to. @param login where its password is read from */
export function unreachable(server: string, login: string, cause: unknown): StoreError {
  const code = cause instanceof Error && 'code' in cause ? String(cause.code) : '';
  const hint = UNANSWERED.has(code) ? 'check the host and the port, and that the server is running' : login;
  return new StoreError(`store: cannot connect to ${server}: ${readServerText(Buffer.from(messageOf(cause))).trim()}`, {
    code: 'unreachable',
    retryable: true,
    hint,
    cause,
  });
}

/** The error of an export that a server did not complete. */
export function targetFailed(server: string, cause: unknown): unknown {
  if (cause instanceof TonlakeError) return cause;
  return new StoreError(`store: ${server}: ${messageOf(cause)}`, {
    hint: 'days that were replaced before are complete; the others are as they were',
    cause,
  });
}

/** A column of a table in a target, with the type that the target reports. */
export interface TargetColumn {
  readonly name: string;
  readonly type: string;
}

/** The columns to add to an existing table. @throws {StoreError} if a column has another type */
export function columnsToAdd(
  table: string,
  wanted: readonly TargetColumn[],
  existing: readonly TargetColumn[],
): readonly TargetColumn[] {
  const types = new Map(existing.map(({ name, type }) => [name, type.toLowerCase()]));
  const other = wanted.find(({ name, type }) => types.has(name) && types.get(name) !== type.toLowerCase());
  if (other === undefined) return wanted.filter(({ name }) => !types.has(name));
  throw new StoreError(
    `store: table ${table} of the target: expected column ${other.name} of type ${other.type}, got ${types.get(other.name)}`,
    { hint: 'choose another name with --as, or remove the table' },
  );
}

/**
 * Refuses a table that tonlake did not write, because rows would be removed from it, and one with rows of another network.
 *
 * @param network recorded for the table in `OWN_TABLE`; undefined if there is no record
 * @throws {StoreError} `other-network`
 */
export function requireOwnTable(table: string, network: string | undefined, wanted: string): void {
  if (network === wanted) return;
  if (network === undefined) {
    throw new StoreError(
      `store: table ${table} of the target was not made by tonlake, and its rows would be replaced`,
      {
        hint: 'choose another name with --as',
      },
    );
  }
  throw new StoreError(`store: table ${table} of the target holds ${network}, not ${wanted}`, {
    code: 'other-network',
    hint: 'choose another name with --as, or another database',
  });
}

/** The message of an error; an `AggregateError` of several refused addresses has none. */
function messageOf(error: unknown): string {
  if (error instanceof AggregateError) return error.errors.map(messageOf).join('; ');
  return error instanceof Error ? error.message : String(error);
}
