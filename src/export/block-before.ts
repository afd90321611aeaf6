import type { Header } from '../chain/headers.ts';
import type { Span } from '../core/span.ts';
import type { SpanSink } from './walk-context.ts';

/** Blocks of the first query; each further one reads four times as many. */
const FIRST_BLOCKS = 4;

/** Committed headers from a masterchain block on, in order or backwards, so that those far from it are read only if they are needed. */
export async function* headersFrom(
  sink: Pick<SpanSink, 'headers'>,
  seqno: number,
  direction: 1 | -1,
  within: Span,
): AsyncGenerator<Header> {
  for (let [size, at] = [FIRST_BLOCKS, seqno]; at >= within.from && at <= within.to; size *= 4) {
    const end = direction < 0 ? Math.max(within.from, at - size + 1) : Math.min(within.to, at + size - 1);
    const headers = [...(await sink.headers({ from: Math.min(at, end), to: Math.max(at, end) })).values()].flat();
    yield* headers.sort((a, b) => direction * (a.mcSeqno - b.mcSeqno || a.seqno - b.seqno));
    at = end + direction;
  }
}

/** The last masterchain block of a span that ends before a logical time; undefined if none does. */
export async function blockBefore(
  sink: Pick<SpanSink, 'headers'>,
  lt: bigint,
  within: Span,
): Promise<number | undefined> {
  for await (const { workchain, endLt, mcSeqno } of headersFrom(sink, within.to, -1, within)) {
    if (workchain === -1 && endLt < lt) return mcSeqno;
  }
  return undefined;
}
