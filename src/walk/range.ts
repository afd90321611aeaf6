import { UsageError } from '../errors.ts';
import { type Span, unionSpans } from '../span.ts';

/** One end of a range as it was written. */
type End =
  | { readonly kind: 'seqno'; readonly seqno: number }
  | { readonly kind: 'back'; readonly count: number }
  | { readonly kind: 'ahead'; readonly count: number }
  | { readonly kind: 'date'; readonly date: string }
  | { readonly kind: 'open' };

/** A part of a range as it was written; both ends belong to it. */
export interface RangePart {
  readonly text: string;
  readonly from: End;
  readonly to: End;
}

/** What a range needs to know of the chain; asked only for parts that need it. */
export interface ChainBounds {
  /** Greatest seqno of the index, as it was when first asked. */
  readonly head: () => Promise<number>;
  /** What that block is, for hints. Default `the head`. */
  readonly headIs?: string;
  /** First masterchain block at or after the start of a UTC day. */
  readonly firstOfDay: (date: string) => Promise<number>;
  /** Last masterchain block that can hold rows of a UTC day. */
  readonly lastOfDay: (date: string) => Promise<number>;
}

const EXAMPLES = '47670000:47671000, 47.67M:47.68M, -1000:, :+1000, 47670000, 2026-05-01 or 2026-05-01:2026-05-07';
const SCALE: Readonly<Record<string, number>> = { '': 1, K: 1e3, M: 1e6, B: 1e9 };
const MAX_SEQNO = 4_294_967_295;

/**
 * Parses ranges, separated by commas. Ends are seqnos (`47.67M`, `47_670_000`), UTC dates, `-N:` (the last N blocks up to the
 * other end or the head), `:+N` (N blocks from the other end, or the next N after the head), or nothing (up to the head).
 *
 * @throws {UsageError}
 */
export function parseRange(text: string): readonly RangePart[] {
  // The library is also used without types.
  const parts = `${text}`.split(',').map((part) => part.trim());
  return parts.map((part) => parsePart(part, text));
}

function parsePart(part: string, whole: string): RangePart {
  const ends = part.split(':');
  const [first = '', second] = ends;
  if (ends.length > 2 || part === '' || part === ':') throw wrongRange(part, whole);
  if (second === undefined) {
    const end = parseEnd(first, part);
    if (end.kind !== 'seqno' && end.kind !== 'date') throw wrongRange(part, whole);
    return { text: part, from: end, to: end };
  }
  const from = parseEnd(first, part);
  const to = parseEnd(second, part);
  const isSense =
    from.kind !== 'ahead' &&
    to.kind !== 'back' &&
    !(from.kind === 'back' && to.kind === 'ahead') &&
    !(from.kind === 'open' && to.kind !== 'ahead') &&
    !(from.kind === 'date' && to.kind === 'ahead');
  if (!isSense) throw wrongRange(part, whole);
  if (from.kind === 'seqno' && to.kind === 'seqno' && from.seqno > to.seqno) {
    throw new UsageError(`usage: expected a range that grows, got ${part}`, {
      code: 'wrong-range',
      hint: `did you mean ${second}:${first}?`,
    });
  }
  if (from.kind === 'date' && to.kind === 'date' && from.date > to.date) {
    throw new UsageError(`usage: expected dates that grow, got ${part}`, {
      code: 'wrong-range',
      hint: `did you mean ${second}:${first}?`,
    });
  }
  return { text: part, from, to };
}

function parseEnd(text: string, part: string): End {
  if (text === '') return { kind: 'open' };
  if (/^\d{4}-\d{2}-\d{2}$/.test(text)) {
    const time = Date.parse(`${text}T00:00:00Z`);
    if (Number.isNaN(time) || new Date(time).toISOString().slice(0, 10) !== text) throw wrongRange(text, part);
    return { kind: 'date', date: text };
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

/**
 * The spans of masterchain seqnos that a range stands for: sorted, disjoint, joined.
 *
 * @throws {UsageError} when a part is empty, for example `47670000:` above the head
 */
export async function resolveRange(parts: readonly RangePart[], chain: ChainBounds): Promise<readonly Span[]> {
  const spans: Span[] = [];
  for (const part of parts) {
    const span = await resolvePart(part, chain);
    if (span.from > span.to || span.from < 0) {
      throw new UsageError(
        `usage: expected a range with blocks in it, got ${part.text}, which is ${span.from}:${span.to}`,
        {
          code: 'wrong-range',
          hint: `${chain.headIs ?? 'the head'} is ${await chain.head()}`,
        },
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
  if (from.kind === 'back') {
    const last = await resolveTo(to, chain);
    return { from: last - from.count + 1, to: last };
  }
  const first = from.kind === 'date' ? await chain.firstOfDay(from.date) : from.kind === 'seqno' ? from.seqno : 0;
  if (to.kind === 'ahead') return { from: first, to: first + to.count - 1 };
  return { from: first, to: await resolveTo(to, chain) };
}

async function resolveTo(to: End, chain: ChainBounds): Promise<number> {
  switch (to.kind) {
    case 'seqno':
      return to.seqno;
    case 'date':
      return chain.lastOfDay(to.date);
    default:
      return chain.head();
  }
}

function wrongRange(part: string, whole: string): UsageError {
  return new UsageError(`usage: expected a range such as ${EXAMPLES}, got ${JSON.stringify(part)}`, {
    code: 'wrong-range',
    ...(part === whole ? {} : { hint: `it stands in ${JSON.stringify(whole)}` }),
  });
}
