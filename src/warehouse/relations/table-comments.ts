import { docWithUnit } from '../../declare/column.ts';
import type { TableDef } from '../../declare/table.ts';
import { quoteName, quoteText } from '../../sql/canonical-text.ts';

/** Matches statements that may read comments, which only DuckDB's catalog functions show. */
export const ASKS_COMMENTS = /\bduckdb_(columns|tables|views)\b/i;

/** A view with its comments. */
interface Commented extends Pick<TableDef, 'name' | 'grain'>, Partial<Pick<TableDef, 'views'>> {
  readonly columns: readonly { readonly name: string; readonly doc: string; readonly unit?: string | undefined }[];
}

/** Statements that comment on a view (or table) and its columns. They must be run again after it is replaced. */
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
