import { kinds } from '../../declare/kind.ts';
import type { TableDef } from '../../declare/table.ts';
import { canonicalText, columnOf, md5Halves, quoteName } from '../../sql/canonical-text.ts';
import type { Query } from '../../sql/query-result.ts';
import { DATE_COLUMN } from '../file-layout.ts';
import type { TableEvidence } from '../store.ts';

/** Columns whose sums are kept as evidence: amounts and logical times that are never null. */
export function summedColumns(table: TableDef): readonly string[] {
  return table.columns
    .filter(
      ({ unit, nullable, kind }) => (unit === 'nanoton' || unit === 'lt') && !nullable && kinds[kind].sql === 'BIGINT',
    )
    .map(({ name }) => name);
}

/** Evidence of the rows of a date, or of all rows of a table without time. */
export interface DatedEvidence extends TableEvidence {
  /** `2026-05-01`; undefined without time, null where the time is null. */
  readonly date: string | null | undefined;
}

/**
 * Counts the rows of `relation` (any SQL after FROM), and sums hashes of their keys: the first 8 bytes of the md5 of the key
 * columns' canonical text, read as a little-endian number.
 */
export async function measureRows(query: Query, table: TableDef, relation: string): Promise<readonly DatedEvidence[]> {
  const date = table.time === undefined ? undefined : DATE_COLUMN;
  const measured = await measureBy(query, table, { relation, by: date });
  return measured.map(({ by, evidence }) => ({
    date: date === undefined ? undefined : by === null ? null : String(by),
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
}

export interface Measured {
  readonly by: unknown;
  readonly evidence: TableEvidence;
  readonly more: readonly unknown[];
}

/** As {@link measureRows}, of the rows of each value of a column, or of all together. */
export async function measureBy(
  query: Query,
  table: TableDef,
  { relation, by, more = [] }: MeasureOptions,
): Promise<readonly Measured[]> {
  const sums = summedColumns(table);
  const key = canonicalText(table.key.map((name) => columnOf(table, name)));
  const selected = [
    by === undefined ? 'NULL' : `${quoteName(by)}::VARCHAR`,
    'count(*)',
    `coalesce(sum(${md5Halves(key).first}), 0)::VARCHAR`,
    ...sums.map((name) => `coalesce(sum(${quoteName(name)}), 0)::VARCHAR`),
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
    more: values.slice(sums.length),
  }));
}

/** Sums up the evidence of several parts. */
export function addEvidence(parts: readonly TableEvidence[], table: TableDef): TableEvidence {
  let rows = 0;
  let keyHash = 0n;
  const sums = new Map(summedColumns(table).map((name) => [name, 0n]));
  for (const part of parts) {
    rows += part.rows;
    keyHash += BigInt(part.keyHash);
    for (const [name, value] of Object.entries(part.sums)) sums.set(name, (sums.get(name) ?? 0n) + BigInt(value));
  }
  return {
    rows,
    keyHash: BigInt.asUintN(64, keyHash).toString(),
    sums: Object.fromEntries([...sums].map(([name, value]) => [name, value.toString()])),
  };
}
