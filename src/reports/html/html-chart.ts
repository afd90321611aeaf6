import { usage } from '../../core/errors.ts';
import { visible } from '../../core/visible.ts';
import { isNumberType } from '../../sql/number-type.ts';
import type { QueryResult } from '../../sql/query-result.ts';
import { textOf } from '../../sql/row-text.ts';
import { shownText } from '../cells.ts';
import type { ChartDirective } from '../report-definition.ts';
import { columnsOfChart, findColumn } from '../shown-columns.ts';
import { shorten } from './axis.ts';
import { axisOf, type Points, pointsOf, seriesColor } from './chart-options.ts';
import { type Html, html, trusted } from './html.ts';
import { htmlTable } from './html-table.ts';
import type { Plotter } from './plot.ts';

const WIDTHS = { wide: 840, narrow: 330 } as const;
const DATA_ROWS = 500;
const LEGEND_LETTERS = 40;

/** A chart as pictures for wide and narrow pages, with its numbers in a collapsed table. */
export function htmlChart(result: QueryResult, directive: ChartDirective, path: string, plotter: Plotter): Html {
  const { def } = directive;
  const points = pointsIn(result, directive, path);
  const doc = def.doc === undefined ? undefined : html`<p class="note">${def.doc}</p>`;
  if (points.points.length === 0) {
    return html`<figure class="chart"><figcaption>${def.title}</figcaption>${doc}<p class="empty">No rows.</p></figure>`;
  }
  const label = `${def.title}. ${summaryOf(points, def.mark)}`;
  const picture = (size: keyof typeof WIDTHS): Html =>
    html`<div class="${size}" role="img" aria-label="${label}">${trusted(plotter.draw(points, directive, WIDTHS[size]))}</div>`;
  const title = `${def.title}: numbers`;
  const columns = columnsOfChart(result, directive, path);
  return html`<figure class="chart" data-of="${directive.of}"><figcaption>${def.title}</figcaption>${doc}
${points.series.every((name) => name === '') ? undefined : legend(points)}${partialNote(points, def.mark)}${picture('wide')}${picture('narrow')}
<details><summary>Numbers</summary>${htmlTable(result, { title, columns, limit: DATA_ROWS })}</details></figure>`;
}

/**
 * Converts rows to the points of a chart; rows without a value or position are left out.
 * @throws {UsageError} if a column does not exist, or the value is not a number
 */
function pointsIn(result: QueryResult, directive: ChartDirective, path: string): Points {
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
    throw usage(
      `numbers in ${name} of ${directive.of}`,
      `${typeOf(wrong)} (${path}:${directive.line})`,
      mark === 'barX' ? 'use barX to draw numbers along x' : 'charts draw numbers along y',
    );
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

function legend({ series }: Points): Html {
  const items = series.map(
    (name, at) =>
      html`<li><span class="swatch" style="background:${seriesColor(at)}"></span>${shorten(visible(name), LEGEND_LETTERS)}</li>`,
  );
  return html`<ul class="legend">${items}</ul>\n`;
}

/** A note about incomplete marks, if there are any. */
function partialNote({ points }: Points, mark: string): Html | undefined {
  if (!points.some(({ isPartial }) => isPartial)) return undefined;
  const what = mark === 'bar' || mark === 'barX' ? 'Pale bars' : 'Hollow points';
  return html`<p class="note partial">${what} are incomplete: part of their period is missing.</p>\n`;
}

/** A text description of a chart, for screen readers. */
function summaryOf({ points, position, values }: Points, mark: string): string {
  const kind = { bar: 'Bar chart', barX: 'Bar chart', line: 'Line chart', area: 'Area chart', dot: 'Dot chart' }[mark];
  const sorted = [...points].sort((a, b) => a.value - b.value);
  const [least] = sorted;
  const most = sorted.at(-1);
  return (
    `${kind} of ${values.join(', ')} by ${position}, ${points.length} points from ${points[0]?.positionText} to ` +
    `${points.at(-1)?.positionText}; least ${least?.valueText} at ${least?.positionText}, most ${most?.valueText} at ${most?.positionText}.`
  );
}
