import type { TableDef } from '../../declare/table.ts';
import { quoteName, quoteText } from '../../sql/canonical-text.ts';

/** Statements that may ask for comments: DuckDB shows them in its catalog functions alone. */
export const ASKS_COMMENTS = /\bduckdb_(columns|tables|views)\b/i;

/** What the view of a table and those that come with it are, for listings. A view that is replaced loses its comments. */
export function viewComments({ name, grain, views }: TableDef): readonly string[] {
  return [{ name, doc: grain }, ...views].flatMap((view) => comment(`VIEW ${quoteName(view.name)}`, view.doc));
}

/** The same, and what its columns are. */
export function commentsOn(table: TableDef): readonly string[] {
  const columns = table.columns.flatMap(({ name, doc, unit }) =>
    comment(
      `COLUMN ${quoteName(table.name)}.${quoteName(name)}`,
      doc === '' || unit === undefined ? doc : `${doc} (${unit})`,
    ),
  );
  return [...viewComments(table), ...columns];
}

function comment(what: string, doc: string): readonly string[] {
  return doc === '' ? [] : [`COMMENT ON ${what} IS ${quoteText(doc)}`];
}
