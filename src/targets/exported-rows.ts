import { StoreError, type UsageError, usage } from '../core/errors.ts';
import { addDays, daysBetween, isDate } from '../core/time-zone.ts';
import { docWithUnit } from '../declare/column.ts';
import type { Registry } from '../declare/registry.ts';
import type { TableDef } from '../declare/table.ts';
import { loadMarts } from '../marts/load-marts.ts';
import { quoteName } from '../sql/canonical-text.ts';
import { describeSelect } from '../sql/describe.ts';
import type { RowStream } from '../sql/query-result.ts';
import { splitStatements, withoutEnd } from '../sql/statements.ts';
import type { Reader } from '../warehouse/index.ts';
import { type ClassedType, castOf, classOf } from './column-class.ts';

/** Column of the UTC day of rows. */
export const DAY_COLUMN = 'block_date';

/** A column of exported rows. */
export interface ExportedColumn {
  readonly name: string;
  /** DuckDB type. */
  readonly type: string;
  readonly classed: ClassedType;
  readonly doc: string | undefined;
  /** False only if the declaration says that it is never null. */
  readonly isNullable: boolean;
}

/** UTC days, both ends inclusive: `2026-05-01`. */
export interface Days {
  readonly from: string;
  readonly to: string;
}

/** What is exported: a table or mart, or the rows of a query. */
export type ExportSource = { readonly table: string } | { readonly sql: string };

/** Rows to export, of the snapshot that the warehouse had when it was opened. */
export interface ExportedRows {
  readonly network: string;
  readonly columns: readonly ExportedColumn[];
  /** Columns that identify a row; empty if they are not known. */
  readonly key: readonly string[];
  readonly doc: string | undefined;
  /** True if rows have a UTC day, by which they can be replaced. */
  readonly isDated: boolean;
  /** Days of the rows in order, null for rows without one; with requested days, all of them, even those without rows. */
  days(): Promise<readonly (string | null)[]>;
  /** SQL that selects the rows. */
  readonly sql: string;
  /** Streams the rows. `expressions`: SQL of the columns that are read; default: as their class is read. */
  read<T>(
    day: string | null | undefined,
    use: (rows: RowStream) => Promise<T>,
    expressions?: readonly string[],
  ): Promise<T>;
}

interface RowsOptions {
  readonly days?: Days | undefined;
  /** As `days`, but ignored for rows without a day. */
  readonly daysIfDated?: Days | undefined;
  readonly parameters?: Readonly<Record<string, unknown>> | undefined;
}

/** @throws {UsageError} for days of rows that have none; {StoreError} when the query is wrong */
export async function openRows(
  reader: Reader,
  registry: Registry,
  source: ExportSource,
  { days: required, daysIfDated, parameters }: RowsOptions,
): Promise<ExportedRows> {
  const table = 'table' in source ? await findTable(registry, source.table) : undefined;
  const base = 'table' in source ? `SELECT * FROM ${quoteName(source.table)}` : oneSelect(source.sql);
  const described = await describeSelect(reader, base, parameters);
  const columns = described.map(({ name, type }): ExportedColumn => {
    const declared = table?.columns.find((column) => column.name === name);
    const doc = declared === undefined ? undefined : docWithUnit(declared) || undefined;
    const isNullable = declared?.nullable ?? true;
    return { name, type, classed: classOf(type), doc, isNullable };
  });
  const isDated = columns.some(({ name, type }) => name === DAY_COLUMN && type === 'DATE');
  if (required !== undefined && !isDated) throw withoutDay();
  const days = required ?? (isDated ? daysIfDated : undefined);
  const range = days === undefined ? '' : ` WHERE ${DAY_COLUMN} BETWEEN DATE '${days.from}' AND DATE '${days.to}'`;
  const sql = days === undefined ? base : `SELECT * FROM (${base}\n)${range}`;
  const sqlOf = (day: string | null | undefined): string => {
    if (day === undefined) return sql;
    const condition = day === null ? 'IS NULL' : `= DATE '${day}'`;
    return `SELECT * FROM (${base}\n) WHERE ${DAY_COLUMN} ${condition}`;
  };
  return {
    network: reader.network,
    columns,
    key: table?.key ?? [],
    doc: table?.grain,
    isDated,
    sql,
    days: async () => {
      if (days !== undefined) return datesOf(days);
      const { rows } = await reader.query(
        `SELECT DISTINCT ${DAY_COLUMN}::VARCHAR FROM (${base}\n) ORDER BY ALL NULLS FIRST`,
        parameters,
      );
      return rows.map(([day]) => (day === null ? null : String(day)));
    },
    read: (day, use, expressions = columns.map((column) => `${castOf(column)} AS ${quoteName(column.name)}`)) =>
      reader.stream(`SELECT ${expressions.join(', ')} FROM (${sqlOf(day)}\n)`, parameters, use),
  };
}

/** A table, view or mart; undefined for a relation without declaration. */
async function findTable(registry: Registry, name: string): Promise<TableDef | undefined> {
  const own = registry.tables.find((each) => each.name === name);
  if (own !== undefined || registry.tableOf(name) !== undefined) return own;
  const mart = (await loadMarts(registry)).find((each) => each.name === name);
  return mart === undefined ? undefined : { ...mart.table, grain: mart.grain };
}

function oneSelect(sql: string): string {
  const [select = '', ...more] = splitStatements(sql);
  if (more.length > 0) {
    throw new StoreError(`store: query: expected one select, got ${more.length + 1} statements`, {
      code: 'several-results',
      hint: 'use WITH, or the sql command with --output',
    });
  }
  return withoutEnd(select);
}

function withoutDay(): UsageError {
  return usage(`rows with a date column ${DAY_COLUMN}`, 'none', 'leave out --days, or select the column');
}

function datesOf({ from, to }: Days): readonly string[] {
  return Array.from({ length: daysBetween(from, to) + 1 }, (_, at) => addDays(from, at));
}

/** Days as `2026-05-01`, or `2026-05-01:2026-05-07`. @throws {UsageError} */
export function parseDays(text: string): Days {
  const [from = '', to = from, ...more] = text.split(':');
  if (more.length === 0 && isDate(from) && isDate(to) && from <= to) return { from, to };
  throw usage(
    'days such as 2026-05-01 or 2026-05-01:2026-05-07',
    JSON.stringify(text),
    'days are UTC, both ends inclusive',
  );
}
