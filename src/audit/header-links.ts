import { type BlockRef, blockId, type LinkedBlock, type NamedHeader, parseLinks } from '../chain/headers.ts';
import { coversAll, halvesOf, haveCommonAddresses } from '../chain/shards.ts';
import { groupBy } from '../core/group-by.ts';
import type { Span } from '../core/span.ts';
import type { Decoder } from '../decode/decoder.ts';
import type { BytesColumn, WordsColumn } from '../decode/typed-columns.ts';
import type { Contradiction, ProvenRows } from './proven-rows.ts';

/** The latest block of every shard at both ends of a span. Plain data for worker threads. */
export interface LinkEnds {
  /** At the masterchain block before the span; undefined if the index begins with the span. */
  readonly before: readonly NamedHeader[] | undefined;
  /** Their ids at the last masterchain block of the span. */
  readonly after: readonly string[];
  /** The same at blocks within the span: the last ones before blocks that are left out. */
  readonly within?: readonly ShardState[];
  /** Transactions of the span that are already committed. */
  readonly proven?: ProvenRows | undefined;
  /** Headers of the span that are already committed. */
  readonly committed?: CommittedBlocks | undefined;
}

/** Ids of the latest block of every shard at a masterchain block. */
export interface ShardState {
  readonly seqno: number;
  readonly ids: readonly string[];
}

/** Blocks whose headers are committed. */
export interface CommittedBlocks {
  /** Masterchain blocks that include them. */
  readonly spans: readonly Span[];
  readonly ids: ReadonlySet<string>;
}

/** Faults of a list of headers. If all are empty, the list is proven complete. */
export interface LinkGaps {
  /** Missing blocks that other blocks, or the state at the end, reference; or that must be there beside a listed block. */
  readonly missing: readonly MissingBlock[];
  /** Latest blocks before the span that no listed block follows, though the state at the end does not name them. */
  readonly ended: readonly NamedHeader[];
  /** Latest blocks of chains that are not part of the state at the end. */
  readonly stray: readonly LinkedBlock[];
  /** Blocks that do not link to the block before them, or to both halves of a merged shard. */
  readonly unlinked: readonly LinkedBlock[];
  /** Masterchain blocks that another one is said to include. */
  readonly misplaced: readonly LinkedBlock[];
  /** Blocks that precede the block before them. */
  readonly disordered: readonly DisorderedBlock[];
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
  /** Listed blocks that the committed headers of their masterchain blocks lack. */
  readonly uncommitted: readonly LinkedBlock[];
}

export interface MissingBlock {
  readonly id: string;
  /** Masterchain block with a reference to it, or itself. It is listed with this masterchain block or an older one. */
  readonly seenFrom: number;
}

/** A block with the one before it, of which one must be wrong. */
export interface DisorderedBlock {
  readonly block: LinkedBlock;
  readonly prev: NamedHeader;
  /** What of the block is lower than it was. */
  readonly what: 'masterchain block' | 'time' | 'logical time';
  /** Masterchain block of the next block, or the end of the span. */
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
): readonly LinkedBlock[] {
  const words = (name: string): WordsColumn => decoder.column(name) as WordsColumn;
  const [workchains, shards, seqnos] = [words('workchain'), words('shard'), words('seqno')];
  const [mcSeqnos, txCounts, utimes] = [words('mc_block_seqno'), words('tx_count'), words('gen_utime')];
  const [startLts, endLts] = [words('start_lt'), words('end_lt')];
  const links = decoder.column('prev_blocks') as BytesColumn;
  const blocks: LinkedBlock[] = [];
  for (let row = 0; row < decoder.records; row++) {
    const mcSeqno = mcSeqnos.words[row] as number;
    if (mcSeqno < span.from || mcSeqno > span.to || !isAlive(row)) continue;
    const workchain = (workchains.words[row] as number) | 0;
    const seqno = seqnos.words[row] as number;
    const shard = shards.signed64(row).toString();
    const { bytes, offsets } = links;
    blocks.push({
      id: blockId(workchain, shard, seqno),
      workchain,
      shard,
      seqno,
      mcSeqno,
      prev: links.isSet(row) ? parseLinks(bytes.toString('utf8', offsets[row], offsets[row + 1])) : [],
      txCount: txCounts.words[row * txCounts.width] as number,
      startLt: startLts.signed64(row),
      endLt: endLts.signed64(row),
      utime: utimes.words[row * utimes.width] as number,
    });
  }
  return blocks;
}

/**
 * Proves that a list of headers has every block of a span. From the latest blocks at its end back to those before its start, every
 * link must lead to a listed block, and no listed block may be outside those chains, or listed twice. From those before its start to
 * those at its end, every block must have a successor; both halves of a shard follow a split, and a merge follows both. No block may
 * precede the one before it. At the start of the index there is no state before: references of the first blocks are left to the caller.
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
  walker.requireSiblings();
  const unlinked = blocks.filter((block) => !linksToPredecessor(block));
  const misplaced = blocks.filter(({ workchain, seqno, mcSeqno }) => workchain === -1 && seqno !== mcSeqno);
  for (const { id, seqno } of misplaced) walker.missing.set(id, seqno);
  const missing = [...walker.missing].map(([id, seenFrom]) => ({ id, seenFrom }));
  const broken = groupBy([...missing.map(({ id }) => refOf(id)), ...unlinked, ...walker.dangling], placeOf);
  /** False for the end of a chain right below a faulty block, which explains it. */
  const isUnexplained = ({ workchain, shard, seqno }: BlockRef): boolean =>
    (broken.get(placeOf({ workchain, seqno: seqno + 1 })) ?? []).every(
      (next) => !haveCommonAddresses(next, { workchain, shard }),
    );
  const last = new Set(after);
  return {
    missing,
    ended: (before ?? []).filter((block) => !last.has(block.id) && !walker.next.has(block.id) && isUnexplained(block)),
    stray: tops.filter(isUnexplained),
    unlinked,
    misplaced,
    disordered: walker.disordered(),
    twice: walker.twice,
    older: [...walker.older].map(([id, seenFrom]) => ({ id, seenFrom })),
  };
}

/** Listed blocks of committed masterchain blocks whose committed headers lack them. */
export function findUncommitted(
  blocks: readonly LinkedBlock[],
  { spans, ids }: CommittedBlocks,
): readonly LinkedBlock[] {
  return blocks.filter(
    ({ id, mcSeqno }) => spans.some(({ from, to }) => mcSeqno >= from && mcSeqno <= to) && !ids.has(id),
  );
}

/** Follows links from block to block. */
class LinkWalker {
  readonly missing = new Map<string, number>();
  readonly older = new Map<string, number>();
  /** Listed blocks with a reference to a missing one. */
  readonly dangling: LinkedBlock[] = [];
  readonly twice: LinkedBlock[] = [];
  /** Blocks that link to a block, by its id. */
  readonly next: ReadonlyMap<string, readonly LinkedBlock[]>;
  private readonly listed = new Map<string, LinkedBlock>();
  private readonly known: ReadonlyMap<string, NamedHeader>;
  private readonly seen = new Set<string>();
  private readonly descending: LinkedBlock[];
  private readonly span: Span;
  private readonly before: LinkEnds['before'];
  private readonly isWhole: boolean;

  constructor(blocks: readonly LinkedBlock[], span: Span, before: LinkEnds['before']) {
    const next = new Map<string, LinkedBlock[]>();
    for (const block of blocks) {
      const other = this.listed.get(block.id);
      if (other !== undefined) this.twice.push(other, block);
      this.listed.set(block.id, block);
      for (const { id } of block.prev) {
        const others = next.get(id);
        if (others === undefined) next.set(id, [block]);
        else others.push(block);
      }
    }
    this.next = next;
    this.known = new Map((before ?? []).map((block) => [block.id, block]));
    this.descending = [...blocks].sort((a, b) => a.seqno - b.seqno || a.mcSeqno - b.mcSeqno);
    this.span = span;
    this.before = before;
    this.isWhole = before !== undefined && coversAll(before);
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
      } else if (by === undefined || !this.isBeforeIndex(id, from)) {
        this.missing.set(id, Math.min(from, this.missing.get(id) ?? from));
        if (by !== undefined) this.dangling.push(by);
      } else this.older.set(id, from);
    }
  }

  /** True for a block that can precede the index, because no state has a block of its shard so far. */
  private isBeforeIndex(id: string, from: number): boolean {
    const { before, span } = this;
    if (before === undefined) return from <= span.from;
    return !this.isWhole && !before.some((block) => haveCommonAddresses(block, refOf(id)));
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

  /** Requires both halves of a shard after a split: a masterchain block includes the first blocks of both. */
  requireSiblings(): void {
    for (const [id, blocks] of this.next) {
      const { shard } = refOf(id);
      if (blocks[0]?.shard === shard) continue;
      // A merged block follows both halves itself.
      const halves = halvesOf(shard);
      const child = blocks.find((block) => halves.includes(block.shard));
      if (child === undefined) continue;
      const { workchain, seqno, mcSeqno } = child;
      for (const half of halves) {
        if (blocks.every((block) => block.shard !== half)) this.requireListed(blockId(workchain, half, seqno), mcSeqno);
      }
    }
  }

  /** Blocks with a masterchain block, time, or logical time that is lower than that of the block before them. */
  disordered(): readonly DisorderedBlock[] {
    const found: DisorderedBlock[] = [];
    for (const block of this.listed.values()) {
      for (const { id } of block.prev) {
        const listed = this.listed.get(id);
        const prev = listed ?? this.known.get(id);
        if (prev === undefined || prev === block) continue;
        // The state before the span names a block of any masterchain block before it.
        const what =
          listed !== undefined && block.mcSeqno < prev.mcSeqno ? 'masterchain block' : disorderOf(block, prev);
        if (what === undefined) continue;
        const seenFrom = (this.next.get(block.id) ?? []).reduce(
          (least, { mcSeqno }) => Math.min(least, mcSeqno),
          this.span.to,
        );
        found.push({ block, prev, what, seenFrom });
      }
    }
    return found;
  }
}

function disorderOf(block: LinkedBlock, prev: NamedHeader): DisorderedBlock['what'] | undefined {
  if (block.utime < prev.utime) return 'time';
  return block.startLt < prev.endLt ? 'logical time' : undefined;
}

/**
 * Every block but the first has links to one or two blocks of its workchain; the later one precedes it directly. It is of the same
 * shard, or of the one that was split, or the two are those that were merged.
 */
function linksToPredecessor({ workchain, shard, seqno, prev }: LinkedBlock): boolean {
  const [first, second] = prev;
  if (first === undefined) return seqno <= 1;
  let newest = -1;
  for (const ref of prev) {
    if (ref.workchain !== workchain) return false;
    newest = Math.max(newest, ref.seqno);
  }
  if (newest !== seqno - 1 || prev.length > 2) return false;
  if (second === undefined) return first.shard === shard || halvesOf(first.shard).includes(shard);
  return halvesOf(shard).every((half) => prev.some((ref) => ref.shard === half));
}

function masterId(seqno: number): string {
  return blockId(-1, '-9223372036854775808', seqno);
}

function refOf(id: string): BlockRef {
  const [workchain, shard = '', seqno] = id.split(':');
  return { id, workchain: Number(workchain), shard, seqno: Number(seqno) };
}

/** Workchain and seqno, without the shard. */
function placeOf({ workchain, seqno }: Pick<BlockRef, 'workchain' | 'seqno'>): string {
  return `${workchain}:${seqno}`;
}
