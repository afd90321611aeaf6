import type * as PlotModule from '@observablehq/plot';
import { visible } from '../../sql/text-table.ts';
import { DAY_MS, numberLabel, shorten, shortNumber, timeLabel, timeStep } from './axis.ts';
import type { ChartDirective, Point, Points } from './chart-points.ts';
import type { DrawingDocument } from './plot-library.ts';

/** Colours defined by the page, light and dark; further series share one more. */
export const SERIES_COLORS = 8;

/** Maximum number of marks with titles. */
const MOST_TITLES = 1000;
const MOST_VISIBLE_DOTS = 60;
const LETTER = 7;

/** Draws charts without a browser. */
export interface Plotter {
  /** @returns SVG of the given width in pixels */
  draw(points: Points, directive: ChartDirective, width: number): string;
}

/** Loads the plotting library; it is large, so only HTML reports load it. */
export async function openPlotter(): Promise<Plotter> {
  const { Plot, openDocument } = await import('./plot-library.ts');
  const document = openDocument();
  return { draw: (points, directive, width) => draw(Plot, document, points, directive, width) };
}

export function seriesColor(at: number): string {
  return at < SERIES_COLORS ? `var(--c${at + 1})` : 'var(--rest)';
}

function draw(
  Plot: typeof PlotModule,
  document: DrawingDocument,
  points: Points,
  directive: ChartDirective,
  width: number,
): string {
  const isAcross = directive.def.mark === 'barX';
  const band = axisOptions(points, isAcross ? Math.floor(width * 0.4) : width);
  const value = valueOptions(points, directive);
  const margins = isAcross
    ? { marginLeft: bandMargin(points, width), marginRight: 24 }
    : { marginLeft: valueMargin(points, directive), marginRight: 16 };
  const svg = Plot.plot({
    document,
    width,
    height: directive.def.height ?? (isAcross ? 54 + 22 * bandSize(points) : width < 500 ? 220 : 270),
    marginTop: isAcross ? 8 : 26,
    marginBottom: isAcross ? 46 : 42,
    ...margins,
    style: { fontSize: '12px', background: 'none', overflow: 'visible' },
    x: isAcross ? value : band,
    y: isAcross ? band : value,
    opacity: { type: 'identity' },
    marks: marksOf(Plot, points, directive),
  });
  document.body.replaceChildren(svg);
  return finish(document, points);
}

/** Replaces the row numbers in the titles of marks by exact values. Texts from the chain are only in titles, never in attributes. */
function finish({ body }: DrawingDocument, { points, value }: Points): string {
  for (const title of body.querySelectorAll('title')) {
    const point = points[Number(title.textContent)];
    const mark = title.parentElement;
    if (point === undefined || mark === null) continue;
    mark.setAttribute('data-value', point.exact);
    if (point.isPartial) mark.setAttribute('data-partial', '');
    title.textContent = [
      point.positionText,
      `${value}: ${point.valueText}`,
      ...(point.series === '' ? [] : [visible(point.series)]),
      ...(point.isPartial ? ['missing in part'] : []),
    ].join('\n');
  }
  body.querySelector('svg')?.setAttribute('aria-hidden', 'true');
  return body.innerHTML;
}

function valueMargin({ points }: Points, { def }: ChartDirective): number {
  const most = points.reduce((greatest, { value }) => Math.max(greatest, Math.abs(value)), 0);
  return def.zero === false && most >= 100_000 && most < 1e9 ? 84 : most >= 1e15 ? 60 : 52;
}

function bandSize({ points }: Points): number {
  return new Set(points.map(({ position }) => position)).size;
}

function bandMargin({ points }: Points, width: number): number {
  const longest = points.reduce((most, { position }) => Math.max(most, String(position).length), 0);
  return Math.min(Math.floor(width * 0.4), Math.ceil(longest * LETTER) + 14);
}

function axisOptions({ points, axis }: Points, room: number) {
  if (axis === 'band') {
    const domain = [...new Set(points.map(({ position }) => position))];
    const letters = Math.floor(room / LETTER) - 2;
    return {
      type: 'band' as const,
      domain,
      label: null,
      tickFormat: (text: unknown) => shorten(visible(String(text)), letters),
    };
  }
  if (axis === 'number') return { label: null, tickFormat: shortNumber };
  const times = points.map(({ position }) => Number(position));
  const most = Math.max(2, Math.floor(room / 90));
  const isFewDays = timeStep(times) % DAY_MS === 0 && new Set(times).size <= most;
  return { type: 'utc' as const, label: null, ticks: isFewDays ? 'day' : most, tickFormat: timeLabel() };
}

function valueOptions({ points, value }: Points, { def }: ChartDirective) {
  const isCount = points.every((point) => Number.isInteger(point.value));
  const most = points.reduce((max, point) => Math.max(max, point.value), 0);
  const isAcross = def.mark === 'barX';
  const least = def.zero === false ? points.reduce((min, point) => Math.min(min, point.value), most) : 0;
  const tickFormat = numberLabel(least, most);
  return {
    label: (isAcross ? def.xLabel : def.yLabel) ?? value.replaceAll('_', ' '),
    type: def.scale ?? ('linear' as const),
    grid: true,
    nice: true,
    ...(def.scale === 'log' ? {} : { zero: def.zero ?? true }),
    ...(tickFormat === undefined ? {} : { tickFormat }),
    ticks: isCount && most <= 5 && most > 0 ? most : isAcross ? 4 : 5,
  };
}

function marksOf(Plot: typeof PlotModule, { points, axis, series }: Points, { def }: ChartDirective) {
  const rows = points.map((point, at) => ({ ...point, at, color: seriesColor(series.indexOf(point.series)) }));
  const title = rows.length <= MOST_TITLES ? { title: 'at' } : {};
  const fill = { fill: (row: Row) => row.color, fillOpacity: paleness, z: 'series', ...title };
  const zero = { stroke: 'currentColor', strokeOpacity: 0.6 };
  switch (def.mark) {
    case 'bar':
      if (axis === 'time') {
        const step = timeStep(rows.map(({ position }) => Number(position)));
        const ends = { x1: 'position', x2: (row: Row) => new Date(Number(row.position) + step) };
        return [
          Plot.rectY(rows, { ...ends, y: 'value', ...fill, insetLeft: 0.5, insetRight: 0.5 }),
          Plot.ruleY([0], zero),
        ];
      }
      return [Plot.barY(rows, { x: 'position', y: 'value', ...fill }), Plot.ruleY([0], zero)];
    case 'barX':
      return [Plot.barX(rows, { y: 'position', x: 'value', ...fill }), Plot.ruleX([0], zero)];
    case 'area':
      return [
        Plot.areaY(rows, { x: 'position', y: 'value', fill: (row: Row) => row.color, z: 'series', fillOpacity: 0.75 }),
        Plot.ruleY([0], zero),
      ];
    case 'line':
      return [
        Plot.line(rows, { x: 'position', y: 'value', z: 'series', stroke: (row: Row) => row.color, strokeWidth: 2 }),
        ...dots(Plot, rows, title),
      ];
    case 'dot':
      return [
        Plot.dot(rows, { x: 'position', y: 'value', ...fill, fill: fillOf, stroke: (row: Row) => row.color, r: 3.5 }),
      ];
  }
}

interface Row extends Point {
  readonly at: number;
  readonly color: string;
}

/** Incomplete bars are pale, incomplete points hollow. */
function paleness({ isPartial }: Row): number {
  return isPartial ? 0.35 : 1;
}

function fillOf({ isPartial, color }: Row): string {
  return isPartial ? 'var(--page)' : color;
}

/** Points on a line with their values; if there are too many, they are invisible and only react to the pointer. */
function dots(Plot: typeof PlotModule, rows: readonly Row[], title: { readonly title?: string }) {
  if (rows.length > MOST_TITLES) return [];
  const isSeen = rows.length <= MOST_VISIBLE_DOTS;
  const look = isSeen ? { r: 3 } : { r: 5, fillOpacity: 0, strokeOpacity: 0 };
  return [
    Plot.dot(rows, { x: 'position', y: 'value', fill: fillOf, stroke: (row: Row) => row.color, ...look, ...title }),
  ];
}
