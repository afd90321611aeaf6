import { visible } from '../core/visible.ts';
import { isIdentifier } from '../sql/identifiers.ts';
import { cellKind, drawnNumber } from './cells.ts';
import { type OutlineStyle, type OutlineTable, outlineText } from './outline.ts';
import type { Report } from './report.ts';

/** Maximum width of a cell, and of the bars of a chart. */
const CELL = 48;
const BAR = 24;

const text: OutlineStyle = {
  title: underlined,
  caption: underlined,
  escape: visible,
  gaps: (title, gaps) => [`${title}:`, ...gaps.map((gap) => `- ${gap}`)].join('\n'),
  table,
  empty: (text) => text,
  rule: '-'.repeat(40),
  chartRows: 60,
};

/** The report for a terminal: tables with aligned columns, long texts shortened. */
export function plainText(report: Report): string {
  return outlineText(report, text);
}

function underlined(title: string): string {
  return `${title}\n${'-'.repeat(title.length)}`;
}

function table({ columns, rows, bars }: OutlineTable): string {
  const cells = rows.map((row) => row.map(shortened));
  const widths = columns.map(({ label }, at) =>
    cells.reduce((most, row) => Math.max(most, row[at]?.length ?? 0), label.length),
  );
  const line = (row: readonly string[]): string =>
    row
      .map((cell, at) => {
        const width = widths[at] ?? 0;
        return cellKind(columns[at]?.type ?? '') === 'number' ? cell.padStart(width) : cell.padEnd(width);
      })
      .join('  ');
  const drawn = barsOf(bars ?? []);
  return [
    line(columns.map(({ label }) => label)),
    widths.map((width) => '-'.repeat(width)).join('  '),
    ...cells.map((row, at) => `${line(row)}  ${drawn[at] ?? ''}`),
  ]
    .map((each) => each.trimEnd())
    .join('\n');
}

function barsOf(values: readonly unknown[]): readonly string[] {
  const numbers = values.map((value) => Math.max(0, drawnNumber(value) || 0));
  const most = numbers.reduce((greatest, each) => Math.max(greatest, each), 0);
  return numbers.map((number) => '█'.repeat(most === 0 ? 0 : Math.ceil((BAR * number) / most)));
}

/** Shortens long texts; addresses and hashes keep both ends. */
function shortened(cell: string): string {
  if (isIdentifier(cell)) return `${cell.slice(0, 10)}…${cell.slice(-6)}`;
  return cell.length > CELL ? `${cell.slice(0, CELL - 1)}…` : cell;
}
