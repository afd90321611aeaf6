import { usage } from '../../core/errors.ts';
import { isNumberType } from '../../sql/number-type.ts';
import type { QueryResult } from '../../sql/query-result.ts';
import { textOf } from '../../sql/row-text.ts';
import { shownText } from '../cells.ts';
import type { Directive } from '../report-definition.ts';
import { findColumn } from '../shown-columns.ts';
import { axisOf, type Points, pointsOf } from './chart-options.ts';

export type ChartDirective = Extract<Directive, { kind: 'chart' }>;

/**
 * Converts rows to the points of a chart; rows without a value or position are left out.
 * @throws {UsageError} `bad-report` if a column does not exist, or the value is not a number
 */
export function pointsIn(result: QueryResult, directive: ChartDirective, path: string): Points {
  const { mark, x, y, color, partial } = directive.def;
  const [positions, values] = mark === 'barX' ? [y, [x]] : [[x], y];
  const [position = ''] = positions;
  const find = (name: string): number => findColumn(result, name, directive, path);
  const [positionAt, valuesAt] = [find(position), values.map(find)];
  const colorAt = color === undefined ? undefined : find(color);
  const partialAt = partial === undefined ? -1 : find(partial);
  const typeOf = (at: number): string => result.columns[at]?.type ?? '';
  const wrong = valuesAt.find((at) => !isNumberType(typeOf(at)));
  if (wrong !== undefined) {
    const { name } = result.columns[wrong] ?? {};
    throw usage(`numbers in ${name} of ${directive.of}`, `${typeOf(wrong)} (${path}:${directive.line})`, {
      code: 'bad-report',
      hint: mark === 'barX' ? 'use barX to draw numbers along x' : 'charts draw numbers along y',
    });
  }
  const drawn = result.rows.flatMap((row) =>
    valuesAt.map((at, of) => ({
      column: values[of] ?? '',
      place: textOf(row[positionAt]),
      exact: textOf(row[at]),
      positionText: row[positionAt] === null ? 'none' : shownText(row[positionAt], typeOf(positionAt)),
      valueText: shownText(row[at], typeOf(at)),
      color: colorAt === undefined ? undefined : (textOf(row[colorAt]) ?? 'none'),
      isPartial: row[partialAt] === true,
    })),
  );
  return pointsOf(drawn, { axis: axisOf(mark, typeOf(positionAt)), position, values });
}
