import { oncePer } from '../../core/once-per.ts';
import type { TableDef } from '../../declare/table.ts';
import { quoteName } from '../../sql/canonical-text.ts';
import { declaredTon } from '../../sql/ton-views.ts';
import { declaredMacros } from './macros.ts';
import { commentsOn } from './table-comments.ts';
import { declaredViews, selectFiles, viewOf } from './table-relation.ts';

/** Schema of the relations that the views of tables read. */
export const ROWS_SCHEMA = 'CREATE SCHEMA _rows';

/** The relation that the view of a table reads. */
export function rowsOf(table: string): string {
  return `_rows.${quoteName(table)}`;
}

/** SQL of a table's view, and of its further views and comments. Cached, because each command runs it, or compares it with that of a file. */
const relationsOf = oncePer((table: TableDef) => ({
  withoutRows: viewOf(rowsOf(table.name), selectFiles(table, [])),
  view: tableView(table),
  rest: [...declaredViews([table]).map(({ statement }) => statement()), ...commentsOn(table)].join(';\n'),
}));

/**
 * SQL of all macros, views and comments of a database file, with the schema `ton`.
 * @param present names of the tables and marts that have rows
 */
export function declaredRelations(tables: readonly TableDef[], present: Iterable<string> = []): readonly string[] {
  const relations = tables.map(relationsOf);
  return [
    ...declaredMacros().map(({ statement }) => statement()),
    ...relations.map(({ view }) => view),
    ...relations.flatMap(({ rest }) => (rest === '' ? [] : [rest])),
    ...tonStatements(tables, present),
  ];
}

/** SQL of the schema `ton`. @param present names of more tables and marts that have rows */
export function tonStatements(tables: readonly TableDef[], present: Iterable<string> = []): readonly string[] {
  return declaredTon([...tables, ...[...present].map((name) => ({ name }))]).map(({ statement }) => statement());
}

/** SQL of the view of a table. */
export function tableView({ name, columns }: TableDef): string {
  const names = columns.map((column) => quoteName(column.name));
  return viewOf(quoteName(name), `SELECT ${names.join(', ')} FROM ${rowsOf(name)}`);
}

/** SQL of the catalog of a Parquet warehouse without rows and commits. */
export function emptyCatalog(tables: readonly TableDef[]): readonly string[] {
  return [ROWS_SCHEMA, ...tables.map((table) => relationsOf(table).withoutRows), ...declaredRelations(tables)];
}
