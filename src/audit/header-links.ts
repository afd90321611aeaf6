import { blockId, type LinkedBlock } from '../chain/headers.ts';
import type { Span } from '../core/span.ts';
import type { Contradiction, SealedRows } from './sealed-rows.ts';

/** Ids of the newest block of every shard at both ends of a span. Plain data, so that it can go to a worker thread. */
export interface LinkEnds {
  /** At the masterchain block before the span; undefined when the index begins with the span. */
  readonly before: readonly string[] | undefined;
  /** At the last masterchain block of the span. */
  readonly after: readonly string[];
  /** Transactions of the span that are committed already. */
  readonly sealed?: SealedRows | undefined;
}

/** What is wrong with a list of headers. Empty lists mean that the list is proven whole. */
export interface LinkGaps {
  /** Blocks that others refer to, or that the state at the end names, and that the list lacks. */
  readonly missing: readonly MissingBlock[];
  /** Newest blocks of chains that lead to nothing at the end of the span. */
  readonly stray: readonly LinkedBlock[];
  /** Blocks that do not link to the block before them. */
  readonly unlinked: readonly LinkedBlock[];
  /** Blocks that are listed more than once, all of them. */
  readonly twice: readonly LinkedBlock[];
  /** Where the index begins: blocks that its first ones refer to, and that should be older than the index. */
  readonly older: readonly MissingBlock[];
}

export interface LinkReport extends LinkGaps {
  /** How many blocks were listed. */
  readonly blocks: number;
  /** Headers that transactions contradict which are committed already. */
  readonly contradicted: readonly Contradiction[];
}

export interface MissingBlock {
  readonly id: string;
  /** Masterchain block whose list refers to it, or that it is itself. Its own list is this one or an older one. */
  readonly seenFrom: number;
}

/**
 * Proves that a list of headers holds every block of a span: from the newest blocks at its end back to those before its start,
 * every link through splits and merges must lead to a listed block, and no listed block may stand outside those chains, or twice.
 * Where the index begins there is no state before: the blocks of the state at the end must be listed all the same, and what the
 * first blocks refer to is left to the caller.
 */
export function findLinkGaps(blocks: readonly LinkedBlock[], span: Span, { before, after }: LinkEnds): LinkGaps {
  const walker = new LinkWalker(blocks, span, before);
  for (const id of after) walker.follow(id, span.to);
  const tops: LinkedBlock[] = [];
  for (let top = walker.nextTop(); top !== undefined; top = walker.nextTop()) {
    tops.push(top);
    walker.follow(top.id, top.mcSeqno);
  }
  for (let seqno = span.from; seqno <= span.to; seqno++) walker.requireListed(masterId(seqno), seqno);
  const unlinked = blocks.filter((block) => !linksToPredecessor(block));
  const faulty = [...unlinked, ...walker.dangling].map(({ id }) => id);
  const broken = new Set([...walker.missing.keys(), ...faulty].map(positionOf));
  return {
    missing: [...walker.missing].map(([id, seenFrom]) => ({ id, seenFrom })),
    // A chain that ends right below a block that is at fault itself is explained by that block.
    stray: tops.filter(({ workchain, seqno }) => !broken.has(`${workchain}:${seqno + 1}`)),
    unlinked,
    twice: walker.twice,
    older: [...walker.older].map(([id, seenFrom]) => ({ id, seenFrom })),
  };
}

/** Follows links from block to block, and remembers what it met. */
class LinkWalker {
  readonly missing = new Map<string, number>();
  readonly older = new Map<string, number>();
  /** Listed blocks that refer to a missing one. */
  readonly dangling: LinkedBlock[] = [];
  readonly twice: LinkedBlock[] = [];
  private readonly listed = new Map<string, LinkedBlock>();
  private readonly known: ReadonlySet<string>;
  private readonly seen = new Set<string>();
  private readonly descending: LinkedBlock[];
  private readonly span: Span;
  private readonly hasStart: boolean;

  constructor(blocks: readonly LinkedBlock[], span: Span, before: LinkEnds['before']) {
    for (const block of blocks) {
      const other = this.listed.get(block.id);
      if (other !== undefined) this.twice.push(other, block);
      this.listed.set(block.id, block);
    }
    this.known = new Set(before);
    this.descending = [...blocks].sort((a, b) => a.seqno - b.seqno || a.mcSeqno - b.mcSeqno);
    this.span = span;
    this.hasStart = before !== undefined;
  }

  follow(top: string, topFrom: number): void {
    const todo: { readonly id: string; readonly from: number; readonly by: LinkedBlock | undefined }[] = [
      { id: top, from: topFrom, by: undefined },
    ];
    for (let next = todo.pop(); next !== undefined; next = todo.pop()) {
      const { id, from, by } = next;
      if (this.known.has(id) || this.seen.has(id)) continue;
      const block = this.listed.get(id);
      if (block !== undefined) {
        this.seen.add(id);
        for (const { id: prev } of block.prev) todo.push({ id: prev, from: block.mcSeqno, by: block });
      } else if (this.hasStart || by === undefined || from > this.span.from) {
        this.missing.set(id, Math.min(from, this.missing.get(id) ?? from));
        if (by !== undefined) this.dangling.push(by);
      } else this.older.set(id, from);
    }
  }

  /** The newest listed block that no chain has led to. */
  nextTop(): LinkedBlock | undefined {
    for (let top = this.descending.pop(); top !== undefined; top = this.descending.pop()) {
      if (!this.seen.has(top.id)) return top;
    }
    return undefined;
  }

  requireListed(id: string, seqno: number): void {
    if (!this.listed.has(id)) this.missing.set(id, seqno);
  }
}

/** Every block but the first links to one or two blocks of its workchain, the newest of which is the one before it. */
function linksToPredecessor({ workchain, seqno, prev }: LinkedBlock): boolean {
  if (prev.length === 0) return seqno <= 1;
  let newest = -1;
  for (const ref of prev) {
    if (ref.workchain !== workchain) return false;
    newest = Math.max(newest, ref.seqno);
  }
  return newest === seqno - 1 && prev.length <= 2;
}

function masterId(seqno: number): string {
  return blockId(-1, '-9223372036854775808', seqno);
}

/** Workchain and seqno of an id, whatever the shard. */
function positionOf(id: string): string {
  const [workchain, , seqno] = id.split(':');
  return `${workchain}:${seqno}`;
}
