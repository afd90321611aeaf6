import { DuckDBDecimalValue } from '@duckdb/node-api';
import type { QueryResult } from '../sql/query-result.ts';
import { isNumberType, visible } from '../sql/text-table.ts';
import { readableDecimals, roundDecimal } from './decimals.ts';

const NOTHING = '–';

/** How the values of a column are shown and ordered. */
export type CellKind = 'number' | 'time' | 'date' | 'text';

export function cellKind(type: string): CellKind {
  if (isNumberType(type)) return 'number';
  if (/^TIMESTAMP/.test(type)) return 'time';
  return type === 'DATE' ? 'date' : 'text';
}

/** A value with all its digits; undefined for null. */
export function exactText(value: unknown): string | undefined {
  if (value === null || value === undefined) return undefined;
  return typeof value === 'string' ? value : String(value);
}

/**
 * A value for people: digits in groups of three, control characters as escapes, a dash for null. Every digit is kept, but of floats.
 * @param decimals how many a decimal has; all without it
 */
export function shownText(value: unknown, type: string, decimals?: number): string {
  const text = exactText(value);
  if (text === undefined) return NOTHING;
  if (!isNumberType(type)) return visible(text);
  if (typeof value === 'number') return Number.isFinite(value) ? roundedText(value) : text;
  return groupDigits(decimals === undefined ? text : roundDecimal(text, decimals));
}

function roundedText(value: number): string {
  const [whole = '', fraction] = String(Number(value.toPrecision(6))).split('.');
  return /e/i.test(whole + (fraction ?? ''))
    ? String(Number(value.toPrecision(6)))
    : groupDigits(join(whole, fraction));
}

function join(whole: string, fraction: string | undefined): string {
  return fraction === undefined ? whole : `${whole}.${fraction}`;
}

function groupDigits(text: string): string {
  const [whole = '', fraction] = text.split('.');
  return join(whole.replace(/\B(?=(\d{3})+$)/g, ','), fraction);
}

/** A value for geometry alone: floats draw lines, they are never printed. NaN for what is no number. */
export function drawnNumber(value: unknown): number {
  const text = exactText(value);
  return text === undefined || text.trim() === '' ? Number.NaN : Number(text);
}

/**
 * The place of each row in the ascending order of one column, equal values at the same place; null for nulls. It is found with all
 * digits, so that a page need not compare numbers that JavaScript cannot hold.
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

/** The columns of a result that are shown, in their order, with their headings. */
export interface ShownColumn {
  readonly at: number;
  readonly name: string;
  readonly type: string;
  readonly label: string;
  /** Whether its numbers are names. */
  readonly isId: boolean;
  /** How many decimals its numbers are shown with; all without it. */
  readonly decimals: number | undefined;
}

/** How many decimals a column is shown with; undefined where its numbers have none, or are floats. */
export function decimalsOf({ columns, rows }: QueryResult, at: number): number | undefined {
  if (!/^DECIMAL\(\d+,[1-9]\d*\)$/.test(columns[at]?.type ?? '')) return undefined;
  return readableDecimals(rows.flatMap((row) => exactText(row[at]) ?? []));
}

/** The value of a column for people. */
export function cellText(row: readonly unknown[], { at, type, isId, decimals }: ShownColumn): string {
  return isId ? visible(exactText(row[at]) ?? NOTHING) : shownText(row[at], type, decimals);
}
