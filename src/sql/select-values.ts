import { quoteText } from './canonical-text.ts';

/**
 * A select of constant rows. It has a list per column, which takes half of the space of a list of rows.
 * @param columns DuckDB types by name
 */
export function selectValues<Name extends string>(
  columns: Readonly<Record<Name, string>>,
  rows: readonly Readonly<Record<Name, unknown>>[],
): string {
  const lists = Object.entries<string>(columns).map(([name, type]) => {
    const values = rows.map((row) => row[name as Name]);
    // JSON has no timestamps.
    const list = quoteText(JSON.stringify([type === 'TIMESTAMP' ? 'VARCHAR' : type]));
    return `unnest(from_json(${quoteText(JSON.stringify(values))}, ${list}))::${type} AS ${name}`;
  });
  return `SELECT ${lists.join(', ')}`;
}
