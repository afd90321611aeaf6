import { datePart, parseRange, resolveFrom, resolveRange } from '../chain/range.ts';
import type { ChainBounds, RangePart } from '../chain/range-part.ts';
import { usage } from '../core/errors.ts';
import { formatSpans, type Span, unionSpans } from '../core/span.ts';
import { addDays, dateAt } from '../core/time-zone.ts';
import type { FixedRange } from './run-record.ts';

/** The range in a job file. */
export type JobRange =
  /** The job exports nothing. */
  | { readonly kind: 'none' }
  /** A number of whole days up to the day before the run. */
  | { readonly kind: 'days'; readonly count: number }
  /** From the end of the last finished run (from `start` on the first run) to the head. */
  | { readonly kind: 'since'; readonly start: readonly RangePart[] }
  | { readonly kind: 'parts'; readonly parts: readonly RangePart[] };

/** The moment of a run, and where the last one ended. */
export interface RangeMoment {
  /** Milliseconds since 1970. */
  readonly now: number;
  readonly zone: string;
  /** Last block of the last finished run. */
  readonly lastTo: number | undefined;
}

const EXAMPLES = 'yesterday, last 7 days, since last run, 2026-05-01 or 47670000:47671000';

/** Parses the range of a job. @throws {UsageError} */
export function parseJobRange(text: string | undefined, start: string | undefined): JobRange {
  if (text === undefined) return { kind: 'none' };
  const words = text.trim().toLowerCase().split(/\s+/).join(' ');
  if (words === 'yesterday' || words === 'last day') return { kind: 'days', count: 1 };
  const [, count] = /^last (\d{1,4}) days?$/.exec(words) ?? [];
  if (count !== undefined && Number(count) > 0) return { kind: 'days', count: Number(count) };
  if (words === 'since last run') return { kind: 'since', start: parseStart(start) };
  if (/^[a-z]/.test(words)) {
    throw usage(
      `a range such as ${EXAMPLES}`,
      JSON.stringify(text),
      'days are counted back from the run, in the time zone of the job',
    );
  }
  return { kind: 'parts', parts: parseRange(text) };
}

function parseStart(start: string | undefined): readonly RangePart[] {
  if (start === undefined) {
    throw usage(
      'start with the range since last run',
      'nothing',
      'set start: 2026-05-01, or a masterchain seqno, where the first run starts',
    );
  }
  const [part, ...more] = parseRange(start);
  const kind = part?.from.kind;
  const isPoint = kind === 'seqno' || kind === 'date' || kind === 'time';
  if (part !== undefined && more.length === 0 && isPoint && isAlone(part)) return [part];
  throw usage(
    'a day or a masterchain seqno',
    JSON.stringify(start),
    kind === undefined ? 'start: 2026-05-01' : 'start is where the first run starts; it always ends at the head',
  );
}

/**
 * Resolves a range to masterchain blocks.
 *
 * @throws {UsageError} {WalkError} if the index does not have it, or not yet
 */
export async function resolveJobRange(range: JobRange, moment: RangeMoment, chain: ChainBounds): Promise<FixedRange> {
  const fixed = await fixParts(range, moment, chain);
  const spans = unionSpans(fixed.map(({ span }) => span));
  const [from, to] = [spans[0]?.from, spans.at(-1)?.to];
  return {
    blocks: spans.length === 0 ? undefined : formatSpans(spans),
    from,
    to,
    firstDay: fixed.find(({ span, first }) => span.from === from && first !== undefined)?.first,
    lastDay: fixed.find(({ span, last }) => span.to === to && last !== undefined)?.last,
  };
}

/** `2026-05-01:2026-05-07`, for a range with a first and last day. */
export function daysText(range: FixedRange | undefined, between = ':'): string | undefined {
  const { firstDay, lastDay } = range ?? {};
  if (firstDay === undefined || lastDay === undefined) return undefined;
  return firstDay === lastDay ? lastDay : `${firstDay}${between}${lastDay}`;
}

/** The days of a range that are counted back from a moment; undefined for other ranges. */
export function daysBefore(
  range: JobRange,
  now: number,
  zone: string,
): { readonly first: string; readonly last: string } | undefined {
  const today = dateAt(now, zone);
  return range.kind === 'days' ? { first: addDays(today, -range.count), last: addDays(today, -1) } : undefined;
}

/** Blocks of a range, and the days at its ends if it names them. */
interface FixedPart {
  readonly span: Span;
  readonly first: string | undefined;
  readonly last: string | undefined;
}

async function fixParts(
  range: JobRange,
  { now, zone, lastTo }: RangeMoment,
  chain: ChainBounds,
): Promise<readonly FixedPart[]> {
  switch (range.kind) {
    case 'none':
      return [];
    case 'days': {
      const days = daysBefore(range, now, zone);
      return fixAll(parseRange(`${days?.first}:${days?.last}`), chain);
    }
    case 'since': {
      const [begin] = range.start;
      const first = begin === undefined ? 0 : await resolveFrom(begin.from, chain);
      const from = lastTo === undefined ? first : lastTo + 1;
      const to = await chain.head();
      return from > to ? [] : [{ span: { from, to }, first: undefined, last: undefined }];
    }
    case 'parts':
      return fixAll(range.parts, { ...chain, today: async () => dateAt(now, zone) });
  }
}

async function fixAll(written: readonly RangePart[], chain: ChainBounds): Promise<readonly FixedPart[]> {
  const fixed: FixedPart[] = [];
  for (const one of written) {
    const part = await datePart(one, chain);
    const [first, last] = [part.from, part.to].map((end) => (end.kind === 'date' ? end.date : undefined));
    for (const span of await resolveRange([part], chain)) fixed.push({ span, first, last });
  }
  return fixed;
}

/** True if a part was written without a colon. */
function isAlone({ text }: RangePart): boolean {
  return /^[^:]*(T\d\d:\d\d(:\d\d)?Z?)?$/i.test(text);
}
