import { Cron } from 'croner';
import { type UsageError, usage } from '../core/errors.ts';
import { dateAt, daysBetween } from '../core/time-zone.ts';

/** The due times of a schedule. */
export interface CronTimes {
  /** The first due time after a moment; undefined if there are no more. Milliseconds since 1970. */
  after(ms: number): number | undefined;
  /** The newest `max` (at least 1) due times after `from` and up to `to`, oldest first. */
  between(from: number, to: number, max: number): readonly number[];
}

/**
 * Parses a cron expression of five fields. When clocks go forward, a skipped time is due at the first moment after; when they go back,
 * a time that occurs twice is due once.
 *
 * @throws {UsageError}
 */
export function openCron(expression: string, zone: string): CronTimes {
  const cron = parseCron(expression, zone);
  const after = (ms: number): number | undefined => cron.nextRun(new Date(ms))?.getTime();
  return {
    after,
    between: (from, to, max) =>
      cron
        .previousRuns(max, new Date(to + 1))
        .map((date) => date.getTime())
        .filter((time) => time > from)
        .reverse(),
  };
}

function parseCron(expression: string, zone: string): Cron {
  try {
    const cron = new Cron(expression, { timezone: zone, mode: '5-part', fixedTimeRule: 'no-wildcard', paused: true });
    if (cron.nextRun() !== null) return cron;
  } catch (cause) {
    throw badCron(expression, cause);
  }
  throw badCron(expression, undefined);
}

function badCron(expression: string, cause: unknown): UsageError {
  const fault = cause instanceof Error ? cause.message.replace(/^\w+: /, '') : 'it is never due';
  return usage(
    'a cron expression of five fields',
    `${JSON.stringify(expression)}: ${fault}`,
    '15 3 * * * is every night at 03:15',
    { cause },
  );
}

const LOOK_AHEAD_MS = 400 * 86_400_000;
const LOOK_AHEAD_TIMES = 500;

/**
 * A date on which a schedule in one zone and days in another get out of step, so that `yesterday` would be repeated or skipped: a time
 * of day near midnight, around a clock change. Undefined if there is none in the coming year.
 */
export function outOfStep(
  times: CronTimes,
  zones: { readonly cron: string; readonly days: string },
  now: number,
): string | undefined {
  if (zones.cron === zones.days) return undefined;
  let last = times.after(now);
  for (let count = 0; last !== undefined && count < LOOK_AHEAD_TIMES; count++) {
    const next = times.after(last);
    if (next === undefined || next > now + LOOK_AHEAD_MS) return undefined;
    const [inCron, inDays] = [zones.cron, zones.days].map((zone) =>
      daysBetween(dateAt(last ?? 0, zone), dateAt(next, zone)),
    );
    if (inCron !== inDays) return dateAt(next, zones.cron);
    last = next;
  }
  return undefined;
}
