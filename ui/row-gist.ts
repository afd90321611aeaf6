import type { Cell, FoundRows } from '../src/ui/ui-types.ts';

/** A word about a row: `value 1.5 TON`. */
export interface GistPart {
  readonly name: string;
  readonly text: string;
  readonly says: 'time' | 'ton' | 'address' | 'text';
}

/** Parts of a line, beside the time. */
const MAX_PARTS = 3;
/** Longer text says too much for a line. */
const MAX_LETTERS = 48;

/**
 * What tells a row from the others in one line: its time, and the first amount, addresses and words that are not the same in all rows.
 * The value that was sought and the key are known.
 */
export function gistOf(
  { columns, rows, key }: FoundRows,
  sought: string,
): (row: readonly Cell[]) => readonly GistPart[] {
  const usable = columns.flatMap(({ name, says }, at) => {
    const isKey = key.some((part) => part.at === at);
    return says === undefined || isKey ? [] : [{ name, says, at, values: new Set(rows.map((row) => row[at] ?? null)) }];
  });
  const time = usable.filter(({ says }) => says === 'time').slice(0, 1);
  const firstAmount = usable.find(({ says }) => says === 'ton');
  const telling = usable.filter((each) => {
    if (each.says === 'time' || (each.says === 'ton' && each !== firstAmount)) return false;
    return rows.length === 1 || each.values.size > 1;
  });
  return (row: readonly Cell[]): readonly GistPart[] => {
    const parts = (from: typeof usable): readonly GistPart[] =>
      from.flatMap(({ name, says, at }) => {
        const cell = row[at] ?? null;
        if (cell === null || cell === '' || cell === sought) return [];
        return [{ name, says, text: textFor(says, cell) }];
      });
    return [...parts(time), ...parts(telling).slice(0, MAX_PARTS)];
  };
}

function textFor(says: GistPart['says'], cell: string): string {
  switch (says) {
    case 'time':
      return cell.replace(/\.\d+$/, '');
    case 'ton':
      return `${tonOf(cell)} TON`;
    case 'address':
      return shortened(cell);
    case 'text':
      return cell.length > MAX_LETTERS ? `${cell.slice(0, MAX_LETTERS - 1)}…` : cell;
  }
}

/** Nanotons as TON, with all digits. */
export function tonOf(nanotons: string): string {
  const [, sign = '', digits = ''] = /^(-?)(\d+)$/.exec(nanotons) ?? [];
  const padded = digits.padStart(10, '0');
  return `${sign}${padded.slice(0, -9)}.${padded.slice(-9)}`.replace(/\.?0+$/, '');
}

/** The ends of a hash or an address. */
export function shortened(text: string): string {
  return text.length <= 20 ? text : `${text.slice(0, 8)}…${text.slice(-6)}`;
}
