import { areaY, barX, barY, dot, plot as draw, line, pointer, rectY, ruleX, ruleY, tip } from '@observablehq/plot';
import { groupDigits } from '../src/core/format.ts';
import { shorten } from '../src/reports/html/axis.ts';
import {
  axisOf,
  chartOptions,
  type Points,
  panelsOf,
  pointsOf,
  seriesColor,
} from '../src/reports/html/chart-options.ts';
import type { Cell } from '../src/ui/ui-types.ts';

export interface ChartChoice {
  readonly mark: 'line' | 'bar' | 'dot';
  readonly x: string;
  /** Several columns are a series each. */
  readonly y: readonly string[];
  /** Column that names series; empty for none. */
  readonly color: string;
  /** Keeps each value until the next one. */
  readonly curve?: 'step-after';
  /** True for a low chart whose axis starts at zero. */
  readonly isSmall?: boolean;
}

const MARKS = { areaY, barX, barY, dot, line, pointer, rectY, ruleX, ruleY, tip };
const LEGEND_LETTERS = 24;
/** Maximum number of names in a legend. */
const MAX_NAMES = 16;

/** Draws a chart like those of reports. A row has the cells of the columns x, y and color. */
export function drawChart(
  rows: readonly (readonly Cell[])[],
  choice: ChartChoice & { readonly xType: string },
  width: number,
): Element {
  const points = pointsIn(rows, choice);
  const panels = panelsOf(points, {});
  const isSmall = choice.isSmall === true;
  const style = {
    mark: choice.mark,
    curve: choice.curve,
    isLive: true,
    zero: choice.mark === 'bar' || isSmall,
    height: isSmall ? 180 : Math.max(panels.length > 1 ? 180 : 260, Math.min(460, width * 0.5) / panels.length),
  };
  const figure = document.createElement('div');
  // The element around it has the role and the label.
  figure.setAttribute('aria-hidden', 'true');
  if (points.series.some((name) => name !== '')) figure.append(legend(points.series));
  for (const panel of panels) figure.append(draw(chartOptions(MARKS, panel, style, width)));
  // The content security policy forbids inline styles; the style sheet of the page has these.
  for (const inner of figure.querySelectorAll('style')) inner.remove();
  return figure;
}

function pointsIn(rows: readonly (readonly Cell[])[], choice: ChartChoice & { readonly xType: string }): Points {
  const drawn = rows.flatMap((row) =>
    choice.y.map((column, at) => {
      const [place, exact] = [row[0] ?? undefined, row[1 + at] ?? undefined];
      const color = choice.color === '' ? undefined : (row[1 + choice.y.length] ?? 'none');
      const words = { positionText: place ?? 'none', valueText: groupDigits(exact ?? '') };
      return { column, place, exact, color, isPartial: false, ...words };
    }),
  );
  return pointsOf(drawn, { axis: axisOf(choice.mark, choice.xType), position: choice.x, values: choice.y });
}

function legend(names: readonly string[]): Element {
  const list = document.createElement('ul');
  list.className = 'legend';
  for (const [at, name] of names.slice(0, MAX_NAMES).entries()) {
    const item = document.createElement('li');
    const swatch = document.createElement('span');
    swatch.style.background = seriesColor(at);
    item.append(swatch, shorten(name, LEGEND_LETTERS));
    list.append(item);
  }
  return list;
}
