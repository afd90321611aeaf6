/** How a column's values lie in memory; each is an Arrow layout. `int64` and `decimal128` are little-endian words. */
export type Physical = 'utf8' | 'binary' | 'int32' | 'int64' | 'decimal128' | 'bool';

/** How a value stands in an answer. */
export type Wire =
  | 'string'
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

/** The meaning of a column's type: its form in the answer, its bounds and its types in tables. */
export interface Kind {
  readonly name: string;
  readonly wire: Wire;
  readonly physical: Physical;
  /** Type of the column in DuckDB, and so in Parquet. */
  readonly sql: string;
  /** Least and greatest value, both allowed; absent where the physical type says it. */
  readonly min?: bigint;
  readonly max?: bigint;
  /** One sentence for `tonlake describe`. */
  readonly meaning: string;
}

const UINT32_MAX = 4294967295n;
const INT64_MAX = 9223372036854775807n;
const INT64_MIN = -9223372036854775808n;
const DECIMAL20_MAX = 10n ** 20n - 1n;
const DECIMAL38_MAX = 10n ** 38n - 1n;

function defineKinds<const T extends Record<string, Omit<Kind, 'name'>>>(
  table: T,
): { readonly [K in keyof T]: Kind & { readonly name: K } } {
  return Object.fromEntries(Object.entries(table).map(([name, kind]) => [name, { name, ...kind }])) as {
    readonly [K in keyof T]: Kind & { readonly name: K };
  };
}

/** Every kind of column that a declaration may use. */
export const kinds = defineKinds({
  'base64-hash': {
    wire: 'hash-string',
    physical: 'utf8',
    sql: 'VARCHAR',
    meaning: '32-byte hash, standard base64 with padding, 44 characters',
  },
  'raw-address': {
    wire: 'string',
    physical: 'utf8',
    sql: 'VARCHAR',
    meaning:
      'workchain, colon, 64 upper-case hex digits; addr_none, addr_extern or addr_var without a standard address',
  },
  text: { wire: 'string', physical: 'utf8', sql: 'VARCHAR', meaning: 'UTF-8 text' },
  json: { wire: 'json', physical: 'utf8', sql: 'VARCHAR', meaning: 'JSON text as the source sent it, without blanks' },
  'text-comment': {
    wire: 'comment',
    physical: 'utf8',
    sql: 'VARCHAR',
    meaning: 'the comment of a decoded body whose @type is text_comment',
  },
  boc: { wire: 'base64', physical: 'binary', sql: 'BLOB', meaning: 'bag of cells, binary' },
  bool: { wire: 'boolean', physical: 'bool', sql: 'BOOLEAN', meaning: 'true or false' },
  'decimal-int64': {
    wire: 'decimal-string',
    physical: 'int64',
    sql: 'BIGINT',
    min: INT64_MIN,
    max: INT64_MAX,
    meaning: 'signed 64-bit integer, a decimal string in the answer',
  },
  'decimal-uint64': {
    wire: 'decimal-string',
    physical: 'decimal128',
    sql: 'DECIMAL(20,0)',
    min: 0n,
    max: 18446744073709551615n,
    meaning: 'unsigned 64-bit integer, a decimal string in the answer',
  },
  'decimal-20': {
    wire: 'decimal-string',
    physical: 'decimal128',
    sql: 'DECIMAL(20,0)',
    min: -DECIMAL20_MAX,
    max: DECIMAL20_MAX,
    meaning: 'integer of up to 20 digits, a decimal string in the answer: 64 bits, signed or not',
  },
  'decimal-38': {
    wire: 'decimal-string',
    physical: 'decimal128',
    sql: 'DECIMAL(38,0)',
    min: -DECIMAL38_MAX,
    max: DECIMAL38_MAX,
    meaning: 'integer of up to 38 digits, a decimal string in the answer',
  },
  'decimal-257': {
    wire: 'wide-decimal',
    physical: 'utf8',
    sql: 'VARCHAR',
    meaning: 'integer of any size, as decimal text: what a get-method returns may have 257 bits',
  },
  'decimal-38-of-257': {
    wire: 'wide-decimal',
    physical: 'decimal128',
    sql: 'DECIMAL(38,0)',
    min: -DECIMAL38_MAX,
    max: DECIMAL38_MAX,
    meaning: 'the same as a number; null above 38 digits',
  },
  'uint64-number': {
    wire: 'integer',
    physical: 'decimal128',
    sql: 'DECIMAL(20,0)',
    min: 0n,
    max: 18446744073709551615n,
    meaning: 'unsigned 64-bit integer, a bare number in the answer',
  },
  'unix-seconds-string': {
    wire: 'decimal-string',
    physical: 'int64',
    sql: 'BIGINT',
    min: 0n,
    max: UINT32_MAX,
    meaning: 'Unix time in seconds, a decimal string in the answer',
  },
  'unix-seconds': {
    wire: 'integer',
    physical: 'int64',
    sql: 'BIGINT',
    min: 0n,
    max: UINT32_MAX,
    meaning: 'Unix time in seconds',
  },
  int32: {
    wire: 'integer',
    physical: 'int32',
    sql: 'INTEGER',
    min: -2147483648n,
    max: 2147483647n,
    meaning: 'signed 32-bit integer',
  },
  uint32: {
    wire: 'integer',
    physical: 'int64',
    sql: 'BIGINT',
    min: 0n,
    max: UINT32_MAX,
    meaning: 'unsigned 32-bit integer',
  },
  'int64-number': {
    wire: 'integer',
    physical: 'int64',
    sql: 'BIGINT',
    min: INT64_MIN,
    max: INT64_MAX,
    meaning: 'signed 64-bit integer',
  },
  'hex-shard': {
    wire: 'hex-shard',
    physical: 'int64',
    sql: 'BIGINT',
    meaning: 'shard id as a signed 64-bit integer; unsigned hex without leading zeros in the answer',
  },
  'opcode-hex': {
    wire: 'hex-opcode',
    physical: 'int32',
    sql: 'INTEGER',
    meaning: 'first 32 bits of a body as a signed integer; 0x and 8 hex digits in the answer',
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
