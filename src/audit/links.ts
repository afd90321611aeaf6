import type { Span } from '../span.ts';
import { type Header, headerId } from './header.ts';

/** The newest block of every shard at one masterchain block; undefined where the index does not reach. */
export type ShardState = readonly Header[] | undefined;

/** What is wrong with a list of headers. Empty lists mean that the list is proven whole. */
export interface LinkGaps {
  /** Blocks that others refer to, or that the state at the end names, and that the list lacks. */
  readonly missing: readonly MissingBlock[];
  /** Blocks of the list that stand outside all chains. */
  readonly stray: readonly Header[];
}

export interface MissingBlock {
  readonly id: string;
  /** Masterchain block whose list refers to it, or that it is itself. Its own list is this one or an older one. */
  readonly seenFrom: number;
}

/**
 * Proves that a list of headers holds every block of a span: from the newest blocks at its end back to those before its start,
 * every link through splits and merges must lead to a listed block, and no listed block may stand outside those chains.
 *
 * @param before state at `span.from - 1`; undefined when the index begins with the span
 * @param after state at `span.to`
 */
export function findLinkGaps(headers: readonly Header[], span: Span, before: ShardState, after: ShardState): LinkGaps {
  const listed = new Map(headers.map((header) => [headerId(header), header]));
  const known = new Set((before ?? []).map(headerId));
  const seen = new Set<string>();
  const missing = new Map<string, number>();
  const todo = (after ?? headers.filter((header) => header.mcSeqno === span.to)).map((header) => ({
    id: headerId(header),
    from: span.to,
  }));
  for (let next = todo.pop(); next !== undefined; next = todo.pop()) {
    const { id, from } = next;
    if (known.has(id) || seen.has(id)) continue;
    seen.add(id);
    const header = listed.get(id);
    if (header !== undefined) {
      for (const prev of header.prev) todo.push({ id: prev, from: header.mcSeqno });
    } else if (before !== undefined || from > span.from) {
      missing.set(id, from);
    }
  }
  for (let seqno = span.from; seqno <= span.to; seqno++) {
    const id = `-1:-9223372036854775808:${seqno}`;
    if (!listed.has(id)) missing.set(id, seqno);
  }
  return {
    missing: [...missing].map(([id, seenFrom]) => ({ id, seenFrom })),
    stray: headers.filter((header) => !seen.has(headerId(header))),
  };
}
