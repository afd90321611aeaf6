import { type Span, spanSize } from '../../core/span.ts';
import type { LtWindow } from '../lt-windows.ts';
import { bandOfMean, mean } from './figure.ts';

/** The density of rows, known at a few places of a span. */
export interface Density {
  readonly span: Span;
  /** Logical times of the span. */
  readonly range: LtWindow;
  readonly places: readonly { readonly seqno: number; readonly rowsPerBlock: number }[];
}

/** Logical time at the end of a block, interpolated: blocks come evenly. */
export function ltAt(all: readonly Density[], seqno: number): bigint {
  const { span, range } = nearest(all, ({ span: { from, to } }) => Math.max(0, from - 1 - seqno, seqno - to));
  return range.from + ((range.to - range.from) * BigInt(seqno + 1 - span.from)) / BigInt(spanSize(span));
}

/** Rows of a window, by the places in it, or by the nearest place. */
export function rowsIn(all: readonly Density[], { from, to }: LtWindow): number {
  const { span, range, places } = nearest(all, (each) =>
    Math.max(0, Number(each.range.from - from), Number(to - each.range.to)),
  );
  const seqnoAt = (lt: bigint) =>
    span.from + (Number(lt - range.from) / Number(range.to - range.from)) * spanSize(span);
  const [first, last] = [seqnoAt(from), seqnoAt(to + 1n)];
  const inside = places.filter(({ seqno }) => seqno >= first && seqno <= last);
  const distance = ({ seqno }: { readonly seqno: number }) => Math.abs(seqno - (first + last) / 2);
  const used = inside.length > 0 ? inside : [nearest(places, distance)];
  return mean(used.map(({ rowsPerBlock }) => rowsPerBlock)) * (last - first);
}

function nearest<T>(all: readonly T[], distanceOf: (one: T) => number): T {
  return all.reduce((best, each) => (distanceOf(each) < distanceOf(best) ? each : best));
}

/** Relative uncertainty of the mean density, at most a half. */
export function doubtOf(all: readonly Density[]): number {
  const rates = all.flatMap(({ places }) => places.map(({ rowsPerBlock }) => rowsPerBlock));
  return Math.min(0.5, bandOfMean(rates) / Math.max(mean(rates), Number.MIN_VALUE));
}
