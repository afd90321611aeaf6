import { choicesFor } from '../core/did-you-mean.ts';
import { usage } from '../core/errors.ts';
import type { QueryResult } from '../sql/query-result.ts';
import { decimalsOf, type ShownColumn } from './cells.ts';
import type { ChartDirective, Directive, FiguresDirective, TableDirective } from './report-definition.ts';

/** The columns of a table or of figures. @throws {UsageError} if the select has no such column */
export function shownColumns(
  result: QueryResult,
  directive: TableDirective | FiguresDirective,
  path: string,
): readonly ShownColumn[] {
  const { columns, labels = {} } = directive.def;
  const ids = directive.kind === 'table' ? (directive.def.ids ?? []) : [];
  for (const name of [...Object.keys(labels), ...ids]) findColumn(result, name, directive, path);
  const names = columns ?? result.columns.map(({ name }) => name);
  return names.map((name) => {
    const column = columnAt(result, findColumn(result, name, directive, path));
    return { ...column, label: labels[name] ?? column.label, isId: ids.includes(name) };
  });
}

/** The index of a column named in a directive. @throws {UsageError} */
export function findColumn(result: QueryResult, name: string, directive: Directive, path: string): number {
  const names = result.columns.map((column) => column.name);
  const at = names.indexOf(name);
  if (at >= 0) return at;
  throw usage(`a column of ${directive.of}`, `${name} (${path}:${directive.line})`, choicesFor(name, names));
}

/** The columns of a chart. @throws {UsageError} */
export function columnsOfChart(result: QueryResult, directive: ChartDirective, path: string): readonly ShownColumn[] {
  const { x, y, color, partial } = directive.def;
  const names = new Set([x, color, ...y, partial].filter((name) => name !== undefined));
  return [...names].map((name) => columnAt(result, findColumn(result, name, directive, path)));
}

function columnAt(result: QueryResult, at: number): ShownColumn {
  const { name = '', type = '' } = result.columns[at] ?? {};
  return { at, name, type, label: name.replaceAll('_', ' '), isId: false, decimals: decimalsOf(result, at) };
}
