import { blockId, type CountedBlock, type LinkedBlock, parseLinks } from '../chain/headers.ts';
import type { Span } from '../core/span.ts';
import type { Decoder } from '../decode/decoder.ts';
import type { BytesColumn, WordsColumn } from '../decode/typed-columns.ts';
import type { Contradiction, ProvenRows } from './proven-rows.ts';

/** Ids of the latest block of every shard at both ends of a span. Plain data for worker threads. */
export interface LinkEnds {
  /** At the masterchain block before the span; undefined if the index begins with the span. */
  readonly before: readonly string[] | undefined;
  /** At the last masterchain block of the span. */
  readonly after: readonly string[];
  /** The same at blocks within the span: the last ones before blocks that are left out. */
  readonly within?: readonly ShardState[];
  /** Transactions of the span that are already committed. */
  readonly proven?: ProvenRows | undefined;
}

/** Ids of the latest block of every shard at a masterchain block. */
export interface ShardState {
  readonly seqno: number;
  readonly ids: readonly string[];
}

/** Faults of a list of headers. If all are empty, the list is proven complete. */
export interface LinkGaps {
  /** Missing blocks that other blocks, or the state at the end, reference. */
  readonly missing: readonly MissingBlock[];
  /** Latest blocks of chains that are not part of the state at the end. */
  readonly stray: readonly LinkedBlock[];
  /** Blocks that do not link to the block before them. */
  readonly unlinked: readonly LinkedBlock[];
  /** All copies of blocks that are listed more than once. */
  readonly twice: readonly LinkedBlock[];
  /** At the start of the index: referenced blocks that should be older than the index. */
  readonly older: readonly MissingBlock[];
}

export interface LinkReport extends LinkGaps {
  /** Number of listed blocks. */
  readonly blocks: number;
  /** Headers that contradict committed transactions. */
  readonly contradicted: readonly Contradiction[];
}

export interface MissingBlock {
  readonly id: string;
  /** Masterchain block with a reference to it, or itself. It is listed with this masterchain block or an older one. */
  readonly seenFrom: number;
}

/**
 * The headers in a decoder, so that the proof by links uses the rows that are written, not the response.
 *
 * @param span masterchain blocks
 * @param isAlive false for rows that are left out
 */
export function readLinkedBlocks(
  decoder: Decoder,
  span: Span,
  isAlive: (row: number) => boolean,
): readonly CountedBlock[] {
  const words = (name: string): WordsColumn => decoder.column(name) as WordsColumn;
  const [workchains, shards, seqnos] = [words('workchain'), words('shard'), words('seqno')];
  const [mcSeqnos, txCounts] = [words('mc_block_seqno'), words('tx_count')];
  const [startLts, endLts] = [words('start_lt'), words('end_lt')];
  const links = decoder.column('prev_blocks') as BytesColumn;
  const blocks: CountedBlock[] = [];
  for (let row = 0; row < decoder.records; row++) {
    const mcSeqno = mcSeqnos.words[row] as number;
    if (mcSeqno < span.from || mcSeqno > span.to || !isAlive(row)) continue;
    const workchain = (workchains.words[row] as number) | 0;
    const seqno = seqnos.words[row] as number;
    const { bytes, offsets } = links;
    blocks.push({
      id: blockId(workchain, shards.signed64(row).toString(), seqno),
      workchain,
      seqno,
      mcSeqno,
      prev: links.isSet(row) ? parseLinks(bytes.toString('utf8', offsets[row], offsets[row + 1])) : [],
      txCount: txCounts.words[row * txCounts.width] as number,
      startLt: startLts.signed64(row),
      endLt: endLts.signed64(row),
    });
  }
  return blocks;
}

/**
 * Proves that a list of headers has every block of a span: from the latest blocks at its end back to those before its start, every
 * link through splits and merges must lead to a listed block, and no listed block may be outside those chains, or listed twice. At the
 * start of the index there is no state before: references of the first blocks are left to the caller.
 */
export function findLinkGaps(
  blocks: readonly LinkedBlock[],
  span: Span,
  { before, after, within = [] }: LinkEnds,
): LinkGaps {
  const walker = new LinkWalker(blocks, span, before);
  for (const { seqno, ids } of [{ seqno: span.to, ids: after }, ...within]) {
    for (const id of ids) walker.follow(id, seqno);
  }
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
    // A chain that ends right below a faulty block is explained by that block.
    stray: tops.filter(({ workchain, seqno }) => !broken.has(`${workchain}:${seqno + 1}`)),
    unlinked,
    twice: walker.twice,
    older: [...walker.older].map(([id, seenFrom]) => ({ id, seenFrom })),
  };
}

/** Follows links from block to block. */
class LinkWalker {
  readonly missing = new Map<string, number>();
  readonly older = new Map<string, number>();
  /** Listed blocks with a reference to a missing one. */
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

  /** The latest listed block that is not in a chain so far. */
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

/** Every block but the first has links to one or two blocks of its workchain; the later one precedes it directly. */
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

/** Workchain and seqno of an id, without the shard. */
function positionOf(id: string): string {
  const [workchain, , seqno] = id.split(':');
  return `${workchain}:${seqno}`;
}
