import type { AdaptiveRate } from './limit.ts';

/** Share of the limit that is used; leaves 15 ms per second for differences between clocks. */
export const FILL = 0.985;
/** Share of the limit that is recovered per second without a 429. */
export const RECOVERY_PER_SECOND = 0.02;
export const SLOWEST_RPS = 0.1;

/** Requests per second of a process that knows no limit yet. */
export const FIRST_RPS = 1;
/** The rate increases only if this share of it was used: an unused rate proves nothing. */
const MIN_USE = 0.8;
const STEP = { ms: 1000, starts: 3 };
/** Growth per step before the first 429. */
const GROWTH = { slowBelowRps: 4, low: 2, high: 1.4 };
/** Share of a limit found earlier with which a new process starts. */
const REMEMBERED_SHARE = 0.8;
/** Small steps above the found limit, after a quiet time that doubles each time they end at the same limit. */
const PROBE = { firstWaitMs: 15_000, longestWaitMs: 600_000, stepMs: 5000, firstRaise: 0.01, lastRaise: 0.04 };
/** If the limit is exceeded by this factor without a 429, it has increased and is searched again. */
const OUTGROWN = 1.2;
const SAME_LIMIT = 0.1;
/** A 429 this soon after the last one means that the estimate was wrong. */
const REPEAT_MS = 5000;
const REPEAT_CUTS = [0.9, 0.7, 0.5] as const;
const HOLD_MS = 250;
const MAX_HOLD_MS = 5000;
/** With a shorter log than `least`, no limit is estimated; with one shorter than `full`, the previous limit counts more. */
const REACH_MS = { least: 2500, full: 20_000 };
const LOG = { binMs: 250, bins: 480 };

type StartLog = AdaptiveRate['log'];

/**
 * A rate that finds the limit of a source and stays just below it. It starts at 1 request per second and grows while it is used without
 * a 429. A 429 gives the limit (see {@link lowestLimit}); then the rate stays at that limit and is occasionally probed.
 *
 * @param known a limit found earlier, and the rate to start with
 */
export function startAdaptive(
  now: number,
  known: { readonly found?: number | undefined; readonly rps?: number | undefined } = {},
): AdaptiveRate {
  const { found } = known;
  return {
    found,
    rps: known.rps ?? Math.max(FIRST_RPS, (found ?? 0) * REMEMBERED_SHARE),
    steppedAt: now,
    stepStarts: 0,
    quietSince: now,
    repeats: 0,
    slowedTo: 0,
    raise: PROBE.firstRaise,
    waitMs: PROBE.firstWaitMs,
    log: emptyLog(now),
  };
}

/** Records a start, and grows if it is time. */
export function recordStart(rate: AdaptiveRate, at: number): AdaptiveRate {
  const next = { ...rate, log: addStart(rate.log, at), stepStarts: rate.stepStarts + 1 };
  const elapsedMs = at - rate.steppedAt;
  if (elapsedMs < Math.max(STEP.ms, (STEP.starts * 1000) / rate.rps)) return next;
  const isUsed = next.stepStarts >= (MIN_USE * FILL * rate.rps * elapsedMs) / 1000;
  const stepped = { ...next, steppedAt: at, stepStarts: 0 };
  return isUsed ? stepUp(stepped, at, elapsedMs) : stepped;
}

/**
 * The source answered 429 to a request that started at `startedAt`.
 *
 * @param due the next start: those before it were given at the rate so far
 * @returns the rate from now on, and the pause in milliseconds if the source did not give one
 */
export function slowAdaptive(
  rate: AdaptiveRate,
  startedAt: number,
  now: number,
  due: number,
): readonly [AdaptiveRate, number] {
  const struck = { ...rate, log: strikeStart(rate.log, startedAt) };
  const { slowedAt = Number.NEGATIVE_INFINITY } = rate;
  if (startedAt < rate.slowedTo) return [struck, 0];
  const slowed = {
    ...struck,
    slowedAt: now,
    slowedTo: due,
    steppedAt: now,
    stepStarts: 0,
    quietSince: now,
    raise: PROBE.firstRaise,
  };
  if (now - slowedAt < REPEAT_MS) return cutAgain(slowed, now);
  return [settle({ ...slowed, repeats: 0 }, estimate(struck, startedAt)), HOLD_MS];
}

function estimate({ log, found, rps }: AdaptiveRate, startedAt: number): number {
  const reachMs = startedAt - log.from * LOG.binMs;
  if (found !== undefined && reachMs < REACH_MS.full) return Math.min(found, rps) * 0.95;
  if (reachMs < REACH_MS.least) return rps * 0.8;
  return Math.min(Math.max(lowestLimit(log, startedAt), rps * 0.3), rps * 0.97);
}

function settle(rate: AdaptiveRate, limit: number): AdaptiveRate {
  const { found: before, waitMs } = rate;
  const isSame = before !== undefined && Math.abs(limit - before) <= before * SAME_LIMIT;
  const found = Math.max(SLOWEST_RPS, limit);
  return { ...rate, found, rps: found, waitMs: isSame ? Math.min(2 * waitMs, PROBE.longestWaitMs) : PROBE.firstWaitMs };
}

function cutAgain(rate: AdaptiveRate, now: number): readonly [AdaptiveRate, number] {
  const cut = REPEAT_CUTS[Math.min(rate.repeats, REPEAT_CUTS.length - 1)] ?? 0.5;
  const repeats = rate.repeats + 1;
  const next = { ...rate, repeats, rps: Math.max(SLOWEST_RPS, rate.rps * cut) };
  const holdMs = Math.min(MAX_HOLD_MS, HOLD_MS * 2 ** repeats);
  if (repeats === 1) return [next, holdMs];
  // The limit itself has decreased, so earlier requests are no longer evidence.
  return [{ ...next, found: next.rps, waitMs: PROBE.firstWaitMs, log: emptyLog(now) }, holdMs];
}

function stepUp(rate: AdaptiveRate, now: number, elapsedMs: number): AdaptiveRate {
  const { found, rps, raise } = rate;
  if (found === undefined) return { ...rate, rps: rps * (rps < GROWTH.slowBelowRps ? GROWTH.low : GROWTH.high) };
  if (rps < found) {
    return { ...rate, rps: Math.min(found, rps + (found * RECOVERY_PER_SECOND * elapsedMs) / 1000), quietSince: now };
  }
  if (now - rate.quietSince < (rps > found ? PROBE.stepMs : rate.waitMs)) return rate;
  const raised = rps * (1 + raise);
  return {
    ...rate,
    found: raised > found * OUTGROWN ? undefined : found,
    rps: raised,
    raise: Math.min(PROBE.lastRaise, 2 * raise),
    quietSince: now,
  };
}

function emptyLog(now: number): StartLog {
  return { from: Math.floor(now / LOG.binMs), counts: [] };
}

function addStart(log: StartLog, at: number): StartLog {
  const bin = Math.floor(at / LOG.binMs);
  const from = Math.max(log.from, bin - LOG.bins + 1);
  const counts = log.counts.slice(from - log.from);
  while (from + counts.length <= bin) counts.push(0);
  const index = Math.max(0, bin - from);
  counts[index] = (counts[index] ?? 0) + 1;
  return { from, counts };
}

/** Removes a start that was answered with 429. */
function strikeStart({ from, counts }: StartLog, startedAt: number): StartLog {
  const bin = Math.floor(startedAt / LOG.binMs) - from;
  return { from, counts: counts.map((count, index) => (index === bin ? Math.max(0, count - 1) : count)) };
}

/**
 * A lower bound of the source's limit: a token bucket of one second allows at most `limit * (T + 1)` requests in T seconds, so the
 * limit is at least the maximum of `count / (T + 1)` over all T that end at `until`. If the bucket is empty, it is the limit.
 */
function lowestLimit({ from, counts }: StartLog, until: number): number {
  const end = Math.floor(until / LOG.binMs) - from;
  let most = 0;
  let count = 0;
  for (let index = end - 1; index >= 0; index--) {
    count += counts[index] ?? 0;
    most = Math.max(most, count / (((end - index) * LOG.binMs) / 1000 + 1));
  }
  return most;
}
