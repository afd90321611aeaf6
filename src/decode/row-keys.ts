import type { Decoder } from './decoder.ts';
import { type AnyColumn, BytesColumn, WordsColumn } from './typed-columns.ts';

/** Two rows with the same key. */
export interface Twins {
  readonly rows: readonly [first: number, second: number];
  /** `expected rows with keys of their own, got two with mc_seqno 5, workchain -1`. */
  readonly reason: string;
}

/** Which of several rows with the same key is written. */
export interface Copies {
  readonly key: readonly string[];
  /** `newest`: the row with the highest value of `column`; of equal ones, or without `column`, the last. */
  readonly keep: 'first' | 'last' | 'newest';
  readonly column?: string | undefined;
}

/** Key of a row by some columns, as text: different keys have different texts. */
export function keyOf(decoder: Pick<Decoder, 'column'>, columns: readonly string[]): (row: number) => string {
  const values = columns.map((name) => textOf(decoder.column(name)));
  return (row) => {
    let key = '';
    for (const value of values) {
      const text = value(row);
      key += text === undefined ? '-' : `${text.length}:${text}`;
    }
    return key;
  };
}

/** The value of a row as text, undefined for none; equal values have equal texts. */
export function textOf(column: AnyColumn): (row: number) => string | undefined {
  if (column instanceof BytesColumn) {
    return (row) =>
      column.isSet(row) ? column.bytes.toString('latin1', column.offsets[row], column.offsets[row + 1]) : undefined;
  }
  if (column instanceof WordsColumn) {
    const { width } = column;
    return (row) => (column.isSet(row) ? column.words.subarray(row * width, (row + 1) * width).join('.') : undefined);
  }
  return (row) =>
    column.isSet(row) ? String((((column.bits[row >> 3] as number) >> (row & 7)) & 1) === 1) : undefined;
}

/** Pairs of rows with the same key. */
export function findTwins(
  decoder: Pick<Decoder, 'column'>,
  key: readonly string[],
  rows: Int32Array,
): readonly Twins[] {
  const textOfRow = keyOf(decoder, key);
  const seen = new Map<string, number>();
  const twins: Twins[] = [];
  for (const row of rows) {
    const text = textOfRow(row);
    const first = seen.get(text);
    if (first === undefined) seen.set(text, row);
    else {
      const named = key.map((name) => `${name} ${readableOf(decoder.column(name), row)}`).join(', ');
      twins.push({ rows: [first, row], reason: `expected rows with keys of their own, got two with ${named}` });
    }
  }
  return twins;
}

/** One row per key, in their order. */
export function chooseCopies(decoder: Decoder, rows: Int32Array, { key, keep, column }: Copies): Int32Array {
  const textOfRow = keyOf(decoder, key);
  const isNewer = newerBy(column === undefined ? undefined : decoder.column(column));
  const chosen = new Map<string, number>();
  for (const row of rows) {
    const text = textOfRow(row);
    const other = chosen.get(text);
    if (other === undefined || keep === 'last' || (keep === 'newest' && isNewer(row, other))) chosen.set(text, row);
  }
  return Int32Array.from(chosen.values()).sort();
}

/** Compares a row with an earlier one. */
function newerBy(column: AnyColumn | undefined): (row: number, than: number) => boolean {
  if (!(column instanceof WordsColumn)) return () => true;
  return (row, than) => column.signed64(row) >= column.signed64(than);
}

/** The value of a row as readable text; `null` without a value. */
export function readableOf(column: AnyColumn, row: number): string {
  if (!column.isSet(row)) return 'null';
  if (column instanceof BytesColumn) return column.bytes.toString('utf8', column.offsets[row], column.offsets[row + 1]);
  if (!(column instanceof WordsColumn)) return textOf(column)(row) ?? 'null';
  const { words, width } = column;
  const own = words.subarray(row * width, (row + 1) * width);
  return BigInt.asIntN(
    width * 32,
    own.reduceRight((value, word) => (value << 32n) | BigInt(word), 0n),
  ).toString();
}
