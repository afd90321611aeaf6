import type { BlockSpan } from '../src/ui/ui-types.ts';

/** Minimum number of blocks in a view. */
const MIN_BLOCKS = 10;

/** Scales a view by a factor around a point (0: left end, 1: right end), within `whole`. */
export function zoomed(view: BlockSpan, factor: number, point: number, whole: BlockSpan): BlockSpan {
  const size = view.to - view.from + 1;
  const most = whole.to - whole.from + 1;
  const next = Math.round(Math.min(most, Math.max(Math.min(MIN_BLOCKS, most), size * factor)));
  return within({ from: Math.round(view.from + point * (size - next)), to: 0 }, next, whole);
}

/** Moves a view by a share of its width, within `whole`. */
export function moved(view: BlockSpan, share: number, whole: BlockSpan): BlockSpan {
  const size = view.to - view.from + 1;
  return within({ from: Math.round(view.from + share * size), to: 0 }, size, whole);
}

function within({ from }: BlockSpan, size: number, whole: BlockSpan): BlockSpan {
  const first = Math.max(whole.from, Math.min(from, whole.to - size + 1));
  return { from: first, to: first + size - 1 };
}
