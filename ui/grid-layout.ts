import { groupDigits } from '../src/core/format.ts';
import type { Cell, ResultColumn } from '../src/ui/ui-types.ts';

export const ROW_HEIGHT = 28;
/** Browsers cannot scroll much further than this. */
const MAX_HEIGHT = 10_000_000;
/** In pixels. */
const LETTER_WIDTH = 8.4;
const PADDING = 22;

export interface GridColumn extends ResultColumn {
  readonly left: number;
  readonly width: number;
}

/** Columns as wide as their first values, within limits. */
export function layOut(columns: readonly ResultColumn[], rows: readonly (readonly Cell[])[]): readonly GridColumn[] {
  let left = 0;
  return columns.map((column, at) => {
    const { name, type } = column;
    const letters = Math.max(
      name.length + 1,
      Math.min(type.length, 24) * 0.85,
      ...rows.map((row) => cellText(column, row[at] ?? 'null').length),
    );
    const width = Math.round(Math.min(Math.max(letters * LETTER_WIDTH + PADDING, 64), 340));
    left += width;
    return { ...column, left: left - width, width };
  });
}

/** A cell as shown. */
export function cellText({ isQuantity }: ResultColumn, text: string): string {
  return isQuantity ? groupDigits(text) : text;
}

/** Height of the scrolled content, in pixels. */
export function contentHeight(count: number): number {
  return Math.min(count * ROW_HEIGHT, MAX_HEIGHT);
}

/** The first visible row, with the part that is scrolled away: 12.5 shows the lower half of row 12. */
export function rowAt(scrollTop: number, viewHeight: number, count: number): number {
  const height = contentHeight(count);
  if (height === count * ROW_HEIGHT) return scrollTop / ROW_HEIGHT;
  const share = scrollTop / Math.max(1, height - viewHeight);
  return Math.min(1, share) * Math.max(0, count - viewHeight / ROW_HEIGHT);
}

/** The scroll position that shows a row first. */
export function scrollTopOf(row: number, viewHeight: number, count: number): number {
  const height = contentHeight(count);
  if (height === count * ROW_HEIGHT) return row * ROW_HEIGHT;
  return (row / Math.max(1, count - viewHeight / ROW_HEIGHT)) * (height - viewHeight);
}
