import type { Header } from '../chain/headers.ts';
import type { Span } from '../core/span.ts';

/** A range of logical time, both ends inclusive. */
export interface LtWindow {
  readonly from: bigint;
  readonly to: bigint;
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

/** Cuts a range of logical time into equal windows of about `target` rows each. */
export function planEvenWindows(range: LtWindow, rows: number, target: number): readonly LtWindow[] {
  const count = BigInt(Math.max(1, Math.ceil(rows / target)));
  const width = range.to - range.from + 1n;
  return Array.from({ length: Number(count) }, (_, i) => ({
    from: range.from + (width * BigInt(i)) / count,
    to: range.from + (width * BigInt(i + 1)) / count - 1n,
  })).filter((window) => window.from <= window.to);
}

/** Number of logical times in a window. */
export function widthOf({ from, to }: LtWindow): number {
  return Number(to - from + 1n);
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
