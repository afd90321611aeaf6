import { docWithUnit } from '../../declare/column.ts';
import type { TableDef } from '../../declare/table.ts';
import { quoteName, quoteText } from '../../sql/canonical-text.ts';

/** Statements that may ask for comments: DuckDB shows them in its catalog functions alone. */
export const ASKS_COMMENTS = /\bduckdb_(columns|tables|views)\b/i;

/** What a view says in listings: that of a table, with those that come with it, or another one. */
interface Commented extends Pick<TableDef, 'name' | 'grain'>, Partial<Pick<TableDef, 'views'>> {
  readonly columns: readonly { readonly name: string; readonly doc: string; readonly unit?: string | undefined }[];
}

/** Statements that say what a view (or table), and its columns are. One that is replaced loses its comments. */
export function commentsOn(
  { name: table, grain, views = [], columns }: Commented,
  kind: 'VIEW' | 'TABLE' = 'VIEW',
): readonly string[] {
  return [
    ...[{ name: table, doc: grain }, ...views].flatMap(({ name, doc }) => comment(`${kind} ${quoteName(name)}`, doc)),
    ...columns.flatMap((column) =>
      comment(`COLUMN ${quoteName(table)}.${quoteName(column.name)}`, docWithUnit(column)),
    ),
  ];
}

function comment(what: string, doc: string): readonly string[] {
  return doc === '' ? [] : [`COMMENT ON ${what} IS ${quoteText(doc)}`];
}
