const NUMBER = /^(TINYINT|SMALLINT|INTEGER|BIGINT|HUGEINT|U[A-Z]*INT[A-Z]*|DECIMAL\(.*\)|FLOAT|DOUBLE)$/;

/** True for the types of numbers, by DuckDB's name. */
export function isNumberType(type: string): boolean {
  return NUMBER.test(type);
}
