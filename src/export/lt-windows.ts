import type { Header } from '../chain/headers.ts';
import type { Span } from '../core/span.ts';

/** A range of logical time, both ends inclusive. */
export interface LtWindow {
  readonly from: bigint;
  readonly to: bigint;
}

/** Planned rows of a window that ends inside of blocks: far enough below a full page that few overflow. */
export const TARGET_ROWS = 955;
/** Planned rows of a window that ends between blocks, so that the headers give their exact number. */
const EXACT_ROWS = 995;
/** Minimum share of a window that ends at the last gap between blocks. */
const ENOUGH = 0.9;

/**
 * Cuts the logical time of some blocks into windows of about `target` transactions each, between blocks if possible. Assumes that a
 * block's transactions are spread evenly over its range. Blocks that overlap add up, also the `neighbours` outside of the span. The
 * windows are disjoint and cover every block completely.
 */
export function planLtWindows(
  headers: readonly Header[],
  neighbours: readonly Header[] = [],
  target: number = TARGET_ROWS,
): readonly LtWindow[] {
  const exact = (target * EXACT_ROWS) / TARGET_ROWS;
  const slopes = slopesOf(headers, neighbours);
  const windows: LtWindow[] = [];
  let from = slopes[0]?.lt ?? 0n;
  let rows = 0;
  let gap: { readonly lt: bigint; readonly rows: number } | undefined;
  const cut = (lt: bigint): void => {
    if (lt > from) windows.push({ from, to: lt - 1n });
    from = lt;
    gap = undefined;
  };
  for (const [i, { lt, rate }] of slopes.entries()) {
    const next = slopes[i + 1];
    if (next === undefined) {
      cut(lt);
      break;
    }
    if (rate < NOTHING) {
      gap = { lt, rows };
      continue;
    }
    let at = lt;
    let left = Number(next.lt - at) * rate;
    while (rows + left > (gap === undefined ? target : exact)) {
      if (gap !== undefined && gap.rows >= exact * ENOUGH) {
        rows -= gap.rows;
        cut(gap.lt);
        continue;
      }
      const step = BigInt(Math.max(1, Math.floor((target - rows) / rate)));
      at = at + step < next.lt ? at + step : next.lt;
      rows = 0;
      left = Number(next.lt - at) * rate;
      cut(at);
    }
    rows += left;
  }
  return windows;
}

/** A rate below this is a rounding error. */
const NOTHING = 1e-12;

/** Transactions per unit of logical time, from `lt` on. */
interface Slope {
  readonly lt: bigint;
  readonly rate: number;
}

function slopesOf(headers: readonly Header[], neighbours: readonly Header[]): readonly Slope[] {
  const range = rangeOf(headers);
  if (range === undefined) return [];
  const changes = new Map<bigint, number>();
  const change = (lt: bigint, rate: number): void => {
    changes.set(lt, (changes.get(lt) ?? 0) + rate);
  };
  for (const { startLt, endLt, txCount } of [...headers, ...neighbours]) {
    const from = startLt > range.from ? startLt : range.from;
    const to = endLt < range.to ? endLt : range.to;
    if (from > to) continue;
    const rate = txCount / Number(endLt - startLt + 1n);
    change(from, rate);
    change(to + 1n, -rate);
  }
  const sorted = [...changes].sort(([a], [b]) => (a < b ? -1 : 1));
  let rate = 0;
  return sorted.map(([lt, by]) => {
    rate = Math.max(0, rate + by);
    return { lt, rate };
  });
}

/** The range of logical time of some blocks; undefined for none. */
export function rangeOf(headers: readonly Header[]): LtWindow | undefined {
  const [first] = headers;
  if (first === undefined) return undefined;
  let { startLt: from, endLt: to } = first;
  for (const { startLt, endLt } of headers) {
    if (startLt < from) from = startLt;
    if (endLt > to) to = endLt;
  }
  return { from, to };
}

/** Planned headers of a window: they come evenly. */
export const HEADER_ROWS = 965;

/** Cuts a range of logical time into equal windows of about `target` rows each. */
export function planEvenWindows(range: LtWindow, rows: number, target: number = HEADER_ROWS): readonly LtWindow[] {
  const count = BigInt(Math.max(1, Math.ceil(rows / target)));
  const width = range.to - range.from + 1n;
  return Array.from({ length: Number(count) }, (_, i) => ({
    from: range.from + (width * BigInt(i)) / count,
    to: range.from + (width * BigInt(i + 1)) / count - 1n,
  })).filter((window) => window.from <= window.to);
}

/** Both halves of a window; undefined for one of a single logical time. */
export function halve({ from, to }: LtWindow): readonly [LtWindow, LtWindow] | undefined {
  if (from === to) return undefined;
  const middle = (from + to) / 2n;
  return [
    { from, to: middle },
    { from: middle + 1n, to },
  ];
}

/** Maximum size of a span. */
export interface SpanLimits {
  readonly records: number;
  readonly seqnos: number;
}

/** Cuts spans into pieces within the limits, by the records that the headers promise for each masterchain block. */
export function planSpans(
  spans: readonly Span[],
  recordsOf: (seqno: number) => number,
  limits: SpanLimits,
): readonly Span[] {
  const pieces: Span[] = [];
  for (const span of spans) {
    let from = span.from;
    let records = 0;
    for (let seqno = span.from; seqno <= span.to; seqno++) {
      const next = recordsOf(seqno);
      if (seqno > from && (records + next > limits.records || seqno - from >= limits.seqnos)) {
        pieces.push({ from, to: seqno - 1 });
        from = seqno;
        records = 0;
      }
      records += next;
    }
    pieces.push({ from, to: span.to });
  }
  return pieces;
}
