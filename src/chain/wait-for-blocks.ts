import type { Effects } from '../core/effects.ts';
import { intersectSpans, type Span, totalSize } from '../core/span.ts';
import type { Source } from '../http/source.ts';
import { fetchEnds, type IndexHead } from './index-head.ts';
import type { RangePart } from './range-part.ts';

/** Blocks per piece while the head grows: the most that a killed run loses. */
const PIECE_BLOCKS = 100;
const POLL_MS = 1000;
const DEFAULT_WAIT_MS = 60_000;

/** True if a range includes future blocks: `:+1000`. */
export function isComing(parts: readonly RangePart[]): boolean {
  return parts.some(({ from, to }) => from.kind === 'open' && to.kind === 'ahead');
}

/** Requested blocks that the index has by now, and its ends. */
export interface ReachedPiece {
  readonly spans: readonly Span[];
  readonly ends: IndexHead;
}

export interface Coming {
  readonly requested: readonly Span[];
  readonly source: Source;
  readonly effects: Pick<Effects, 'monotonic' | 'sleep'>;
  readonly stop: AbortSignal;
  /** How long to wait for a new head. Default 60 s. */
  readonly waitMs: number | undefined;
}

/**
 * Yields the requested blocks piece by piece as the head passes them. Ends with the last block, or if the head does not move for
 * `waitMs`; then the caller handles the blocks after the last piece.
 */
export async function* reachedPieces(coming: Coming): AsyncGenerator<ReachedPiece> {
  const { requested, source, effects, stop, waitMs = DEFAULT_WAIT_MS } = coming;
  const last = requested.at(-1)?.to ?? 0;
  let from = 0;
  let ends = await fetchEnds(source);
  let movedAt = effects.monotonic();
  while (from <= last && !stop.aborted) {
    const to = Math.min(last, ends.last);
    const spans = intersectSpans(requested, [{ from, to }]);
    if (spans.length > 0 && (to === last || totalSize(spans) >= PIECE_BLOCKS)) {
      yield { spans, ends };
      from = to + 1;
    } else {
      if (effects.monotonic() - movedAt > waitMs) return;
      await effects.sleep(POLL_MS, stop).catch(() => undefined);
    }
    if (from > last || stop.aborted) return;
    const now = await fetchEnds(source);
    // An address can have several servers, some of which lag behind.
    if (now.last <= ends.last) continue;
    ends = now;
    movedAt = effects.monotonic();
  }
}
