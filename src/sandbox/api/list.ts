import type { Account } from '../chain/accounts.ts';
import { slotOf, slotOfLt } from '../chain/clock.ts';
import { Rng } from '../chain/mix.ts';
import type { JsonRecord } from '../page/json.ts';
import { demand, timeout } from './api-error.ts';
import type { Bounds, ParsedRequest } from './parsed-request.ts';

/** More slots than the server can read before its timeout. */
const SLOTS_PER_STATEMENT = 400_000;

type Key = number | bigint | string;

/** A sort key and its direction. */
export type By<T> = readonly [key: (row: T) => Key, direction: 1 | -1];

/** Row ids follow the first sighting. */
export function byId({ view }: ParsedRequest, sort: 1 | -1 = 1): By<{ readonly account: Account }> {
  return [({ account }) => view.latestStates.idOf(account), sort];
}

/** The value that a parameter is compared with; of several values, one must match. */
type Field<T> = (row: T, request: ParsedRequest) => Key | undefined | readonly (Key | undefined)[];

/** An endpoint that lists rows. */
export interface Listing<T> {
  /** @throws {ApiError} for a request that the server refuses */
  readonly refuse?: (request: ParsedRequest) => void;
  /** All rows in the order of their row ids, or those that the keys of a request name; undefined to read slot by slot. */
  readonly rows: (request: ParsedRequest) => readonly T[] | undefined;
  /** Rows of a slot. */
  readonly inSlot?: (request: ParsedRequest, slot: number) => readonly T[];
  /** True if a slot can have rows. */
  readonly isWanted?: (request: ParsedRequest) => (slot: number) => boolean;
  /** How many slots before the first block have rows. */
  readonly slotsBefore?: number;
  /** Rows are ordered by whole seconds, which several slots share. Otherwise only if the request bounds the time. */
  readonly isBySecond?: true;
  /** Rows without a time: after all others, or before them if the order is descending. */
  readonly timeless?: (request: ParsedRequest) => readonly T[];
  /** Fields that a parameter must name. */
  readonly where?: Readonly<Record<string, Field<T>>>;
  /** Logical time and Unix seconds, for bounds; undefined for a row without. */
  readonly at?: (row: T, request: ParsedRequest) => readonly [lt: number, utime: number] | undefined;
  /** Other conditions. */
  readonly filter?: (row: T, request: ParsedRequest) => boolean;
  /** True if the named rows replace all filters but `filter`. */
  readonly isReplaced?: (request: ParsedRequest) => boolean;
  /** Sort keys. Rows with equal keys come in an order that differs between requests. Default: the order of the rows. */
  readonly order?: (request: ParsedRequest, sort: 1 | -1) => readonly By<T>[];
  /** Error 404 if there are no rows. */
  readonly missing?: string;
  /** @param later the rows of the page after this one */
  readonly record: (row: T, request: ParsedRequest, later: () => readonly T[]) => JsonRecord;
  /** A list without rows is null. */
  readonly isNull?: true;
}

/** Answers a request. It throws `ApiError` for an error response. */
export type Endpoint = (request: ParsedRequest) => string;

/** Answers requests for a list. */
export function rows<T>(of: Listing<T>): Endpoint {
  return (request) => {
    of.refuse?.(request);
    const { limit, offset } = request.page;
    const end = offset + limit;
    const { sort } = request;
    const matches = filterOf(request, of);
    const named = of.rows(request);
    const found = named === undefined ? scan(request, of, matches, end) : named.filter(matches);
    const order = of.order?.(request, sort ?? -1);
    const page = (order === undefined ? found : sorted(found, order, request.shuffle)).slice(offset, end);
    demand(page.length > 0 || of.missing === undefined, of.missing ?? '', 404);
    if (page.length === 0 && of.isNull === true) return request.responseText(null);
    return request.responseText(page.map((row, index) => of.record(row, request, () => page.slice(index + 1))));
  };
}

function filterOf<T>(request: ParsedRequest, { where = {}, at, filter, isReplaced }: Listing<T>): (row: T) => boolean {
  const more = (row: T): boolean => filter === undefined || filter(row, request);
  if (isReplaced?.(request) === true) return more;
  const { bounds } = request;
  const fields = Object.entries(where).flatMap(([name, field]) => {
    const wanted = new Set(request.list(name));
    return wanted.size === 0 ? [] : [{ wanted, field }];
  });
  const isBounded = bounds.byLt || bounds.byTime;
  return (row) => {
    if (at !== undefined && isBounded && !isWithin(bounds, at(row, request))) return false;
    for (const { wanted, field } of fields) {
      const value = field(row, request);
      const values = Array.isArray(value) ? value : [value];
      if (!values.some((one) => one !== undefined && wanted.has(String(one)))) return false;
    }
    return more(row);
  };
}

function isWithin(bounds: Bounds, at: readonly [lt: number, utime: number] | undefined): boolean {
  if (at === undefined) return false;
  const [lt, utime] = at;
  const { startLt, endLt, startUtime, endUtime } = bounds;
  return lt >= startLt && lt <= endLt && utime >= startUtime && utime <= endUtime;
}

/** Reads slot by slot until there are `wanted` rows. */
function scan<T>(request: ParsedRequest, of: Listing<T>, matches: (row: T) => boolean, wanted: number): readonly T[] {
  const { view, bounds, sort = 1 } = request;
  const { utimeOf } = view.chain.clock;
  const isBySecond = bounds.byTime || of.isBySecond === true;
  const timeless = (): readonly T[] => of.timeless?.(request).filter(matches) ?? [];
  const found: T[] = sort === -1 ? [...timeless()] : [];
  for (const slot of slotsOf(request, of, sort)) {
    // Rows of the same second are ties, so a second is read completely before the page ends.
    if (found.length >= wanted && (!isBySecond || utimeOf(slot) !== utimeOf(slot - sort))) break;
    for (const row of of.inSlot?.(request, slot) ?? []) if (matches(row)) found.push(row);
  }
  if (sort === 1 && found.length < wanted) found.push(...timeless());
  return found;
}

/** The slots that a request allows, in its order. @throws {ApiError} 500 after as many slots as the server can read */
function* slotsOf<T>(
  request: ParsedRequest,
  { isWanted, slotsBefore = 1 }: Listing<T>,
  step: 1 | -1,
): Generator<number> {
  const { view } = request;
  const { startLt, endLt, startUtime, endUtime } = request.bounds;
  const time = view.chain.clock.slotsOfUtime(startUtime, endUtime);
  const [lt, seqno] = [request.number('lt'), request.number('seqno')];
  const named = seqno === undefined ? undefined : view.chain.slotsOfSeqno(seqno);
  const first = Math.max(-slotsBefore, time.first, slotOfLt(Math.max(startLt, lt ?? 0)), named?.first ?? -1);
  const end = slotOfLt(Math.min(endLt, lt ?? Number.MAX_SAFE_INTEGER));
  const last = Math.min(slotOf(view.head()), time.last, end, named?.last ?? Number.MAX_SAFE_INTEGER);
  const wanted = isWanted?.(request);
  let scanned = 0;
  for (let slot = step === 1 ? first : last; slot >= first && slot <= last; slot += step) {
    if (wanted?.(slot) === false) continue;
    scanned += 1;
    if (scanned > SLOTS_PER_STATEMENT) throw timeout();
    yield slot;
  }
}

/** Rows by their keys; the rest is in an order that `shuffle` decides. */
function sorted<T>(rows: readonly T[], order: readonly By<T>[], shuffle: number): readonly T[] {
  const rng = new Rng(shuffle, 0x71e5);
  const compare = (a: readonly Key[], b: readonly Key[]): number => {
    for (const [index, [, direction]] of order.entries()) {
      const [x, y] = [a[index] ?? 0, b[index] ?? 0];
      if (x !== y) return x < y ? -direction : direction;
    }
    return 0;
  };
  return rows
    .map((row) => ({ row, keys: order.map(([key]) => key(row)), chance: rng.next() }))
    .sort((a, b) => compare(a.keys, b.keys) || a.chance - b.chance)
    .map(({ row }) => row);
}
