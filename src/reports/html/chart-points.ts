import { UsageError } from '../../core/errors.ts';
import type { QueryResult } from '../../sql/query-result.ts';
import { isNumberType } from '../../sql/text-table.ts';
import { cellKind, drawnNumber, exactText, shownText } from '../cells.ts';
import type { Directive } from '../report-definition.ts';
import { findColumn } from '../shown-columns.ts';

export type ChartDirective = Extract<Directive, { kind: 'chart' }>;

/** What stands along the axis that is not the value's. */
export type AxisKind = 'time' | 'number' | 'band';

/** One mark of a chart: where it is drawn, and what it tells exactly. */
export interface Point {
  readonly position: Date | number | string;
  readonly value: number;
  readonly series: string;
  /** Whether it stands for less than it says. */
  readonly isPartial: boolean;
  readonly positionText: string;
  /** All digits, for programs. */
  readonly exact: string;
  /** For people. */
  readonly valueText: string;
}

export interface Points {
  readonly points: readonly Point[];
  readonly axis: AxisKind;
  readonly series: readonly string[];
  /** Names of the columns. */
  readonly position: string;
  readonly value: string;
}

/**
 * Makes the points of a chart from rows; rows without a value or a place are left out.
 * @throws {UsageError} `bad-report` when a column is not there, or the value is no number
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
    throw new UsageError(
      `usage: expected numbers in ${value} of ${directive.of}, got ${typeOf(valueAt)} (${path}:${directive.line})`,
      {
        code: 'bad-report',
        hint: mark === 'barX' ? 'use barX to draw numbers along x' : 'charts draw numbers along y',
      },
    );
  }
  const axis = axisOf(mark, typeOf(positionAt));
  const points = result.rows.flatMap((row) => {
    const point = {
      position: placeOf(row[positionAt], axis),
      value: drawnNumber(row[valueAt]),
      series: colorAt < 0 ? '' : (exactText(row[colorAt]) ?? 'none'),
      isPartial: row[partialAt] === true,
      positionText: row[positionAt] === null ? 'none' : shownText(row[positionAt], typeOf(positionAt)),
      exact: exactText(row[valueAt]) ?? '',
      valueText: shownText(row[valueAt], typeOf(valueAt)),
    };
    return Number.isFinite(point.value) && isPlace(point.position) ? [point] : [];
  });
  return { points, axis, series: [...new Set(points.map(({ series }) => series))], position, value };
}

function axisOf(mark: string, type: string): AxisKind {
  const kind = cellKind(type);
  if (mark === 'barX' || kind === 'text') return 'band';
  if (kind === 'number') return mark === 'bar' ? 'band' : 'number';
  return 'time';
}

function placeOf(value: unknown, axis: AxisKind): Point['position'] {
  const text = exactText(value);
  if (axis === 'time')
    return new Date(`${(text ?? '').replace(' ', 'T').replace(/^(\d{4}-\d{2}-\d{2})$/, '$1T00:00:00')}Z`);
  return axis === 'number' ? drawnNumber(value) : (text ?? 'none');
}

function isPlace(position: Point['position']): boolean {
  return typeof position === 'string' || Number.isFinite(Number(position));
}
