import { slotOf, slotOfLt } from '../chain/clock.ts';
import { Rng } from '../chain/mix.ts';
import { ApiError, type Params } from './params.ts';
import type { Reply } from './reply.ts';
import type { View } from './view.ts';

/** More slots than the server can read before its timeout. */
const SLOTS_PER_STATEMENT = 400_000;

/** Slots from `first` to `last`, inclusive. */
interface SlotRange {
  readonly first: number;
  readonly last: number;
}

/** How a list is read. */
export interface Scan<T> {
  /** Rows of a slot that match the request. */
  readonly rowsIn: (slot: number) => readonly T[];
  /** Rows that are known without reading slots. */
  readonly direct?: readonly T[] | undefined;
  /** Sort key. */
  readonly keyOf: (row: T) => number;
  /** Sort key for rows with equal keys; without it, their order differs between requests. */
  readonly tieOf?: (row: T) => string;
  /** Whether the key is a time, which several slots share. */
  readonly byTime: boolean;
  /** Default: descending. */
  readonly sort?: 1 | -1;
}

/** The page of a list that a request asks for; reads slot by slot until it is full. */
export function scanSlots<T>({ view, params, shuffle }: Reply, scan: Scan<T>): readonly T[] {
  const order = { sort: params.sort() ?? -1, shuffle, ...scan };
  const { limit, offset } = params.page();
  const wanted = offset + limit;
  if (scan.direct !== undefined) return sorted(scan.direct, order).slice(offset, wanted);
  const found: T[] = [];
  for (const slot of slotsIn(windowBounds(view, params), order.sort)) {
    // Rows of the same second are ties, so a second is read completely before the page ends.
    if (found.length >= wanted && (!scan.byTime || view.chain.secondEnds(slot, order.sort))) break;
    found.push(...scan.rowsIn(slot));
  }
  return sorted(found, order).slice(offset, wanted);
}

/** Rows in an order that differs between requests. */
export function shuffled<T>(rows: readonly T[], shuffle: number): readonly T[] {
  return sorted(rows, { keyOf: () => 0, sort: 1, shuffle });
}

/** Rows by key and tie; the rest is in an order that `shuffle` decides. */
export function sorted<T>(
  rows: readonly T[],
  {
    keyOf,
    tieOf,
    sort,
    shuffle,
  }: Pick<Scan<T>, 'keyOf' | 'tieOf'> & { readonly sort: 1 | -1; readonly shuffle: number },
): readonly T[] {
  const rng = new Rng(shuffle, 0x71e5);
  return rows
    .map((row) => ({ row, key: keyOf(row), tie: tieOf?.(row) ?? '', chance: rng.next() }))
    .sort(
      (a, b) => sort * (a.key - b.key) || sort * (a.tie < b.tie ? -1 : a.tie > b.tie ? 1 : 0) || a.chance - b.chance,
    )
    .map(({ row }) => row);
}

/** Slots in ascending or descending order. @throws {ApiError} 500 after as many slots as the server can read */
export function* slotsIn(
  { first, last }: SlotRange,
  sort: 1 | -1,
  isWanted: (slot: number) => boolean = () => true,
): Generator<number> {
  let scanned = 0;
  for (let slot = sort === 1 ? first : last; slot >= first && slot <= last; slot += sort) {
    if (!isWanted(slot)) continue;
    scanned += 1;
    if (scanned > SLOTS_PER_STATEMENT) throw timeout();
    yield slot;
  }
}

export function timeout(): ApiError {
  return new ApiError(500, 'timeout: context deadline exceeded');
}

/** The slots that the bounds, the lt and the seqno of a request allow. */
export function slotBounds(view: View, params: Params): SlotRange {
  const window = windowBounds(view, params);
  const lt = params.lt('lt');
  const seqno = params.int32('seqno');
  const named = seqno === undefined ? undefined : view.chain.slotsOfSeqno(seqno);
  return {
    first: Math.max(window.first, slotOfLt(lt ?? 0), named?.first ?? -1),
    last: Math.min(window.last, slotOfLt(lt ?? Number.MAX_SAFE_INTEGER), named?.last ?? Number.MAX_SAFE_INTEGER),
  };
}

/** The slots that the bounds of lt and time allow, at least `least`. */
export function windowBounds(view: View, params: Params, least = -1): SlotRange {
  const { startLt, endLt, startUtime, endUtime } = params.bounds();
  const time = view.chain.clock.slotsOfUtime(startUtime, endUtime);
  return {
    first: Math.max(least, time.first, slotOfLt(startLt)),
    last: Math.min(slotOf(view.head()), time.last, slotOfLt(endLt)),
  };
}
