/** Memory layout of a column, as in Arrow. `int64` and `decimal128` are little-endian words. */
export type Physical = 'utf8' | 'binary' | 'int32' | 'int64' | 'decimal128' | 'bool';

/** JSON form of a value in a response. */
export type Wire =
  | 'string'
  | 'address'
  | 'decimal-string'
  | 'hash-string'
  | 'hex-shard'
  | 'hex-opcode'
  | 'base64'
  | 'wide-decimal'
  | 'integer'
  | 'boolean'
  | 'json'
  | 'comment';

/** Type of a column: its form in responses, its bounds and its type in tables. */
export interface Kind {
  readonly name: string;
  readonly wire: Wire;
  readonly physical: Physical;
  /** DuckDB type of the column, and so its Parquet type. */
  readonly sql: string;
  /** Lowest and highest value, both allowed; absent if the physical type implies them. */
  readonly min?: bigint;
  readonly max?: bigint;
  /** Shown by `tonlake show`. */
  readonly meaning: string;
}

const varchar = { physical: 'utf8', sql: 'VARCHAR' } as const;
const integer = { physical: 'int32', sql: 'INTEGER' } as const;
const bigint = { physical: 'int64', sql: 'BIGINT' } as const;
const int64 = { ...bigint, min: -(2n ** 63n), max: 2n ** 63n - 1n } as const;
const uint32 = { ...bigint, min: 0n, max: 2n ** 32n - 1n } as const;
const decimal20 = {
  physical: 'decimal128',
  sql: 'DECIMAL(20,0)',
  min: -(10n ** 20n) + 1n,
  max: 10n ** 20n - 1n,
} as const;
const decimal38 = {
  physical: 'decimal128',
  sql: 'DECIMAL(38,0)',
  min: -(10n ** 38n) + 1n,
  max: 10n ** 38n - 1n,
} as const;
const uint64 = { ...decimal20, min: 0n, max: 2n ** 64n - 1n } as const;

function defineKinds<const T extends Record<string, Omit<Kind, 'name'>>>(
  table: T,
): { readonly [K in keyof T]: Kind & { readonly name: K } } {
  return Object.fromEntries(Object.entries(table).map(([name, kind]) => [name, { name, ...kind }])) as {
    readonly [K in keyof T]: Kind & { readonly name: K };
  };
}

/** Every kind of column that a declaration may use. */
export const kinds = defineKinds({
  'base64-hash': { wire: 'hash-string', ...varchar, meaning: '32-byte hash, 44 characters of standard base64' },
  'raw-address': {
    wire: 'address',
    ...varchar,
    meaning: 'workchain, colon, 64 upper-case hex digits; or addr_none, addr_extern or addr_var',
  },
  text: { wire: 'string', ...varchar, meaning: 'UTF-8 text' },
  json: { wire: 'json', ...varchar, meaning: 'JSON text as received, without whitespace' },
  'text-comment': { wire: 'comment', ...varchar, meaning: 'comment of a decoded body whose @type is text_comment' },
  boc: { wire: 'base64', physical: 'binary', sql: 'BLOB', meaning: 'bag of cells, binary' },
  bool: { wire: 'boolean', physical: 'bool', sql: 'BOOLEAN', meaning: 'true or false' },
  'decimal-int64': { wire: 'decimal-string', ...int64, meaning: 'signed 64-bit integer, sent as a decimal string' },
  'decimal-uint64': { wire: 'decimal-string', ...uint64, meaning: 'unsigned 64-bit integer, sent as a decimal string' },
  'decimal-20': {
    wire: 'decimal-string',
    ...decimal20,
    meaning: 'integer of up to 20 digits (64 bits, signed or not), sent as a decimal string',
  },
  'decimal-38': {
    wire: 'decimal-string',
    ...decimal38,
    meaning: 'integer of up to 38 digits, sent as a decimal string',
  },
  'decimal-257': {
    wire: 'wide-decimal',
    ...varchar,
    meaning: 'integer of any size as decimal text; results of get-methods have up to 257 bits',
  },
  'decimal-38-of-257': { wire: 'wide-decimal', ...decimal38, meaning: 'the same as a number; null above 38 digits' },
  'uint64-number': { wire: 'integer', ...uint64, meaning: 'unsigned 64-bit integer, sent as a number' },
  'unix-seconds-string': {
    wire: 'decimal-string',
    ...uint32,
    meaning: 'Unix time in seconds, sent as a decimal string',
  },
  'unix-seconds': { wire: 'integer', ...uint32, meaning: 'Unix time in seconds' },
  int32: { wire: 'integer', ...integer, min: -(2n ** 31n), max: 2n ** 31n - 1n, meaning: 'signed 32-bit integer' },
  uint32: { wire: 'integer', ...uint32, meaning: 'unsigned 32-bit integer' },
  'int64-number': { wire: 'integer', ...int64, meaning: 'signed 64-bit integer' },
  'hex-shard': {
    wire: 'hex-shard',
    ...bigint,
    meaning: 'shard id as a signed 64-bit integer; sent as unsigned hex without leading zeros',
  },
  'opcode-hex': {
    wire: 'hex-opcode',
    ...integer,
    meaning: 'first 32 bits of a body as a signed integer; sent as 0x and 8 hex digits',
  },
  timestamp: {
    wire: 'integer',
    physical: 'int64',
    sql: 'TIMESTAMP',
    meaning: 'UTC time in microseconds, without zone',
  },
  date: { wire: 'integer', physical: 'int32', sql: 'DATE', meaning: 'UTC date' },
});

export type KindName = keyof typeof kinds;
