import type { Cell, FoundRows } from '../src/ui/ui-types.ts';

/** A part of the summary of a row: `value 1.5 TON`. */
export interface SummaryPart {
  readonly name: string;
  readonly text: string;
  readonly format: 'time' | 'ton' | 'address' | 'text';
}

/** Maximum number of parts, besides the time. */
const MAX_PARTS = 3;
/** Characters of a text before it is cut. */
const MAX_CHARACTERS = 48;

/**
 * Summarizes each row in one line: the time, and the first amount, addresses and texts in which the rows differ. Leaves out the key and
 * the searched value, which the page shows anyway.
 */
export function summarizeRows(
  { columns, rows, key }: FoundRows,
  sought: string,
): (row: readonly Cell[]) => readonly SummaryPart[] {
  const usable = columns.flatMap(({ name, format }, at) => {
    const isKey = key.some((part) => part.at === at);
    return format === undefined || isKey
      ? []
      : [{ name, format, at, values: new Set(rows.map((row) => row[at] ?? null)) }];
  });
  const time = usable.filter(({ format }) => format === 'time').slice(0, 1);
  const firstAmount = usable.find(({ format }) => format === 'ton');
  const distinctive = usable.filter((each) => {
    if (each.format === 'time' || (each.format === 'ton' && each !== firstAmount)) return false;
    return rows.length === 1 || each.values.size > 1;
  });
  return (row: readonly Cell[]): readonly SummaryPart[] => {
    const parts = (from: typeof usable): readonly SummaryPart[] =>
      from.flatMap(({ name, format, at }) => {
        const cell = row[at] ?? null;
        if (cell === null || cell === '' || cell === sought) return [];
        return [{ name, format, text: textFor(format, cell) }];
      });
    return [...parts(time), ...parts(distinctive).slice(0, MAX_PARTS)];
  };
}

function textFor(format: SummaryPart['format'], cell: string): string {
  switch (format) {
    case 'time':
      return cell.replace(/\.\d+$/, '');
    case 'ton':
      return `${tonOf(cell)} TON`;
    case 'address':
      return shortened(cell);
    case 'text':
      return cell.length > MAX_CHARACTERS ? `${cell.slice(0, MAX_CHARACTERS - 1)}…` : cell;
  }
}

/** Nanotons as TON, with all digits. */
export function tonOf(nanotons: string): string {
  const [, sign = '', digits = ''] = /^(-?)(\d+)$/.exec(nanotons) ?? [];
  const padded = digits.padStart(10, '0');
  return `${sign}${padded.slice(0, -9)}.${padded.slice(-9)}`.replace(/\.?0+$/, '');
}

/** A hash or an address with only its ends. */
export function shortened(text: string): string {
  return text.length <= 20 ? text : `${text.slice(0, 8)}…${text.slice(-6)}`;
}
