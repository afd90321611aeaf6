import { DuckDBDecimalValue } from '@duckdb/node-api';
import { groupDigits } from '../core/format.ts';
import { visible } from '../core/visible.ts';
import { isNumberType } from '../sql/number-type.ts';
import type { QueryResult } from '../sql/query-result.ts';
import { textOf } from '../sql/row-text.ts';

const NOTHING = '–';

/** Determines how values of a column are shown and sorted. */
type CellKind = 'number' | 'time' | 'date' | 'text';

export function cellKind(type: string): CellKind {
  if (isNumberType(type)) return 'number';
  if (/^TIMESTAMP/.test(type)) return 'time';
  return type === 'DATE' ? 'date' : 'text';
}

/**
 * A value as shown: digits in groups of three, control characters as escapes, a dash for null. Only floats are rounded.
 * @param decimals number of decimals; default: all
 */
export function shownText(value: unknown, type: string, decimals?: number): string {
  const text = textOf(value);
  if (text === undefined) return NOTHING;
  if (!isNumberType(type)) return visible(text);
  if (typeof value === 'number') return Number.isFinite(value) ? roundedText(value) : text;
  return groupDigits(decimals === undefined ? text : roundDecimal(text, decimals));
}

function roundedText(value: number): string {
  const text = String(Number(value.toPrecision(6)));
  return /e/i.test(text) ? text : groupDigits(text);
}

/** A value for drawing; never printed, because it is a float. NaN for anything but numbers. */
export function drawnNumber(value: unknown): number {
  const text = textOf(value);
  return text === undefined || text.trim() === '' ? Number.NaN : Number(text);
}

/**
 * The rank of each row in ascending order of one column; equal values have the same rank, nulls have none. Ranks are exact, so that a
 * page need not compare numbers that JavaScript cannot represent.
 */
export function rankRows(result: QueryResult, column: number): readonly (number | null)[] {
  const type = result.columns[column]?.type ?? '';
  const values = result.rows.map((row) => row[column]);
  const compare = cellKind(type) === 'number' ? compareNumbers : compareTexts;
  const sorted = values.filter((value) => value !== null && value !== undefined).sort(compare);
  const ranks = new Map<string, number>();
  for (const value of sorted) {
    const key = String(value);
    if (!ranks.has(key)) ranks.set(key, ranks.size);
  }
  return values.map((value) => (value === null || value === undefined ? null : (ranks.get(String(value)) ?? null)));
}

function compareNumbers(a: unknown, b: unknown): number {
  if (a instanceof DuckDBDecimalValue && b instanceof DuckDBDecimalValue) return compare(a.value, b.value);
  if (typeof a === 'bigint' && typeof b === 'bigint') return compare(a, b);
  return compare(Number(a), Number(b));
}

function compareTexts(a: unknown, b: unknown): number {
  return compare(String(a), String(b));
}

function compare<T extends bigint | number | string>(a: T, b: T): number {
  return a < b ? -1 : a > b ? 1 : 0;
}

/** A shown column, with its heading. */
export interface ShownColumn {
  readonly at: number;
  readonly name: string;
  readonly type: string;
  readonly label: string;
  /** True if its numbers are identifiers. */
  readonly isId: boolean;
  /** Number of decimals; undefined for all. */
  readonly decimals: number | undefined;
}

/** The number of decimals to show for a column; undefined if its numbers have none or are floats. */
export function decimalsOf({ columns, rows }: QueryResult, at: number): number | undefined {
  if (!/^DECIMAL\(\d+,[1-9]\d*\)$/.test(columns[at]?.type ?? '')) return undefined;
  return readableDecimals(rows.flatMap((row) => textOf(row[at]) ?? []));
}

/** The value of a column as shown. */
export function cellText(row: readonly unknown[], { at, type, isId, decimals }: ShownColumn): string {
  return isId ? visible(textOf(row[at]) ?? NOTHING) : shownText(row[at], type, decimals);
}

/** Maximum number of decimals that are shown unrounded. */
const PLAIN = 4;

/**
 * The number of decimals for the numbers of one column, by the greatest: two from 100, four from 1, six from 0.001, otherwise all; fewer
 * if no number has that many.
 *
 * @param texts exact decimals of one type, such as `57104.538701896`
 */
export function readableDecimals(texts: readonly string[]): number {
  const scale = texts.reduce((most, text) => Math.max(most, fractionOf(text).length), 0);
  const greatest = texts.reduce((most, text) => Math.max(most, Math.abs(Number(text))), 0);
  const needed = greatest >= 100 ? 2 : greatest >= 1 ? PLAIN : greatest >= 0.001 ? 6 : scale;
  if (scale <= PLAIN && needed > scale) return scale;
  const used = texts.reduce((most, text) => Math.max(most, fractionOf(text).replace(/0+$/, '').length), 0);
  return Math.min(needed, used);
}

/** `57104.54` for `57104.538701896` and 2 decimals; `<0.01` for a positive number that would be shown as zero. */
export function roundDecimal(text: string, decimals: number): string {
  const fraction = fractionOf(text);
  if (fraction.length <= decimals && /[1-9]/.test(text)) return text;
  const [whole = ''] = text.split('.');
  const isNegative = text.startsWith('-');
  const digits = BigInt(whole.replace('-', '') + fraction);
  if (digits === 0n) return '0';
  const unit = 10n ** BigInt(fraction.length - decimals);
  const rounded = (digits + unit / 2n) / unit;
  if (rounded === 0n && digits > 0n) return `${isNegative ? '>-' : '<'}${placed(1n, decimals)}`;
  return `${isNegative && rounded > 0n ? '-' : ''}${placed(rounded, decimals)}`;
}

function placed(digits: bigint, decimals: number): string {
  const text = String(digits).padStart(decimals + 1, '0');
  return decimals === 0 ? text : `${text.slice(0, -decimals)}.${text.slice(-decimals)}`;
}

function fractionOf(text: string): string {
  return text.split('.')[1] ?? '';
}
