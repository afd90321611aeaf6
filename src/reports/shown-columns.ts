import { choicesFor } from '../core/did-you-mean.ts';
import { usage } from '../core/errors.ts';
import type { QueryResult } from '../sql/query-result.ts';
import { decimalsOf, type ShownColumn } from './cells.ts';
import type { Directive } from './report-definition.ts';

/** The columns of a table or of figures. @throws {UsageError} `bad-report` if the select has no such column */
export function shownColumns(
  result: QueryResult,
  directive: Extract<Directive, { kind: 'table' | 'figures' }>,
  path: string,
): readonly ShownColumn[] {
  const { columns, labels = {} } = directive.def;
  const ids = directive.kind === 'table' ? (directive.def.ids ?? []) : [];
  for (const name of [...Object.keys(labels), ...ids]) findColumn(result, name, directive, path);
  const names = columns ?? result.columns.map(({ name }) => name);
  return names.map((name) => {
    const at = findColumn(result, name, directive, path);
    return {
      at,
      name,
      type: result.columns[at]?.type ?? '',
      label: labels[name] ?? name.replaceAll('_', ' '),
      isId: ids.includes(name),
      decimals: decimalsOf(result, at),
    };
  });
}

/** The index of a column named in a directive. @throws {UsageError} `bad-report` */
export function findColumn(result: QueryResult, name: string, directive: Directive, path: string): number {
  const names = result.columns.map((column) => column.name);
  const at = names.indexOf(name);
  if (at >= 0) return at;
  throw usage(`a column of ${directive.of}`, `${name} (${path}:${directive.line})`, {
    code: 'bad-report',
    hint: choicesFor(name, names),
  });
}

/** The columns of a chart. @throws {UsageError} `bad-report` */
export function columnsOfChart(
  result: QueryResult,
  directive: Extract<Directive, { kind: 'chart' }>,
  path: string,
): readonly ShownColumn[] {
  const { x, y, color, partial } = directive.def;
  return [...new Set([x, color, ...y, partial].filter((name) => name !== undefined))].map((name) => {
    const at = findColumn(result, name, directive, path);
    return {
      at,
      name,
      type: result.columns[at]?.type ?? '',
      label: name.replaceAll('_', ' '),
      isId: false,
      decimals: decimalsOf(result, at),
    };
  });
}
