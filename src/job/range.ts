import { UsageError } from '../errors.ts';
import { formatSpans, type Span } from '../span.ts';
import { type ChainBounds, parseRange, type RangePart, resolveRange } from '../walk/range.ts';
import { addDays, dateAt } from '../zone.ts';

/** The range of a job as it was written. */
export type JobRange =
  /** The job exports nothing. */
  | { readonly kind: 'none' }
  /** So many whole days, the last of them the day before the run. */
  | { readonly kind: 'days'; readonly count: number }
  /** From where the last finished run ended up to the head; from `start` before there was one. */
  | { readonly kind: 'since'; readonly start: readonly RangePart[] }
  | { readonly kind: 'parts'; readonly parts: readonly RangePart[] };

/** The range of one run, fixed when it begins: a rerun takes the same. */
export interface FixedRange {
  /** What `tonlake run --range` takes; undefined when there is nothing to export. */
  readonly blocks: string | undefined;
  /** Least and greatest masterchain block; undefined when there is none. */
  readonly from: number | undefined;
  readonly to: number | undefined;
  /** First and last day, where the range is one of days. */
  readonly firstDay: string | undefined;
  readonly lastDay: string | undefined;
}

/** What fixes a range: the moment that the run is for, and how far the last one came. */
export interface RangeMoment {
  /** Milliseconds since 1970. */
  readonly now: number;
  readonly zone: string;
  /** Greatest block of the last finished run. */
  readonly lastTo: number | undefined;
}

const EXAMPLES = 'yesterday, last 7 days, since last run, 2026-05-01 or 47670000:47671000';

/**
 * Parses the range of a job.
 *
 * @throws {UsageError} `wrong-range`
 */
export function parseJobRange(text: string | undefined, start: string | undefined): JobRange {
  const words = text?.trim().toLowerCase().split(/\s+/).join(' ');
  if (words === undefined) return { kind: 'none' };
  if (words === 'yesterday' || words === 'last day') return { kind: 'days', count: 1 };
  const [, count] = /^last (\d{1,4}) days?$/.exec(words) ?? [];
  if (count !== undefined && Number(count) > 0) return { kind: 'days', count: Number(count) };
  if (words === 'since last run') return { kind: 'since', start: parseStart(start) };
  if (/^[a-z]/.test(words)) {
    throw new UsageError(`usage: expected a range such as ${EXAMPLES}, got ${JSON.stringify(text)}`, {
      code: 'wrong-range',
      hint: 'days are counted back from the run, in the zone of the job',
    });
  }
  return { kind: 'parts', parts: parseRange(words.toUpperCase()) };
}

function parseStart(start: string | undefined): readonly RangePart[] {
  if (start === undefined) {
    throw new UsageError('usage: expected start beside the range since last run, got nothing', {
      code: 'no-start',
      hint: 'start: 2026-05-01, or a masterchain seqno: where the first run begins',
    });
  }
  const [part, ...more] = parseRange(start);
  const kind = part?.from.kind;
  if (part !== undefined && more.length === 0 && part.text === start.trim() && !start.includes(':')) return [part];
  throw new UsageError(`usage: expected a day or a masterchain seqno, got ${JSON.stringify(start)}`, {
    code: 'wrong-range',
    hint: kind === undefined ? 'start: 2026-05-01' : 'start is where the first run begins; it ends at the head',
  });
}

/** The days that a range takes when it is run at a moment; undefined where it is not told by days alone. */
export function daysOf(
  range: JobRange,
  now: number,
  zone: string,
): { readonly first: string; readonly last: string } | undefined {
  if (range.kind === 'days') {
    const today = dateAt(now, zone);
    return { first: addDays(today, -range.count), last: addDays(today, -1) };
  }
  if (range.kind !== 'parts' || range.parts.length !== 1) return undefined;
  const { from, to } = range.parts[0] ?? {};
  return from?.kind === 'date' && to?.kind === 'date' ? { first: from.date, last: to.date } : undefined;
}

/**
 * Fixes a range to masterchain blocks.
 *
 * @throws {UsageError} {WalkError} when the index does not hold it, or not yet
 */
export async function fixRange(range: JobRange, moment: RangeMoment, chain: ChainBounds): Promise<FixedRange> {
  const days = daysOf(range, moment.now, moment.zone);
  const spans = await spansOf(range, days, moment, chain);
  return {
    blocks: spans.length === 0 ? undefined : formatSpans(spans),
    from: spans[0]?.from,
    to: spans.at(-1)?.to,
    firstDay: days?.first,
    lastDay: days?.last,
  };
}

async function spansOf(
  range: JobRange,
  days: ReturnType<typeof daysOf>,
  { lastTo }: RangeMoment,
  chain: ChainBounds,
): Promise<readonly Span[]> {
  switch (range.kind) {
    case 'none':
      return [];
    case 'days':
      return days === undefined ? [] : resolveRange(parseRange(`${days.first}:${days.last}`), chain);
    case 'since': {
      const [begin] = range.start;
      const first = begin?.from.kind === 'date' ? await chain.firstOfDay(begin.from.date) : seqnoOf(begin);
      const from = lastTo === undefined ? first : lastTo + 1;
      const to = await chain.head();
      return from > to ? [] : [{ from, to }];
    }
    case 'parts':
      return resolveRange(range.parts, chain);
  }
}

function seqnoOf(part: RangePart | undefined): number {
  return part?.from.kind === 'seqno' ? part.from.seqno : 0;
}
