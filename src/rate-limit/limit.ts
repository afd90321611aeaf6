import { z } from 'zod';
import { SourceError } from '../core/errors.ts';
import { PRIORITIES } from './priority.ts';

const LIMIT_VERSION = 1;

const holder = z.object({
  pid: z.number(),
  host: z.string(),
  command: z.string(),
  priority: z.enum(PRIORITIES),
  /** Its own highest rate; absent without a limit. */
  rps: z.union([z.number(), z.literal('auto')]).optional(),
  /** Requests that wait for a permit. */
  waiting: z.number(),
  /** Requests per second over the last 10 seconds, and requests of the last minute, as it counted them. */
  share: z.number(),
  usedLastMinute: z.number(),
  seenAt: z.number(),
  /** Its last start. */
  servedAt: z.number(),
  /** Its next start at its own rate. */
  due: z.number(),
});

const adaptive = z.object({
  rps: z.number(),
  /** Known limit of the source; absent before the first 429. */
  found: z.number().optional(),
  steppedAt: z.number(),
  /** Starts since the last step. */
  stepStarts: z.number(),
  quietSince: z.number(),
  slowedAt: z.number().optional(),
  /** Starts that were given before the last 429 are before this time. */
  slowedTo: z.number(),
  repeats: z.number(),
  raise: z.number(),
  waitMs: z.number(),
  /** Starts that were not answered with 429, by quarters of a second. */
  log: z.object({ from: z.number(), counts: z.array(z.number()) }),
});

const schema = z.object({
  version: z.literal(LIMIT_VERSION),
  /** Base URL, for people who look at it. */
  network: z.string(),
  /** Last change. */
  at: z.number(),
  /** The next start. */
  due: z.number(),
  /** The last starts, of a second. */
  starts: z.array(z.number()),
  /** End of the pause after a 429. */
  heldUntil: z.number(),
  /** Wall clock of the last 429. */
  last429: z.number().optional(),
  /** The highest given rate; less for a while after a 429. */
  fixed: z.object({ cap: z.number(), rps: z.number(), slowedAt: z.number(), slowedTo: z.number() }).optional(),
  /** The adaptive rate, if any holder has ever had `auto`. */
  auto: adaptive.optional(),
  holders: z.record(z.string(), holder),
});

/** A process that sends requests. */
export type Holder = Readonly<z.infer<typeof holder>>;
export type AdaptiveRate = Readonly<z.infer<typeof adaptive>>;

/**
 * The rate limit of one network and key: the whole state, small enough to be replaced with each change. Times are milliseconds on the
 * clock of the store.
 */
export type Limit = Readonly<z.infer<typeof schema>>;

/** A limit that nobody has used. */
export function freshLimit(network: string): Limit {
  return { version: LIMIT_VERSION, network, at: 0, due: 0, starts: [], heldUntil: 0, holders: {} };
}

/**
 * @param place file or Redis key, for messages
 * @returns undefined for a text that no version has written
 * @throws {SourceError} `other-limit` for a limit of another version
 */
export function parseLimit(text: string, place: string): Limit | undefined {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return undefined;
  }
  const parsed = schema.safeParse(value);
  if (parsed.success) return parsed.data;
  if (typeof value !== 'object' || value === null || !('version' in value) || value.version === LIMIT_VERSION)
    return undefined;
  throw new SourceError(
    `source: expected a rate limit of version ${LIMIT_VERSION} in ${place}, got version ${JSON.stringify(value.version)}`,
    { code: 'other-limit', hint: `end the processes of the other version, then remove ${place}` },
  );
}
