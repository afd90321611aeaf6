/** Iceberg types by DuckDB type, for all kinds of columns. */
const types: Readonly<Record<string, string>> = {
  VARCHAR: 'string',
  BLOB: 'binary',
  BOOLEAN: 'boolean',
  INTEGER: 'int',
  BIGINT: 'long',
  DATE: 'date',
  TIMESTAMP: 'timestamp',
};

/** The Iceberg type of a column. @throws {RangeError} for an unsupported type */
export function icebergType(sql: string): string {
  const [, precision, scale] = /^DECIMAL\((\d+),(\d+)\)$/.exec(sql) ?? [];
  const type = precision === undefined ? types[sql] : `decimal(${precision}, ${scale})`;
  if (type === undefined) throw new RangeError(`expected the type of a column, got ${sql}`);
  return type;
}

/** The DuckDB type of an Iceberg type. */
export function duckdbType(type: string): string {
  const decimal = decimalOf(type);
  if (decimal !== undefined) return `DECIMAL(${decimal.digits},${decimal.scale})`;
  return Object.keys(types).find((sql) => types[sql] === type) ?? type;
}

/** True if Iceberg lets a column of type `from` become one of type `to`: files with either can be read. */
export function isPromotion(from: string, to: string): boolean {
  if (from === to || (from === 'int' && to === 'long')) return true;
  const [before, after] = [decimalOf(from), decimalOf(to)];
  return before !== undefined && after !== undefined && before.scale === after.scale && before.digits <= after.digits;
}

function decimalOf(type: string): { readonly digits: number; readonly scale: number } | undefined {
  const [, digits, scale] = /^decimal\((\d+), (\d+)\)$/.exec(type) ?? [];
  return digits === undefined ? undefined : { digits: Number(digits), scale: Number(scale) };
}

/**
 * A bound in Iceberg's single-value form. Ledger entries have bounds of integers and times only.
 *
 * @param text decimal; days for a date, microseconds for a timestamp
 */
export function encodeBound(type: string, text: string): Buffer | undefined {
  if (type === 'int' || type === 'date') {
    const bytes = Buffer.alloc(4);
    bytes.writeInt32LE(Number(text));
    return bytes;
  }
  if (type !== 'long' && type !== 'timestamp') return undefined;
  const bytes = Buffer.alloc(8);
  bytes.writeBigInt64LE(BigInt(text));
  return bytes;
}
