/** A select that ends with ORDER BY, and perhaps LIMIT, with rows that its order leaves open in any order. */
export function withRandomTies(sql: string): string {
  const ordered = /(\border by (?!all\b)(?:(?!\border by\b|\blimit\b)[\s\S])*?)(\s+limit \S+)?\s*$/i;
  if (!ordered.test(sql)) throw new Error(`expected an order at the end of ${sql}`);
  return sql.replace(ordered, '$1, random()$2');
}
