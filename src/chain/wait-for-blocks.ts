import type { Effects } from '../core/effects.ts';
import { intersectSpans, type Span, totalSize } from '../core/span.ts';
import type { Source } from '../http/source.ts';
import { fetchEnds, type IndexEnds } from './index-ends.ts';
import type { RangePart } from './range-part.ts';

/** Blocks that are walked at once while the head grows: what a kill can cost. */
const PIECE_BLOCKS = 100;
const POLL_MS = 1000;
const DEFAULT_WAIT_MS = 60_000;

/** Whether a range asks for blocks that are still to come: `:+1000`. */
export function isComing(parts: readonly RangePart[]): boolean {
  return parts.some(({ from, to }) => from.kind === 'open' && to.kind === 'ahead');
}

/** A part of what is asked, and the index that holds it. */
export interface ReachedPiece {
  readonly spans: readonly Span[];
  readonly ends: IndexEnds;
}

export interface Coming {
  readonly asked: readonly Span[];
  readonly source: Source;
  readonly effects: Pick<Effects, 'monotonic' | 'sleep'>;
  readonly stop: AbortSignal;
  /** How long the head may stand still. Default 60 s. */
  readonly waitMs: number | undefined;
}

/** Hands out what is asked piece by piece as the head passes it; ends with the last, or when the head stands still for too long. */
export async function* reachedPieces(coming: Coming): AsyncGenerator<ReachedPiece> {
  const { asked, source, effects, stop, waitMs = DEFAULT_WAIT_MS } = coming;
  const last = asked.at(-1)?.to ?? 0;
  let from = 0;
  let ends = await fetchEnds(source);
  let movedAt = effects.monotonic();
  while (from <= last && !stop.aborted) {
    const to = Math.min(last, ends.last);
    const spans = intersectSpans(asked, [{ from, to }]);
    const hasStopped = effects.monotonic() - movedAt > waitMs;
    if (spans.length > 0 && (to === last || hasStopped || totalSize(spans) >= PIECE_BLOCKS)) {
      yield { spans, ends };
      from = to + 1;
    } else {
      if (hasStopped) return;
      await effects.sleep(POLL_MS, stop).catch(() => undefined);
    }
    if (from > last || stop.aborted) return;
    const now = await fetchEnds(source);
    // Behind one address stand several servers, of which some lag.
    if (now.last <= ends.last) continue;
    ends = now;
    movedAt = effects.monotonic();
  }
}
