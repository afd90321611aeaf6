import type { BlockSpan } from '../src/ui/ui-types.ts';

/** Minimum number of blocks in a view. */
const MIN_BLOCKS = 10;

/** Scales a view by a factor around a point (0: left end, 1: right end), within `whole`. */
export function zoomed(view: BlockSpan, factor: number, point: number, whole: BlockSpan): BlockSpan {
  const size = view.to - view.from + 1;
  const most = whole.to - whole.from + 1;
  const next = Math.round(Math.min(most, Math.max(Math.min(MIN_BLOCKS, most), size * factor)));
  return spanWithin(view.from + point * (size - next), next, whole);
}

/** Moves a view by a share of its width, within `whole`. */
export function moved(view: BlockSpan, share: number, whole: BlockSpan): BlockSpan {
  const size = view.to - view.from + 1;
  return spanWithin(view.from + share * size, size, whole);
}

/** `size` blocks from about `start`, within `whole`. */
function spanWithin(start: number, size: number, whole: BlockSpan): BlockSpan {
  const from = Math.max(whole.from, Math.min(Math.round(start), whole.to - size + 1));
  return { from, to: from + size - 1 };
}
