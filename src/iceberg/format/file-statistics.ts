import type { TableDef } from '../../declare/table.ts';
import { encodeBound } from './column-types.ts';

const DAY_MS = 86_400_000;

/** Days since 1970 of a date such as `2026-05-01`; null stays null. */
export function dayNumber(date: string | null | undefined): number | null {
  return date === null || date === undefined ? null : Date.parse(`${date}T00:00:00Z`) / DAY_MS;
}

interface Pair {
  readonly key: number;
  readonly value: unknown;
}

/** The properties of a data file by which readers prune. */
export interface MeasuredFile {
  readonly rows: number;
  /** Least and greatest value of columns as decimal text, microseconds for times; and the number of nulls. */
  readonly bounds?:
    | Readonly<Record<string, readonly [least: string | null, greatest: string | null, nulls: number]>>
    | undefined;
  /** UTC day of its rows; null where the time is null, undefined if it is not in the folder of a day. */
  readonly date: string | null | undefined;
}

/** A field of a schema. */
export interface SchemaField {
  readonly id: number;
  readonly name: string;
  readonly type: string;
}

/** The statistics of a data file in a manifest, by field id. Readers prune by them. */
export interface FileStatistics {
  readonly value_counts: readonly Pair[];
  readonly null_value_counts: readonly Pair[];
  readonly lower_bounds: readonly Pair[];
  readonly upper_bounds: readonly Pair[];
}

/** The bounds of a file in the ledger, and derived ones: of the day from the folder, of `block_time` from its seconds. */
export function fileStatistics(
  { columns, time }: TableDef,
  partition: string | undefined,
  fields: readonly SchemaField[],
  { bounds = {}, rows, date }: MeasuredFile,
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
