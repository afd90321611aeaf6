import { areaY, barX, barY, dot, plot as draw, line, pointer, rectY, ruleX, ruleY, tip } from '@observablehq/plot';
import { groupDigits } from '../src/core/format.ts';
import { shorten } from '../src/reports/html/axis.ts';
import { axisOf, chartOptions, type Points, seriesColor, timeOf } from '../src/reports/html/chart-options.ts';
import type { Cell } from '../src/ui/ui-types.ts';

export interface ChartChoice {
  readonly mark: 'line' | 'bar' | 'dot';
  readonly x: string;
  readonly y: string;
  /** Empty for one series. */
  readonly color: string;
  /** A value holds until the next one. */
  readonly curve?: 'step-after';
  /** Small, and from zero. */
  readonly isSmall?: boolean;
}

const MARKS = { areaY, barX, barY, dot, line, pointer, rectY, ruleX, ruleY, tip };
const LEGEND_LETTERS = 16;

/** Draws a chart, as those of reports. Cells are those of the columns x, y and color. */
export function drawChart(
  rows: readonly (readonly Cell[])[],
  choice: ChartChoice & { readonly xType: string },
  width: number,
): Element {
  const points = pointsOf(rows, choice);
  const isSmall = choice.isSmall === true;
  const style = {
    ...{ mark: choice.mark, curve: choice.curve, isLive: true, zero: choice.mark === 'bar' || isSmall },
    height: isSmall ? 180 : Math.max(260, Math.min(460, width * 0.5)),
  };
  const plot = draw(chartOptions(MARKS, points, style, width));
  // The policy of the page allows no styles within markup; ours has them.
  for (const inner of plot.querySelectorAll('style')) inner.remove();
  // Its place has a name, and says that it is a picture.
  plot.setAttribute('aria-hidden', 'true');
  if (choice.color === '') return plot;
  const figure = document.createElement('div');
  figure.append(legend(points.series), plot);
  return figure;
}

function pointsOf(rows: readonly (readonly Cell[])[], choice: ChartChoice & { readonly xType: string }): Points {
  const axis = axisOf(choice.mark, choice.xType);
  const points = rows.flatMap(([x, y, color]) => {
    if (x === null || x === undefined || y === null || y === undefined || !Number.isFinite(Number(y))) return [];
    const position = axis === 'time' ? timeOf(x) : axis === 'number' ? Number(x) : x;
    const series = choice.color === '' ? '' : (color ?? 'none');
    const words = { positionText: x, exact: y, valueText: groupDigits(y) };
    return [{ position, value: Number(y), series, isPartial: false, ...words }];
  });
  return {
    points,
    axis,
    series: [...new Set(points.map(({ series }) => series))],
    position: choice.x,
    value: choice.y,
  };
}

function legend(names: readonly string[]): Element {
  const list = document.createElement('ul');
  list.className = 'legend';
  for (const [at, name] of names.slice(0, 16).entries()) {
    const item = document.createElement('li');
    const swatch = document.createElement('span');
    swatch.style.background = seriesColor(at);
    item.append(swatch, shorten(name, LEGEND_LETTERS));
    list.append(item);
  }
  return list;
}
