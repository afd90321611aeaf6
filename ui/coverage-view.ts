import type { BlockSpan } from '../src/ui/ui-types.ts';

/** Blocks that a view shows at least. */
const LEAST_BLOCKS = 10;

/** A view that is `factor` times as wide, around a point: 0 is its left end, 1 its right one. It stays within the whole. */
export function zoomed(view: BlockSpan, factor: number, point: number, whole: BlockSpan): BlockSpan {
  const size = view.to - view.from + 1;
  const most = whole.to - whole.from + 1;
  const next = Math.round(Math.min(most, Math.max(Math.min(LEAST_BLOCKS, most), size * factor)));
  return within({ from: Math.round(view.from + point * (size - next)), to: 0 }, next, whole);
}

/** A view that is moved by a share of its width. */
export function moved(view: BlockSpan, share: number, whole: BlockSpan): BlockSpan {
  const size = view.to - view.from + 1;
  return within({ from: Math.round(view.from + share * size), to: 0 }, size, whole);
}

function within({ from }: BlockSpan, size: number, whole: BlockSpan): BlockSpan {
  const first = Math.max(whole.from, Math.min(from, whole.to - size + 1));
  return { from: first, to: first + size - 1 };
}
