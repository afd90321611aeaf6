import { type Effects, realEffects } from '../core/effects.ts';
import { usage } from '../core/errors.ts';
import type { Registry } from '../declare/registry.ts';
import { writeAtomically } from '../files/atomic-write.ts';
import { guardedSource } from '../sql/formula-guard.ts';
import { boundIn } from '../sql/parameters.ts';
import { writeRelation } from '../sql/relation-writer.ts';
import type { Reader } from '../warehouse/index.ts';
import { explainFault } from '../warehouse/query/query.ts';
import { lacksOfQuery } from '../warehouse/query/query-coverage.ts';
import { addStatesIn } from '../warehouse/query/state-relations.ts';
import { openWarehouse } from '../warehouse/query/warehouse-registry.ts';
import { CellNotes } from './cell-notes.ts';
import { type Days, type ExportedRows, type ExportSource, openRows } from './exported-rows.ts';
import type { DayReport, TableOptions } from './owned-table.ts';
import { parseTarget, type Target, uselessOption, type WholeFormat } from './target.ts';

const GUARDED = 'text that begins like a formula got an apostrophe before it; --keep-formulas leaves it as it is';

export interface ExportOptions {
  /** If set, the warehouse must be of this network. */
  readonly network?: string | undefined;
  /** UTC days to export, both ends inclusive; default: all. */
  readonly days?: Days | undefined;
  /** Like `days`, but rows without a day are replaced together. */
  readonly daysIfDated?: Days | undefined;
  /**
   * Name of the table in a database, or of the first sheet of a workbook. Default: that of the exported table; a database needs one for a
   * query.
   */
  readonly as?: string | undefined;
  /** Values of `$name` in the query. */
  readonly parameters?: Readonly<Record<string, unknown>> | undefined;
  /** Refuses tables with missing or quarantined blocks. Default false: warns. */
  readonly strict?: boolean | undefined;
  /** Does not guard CSV texts that begin like a formula. Default false. */
  readonly keepFormulas?: boolean | undefined;
  readonly registry?: Registry | undefined;
  readonly effects?: Effects | undefined;
  /** Called for each gap in the exported range, and for values that the target cannot store unchanged. */
  readonly onWarning?: ((message: string) => void) | undefined;
  /** Called for each gap alone. */
  readonly onGap?: ((message: string) => void) | undefined;
  /** Called after each day that was replaced in a database. */
  readonly onDay?: ((report: DayReport) => void) | undefined;
}

export interface ExportReport {
  readonly target: string;
  readonly rows: number;
  /** The days that were replaced in a database, in order; undefined for other targets. */
  readonly days: readonly DayReport[] | undefined;
  /** Gaps, and values that the target cannot store unchanged. */
  readonly warnings: readonly string[];
}

/**
 * Exports the rows of a table, mart or query to a file or database, from one snapshot. Memory use does not depend on
 * their number. A file is replaced as a whole; in a database, the exported days are replaced.
 *
 * @param to path of a file that ends in .csv, .json, .jsonl, .parquet, .arrow, .xlsx or .sqlite, postgres://user@host/database, or
 *   https://user@host:8443/database of ClickHouse
 * @throws {UsageError} for a wrong target or option, or one that the target has no use for; {AuditError} `missing` with `strict`;
 *   {StoreError}
 */
export async function exportRows(
  warehouse: string,
  source: ExportSource,
  to: string | Target,
  options: ExportOptions = {},
): Promise<ExportReport> {
  const target = typeof to === 'string' ? parseTarget(to) : to;
  requireUseful(target, options);
  const { registry: given, network } = options;
  const { registry, reader } = await openWarehouse(warehouse, { registry: given, network, isPinned: true });
  try {
    return await exportFrom(reader, registry, source, target, options);
  } finally {
    await reader.close();
  }
}

function requireUseful(target: Target, options: ExportOptions): void {
  const useless = uselessOption(target, options);
  if (useless === undefined) return;
  const { name, needed } = useless;
  throw usage(`${needed} with ${name}`, undefined, `remove ${name}`);
}

async function exportFrom(
  reader: Reader,
  registry: Registry,
  source: ExportSource,
  target: Target,
  options: ExportOptions,
): Promise<ExportReport> {
  const { days, daysIfDated, strict, onWarning = () => undefined } = options;
  const sql = 'sql' in source ? source.sql : source.table;
  const parameters = boundIn(sql, options.parameters);
  await addStatesIn(sql, reader, registry);
  const rows = await openRows(reader, registry, source, { days, daysIfDated, parameters }).catch((error: unknown) => {
    throw explainFault(error, { sql });
  });
  const gaps = await lacksOfQuery(reader, registry, { sql: rows.sql, parameters, isStrict: strict });
  for (const gap of gaps) {
    onWarning(gap);
    options.onGap?.(gap);
  }
  const notes = new CellNotes();
  const name = options.as ?? ('table' in source ? source.table : undefined);
  const written = await writeTo(target, reader, rows, { name, notes, options });
  const messages = notes.messages();
  for (const message of messages) onWarning(message);
  const shown =
    target.kind === 'file' ? target.path : `${target.url.protocol}//${target.url.host}${target.url.pathname}`;
  return { target: shown, ...written, warnings: [...gaps, ...messages] };
}

interface Writing {
  /** Name of the table, or of the first sheet of a workbook; undefined for an unnamed query. */
  readonly name: string | undefined;
  readonly notes: CellNotes;
  readonly options: ExportOptions;
}

async function writeTo(
  target: Target,
  reader: Reader,
  rows: ExportedRows,
  writing: Writing,
): Promise<Pick<ExportReport, 'rows' | 'days'>> {
  const { name, notes, options } = writing;
  const { effects = realEffects, onDay } = options;
  const table = (): TableOptions => {
    if (name !== undefined) return { name, notes, exportedAt: new Date(effects.now()).toISOString(), onDay };
    throw usage('a name for the rows of a query', 'none', '--as NAME is the table in the target');
  };
  if (target.kind === 'postgres') {
    const { writePostgres } = await import('./postgres.ts');
    return ofDays(await writePostgres(rows, target.url, table()));
  }
  if (target.kind === 'clickhouse') {
    const { writeClickhouse } = await import('./clickhouse.ts');
    return ofDays(await writeClickhouse(rows, target.url, table()));
  }
  const { path, format } = target;
  if (format === 'sqlite') {
    const { writeSqlite } = await import('./sqlite-file.ts');
    const own = table();
    const days = await writeAtomically(path, (draft) => writeSqlite(rows, { path, draft }, own));
    // All days become visible with the file.
    for (const day of days) onDay?.(day);
    return ofDays(days);
  }
  const count = await writeAtomically(path, (draft) => writeFileAs(format, draft, reader, rows, writing));
  return { rows: count, days: undefined };
}

/** Writes rows to a new file. */
async function writeFileAs(
  format: WholeFormat,
  draft: string,
  reader: Reader,
  rows: ExportedRows,
  { name = 'rows', notes, options }: Writing,
): Promise<number> {
  const selection = { sql: rows.sql, parameters: options.parameters };
  switch (format) {
    case 'arrow': {
      const { writeArrow } = await import('./arrow-file.ts');
      return writeArrow(rows, draft, notes);
    }
    case 'xlsx': {
      const { writeXlsx } = await import('./xlsx-file.ts');
      return writeXlsx(rows, draft, { name, notes });
    }
    case 'csv': {
      const source =
        options.keepFormulas === true ? reader : guardedSource(reader, (column) => notes.add(GUARDED, column));
      return writeRelation(source, selection, { file: draft, format });
    }
    default:
      return writeRelation(reader, selection, { file: draft, format });
  }
}

function ofDays(days: readonly DayReport[]): Pick<ExportReport, 'rows' | 'days'> {
  return { rows: days.reduce((total, { rows }) => total + rows, 0), days };
}
