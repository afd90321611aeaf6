import { kinds, type Physical } from '../../declare/kind.ts';
import { ROLES } from '../../declare/roles.ts';
import type { TableDef } from '../../declare/table.ts';
import { canonicalText, columnOf, md5Halves, quoteName } from '../../sql/canonical-text.ts';
import type { Query } from '../../sql/query-result.ts';
import { DATE_COLUMN } from '../file-layout.ts';
import type { ColumnBounds, FileBounds, TableEvidence } from '../store.ts';

/** Columns whose sums are evidence: amounts and logical times that are never null. */
export function summedColumns(table: TableDef): readonly string[] {
  return table.columns
    .filter(
      ({ unit, nullable, kind }) => (unit === 'nanoton' || unit === 'lt') && !nullable && kinds[kind].sql === 'BIGINT',
    )
    .map(({ name }) => name);
}

/**
 * Columns whose bounds entries record for each file, so that queries can skip files: the numbers and times of key and sort order, times,
 * logical times, and columns by which roles and blocks are looked up. Hashes and addresses occur in all files, which have Bloom filters for
 * them. `block_time` and `block_date` follow from the time and the path.
 */
export function boundedColumns({ columns, key, sort, time, plays }: TableDef): readonly string[] {
  const wanted = new Set([...key, ...sort, time, 'mc_block_seqno', ...(plays === undefined ? [] : ROLES[plays].kept)]);
  return columns
    .filter(({ kind, origin }) => kind !== 'date' && origin.kind !== 'time' && NUMBERS.has(kinds[kind].physical))
    .filter(
      ({ name, unit, origin }) =>
        wanted.has(name) || unit === 'lt' || (origin.kind === 'parent' && origin.column === 'mc_block_seqno'),
    )
    .map(({ name }) => name);
}

const NUMBERS: ReadonlySet<string> = new Set(['int32', 'int64'] satisfies readonly Physical[]);

/** SQL for the bounds of a column. */
function boundsOf(table: TableDef, name: string): readonly string[] {
  const textOf =
    kinds[columnOf(table, name).kind].sql === 'TIMESTAMP' ? (sql: string) => `epoch_us(${sql})` : (sql: string) => sql;
  const column = quoteName(name);
  return [
    `${textOf(`min(${column})`)}::VARCHAR`,
    `${textOf(`max(${column})`)}::VARCHAR`,
    `count(*) - count(${column})`,
  ];
}

/** Evidence of the rows of a day, or of all rows of a table without time. */
export interface DatedEvidence extends TableEvidence {
  /** `2026-05-01`; undefined for a table without time, null for rows whose time is null. */
  readonly date: string | null | undefined;
  readonly bounds: FileBounds;
}

/**
 * Counts the rows of `relation` (any SQL after FROM), and sums hashes of their keys: the first 8 bytes of the md5 of the key
 * columns' canonical text, read as a little-endian number.
 *
 * @param bounded columns whose bounds are measured as well
 */
export async function measureRows(
  query: Query,
  table: TableDef,
  relation: string,
  bounded: readonly string[] = [],
): Promise<readonly DatedEvidence[]> {
  const date = table.time === undefined ? undefined : DATE_COLUMN;
  const measured = await measureBy(query, table, { relation, by: date, bounded });
  return measured.map(({ by, evidence, bounds }) => ({
    date: date === undefined ? undefined : by === null ? null : String(by),
    bounds,
    ...evidence,
  }));
}

/** The rows to measure. */
export interface MeasureOptions {
  /** Any SQL after FROM. */
  readonly relation: string;
  /** Column that groups the rows; default: all are one group. */
  readonly by?: string | undefined;
  /** More aggregates of each group, in SQL. */
  readonly more?: readonly string[];
  /** Columns whose bounds are measured. Default none. */
  readonly bounded?: readonly string[];
}

export interface Measured {
  readonly by: unknown;
  readonly evidence: TableEvidence;
  readonly bounds: FileBounds;
  readonly more: readonly unknown[];
}

/** {@link measureRows} for each value of a column, or for all rows together. */
export async function measureBy(
  query: Query,
  table: TableDef,
  { relation, by, more = [], bounded = [] }: MeasureOptions,
): Promise<readonly Measured[]> {
  const sums = summedColumns(table);
  const key = canonicalText(table.key.map((name) => columnOf(table, name)));
  const selected = [
    by === undefined ? 'NULL' : `${quoteName(by)}::VARCHAR`,
    'count(*)',
    `coalesce(sum(${md5Halves(key).first}), 0)::VARCHAR`,
    ...sums.map((name) => `coalesce(sum(${quoteName(name)}), 0)::VARCHAR`),
    ...bounded.flatMap((name) => boundsOf(table, name)),
    ...more,
  ];
  const groups = by === undefined ? '' : ` GROUP BY ${quoteName(by)} ORDER BY ${quoteName(by)}`;
  const { rows } = await query(`SELECT ${selected.join(', ')} FROM ${relation}${groups}`);
  return rows.map(([group, count, keyHash, ...values]) => ({
    by: group,
    evidence: {
      rows: Number(count),
      keyHash: BigInt.asUintN(64, BigInt(String(keyHash))).toString(),
      sums: Object.fromEntries(sums.map((name, at) => [name, String(values[at])])),
    },
    bounds: Object.fromEntries(bounded.map((name, at) => [name, boundsIn(values, sums.length + 3 * at)])),
    more: values.slice(sums.length + 3 * bounded.length),
  }));
}

function boundsIn(values: readonly unknown[], at: number): ColumnBounds {
  const [least, greatest, nulls] = values.slice(at, at + 3);
  return [least === null ? null : String(least), greatest === null ? null : String(greatest), Number(nulls)];
}

/** The evidence of several parts together. @param table has sums even if no part has. Default: only those of the parts */
export function addEvidence(parts: readonly TableEvidence[], table?: TableDef): TableEvidence {
  const own = table === undefined ? [] : summedColumns(table);
  const columns = [...new Set([...own, ...parts.flatMap(({ sums }) => Object.keys(sums))])];
  return {
    rows: parts.reduce((total, part) => total + part.rows, 0),
    keyHash: BigInt.asUintN(
      64,
      sumOf(parts, ({ keyHash }) => keyHash),
    ).toString(),
    sums: Object.fromEntries(columns.map((name) => [name, sumOf(parts, ({ sums }) => sums[name]).toString()])),
  };
}

function sumOf(parts: readonly TableEvidence[], of: (part: TableEvidence) => string | undefined): bigint {
  return parts.reduce((sum, part) => sum + BigInt(of(part) ?? 0), 0n);
}
