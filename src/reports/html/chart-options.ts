import type * as PlotModule from '@observablehq/plot';
import { visible } from '../../core/visible.ts';
import { isNumberType } from '../../sql/number-type.ts';
import type { ChartDef } from '../report-definition.ts';
import { DAY_MS, numberLabel, shorten, shortNumber, timeLabel, timeStep } from './axis.ts';

/** Colours defined by the page, light and dark; further series share one more. */
const SERIES_COLORS = 8;

/** Maximum number of marks with titles. */
const MAX_TITLES = 1000;
const MAX_VISIBLE_DOTS = 60;
/** Width of a letter of a label, in pixels. */
const LETTER_WIDTH = 7;
/** Maximum number of characters of a rotated label. */
const ROTATED_LETTERS = 16;
/** Maximum number of bars with a label each. */
const MAX_LABELS = 40;

/** Type of the axis that does not show the value. */
type AxisKind = 'time' | 'number' | 'band';

/** A value of a row. */
interface DrawnValue {
  /** Column of the value. */
  readonly column: string;
  /** Exact texts; undefined for null. */
  readonly place: string | undefined;
  readonly exact: string | undefined;
  /** As shown. */
  readonly positionText: string;
  readonly valueText: string;
  /** Value of the column that names the series; undefined without one. */
  readonly color: string | undefined;
  /** True if part of its period is missing. */
  readonly isPartial: boolean;
}

/** One mark of a chart. */
interface Point extends DrawnValue {
  readonly position: Date | number | string;
  readonly value: number;
  readonly series: string;
}

export interface Points {
  readonly points: readonly Point[];
  readonly axis: AxisKind;
  readonly series: readonly string[];
  /** Names of the columns. */
  readonly position: string;
  readonly values: readonly string[];
}

/** Columns whose greatest values differ by more than this factor have an axis each. */
const FAR_APART = 20;

/** The points of a chart; values without a number or a position are left out. Several columns are a series each. */
export function pointsOf(
  drawn: readonly DrawnValue[],
  { axis, position, values }: Pick<Points, 'axis' | 'position' | 'values'>,
): Points {
  const points = drawn.flatMap((each) => {
    const point = {
      ...each,
      position: positionOf(each.place, axis),
      value: numberIn(each.exact),
      series: seriesOf(each),
    };
    return Number.isFinite(point.value) && isDrawable(point.position) ? [point] : [];
  });
  return { points, axis, series: [...new Set(points.map(({ series }) => series))], position, values };

  function seriesOf({ color, column }: DrawnValue): string {
    return [...(color === undefined ? [] : [color]), ...(values.length > 1 ? [column] : [])].join(', ');
  }
}

/** A chart as one picture for each axis. */
export function panelsOf(shown: Points, { scale }: Pick<ChartDef, 'scale'>): readonly Points[] {
  if (shown.values.length < 2 || scale === 'log') return [shown];
  const most = new Map(shown.values.map((column) => [column, 0]));
  for (const { column, value } of shown.points) most.set(column, Math.max(most.get(column) ?? 0, Math.abs(value)));
  const panels: { readonly most: number; readonly values: string[] }[] = [];
  for (const [column, own] of [...most].sort(([, a], [, b]) => b - a)) {
    const last = panels.at(-1);
    if (last === undefined || (own > 0 && own * FAR_APART < last.most)) panels.push({ most: own, values: [column] });
    else last.values.push(column);
  }
  return panels.map(({ values }) => ({
    ...shown,
    values,
    points: shown.points.filter(({ column }) => values.includes(column)),
  }));
}

function positionOf(text: string | undefined, axis: AxisKind): Point['position'] {
  if (axis === 'time') return timeOf(text ?? '');
  return axis === 'number' ? numberIn(text) : (text ?? 'none');
}

function isDrawable(position: Point['position']): boolean {
  return typeof position === 'string' || Number.isFinite(Number(position));
}

function numberIn(text: string | undefined): number {
  return text === undefined || text.trim() === '' ? Number.NaN : Number(text);
}

/** The functions of the plotting library that charts use, so that the bundle of the page has no others. */
export type Marks = Pick<
  typeof PlotModule,
  'areaY' | 'barX' | 'barY' | 'dot' | 'line' | 'pointer' | 'rectY' | 'ruleX' | 'ruleY' | 'tip'
>;

/** Settings of a chart in a report, and those that only the page of `tonlake ui` has. */
interface ChartStyle extends Pick<ChartDef, 'mark' | 'xLabel' | 'yLabel' | 'scale' | 'zero' | 'height'> {
  /** Keeps each value until the next one. */
  readonly curve?: 'step-after' | undefined;
  /** True if a tip at the pointer shows values. Default: the titles of marks do. */
  readonly isLive?: boolean | undefined;
}

export function seriesColor(at: number): string {
  return at < SERIES_COLORS ? `var(--c${at + 1})` : 'var(--rest)';
}

export function axisOf(mark: ChartStyle['mark'], type: string): AxisKind {
  const isTime = /^(TIMESTAMP|DATE)/.test(type);
  if (mark === 'barX' || !(isTime || isNumberType(type))) return 'band';
  return isTime ? 'time' : mark === 'bar' ? 'band' : 'number';
}

/** A UTC time or date, as DuckDB writes it. */
export function timeOf(text: string): Date {
  return new Date(text.length === 10 ? `${text}T00:00:00Z` : `${text.replace(' ', 'T').replace(/\+00$/, '')}Z`);
}

/** A point in words, one fact a line. */
export function describePoint({ positionText, valueText, column, color, isPartial }: Point): string {
  return [
    positionText,
    `${column}: ${valueText}`,
    ...(color === undefined ? [] : [visible(color)]),
    ...(isPartial ? ['missing in part'] : []),
  ].join('\n');
}

/** Options for Plot. The title of a mark is the index of its point. */
export function chartOptions(Plot: Marks, points: Points, style: ChartStyle, width: number): PlotModule.PlotOptions {
  const isHorizontal = style.mark === 'barX';
  const isRotated =
    points.axis === 'band' && !isHorizontal && bandSize(points) * longestBand(points) * LETTER_WIDTH > width;
  const band = axisOptions(points, isHorizontal ? Math.floor(width * 0.4) : width, isRotated);
  const value = valueOptions(points, style);
  const margins = isHorizontal
    ? { marginLeft: bandMargin(points, width), marginRight: 24 }
    : { marginLeft: valueMargin(points, style), marginRight: 16 };
  return {
    width,
    height: style.height ?? (isHorizontal ? 54 + 22 * bandSize(points) : width < 500 ? 220 : 270),
    marginTop: isHorizontal ? 8 : 26,
    marginBottom: isRotated ? 76 : isHorizontal ? 46 : 42,
    ...margins,
    style: { fontSize: '12px', background: 'none', overflow: 'visible' },
    x: isHorizontal ? value : band,
    y: isHorizontal ? band : value,
    opacity: { type: 'identity' },
    marks: [...marksOf(Plot, points, style), ...(style.isLive === true ? [tipOf(Plot, points)] : [])],
  };
}

function valueMargin({ points }: Points, { zero }: ChartStyle): number {
  const most = points.reduce((greatest, { value }) => Math.max(greatest, Math.abs(value)), 0);
  return zero === false && most >= 100_000 && most < 1e9 ? 84 : most >= 1e15 ? 60 : 52;
}

function bandSize({ points }: Points): number {
  return new Set(points.map(({ position }) => position)).size;
}

function longestBand({ points }: Points): number {
  return points.reduce((most, { position }) => Math.max(most, String(position).length), 0);
}

function bandMargin(points: Points, width: number): number {
  return Math.min(Math.floor(width * 0.4), Math.ceil(longestBand(points) * LETTER_WIDTH) + 14);
}

function axisOptions({ points, axis }: Points, room: number, isRotated: boolean): PlotModule.ScaleOptions {
  if (axis === 'band') {
    const domain = [...new Set(points.map(({ position }) => position))];
    const letters = isRotated ? ROTATED_LETTERS : Math.floor(room / LETTER_WIDTH) - 2;
    const rotated = { tickRotate: -35, ...(domain.length > MAX_LABELS ? { ticks: [] } : {}) };
    return {
      ...(isRotated ? rotated : {}),
      type: 'band',
      domain,
      label: null,
      tickFormat: (text: unknown) => shorten(visible(String(text)), letters),
    };
  }
  if (axis === 'number') return { label: null, tickFormat: shortNumber };
  const times = points.map(({ position }) => Number(position));
  const most = Math.max(2, Math.floor(room / 90));
  const isFewDays = timeStep(times) % DAY_MS === 0 && new Set(times).size <= most;
  return { type: 'utc', label: null, ticks: isFewDays ? 'day' : most, tickFormat: timeLabel() };
}

function valueOptions({ points, values }: Points, def: ChartStyle): PlotModule.ScaleOptions {
  const isCount = points.every((point) => Number.isInteger(point.value));
  const most = points.reduce((max, point) => Math.max(max, point.value), 0);
  const isHorizontal = def.mark === 'barX';
  const least = def.zero === false ? points.reduce((min, point) => Math.min(min, point.value), most) : 0;
  const tickFormat = numberLabel(least, most);
  return {
    label: ((isHorizontal ? def.xLabel : def.yLabel) ?? values.join(', ').replaceAll('_', ' ')) || null,
    type: def.scale ?? 'linear',
    grid: true,
    nice: true,
    ...(def.scale === 'log' ? {} : { zero: def.zero ?? true }),
    ...(tickFormat === undefined ? {} : { tickFormat }),
    ticks: isCount && most <= 5 && most > 0 ? most : isHorizontal ? 4 : 5,
  };
}

const CHANNELS = { x: 'position', y: 'value' } as const;

/** The point next to the pointer, in words. */
function tipOf(Plot: Marks, { points }: Points): PlotModule.Markish {
  return Plot.tip(points, Plot.pointer({ ...CHANNELS, title: describePoint, fill: 'var(--page)' }));
}

function marksOf(
  Plot: Marks,
  { points, axis, series }: Points,
  { mark, curve, isLive }: ChartStyle,
): readonly PlotModule.Markish[] {
  const rows = points.map((point, at) => ({ ...point, at, color: seriesColor(series.indexOf(point.series)) }));
  const title = rows.length <= MAX_TITLES && isLive !== true ? { title: 'at' } : {};
  const fill = { fill: (row: Row) => row.color, fillOpacity: opacityOf, z: 'series', ...title };
  const zero = { stroke: 'currentColor', strokeOpacity: 0.6 };
  switch (mark) {
    case 'bar':
      if (axis === 'time') {
        const step = timeStep(rows.map(({ position }) => Number(position)));
        const ends = { x1: 'position', x2: (row: Row) => new Date(Number(row.position) + step) };
        return [
          Plot.rectY(rows, { ...ends, y: 'value', ...fill, insetLeft: 0.5, insetRight: 0.5 }),
          Plot.ruleY([0], zero),
        ];
      }
      return [Plot.barY(rows, { ...CHANNELS, ...fill }), Plot.ruleY([0], zero)];
    case 'barX':
      return [Plot.barX(rows, { y: 'position', x: 'value', ...fill }), Plot.ruleX([0], zero)];
    case 'area':
      return [
        Plot.areaY(rows, { ...CHANNELS, fill: (row: Row) => row.color, z: 'series', fillOpacity: 0.75 }),
        Plot.ruleY([0], zero),
      ];
    case 'line':
      return [
        Plot.line(rows, {
          ...CHANNELS,
          z: 'series',
          stroke: (row: Row) => row.color,
          strokeWidth: 2,
          curve: curve ?? 'linear',
        }),
        ...dots(Plot, rows, title),
      ];
    case 'dot':
      return [Plot.dot(rows, { ...CHANNELS, ...fill, fill: fillOf, stroke: (row: Row) => row.color, r: 3.5 })];
  }
}

interface Row extends Point {
  readonly at: number;
  readonly color: string;
}

/** Incomplete bars are pale, incomplete points hollow. */
function opacityOf({ isPartial }: Row): number {
  return isPartial ? 0.35 : 1;
}

function fillOf({ isPartial, color }: Row): string {
  return isPartial ? 'var(--page)' : color;
}

/** Points on a line with their values; if there are too many, they are invisible and only react to the pointer. */
function dots(Plot: Marks, rows: readonly Row[], title: { readonly title?: string }) {
  if (rows.length > MAX_TITLES) return [];
  const isVisible = rows.length <= MAX_VISIBLE_DOTS;
  const look = isVisible ? { r: 3 } : { r: 5, fillOpacity: 0, strokeOpacity: 0 };
  return [Plot.dot(rows, { ...CHANNELS, fill: fillOf, stroke: (row: Row) => row.color, ...look, ...title })];
}
