import * as Plot from '@observablehq/plot';
import { shortNumber, timeLabel } from '../src/reports/html/axis.ts';
import { isNumberType } from '../src/sql/number-type.ts';
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

/** Bars that still have a label each. */
const MAX_LABELS = 40;
/** Room for the label of a tick. */
const TICK_WIDTH = 96;
const Y_TICKS = 7;
const SMALL_TICKS = 4;
const COLORS = Array.from({ length: 8 }, (_, at) => `var(--c${at + 1})`);

/** Draws a chart. Cells are those of the columns x, y and color. */
export function drawChart(
  rows: readonly (readonly Cell[])[],
  choice: ChartChoice & { readonly xType: string },
  width: number,
): Element {
  const place = placeOf(choice.xType);
  const points = rows
    .map(([x, y, color]) => ({ x: place(x ?? null), y: y === null ? Number.NaN : Number(y), color: color ?? 'null' }))
    .filter(({ x, y }) => x !== null && Number.isFinite(y));
  const names = [...new Set(points.map(({ color }) => color))];
  const series = choice.color === '' ? undefined : 'color';
  const own = { x: 'x', y: 'y' } as const;
  const paint = series ?? COLORS[0] ?? '';
  const mark =
    choice.mark === 'line'
      ? Plot.lineY(points, { ...own, stroke: paint, strokeWidth: 1.75, curve: choice.curve ?? 'linear' })
      : choice.mark === 'bar'
        ? Plot.barY(points, { ...own, fill: paint })
        : Plot.dot(points, { ...own, stroke: paint, r: 2.5 });
  const isBand = choice.mark === 'bar';
  const plot = Plot.plot({
    ...{ width, height: choice.isSmall === true ? 180 : Math.max(260, Math.min(460, width * 0.5)) },
    ...{ marginLeft: 64, marginBottom: isBand ? 70 : 44 },
    style: { fontSize: '12px', background: 'none', color: 'var(--text)', overflow: 'visible' },
    x: {
      label: choice.x || null,
      ...(isBand ? bandOptions(points.map(({ x }) => String(x))) : axisOptions(choice.xType, width)),
    },
    y: {
      label: choice.y || null,
      grid: true,
      ticks: choice.isSmall === true ? SMALL_TICKS : Y_TICKS,
      tickFormat: tickText(points.map(({ y }) => y)),
      zero: isBand || choice.isSmall === true,
    },
    // Without a domain Plot sorts the names, and the legend would show the colours of others.
    color: { domain: names, range: COLORS, type: 'categorical', legend: false },
    marks: [
      Plot.ruleY([0], { strokeOpacity: 0 }),
      mark,
      Plot.tip(points, Plot.pointer({ ...own, fill: 'var(--page)' })),
    ].slice(isBand ? 0 : 1),
  });
  // The policy of the page allows no styles within markup; ours has them.
  for (const style of plot.querySelectorAll('style')) style.remove();
  // Its place has a name, and says that it is a picture.
  plot.setAttribute('aria-hidden', 'true');
  if (series === undefined) return plot;
  const figure = document.createElement('div');
  figure.append(legend(names), plot);
  return figure;
}

/** `1.5K`, unless the values are so close that these would be all the same. */
function tickText(values: readonly number[]): (value: number) => string {
  const [least, most] = [Math.min(...values), Math.max(...values)];
  const isClose = most - least < Math.max(Math.abs(most), Math.abs(least)) / 10;
  return (value) => (isClose ? value.toLocaleString('en-US', { maximumFractionDigits: 9 }) : shortNumber(value));
}

function axisOptions(type: string, width: number): Plot.ScaleOptions {
  const ticks = Math.max(2, Math.floor(width / TICK_WIDTH));
  return isTime(type)
    ? { type: 'utc', ticks, tickFormat: timeLabel() }
    : isNumberType(type)
      ? { ticks }
      : { type: 'point', tickFormat: shortText };
}

function isTime(type: string): boolean {
  return /^(TIMESTAMP|DATE)/.test(type);
}

function bandOptions(names: readonly string[]): Plot.ScaleOptions {
  const isCrowded = new Set(names).size > MAX_LABELS;
  return { type: 'band', tickRotate: -35, tickFormat: shortText, ...(isCrowded ? { ticks: [] } : {}) };
}

function placeOf(type: string): (text: Cell) => Date | number | string | null {
  if (isTime(type)) return (text) => (text === null ? null : timeOf(text));
  if (isNumberType(type)) return (text) => (text === null ? null : Number(text));
  return (text) => text;
}

function timeOf(text: string): Date {
  return new Date(text.length === 10 ? `${text}T00:00:00Z` : `${text.replace(' ', 'T').replace(/\+00$/, '')}Z`);
}

function shortText(value: unknown): string {
  const text =
    value instanceof Date ? value.toISOString().slice(0, 16).replace('T', ' ').replace(' 00:00', '') : String(value);
  return text.length > 16 ? `${text.slice(0, 7)}…${text.slice(-6)}` : text;
}

function legend(names: readonly string[]): Element {
  const list = document.createElement('ul');
  list.className = 'legend';
  for (const [at, name] of names.slice(0, 16).entries()) {
    const item = document.createElement('li');
    const swatch = document.createElement('span');
    swatch.style.background = COLORS[at % COLORS.length] ?? '';
    item.append(swatch, shortText(name));
    list.append(item);
  }
  return list;
}
