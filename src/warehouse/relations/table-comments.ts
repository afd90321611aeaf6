import type { TableDef } from '../../declare/table.ts';
import { quoteName, quoteText } from '../../sql/canonical-text.ts';

/** Statements that may ask for comments: DuckDB shows them in its catalog functions alone. */
export const ASKS_COMMENTS = /\bduckdb_(columns|tables|views)\b/i;

/** What the view of a table, those that come with it, and its columns are, for listings. A view that is replaced loses its comments. */
export function commentsOn({ name: table, grain, views, columns }: TableDef): readonly string[] {
  return [
    ...[{ name: table, doc: grain }, ...views].flatMap(({ name, doc }) => comment(`VIEW ${quoteName(name)}`, doc)),
    ...columns.flatMap(({ name, doc, unit }) =>
      comment(
        `COLUMN ${quoteName(table)}.${quoteName(name)}`,
        doc === '' || unit === undefined ? doc : `${doc} (${unit})`,
      ),
    ),
  ];
}

function comment(what: string, doc: string): readonly string[] {
  return doc === '' ? [] : [`COMMENT ON ${what} IS ${quoteText(doc)}`];
}
