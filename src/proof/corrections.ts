import type { ColumnDef } from '../declare/column.ts';
import { kinds } from '../declare/kind.ts';
import type { TableDef } from '../declare/table.ts';
import { type Batch, makeVector, type Vector } from '../decode/batch.ts';

/** The true value of a column; null if there is none. */
type Truth = number | bigint | boolean | string | null;

/** Columns that get their true value, or that of another column. */
export interface Correction {
  readonly error: string;
  /** Value of the first key column that the corrected rows have: a hash. */
  readonly key: string;
  readonly values: Readonly<Record<string, Truth | { readonly of: string }>>;
}

/** A batch with corrected values. The received values go to its column `_extra`. */
export function applyCorrections(batch: Batch, keyColumn: string, corrections: readonly Correction[]): Batch {
  const keys = batch.vectors.find(({ column }) => column.name === keyColumn);
  if (keys === undefined || corrections.length === 0) return batch;
  const byKey = new Map(corrections.map((correction) => [correction.key, correction]));
  const changed = new Map<string, Map<number, Truth>>();
  const received = new Map<number, Record<string, string>>();
  for (let row = 0; row < batch.rows; row++) {
    const correction = byKey.get(String(valueAt(keys, row)));
    if (correction === undefined) continue;
    for (const [name, value] of Object.entries(correction.values)) {
      const vector = batch.vectors.find(({ column }) => column.name === name);
      if (vector === undefined) continue;
      const truth = isOther(value) ? truthOf(batch, value.of, row) : value;
      const before = valueAt(vector, row);
      if (truth === before) continue;
      const own = changed.get(name) ?? new Map<number, Truth>();
      changed.set(name, own.set(row, truth));
      if (before !== null) received.set(row, { ...received.get(row), [pointerOf(vector.column)]: wireOf(vector, row) });
    }
  }
  if (changed.size === 0) return batch;
  const vectors = batch.vectors.map((vector) => {
    const own = changed.get(vector.column.name);
    if (own !== undefined) return withValues(vector, batch.rows, own);
    return vector.column.origin.kind === 'extra' ? withExtra(vector, batch.rows, received) : vector;
  });
  return { ...batch, vectors };
}

/** The first key column of a table that a correction is found by. */
export function correctedBy({ plays }: TableDef): string {
  return plays === 'messageEnds' ? 'msg_hash' : 'hash';
}

function isOther(value: Truth | { readonly of: string }): value is { readonly of: string } {
  return typeof value === 'object' && value !== null;
}

function truthOf({ vectors }: Batch, name: string, row: number): Truth {
  const vector = vectors.find(({ column }) => column.name === name);
  return vector === undefined ? null : valueAt(vector, row);
}

function isNull({ validity }: Vector, row: number): boolean {
  return (((validity[row >> 3] as number) >> (row & 7)) & 1) === 0;
}

function bytesAt({ values, offsets }: Vector, row: number): Buffer {
  return Buffer.from(values.buffer, values.byteOffset, values.length).subarray(offsets?.[row], offsets?.[row + 1]);
}

/** The value of a row. */
function valueAt(vector: Vector, row: number): Truth {
  if (isNull(vector, row)) return null;
  const { values, column } = vector;
  const view = new DataView(values.buffer, values.byteOffset, values.byteLength);
  switch (kinds[column.kind].physical) {
    case 'utf8':
    case 'binary':
      return bytesAt(vector, row).toString();
    case 'bool':
      return (((values[row >> 3] as number) >> (row & 7)) & 1) === 1;
    case 'int32':
      return view.getInt32(4 * row, true);
    case 'int64':
      return view.getBigInt64(8 * row, true);
    case 'decimal128':
      return (view.getBigInt64(16 * row + 8, true) << 64n) + view.getBigUint64(16 * row, true);
  }
}

function pointerOf({ origin, name }: ColumnDef): string {
  return origin.kind === 'path' ? origin.path : `/${name}`;
}

/** A value as the API sends it. */
function wireOf(vector: Vector, row: number): string {
  const value = valueAt(vector, row);
  switch (kinds[vector.column.kind].wire) {
    case 'json':
      return String(value);
    case 'hex-opcode':
      return JSON.stringify(`0x${(Number(value) >>> 0).toString(16).padStart(8, '0')}`);
    case 'integer':
    case 'boolean':
      return String(value);
    default:
      return JSON.stringify(String(value));
  }
}

/** A copy with other values in some rows. */
function withValues(vector: Vector, rows: number, truths: ReadonlyMap<number, Truth>): Vector {
  const { column } = vector;
  const validity = Uint8Array.from(vector.validity);
  let { nullCount } = vector;
  for (const [row, truth] of truths) {
    const bit = 1 << (row & 7);
    const at = row >> 3;
    if (isNull(vector, row) !== (truth === null)) nullCount += truth === null ? 1 : -1;
    validity[at] = truth === null ? (validity[at] as number) & ~bit : (validity[at] as number) | bit;
  }
  const nullity = { column, nullCount, validity };
  if (vector.offsets !== undefined) {
    const texts = new Map([...truths].map(([row, truth]) => [row, truth === null ? '' : String(truth)]));
    return withTexts(vector, nullity, rows, texts);
  }
  const values = Uint8Array.from(vector.values);
  for (const [row, truth] of truths) if (truth !== null) setValue(column, values, row, truth);
  return makeVector(nullity, undefined, values);
}

function setValue(column: ColumnDef, values: Uint8Array, row: number, truth: NonNullable<Truth>): void {
  const view = new DataView(values.buffer);
  switch (kinds[column.kind].physical) {
    case 'bool': {
      const bit = 1 << (row & 7);
      values[row >> 3] = truth === true ? (values[row >> 3] as number) | bit : (values[row >> 3] as number) & ~bit;
      return;
    }
    case 'int32':
      return view.setInt32(4 * row, Number(truth), true);
    case 'int64':
      return view.setBigInt64(8 * row, BigInt(truth), true);
    default:
      view.setBigUint64(16 * row, BigInt.asUintN(64, BigInt(truth)), true);
      view.setBigInt64(16 * row + 8, BigInt(truth) >> 64n, true);
  }
}

function withTexts(
  vector: Vector,
  nullity: Parameters<typeof makeVector>[0],
  rows: number,
  texts: ReadonlyMap<number, string>,
): Vector {
  const parts = Array.from({ length: rows }, (_, row) => {
    const text = texts.get(row);
    return text === undefined ? bytesAt(vector, row) : Buffer.from(text);
  });
  const offsets = new Int32Array(rows + 1);
  for (const [row, part] of parts.entries()) offsets[row + 1] = (offsets[row] as number) + part.length;
  return makeVector(nullity, offsets, new Uint8Array(Buffer.concat(parts)));
}

/** `_extra` with the values that were received, by their JSON pointers. */
function withExtra(
  vector: Vector,
  rows: number,
  received: ReadonlyMap<number, Readonly<Record<string, string>>>,
): Vector {
  const texts = new Map<number, Truth>();
  for (const [row, fields] of received) {
    const own = Object.entries(fields).map(([pointer, json]) => `${JSON.stringify(pointer)}:${json}`);
    const before = valueAt(vector, row);
    const kept = typeof before === 'string' && before.length > 2 ? [before.slice(1, -1)] : [];
    texts.set(row, `{${[...kept, ...own].join(',')}}`);
  }
  return withValues(vector, rows, texts);
}
