import { Rng } from '../chain/mix.ts';
import { SLOTS_PER_STATEMENT, windowBounds } from './blocks.ts';
import { ApiError, type Params } from './params.ts';
import type { View } from './view.ts';

/** How a listing reads its rows. */
export interface Scan<T> {
  /** Rows of a slot that the request asks for. */
  readonly rowsIn: (slot: number) => readonly T[];
  /** First part of the order. */
  readonly keyOf: (row: T) => number;
  /** What orders rows of one key; without it they come in another order with each request. */
  readonly tieOf?: (row: T) => string;
  /** Whether the key is a time, which several slots share. */
  readonly byTime: boolean;
  readonly sort: 1 | -1;
  readonly shuffle: number;
  readonly least?: number;
}

/** Reads slot by slot in the order of the answer until a page is full. */
export function scanSlots<T>(view: View, params: Params, scan: Scan<T>): readonly T[] {
  const { limit, offset } = params.page();
  const { first, last } = windowBounds(view, params, scan.least);
  const wanted = offset + limit;
  const found: T[] = [];
  let scanned = 0;
  for (let slot = scan.sort === 1 ? first : last; slot >= first && slot <= last; slot += scan.sort) {
    scanned += 1;
    if (scanned > SLOTS_PER_STATEMENT) throw new ApiError(500, 'timeout: context deadline exceeded');
    // What one second holds is a tie, so it is read whole before the page may end.
    if (found.length >= wanted && (!scan.byTime || view.chain.secondEnds(slot, scan.sort))) break;
    found.push(...scan.rowsIn(slot));
  }
  return sorted(found, scan).slice(offset, wanted);
}

/** Rows in an order that differs from request to request. */
export function shuffled<T>(rows: readonly T[], shuffle: number): readonly T[] {
  return sorted(rows, { keyOf: () => 0, sort: 1, shuffle });
}

/** Rows in the order of the answer. */
export function sorted<T>(
  rows: readonly T[],
  scan: Pick<Scan<T>, 'keyOf' | 'tieOf' | 'sort' | 'shuffle'>,
): readonly T[] {
  const { keyOf, tieOf, sort } = scan;
  const rng = new Rng(scan.shuffle, 0x71e5);
  return rows
    .map((row) => ({ row, key: keyOf(row), tie: tieOf?.(row) ?? '', chance: rng.next() }))
    .sort(
      (a, b) => sort * (a.key - b.key) || sort * (a.tie < b.tie ? -1 : a.tie > b.tie ? 1 : 0) || a.chance - b.chance,
    )
    .map(({ row }) => row);
}
