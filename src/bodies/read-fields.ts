import { Mismatch, Slice, textOf } from './cell-slice.ts';
import type { Fields, FieldType } from './layout.ts';

/** A value of a field. A cell without a layout is the rest of its slice. */
export type Value = bigint | string | boolean | null | Slice | Values;

export interface Values {
  readonly [name: string]: Value;
}

/** Reads fields in order, and ignores data after the last one. @throws {Mismatch} */
export function readFields(slice: Slice, fields: Fields): Values {
  const values: Record<string, Value> = {};
  for (const { name, type, equals } of fields) {
    const value = readValue(slice, type);
    if (equals !== undefined && value !== equals)
      throw new Mismatch(`expected ${name} ${equals}, got ${String(value)}`);
    values[name] = value;
  }
  return values;
}

function readValue(slice: Slice, type: FieldType): Value {
  switch (type.kind) {
    case 'uint':
      return slice.uint(type.bits);
    case 'int':
      return slice.int(type.bits);
    case 'bits':
      return type.bits % 4 === 0 ? slice.hex(type.bits) : slice.uint(type.bits).toString(2).padStart(type.bits, '0');
    case 'varuint':
      return slice.uint(8 * slice.number(type.bytes === 16 ? 4 : 5));
    case 'address':
      return slice.address();
    case 'bool':
      return slice.number(1) === 1;
    case 'text':
      if (slice.bitsLeft % 8 !== 0) throw new Mismatch(`expected whole bytes of text, got ${slice.bitsLeft} bits`);
      return textOf(slice.bytes(slice.bitsLeft / 8));
    case 'snake':
      return slice.snake();
    case 'rest':
      return takeRest(slice);
    case 'maybe':
      return slice.number(1) === 1 ? readValue(slice, type.of) : null;
    case 'ref':
      return readChild(slice, type.fields);
    case 'maybe_ref':
      return slice.number(1) === 1 ? readChild(slice, type.fields) : null;
    case 'either':
      // Some contracts leave the bit out when there is no payload.
      if (slice.bitsLeft === 0 && slice.refsLeft === 0) return null;
      if (slice.number(1) === 1) return readChild(slice, type.fields);
      return type.fields === undefined ? takeRest(slice) : readFields(slice, type.fields);
  }
}

function takeRest(slice: Slice): Value {
  const rest = slice.copy();
  slice.bit = slice.cell.bits;
  slice.ref = slice.cell.refs.length;
  return rest;
}

function readChild(slice: Slice, fields: Fields | undefined): Value {
  const child = new Slice(slice.bag, slice.child());
  return fields === undefined ? child : readFields(child, fields);
}
