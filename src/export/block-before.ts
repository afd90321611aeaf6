import type { Span } from '../core/span.ts';
import type { SpanSink } from './walk-context.ts';

/** Blocks of the first query; each further one reads four times as many. */
const FIRST_BLOCKS = 4;

/**
 * The last masterchain block of a span that ends before a logical time; undefined if none does. Searches backwards from the end, so
 * headers far from it are not read.
 */
export async function blockBefore(
  sink: Pick<SpanSink, 'headers'>,
  lt: bigint,
  within: Span,
): Promise<number | undefined> {
  let { to } = within;
  for (let size = FIRST_BLOCKS; to >= within.from; size *= 4) {
    const from = Math.max(within.from, to - size + 1);
    const headers = [...(await sink.headers({ from, to })).values()].flat();
    const earlier = headers.filter(({ workchain, endLt }) => workchain === -1 && endLt < lt);
    if (earlier.length > 0) return earlier.reduce((last, { mcSeqno }) => Math.max(last, mcSeqno), from);
    to = from - 1;
  }
  return undefined;
}
