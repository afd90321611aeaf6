import type { TableDef } from '../declare/table.ts';
import type { DataFile } from '../warehouse/index.ts';
import { encodeBound } from './column-types.ts';
import type { IcebergField } from './table-metadata.ts';

const DAY_MS = 86_400_000;

/** Days since 1970 of a date such as `2026-05-01`; null stays null. */
export function dayNumber(date: string | null | undefined): number | null {
  return date === null || date === undefined ? null : Date.parse(`${date}T00:00:00Z`) / DAY_MS;
}

interface Pair {
  readonly key: number;
  readonly value: unknown;
}

/** The statistics of a data file in a manifest, by field id. Readers choose files by them. */
export interface FileStatistics {
  readonly value_counts: readonly Pair[];
  readonly null_value_counts: readonly Pair[];
  readonly lower_bounds: readonly Pair[];
  readonly upper_bounds: readonly Pair[];
}

/** The bounds of a file in the ledger, and those that follow from them: of the day from the folder, of `block_time` from its seconds. */
export function fileStatistics(
  { columns, time }: TableDef,
  partition: string | undefined,
  fields: readonly IcebergField[],
  { bounds = {}, rows, date }: DataFile,
): FileStatistics {
  const found: { readonly id: number; readonly nulls: number; readonly least?: Buffer; readonly greatest?: Buffer }[] =
    [];
  for (const { id, name, type } of fields) {
    const origin = columns.find((column) => column.name === name)?.origin;
    const seconds = origin?.kind === 'time' && type === 'timestamp' ? bounds[time ?? ''] : undefined;
    const known = bounds[name] ?? (seconds && [micros(seconds[0]), micros(seconds[1]), seconds[2]]);
    const day = name === partition ? dayNumber(date) : null;
    const [least, greatest, nulls] = known ?? (day === null ? [] : [String(day), String(day), 0]);
    if (nulls === undefined) continue;
    const [lower, upper] = [least, greatest].map((text) => (text == null ? undefined : encodeBound(type, text)));
    found.push({ id, nulls, ...(lower && { least: lower }), ...(upper && { greatest: upper }) });
  }
  const pairs = (chosen: (one: (typeof found)[number]) => unknown): Pair[] =>
    found.flatMap((one) => (chosen(one) === undefined ? [] : [{ key: one.id, value: chosen(one) }]));
  return {
    value_counts: pairs(() => rows),
    null_value_counts: pairs(({ nulls }) => nulls),
    lower_bounds: pairs(({ least }) => least),
    upper_bounds: pairs(({ greatest }) => greatest),
  };
}

function micros(seconds: string | null): string | null {
  return seconds === null ? null : `${seconds}000000`;
}
