import { usage } from '../../core/errors.ts';
import { isNumberType } from '../../sql/number-type.ts';
import type { QueryResult } from '../../sql/query-result.ts';
import { textOf } from '../../sql/row-text.ts';
import { drawnNumber, shownText } from '../cells.ts';
import type { Directive } from '../report-definition.ts';
import { findColumn } from '../shown-columns.ts';
import { type AxisKind, axisOf, type Point, type Points, timeOf } from './chart-options.ts';

export type ChartDirective = Extract<Directive, { kind: 'chart' }>;

/**
 * Converts rows to the points of a chart; rows without a value or position are left out.
 * @throws {UsageError} `bad-report` if a column does not exist, or the value is not a number
 */
export function pointsOf(result: QueryResult, directive: ChartDirective, path: string): Points {
  const { mark, x, y, color, partial } = directive.def;
  const [position, value] = mark === 'barX' ? [y, x] : [x, y];
  const positionAt = findColumn(result, position, directive, path);
  const valueAt = findColumn(result, value, directive, path);
  const colorAt = color === undefined ? -1 : findColumn(result, color, directive, path);
  const partialAt = partial === undefined ? -1 : findColumn(result, partial, directive, path);
  const typeOf = (at: number): string => result.columns[at]?.type ?? '';
  if (!isNumberType(typeOf(valueAt))) {
    throw usage(`numbers in ${value} of ${directive.of}`, `${typeOf(valueAt)} (${path}:${directive.line})`, {
      code: 'bad-report',
      hint: mark === 'barX' ? 'use barX to draw numbers along x' : 'charts draw numbers along y',
    });
  }
  const axis = axisOf(mark, typeOf(positionAt));
  const points = result.rows.flatMap((row) => {
    const point = {
      position: placeOf(row[positionAt], axis),
      value: drawnNumber(row[valueAt]),
      series: colorAt < 0 ? '' : (textOf(row[colorAt]) ?? 'none'),
      isPartial: row[partialAt] === true,
      positionText: row[positionAt] === null ? 'none' : shownText(row[positionAt], typeOf(positionAt)),
      exact: textOf(row[valueAt]) ?? '',
      valueText: shownText(row[valueAt], typeOf(valueAt)),
    };
    return Number.isFinite(point.value) && isPlace(point.position) ? [point] : [];
  });
  return { points, axis, series: [...new Set(points.map(({ series }) => series))], position, value };
}

function placeOf(value: unknown, axis: AxisKind): Point['position'] {
  const text = textOf(value);
  if (axis === 'time') return timeOf(text ?? '');
  return axis === 'number' ? drawnNumber(value) : (text ?? 'none');
}

function isPlace(position: Point['position']): boolean {
  return typeof position === 'string' || Number.isFinite(Number(position));
}
