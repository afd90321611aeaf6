import { FILL, RECOVERY_PER_SECOND, recordStart, SLOWEST_RPS, slowAdaptive, startAdaptive } from './adaptive-rate.ts';
import type { Holder, Limit } from './limit.ts';
import { PRIORITIES } from './priority.ts';

/**
 * How far ahead starts are given, so that processes need few changes per second; a killed process wastes them. Slower rates get each
 * start when it is due, because a late one would come too close to the next.
 */
const AHEAD_MS = 200;
/** At most `ceil(rps)` starts are given within it; longer than a second because requests can take different times to arrive. */
const WINDOW_MS = 1010;
/** A start that is later by at most this does not delay the following ones. */
const CATCH_UP_MS = 250;
/** Maximum number of stored start times. A faster rate catches up only what {@link FILL} spares of the window. */
const MAX_STORED_STARTS = 200;
const SPARE_MS = 5;
/** A process that is silent for longer loses its share. */
const SILENT_MS = 3000;
/** How long announced requests count, and the interval of announcements while others share the limit. */
const DEMAND_MS = 200;
const ANNOUNCE_MS = 100;
/** Head start of each process whose turn it is, and of higher priorities. */
const TURN_MS = 10;
const HIGHER_MS = 100;
/** After a break, `auto` starts below the found limit. */
const BREAK_MS = 60_000;
/** A clock that is behind by more was restarted: a rebooted machine, or another Redis server. */
const CLOCK_BACK_MS = 1000;
/** Without a cap there is no rate to halve, so a 429 only pauses for a moment. */
const UNCAPPED_HOLD_MS = 100;

/** What a process announces of itself. */
export type Caller = Omit<Holder, 'waiting' | 'seenAt' | 'servedAt' | 'due'>;

export interface Taken {
  /** Times at which requests may start, in order. */
  readonly starts: readonly number[];
  /** When to take more starts if requests wait. */
  readonly nextAt: number;
}

/** Requests per second that may start; Infinity without a limit. */
export function rateAt({ fixed, auto, holders }: Limit, now: number): number {
  if (auto !== undefined && isAuto(holders)) return auto.rps;
  if (fixed === undefined) return Number.POSITIVE_INFINITY;
  if (fixed.rps === fixed.cap) return fixed.cap;
  return Math.min(fixed.cap, fixed.rps + (fixed.cap * RECOVERY_PER_SECOND * (now - fixed.slowedAt)) / 1000);
}

/**
 * Gives a process starts for its waiting requests, at most `waiting`; with 0, it only announces the process. Starts are spread evenly: no second has more
 * than the rate, rounded up. Higher priorities go first; within a priority, processes take turns. None exceeds its own rate, and the
 * rate of all is the highest of any, or adaptive if one has `auto`.
 */
export function take(before: Limit, now: number, id: string, caller: Caller, waiting: number): readonly [Limit, Taken] {
  const [updated, own] = updateHolder(before, now, id, caller, waiting);
  let limit = updated;
  const rate = rateAt(limit, now);
  const gap = gapMs(rate);
  const aheadMs = gap <= AHEAD_MS ? AHEAD_MS : 0;
  const others = Object.entries(limit.holders).filter(
    ([other, { waiting: n, seenAt, due }]) =>
      other !== id && n > 0 && now - seenAt <= DEMAND_MS && due <= now + aheadMs,
  );
  const isHigher = others.some(([, { priority }]) => rank(priority) < rank(caller.priority));
  const equals = others.filter(([, { priority }]) => priority === caller.priority);
  const isBefore = (other: string, { servedAt }: Holder): boolean =>
    servedAt < own.servedAt || (servedAt === own.servedAt && other < id);
  const delayMs = equals.filter(([other, holder]) => isBefore(other, holder)).length * TURN_MS;
  const most = Math.max(1, Math.floor(aheadMs / gap / (equals.length + 1)));
  const starts: number[] = [];
  let { due, servedAt } = own;
  for (;;) {
    const free = Math.max(limit.due, limit.heldUntil, due, endOfWindow(limit.starts, rate));
    const nextAt = isHigher ? free + HIGHER_MS : free - aheadMs + delayMs;
    if (starts.length === Math.min(waiting, most) || nextAt > now) {
      const holder = { ...own, waiting: waiting - starts.length, servedAt, due };
      // With enough starts at hand, ask for a batch rather than for each.
      const next = Math.max(nextAt, starts.length === 0 ? 0 : servedAt - aheadMs / 2);
      const isAlone = Object.keys(limit.holders).length === 1;
      const soon = isAlone ? next : Math.min(next, now + ANNOUNCE_MS);
      return [
        { ...limit, holders: { ...limit.holders, [id]: holder } },
        { starts, nextAt: soon },
      ];
    }
    const at = Math.max(now, free);
    const auto = limit.auto === undefined ? undefined : recordStart(limit.auto, at);
    const isStored = rate <= MAX_STORED_STARTS;
    const next = isStored && at - limit.due <= CATCH_UP_MS ? limit.due + gap : Math.max(limit.due, at - SPARE_MS) + gap;
    limit = { ...limit, auto, due: next, starts: isStored ? [...limit.starts, at].slice(-Math.ceil(rate)) : [] };
    if (typeof caller.rps === 'number' && caller.rps < rate) due = Math.max(due, at - SPARE_MS) + gapMs(caller.rps);
    servedAt = at;
    starts.push(at);
  }
}

/** The source answered 429 to a request that started at `startedAt`, with a pause of `holdMs` if it gave one. */
export function slow(
  limit: Limit,
  now: number,
  {
    startedAt,
    holdMs,
    wall,
  }: { readonly startedAt: number; readonly holdMs: number | undefined; readonly wall: number },
): Limit {
  const [slowed, ownMs] = slowRate(limit, startedAt, now);
  return { ...slowed, at: now, last429: wall, heldUntil: Math.max(limit.heldUntil, now + (holdMs ?? ownMs)) };
}

/** Removes a process that ends. */
export function removeHolder(limit: Limit, id: string): Limit {
  const { [id]: _, ...holders } = limit.holders;
  return updateCap({ ...limit, holders });
}

/** Processes that are alive. */
export function aliveHolders({ holders }: Limit, now: number): readonly Holder[] {
  return Object.values(holders).filter((holder) => isAlive(holder, now));
}

function isAlive({ seenAt }: Holder, now: number): boolean {
  return now - seenAt <= SILENT_MS;
}

function slowRate(limit: Limit, startedAt: number, now: number): readonly [Limit, number] {
  const { fixed, auto, holders } = limit;
  if (auto !== undefined && isAuto(holders)) {
    const [slowed, ownMs] = slowAdaptive(auto, startedAt, now, limit.due);
    return [{ ...limit, auto: slowed }, ownMs];
  }
  if (fixed === undefined) return [limit, UNCAPPED_HOLD_MS];
  // Requests that were in flight together slow it once.
  if (startedAt < fixed.slowedTo) return [limit, gapMs(fixed.rps)];
  const rps = Math.max(Math.min(SLOWEST_RPS, fixed.cap), rateAt(limit, now) / 2);
  return [{ ...limit, fixed: { ...fixed, rps, slowedAt: now, slowedTo: limit.due } }, gapMs(rps)];
}

/** Adds or updates a process, and removes those that are gone. */
function updateHolder(
  before: Limit,
  now: number,
  id: string,
  caller: Caller,
  waiting: number,
): readonly [Limit, Holder] {
  const limit = before.at > now + CLOCK_BACK_MS ? restartClock(before, now) : before;
  const isBreak = now - limit.at > BREAK_MS && limit.auto !== undefined;
  const alive = Object.entries(limit.holders).filter(([, holder]) => isAlive(holder, now));
  const { servedAt = 0, due = 0 } = limit.holders[id] ?? {};
  const own: Holder = { ...caller, waiting, seenAt: now, servedAt, due };
  const updated = updateCap({ ...limit, at: now, holders: { ...Object.fromEntries(alive), [id]: own } });
  let { auto } = limit;
  if (isBreak) auto = startAdaptive(now, { found: auto?.found });
  else if (isAuto(updated.holders)) auto ??= startAdaptive(now, { rps: updated.fixed?.cap });
  return [{ ...updated, auto }, own];
}

/** Sets the cap to the highest rate of any holder. A reduction after a 429 remains in proportion. */
function updateCap(limit: Limit): Limit {
  const given = Object.values(limit.holders).flatMap(({ rps }) => (typeof rps === 'number' ? [rps] : []));
  const { fixed, holders } = limit;
  const cap = given.length === 0 ? undefined : Math.max(...given);
  if (cap === fixed?.cap || Object.keys(holders).length === 0) return limit;
  if (cap === undefined) return { ...limit, fixed: undefined };
  return {
    ...limit,
    fixed:
      fixed === undefined
        ? { cap, rps: cap, slowedAt: 0, slowedTo: 0 }
        : { ...fixed, cap, rps: (fixed.rps / fixed.cap) * cap },
  };
}

/** The same limit on a restarted clock: nothing starts too early, and a pause lasts its remaining time. */
function restartClock(limit: Limit, now: number): Limit {
  const gap = gapMs(rateAt(limit, limit.at));
  return {
    ...limit,
    at: now,
    due: now + Math.min(gap, Math.max(0, limit.due - limit.at)),
    heldUntil: now + Math.max(0, limit.heldUntil - limit.at),
    starts: [],
    fixed: limit.fixed && { ...limit.fixed, slowedAt: now, slowedTo: now },
    auto: limit.auto && startAdaptive(now, { found: limit.auto.found, rps: limit.auto.rps }),
    holders: {},
  };
}

function isAuto(holders: Limit['holders']): boolean {
  return Object.values(holders).some(({ rps }) => rps === 'auto');
}

function rank(priority: Holder['priority']): number {
  return PRIORITIES.indexOf(priority);
}

/** The earliest time at which one more start leaves no second with more than the rate, rounded up. */
function endOfWindow(starts: readonly number[], rate: number): number {
  const oldest = rate <= MAX_STORED_STARTS ? starts.at(-Math.ceil(rate)) : undefined;
  return oldest === undefined ? 0 : oldest + WINDOW_MS;
}

/** Time between two starts at a rate, in milliseconds. */
function gapMs(rps: number): number {
  return 1000 / (rps * FILL);
}
