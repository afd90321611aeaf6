import type { LinkedBlock } from '../chain/headers.ts';
import type { Span } from '../core/span.ts';

/** A shard; the id is signed or unsigned. */
export interface Shard {
  readonly workchain: number;
  readonly shard: bigint;
}

const EVERYTHING = 1n << 64n;

/** True if the shards are one of the masterchain, and some that cover the basechain without gaps or overlaps. */
export function coversAll(shards: readonly Shard[]): boolean {
  if (shards.filter(({ workchain }) => workchain === -1).length !== 1) return false;
  const ranges = shards
    .filter(({ workchain }) => workchain === 0)
    .map(({ shard }) => {
      const id = BigInt.asUintN(64, shard);
      // The lowest set bit is the middle of the shard's range.
      const half = id & -id;
      return { from: id - half, to: id + half };
    })
    .sort((a, b) => (a.from < b.from ? -1 : 1));
  let covered = 0n;
  for (const { from, to } of ranges) {
    if (from !== covered) return false;
    covered = to;
  }
  return covered === EVERYTHING;
}

/** A block in a shard state. */
export interface StateBlock extends Shard {
  readonly id: string;
  /** Masterchain block that includes it. */
  readonly mcSeqno: number;
  readonly rootHash: string;
}

export interface StateHeader extends LinkedBlock {
  readonly rootHash: string;
}

/** A fault in a shard state. */
export interface StateFault {
  readonly expected: string;
  readonly got: string;
}

/** Proven headers, with which shard states are compared. */
export interface HeldHeaders {
  /** Ranges of masterchain blocks with complete headers. */
  readonly runs: readonly Span[];
  readonly headers: readonly StateHeader[];
  /** The first masterchain block of the index. */
  readonly first: number;
}

/** Compares shard states with the headers of earlier blocks. */
export class StateAudit {
  private readonly held: HeldHeaders;
  private readonly byMcSeqno = new Map<number, StateHeader[]>();
  /** By masterchain block: the latest block of each shard in its range of headers. */
  private readonly newest = new Map<number, ReadonlyMap<string, StateHeader>>();

  constructor(held: HeldHeaders) {
    this.held = held;
    for (const header of held.headers) {
      const list = this.byMcSeqno.get(header.mcSeqno) ?? [];
      list.push(header);
      this.byMcSeqno.set(header.mcSeqno, list);
    }
    for (const run of held.runs) this.follow(run);
  }

  /**
   * The fault of the state at a masterchain block, if any. It must cover every address once, and have exactly the latest blocks of the
   * headers, in addition to older ones of shards without new blocks. If headers are complete from the first block of the index on, all
   * shards have headers.
   */
  fault(seqno: number, state: readonly StateBlock[]): StateFault | undefined {
    if (!state.some(({ workchain, mcSeqno }) => workchain === -1 && mcSeqno === seqno)) {
      return { expected: `masterchain block ${seqno} in its own state`, got: 'none' };
    }
    const run = this.held.runs.find(({ from, to }) => seqno >= from && seqno <= to);
    const newest = run === undefined ? undefined : this.newest.get(seqno);
    const wrong = run === undefined || newest === undefined ? undefined : differing(state, newest, run.from);
    if (wrong !== undefined) return wrong;
    const isFromFirst = run !== undefined && run.from <= this.held.first && newest?.size === state.length;
    if (isFromFirst || coversAll(state)) return undefined;
    return { expected: `a block of every shard at ${seqno}`, got: names(state) };
  }

  private follow({ from, to }: Span): void {
    let newest = new Map<string, StateHeader>();
    for (let seqno = from; seqno <= to; seqno++) {
      newest = new Map(newest);
      const own = [...(this.byMcSeqno.get(seqno) ?? [])].sort((a, b) => a.seqno - b.seqno);
      for (const header of own) {
        for (const { id } of header.prev) newest.delete(id);
        newest.set(header.id, header);
      }
      this.newest.set(seqno, newest);
    }
  }
}

function differing(
  state: readonly StateBlock[],
  newest: ReadonlyMap<string, StateHeader>,
  since: number,
): StateFault | undefined {
  const named = new Map(state.map((block) => [block.id, block]));
  for (const { id, rootHash } of newest.values()) {
    const own = named.get(id);
    if (own === undefined) return { expected: `block ${id}, the newest of its shard`, got: names(state) };
    if (own.rootHash !== rootHash) return { expected: `block ${id} with root hash ${rootHash}`, got: own.rootHash };
  }
  const stranger = state.find(({ id, mcSeqno }) => mcSeqno >= since && !newest.has(id));
  return stranger === undefined ? undefined : { expected: 'the newest block of each shard', got: stranger.id };
}

function names(state: readonly StateBlock[]): string {
  return state.map(({ id }) => id).join(' ');
}
