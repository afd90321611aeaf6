import type * as duckdb from '@duckdb/node-api';
import { type Bag, readBag } from '../proof/bag-of-cells.ts';
import type { ScalarFunction } from '../sql/database.ts';
import { duckdbApi } from '../sql/duckdb-api.ts';
import { Mismatch, Slice } from './cell-slice.ts';
import { byOpcode, decodeBody } from './decode-body.ts';
import type { Fields, FieldType } from './layout.ts';
import type { NamedLayout } from './layouts.ts';
import { readFields, type Value, type Values } from './read-fields.ts';
import { bagOfRest } from './write-bag.ts';

/** Functions that every query can call. */
export const bodyFunctions = {
  boc_hash: 'hash of the root of a bag of cells, as the API gives it; null for anything else',
  boc_depth: 'depth of a bag of cells; null for anything else',
  boc_to_text:
    'text of a body, with or without the opcode of a comment, over as many cells as it takes; null if it is no UTF-8',
  opcode_of: 'first 32 bits of a body as a signed number; null for shorter ones',
  decode_body: 'a body as JSON, by the layout for its opcode: @type and its fields; null if none matches',
} as const;

export type BodyFunction = keyof typeof bodyFunctions;

/** One of {@link bodyFunctions}. @param functionName its name in DuckDB */
export function fixedFunction(
  name: BodyFunction,
  functionName: string,
  layouts: ReadonlyMap<string, NamedLayout>,
): ScalarFunction {
  const { VARCHAR, INTEGER } = duckdbApi();
  const opcodes = byOpcode(layouts.values());
  const all: Readonly<Record<BodyFunction, readonly [duckdb.DuckDBType, (body: Uint8Array) => duckdb.DuckDBValue]>> = {
    boc_hash: [VARCHAR, ofBag(({ cells, root }) => Buffer.from(cells[root]?.hash ?? []).toString('base64'))],
    boc_depth: [INTEGER, ofBag(({ cells, root }) => cells[root]?.depth ?? null)],
    boc_to_text: [VARCHAR, ofBag(readText)],
    opcode_of: [INTEGER, ofBag((bag) => (new Slice(bag).bitsLeft < 32 ? null : new Slice(bag).number(32) | 0))],
    decode_body: [
      VARCHAR,
      (body) => {
        const decoded = decodeBody(body, opcodes);
        return decoded === undefined ? null : JSON.stringify(decoded);
      },
    ],
  };
  const [type, read] = all[name];
  return { name: functionName, create: () => scalar(functionName, type, read) };
}

function readText(bag: Bag): string | null {
  const slice = new Slice(bag);
  if (slice.bitsLeft >= 32 && new Slice(bag).number(32) === 0) slice.bit = 32;
  return slice.snake();
}

/** `name(body)` with the fields of a layout; with `hasReason`, a struct of the fields and the reason why there are none. */
export function layoutFunction(name: string, fields: Fields, hasReason: boolean): ScalarFunction {
  const { STRUCT, VARCHAR, DuckDBStructValue } = duckdbApi();
  const type = structOf(fields);
  const structs = structsOf(fields);
  const read = (body: Uint8Array): duckdb.DuckDBValue | Mismatch => {
    const bag = readBag(body);
    if (typeof bag === 'string') return new Mismatch(`no bag of cells: ${bag}`);
    try {
      return structs(readFields(new Slice(bag), fields));
    } catch (error) {
      if (error instanceof Mismatch) return error;
      throw error;
    }
  };
  const withReason = (body: Uint8Array): duckdb.DuckDBValue => {
    const value = read(body);
    return new DuckDBStructValue(
      value instanceof Mismatch ? { value: null, error: value.message } : { value, error: null },
    );
  };
  const plain = (body: Uint8Array): duckdb.DuckDBValue => {
    const value = read(body);
    return value instanceof Mismatch ? null : value;
  };
  const returnType = hasReason ? STRUCT({ value: type, error: VARCHAR }) : type;
  return { name, create: () => scalar(name, returnType, hasReason ? withReason : plain) };
}

/** Null for a null body, or one that does not match. */
function ofBag(read: (bag: Bag) => duckdb.DuckDBValue): (body: Uint8Array) => duckdb.DuckDBValue {
  return (body) => {
    const bag = readBag(body);
    if (typeof bag === 'string') return null;
    try {
      return read(bag);
    } catch (error) {
      if (error instanceof Mismatch) return null;
      throw error;
    }
  };
}

function scalar(
  name: string,
  returnType: duckdb.DuckDBType,
  read: (body: Uint8Array) => duckdb.DuckDBValue,
): duckdb.DuckDBScalarFunction {
  const { BLOB, DuckDBBlobValue, DuckDBScalarFunction } = duckdbApi();
  return DuckDBScalarFunction.create({
    name,
    parameterTypes: [BLOB],
    returnType,
    mainFunction: (_info, input, output) => {
      const bodies = input.getColumnVector(0);
      for (let row = 0; row < input.rowCount; row++) {
        const body = bodies.getItem(row);
        output.setItem(row, body instanceof DuckDBBlobValue ? read(body.bytes) : null);
      }
      output.flush();
    },
  });
}

function structOf(fields: Fields): duckdb.DuckDBType {
  return duckdbApi().STRUCT(Object.fromEntries(fields.map(({ name, type }) => [name, typeOf(type)])));
}

function typeOf(type: FieldType): duckdb.DuckDBType {
  const { BIGINT, BLOB, BOOLEAN, DECIMAL, VARCHAR } = duckdbApi();
  switch (type.kind) {
    case 'uint':
    case 'int': {
      const whole = type.kind === 'uint' ? type.bits + 1 : type.bits;
      if (whole <= 64) return BIGINT;
      return whole <= 65 ? DECIMAL(20, 0) : whole <= 127 ? DECIMAL(38, 0) : VARCHAR;
    }
    case 'varuint':
      return type.bytes === 16 ? DECIMAL(38, 0) : VARCHAR;
    case 'bool':
      return BOOLEAN;
    case 'rest':
      return BLOB;
    case 'maybe':
      return typeOf(type.of);
    case 'ref':
    case 'maybe_ref':
    case 'either':
      return type.fields === undefined ? BLOB : structOf(type.fields);
    case 'bits':
    case 'address':
    case 'text':
    case 'snake':
      return VARCHAR;
  }
}

type Convert = (value: Value) => duckdb.DuckDBValue;

/** Builds struct values. Everything that depends only on the layout is built once. */
function structsOf(fields: Fields): Convert {
  const { DuckDBStructValue } = duckdbApi();
  const converts = fields.map(({ name, type }) => [name, convertOf(type)] as const);
  return (values) => {
    const entries: Record<string, duckdb.DuckDBValue> = {};
    for (const [name, convert] of converts) entries[name] = convert((values as Values)[name] ?? null);
    return new DuckDBStructValue(entries);
  };
}

/** Converts a value of a field to one of DuckDB; null stays null. */
function convertOf(type: FieldType): Convert {
  const { DuckDBBlobValue, DuckDBDecimalValue, DuckDBTypeId } = duckdbApi();
  if (type.kind === 'maybe') return convertOf(type.of);
  const target = typeOf(type);
  const structs = 'fields' in type && type.fields !== undefined ? structsOf(type.fields) : undefined;
  return (value) => {
    if (value instanceof Slice) return new DuckDBBlobValue(bagOfRest(value));
    if (typeof value === 'bigint') {
      if (target.typeId === DuckDBTypeId.DECIMAL) return new DuckDBDecimalValue(value, target.width, 0);
      return target.typeId === DuckDBTypeId.VARCHAR ? String(value) : value;
    }
    if (typeof value !== 'object' || value === null) return value;
    return structs?.(value) ?? null;
  };
}
