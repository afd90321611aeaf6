import { UsageError, usage } from '../core/errors.ts';
import { type Span, unionSpans } from '../core/span.ts';
import { addDays, isDate } from '../core/time-zone.ts';
import type { ChainBounds, RangeEnd, RangePart } from './range-part.ts';

const EXAMPLES = '47670000:47671000, 47.67M:47.68M, -1000:, :+1000, 47670000, 2026-05-01, 2026-05, yesterday or -7d:';
const SCALE: Readonly<Record<string, number>> = { '': 1, K: 1e3, M: 1e6, B: 1e9 };
const MAX_SEQNO = 4_294_967_295;
const HOUR_MS = 3_600_000;
/** A number with thousands separators. */
const GROUPED = /(?<![\d._,])\d{1,3}(?:,\d{3})+(?![\d._])/g;
/** One end; a time contains colons, too. */
const END = /(?:\d{4}-\d{2}-\d{2}T\d{2}:\d{2}(?::\d{2}(?!\d))?Z?|[^:])*/iy;

/**
 * Parses ranges, separated by commas. Ends are seqnos (`47.67M`, `47_670_000`), days and months (UTC, `yesterday`), times (UTC), `-N:`
 * (the last N blocks up to the other end or the head), `-7d:` or `-12h:` (the last days or hours), `:+N` (N blocks from the other end,
 * or the next N after the head), or nothing (up to the head). A time alone is its minute, or its second.
 *
 * @throws {UsageError}
 */
export function parseRange(text: string): readonly RangePart[] {
  // The caller may be JavaScript.
  const whole = `${text}`;
  refuseGroups(whole);
  return parseParts(whole);
}

function parseParts(whole: string): readonly RangePart[] {
  return whole.split(',').map((part) => parsePart(part.trim(), whole));
}

/** Rejects numbers with thousands separators, which would be parsed as several ranges. @throws {UsageError} */
function refuseGroups(whole: string): void {
  const joined = whole.replace(GROUPED, (number) => number.replaceAll(',', ''));
  const isOne = joined !== whole && isRange(joined);
  const hasZeros = /,\s*(?:[\d._KMB+-]*:)?0\d+\s*(?:[:,]|$)/i.test(whole);
  const isList = !hasZeros && isRange(whole) && isAscending(parseParts(whole));
  const beginsGrouped = /^\d+,/.test(whole);
  if (!hasZeros && (!isOne || (isList && !beginsGrouped))) return;
  const meant = isOne ? `did you mean ${joined}? ` : '';
  const list = isOne && isList ? `; ${whole.replace(/^\d+/, '$&:$&')} for several ranges` : '';
  throw usage(
    'digits without commas',
    JSON.stringify(whole),
    `${meant}commas separate ranges; group digits like 47_670_000${list}`,
  );
}

/** True if the seqnos of the parts are ascending. */
function isAscending(parts: readonly RangePart[]): boolean {
  return parts.every(({ from }, at) => {
    const before = parts[at - 1]?.to;
    return from.kind !== 'seqno' || before?.kind !== 'seqno' || from.seqno > before.seqno;
  });
}

function isRange(text: string): boolean {
  try {
    return parseParts(text).length > 0;
  } catch (error) {
    if (error instanceof UsageError) return false;
    throw error;
  }
}

function endsOf(part: string): readonly string[] {
  const ends: string[] = [];
  for (let at = 0; at <= part.length; ) {
    END.lastIndex = at;
    const [end = ''] = END.exec(part) ?? [];
    ends.push(end);
    at += end.length + 1;
  }
  return ends;
}

function parsePart(part: string, whole: string): RangePart {
  const ends = endsOf(part);
  const [first = '', second] = ends;
  if (ends.length > 2 || part === '' || part === ':') throw wrongRange(part, whole);
  const from = parseEnd(first, part, 'from');
  if (second === undefined) {
    const to = parseEnd(first, part, 'to');
    if (!['seqno', 'date', 'days-ago', 'time'].includes(from.kind)) throw wrongRange(part, whole);
    if (to.kind !== 'time') return { text: part, from, to };
    // A time alone means its minute or second.
    return { text: part, from, to: { kind: 'time', ms: to.ms + (/:\d{2}:/.test(first) ? 1000 : 60_000) } };
  }
  const to = parseEnd(second, part, 'to');
  if (!isSense(from, to)) throw wrongRange(part, whole);
  if (isReversed(from, to)) {
    throw new UsageError(`range start ${first} is after its end ${second}`, {
      hint: `did you mean ${second}:${first}?`,
    });
  }
  return { text: part, from, to };
}

function isReversed(from: RangeEnd, to: RangeEnd): boolean {
  if (from.kind === 'seqno' && to.kind === 'seqno') return from.seqno > to.seqno;
  if (from.kind === 'date' && to.kind === 'date') return from.date > to.date;
  if (from.kind === 'days-ago' && to.kind === 'days-ago') return from.days < to.days;
  return from.kind === 'time' && to.kind === 'time' && from.ms > to.ms;
}

/** True if two ends form a range. */
function isSense(from: RangeEnd, to: RangeEnd): boolean {
  switch (to.kind) {
    case 'back':
    case 'last':
      return false;
    case 'ahead':
      return from.kind === 'seqno' || from.kind === 'open';
    case 'date':
    case 'days-ago':
      // Only whole days can be counted back from the end of a day.
      if (from.kind === 'last') return from.hours % 24 === 0;
      break;
  }
  return from.kind !== 'ahead' && from.kind !== 'open';
}

function parseEnd(text: string, part: string, side: 'from' | 'to'): RangeEnd {
  if (text === '') return { kind: 'open' };
  if (/^\d{4}-\d{2}(-\d{2})?$/.test(text)) return { kind: 'date', date: parseDate(text, part, side) };
  if (/^\d{4}-\d{2}-\d{2}T/i.test(text)) return { kind: 'time', ms: parseTime(text, part) };
  if (/^yesterday$/i.test(text)) return { kind: 'days-ago', days: 1 };
  if (/^today$/i.test(text)) return { kind: 'days-ago', days: 0 };
  const [, length, measure] = /^-(\d{1,5})([dh])$/i.exec(text) ?? [];
  if (length !== undefined && Number(length) > 0) {
    return { kind: 'last', hours: Number(length) * (measure?.toLowerCase() === 'd' ? 24 : 1) };
  }
  if (/^-\d[\d_.]*m$/.test(text)) {
    throw usage(
      'blocks, days or hours before the end',
      JSON.stringify(text),
      'minutes cannot be counted; -12h: is the last 12 hours, -5M: the last 5 million blocks',
    );
  }
  const match = /^([+-]?)(\d[\d_]*(?:\.\d+)?)([KMB]?)$/i.exec(text);
  if (match === null) throw wrongRange(text, part);
  const [, sign = '', digits = '', unit = ''] = match;
  const scaled = Number(digits.replaceAll('_', '')) * (SCALE[unit.toUpperCase()] as number);
  const value = Math.round(scaled);
  if (Math.abs(value - scaled) > 1e-6 || value > MAX_SEQNO || (sign !== '' && value === 0))
    throw wrongRange(text, part);
  if (sign === '-') return { kind: 'back', count: value };
  if (sign === '+') return { kind: 'ahead', count: value };
  return { kind: 'seqno', seqno: value };
}

/** A month means its first or last day. */
function parseDate(text: string, part: string, side: 'from' | 'to'): string {
  const isMonth = text.length === 7;
  const date = isMonth ? `${text}-01` : text;
  if (!isDate(date)) throw wrongRange(text, part);
  if (!isMonth || side === 'from') return date;
  const [year = 0, month = 0] = text.split('-').map(Number);
  return new Date(Date.UTC(year, month, 0)).toISOString().slice(0, 10);
}

function parseTime(text: string, part: string): number {
  const plain = text.toUpperCase().replace(/Z$/, '');
  const time = Date.parse(`${plain.length === 16 ? `${plain}:00` : plain}Z`);
  const isReal = !Number.isNaN(time) && new Date(time).toISOString().startsWith(plain);
  if (!isReal || !/^.{10}T\d{2}:\d{2}(:\d{2})?$/.test(plain)) throw wrongRange(text, part);
  return time;
}

/** Replaces `yesterday` and `today` by their dates. */
export async function datePart(part: RangePart, { today }: Pick<ChainBounds, 'today'>): Promise<RangePart> {
  const dated = async (end: RangeEnd): Promise<RangeEnd> =>
    end.kind === 'days-ago' ? { kind: 'date', date: addDays(await today(), -end.days) } : end;
  return { text: part.text, from: await dated(part.from), to: await dated(part.to) };
}

/**
 * The spans of masterchain seqnos of a range: sorted, disjoint, joined.
 *
 * @throws {UsageError} for an empty part, for example `47670000:` above the head
 */
export async function resolveRange(parts: readonly RangePart[], chain: ChainBounds): Promise<readonly Span[]> {
  const spans: Span[] = [];
  for (const part of parts) {
    const span = await resolvePart(await datePart(part, chain), chain);
    if (span.from > span.to || span.from < 0) {
      throw usage(
        'a range with blocks',
        `${part.text}, which is ${span.from}:${span.to}`,
        `${chain.headIs ?? 'the head'} is ${await chain.head()}`,
      );
    }
    spans.push(span);
  }
  return unionSpans(spans);
}

async function resolvePart({ from, to }: RangePart, chain: ChainBounds): Promise<Span> {
  if (from.kind === 'open' && to.kind === 'ahead') {
    const head = await chain.head();
    return { from: head + 1, to: head + to.count };
  }
  if (from.kind === 'last' && to.kind === 'date') {
    return { from: await chain.firstOfDay(addDays(to.date, 1 - from.hours / 24)), to: await chain.lastOfDay(to.date) };
  }
  if (from.kind === 'back' || from.kind === 'last') {
    const last = await resolveTo(to, chain);
    if (from.kind === 'back') return { from: last - from.count + 1, to: last };
    const end = to.kind === 'time' ? to.ms : await chain.blockTime(last);
    return { from: await chain.firstSince(end - from.hours * HOUR_MS), to: last };
  }
  const first = await resolveFrom(from, chain);
  if (to.kind === 'ahead') return { from: first, to: first + to.count - 1 };
  return { from: first, to: await resolveTo(to, chain) };
}

/** The first block of an end that does not depend on the other end. */
export async function resolveFrom(from: RangeEnd, chain: ChainBounds): Promise<number> {
  switch (from.kind) {
    case 'seqno':
      return from.seqno;
    case 'date':
      return chain.firstOfDay(from.date);
    case 'time':
      return chain.firstSince(from.ms);
    default:
      return 0;
  }
}

async function resolveTo(to: RangeEnd, chain: ChainBounds): Promise<number> {
  switch (to.kind) {
    case 'seqno':
      return to.seqno;
    case 'date':
      return chain.lastOfDay(to.date);
    case 'time':
      return chain.lastBefore(to.ms);
    default:
      return chain.head();
  }
}

function wrongRange(part: string, whole: string): UsageError {
  const got = JSON.stringify(part);
  const hint = part === whole ? undefined : `it is part of ${JSON.stringify(whole)}`;
  if (/^\d{4}-\d{2}(-\d{2})?$/.test(part)) {
    const unit = part.length === 7 ? 'month' : 'day';
    return usage(
      `a ${unit} of the calendar`,
      got,
      hint ?? `${unit}s are written as ${unit === 'day' ? '2026-05-01' : '2026-05'}`,
    );
  }
  // The last days or blocks need the colon of a range without an end.
  const guess = /^-\d+[dhKMB]?$/i.test(part) ? `did you mean ${part}:?` : undefined;
  return usage(`a range such as ${EXAMPLES}`, got, hint ?? guess);
}
