import type { LinkedBlock } from '../chain/headers.ts';
import type { Span } from '../core/span.ts';

/** A shard by its workchain and its id, signed or unsigned. */
export interface Shard {
  readonly workchain: number;
  readonly shard: bigint;
}

const EVERYTHING = 1n << 64n;

/** Whether some shards cover the basechain without a gap, each address once, next to one block of the masterchain. */
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

/** A block as a state of the shards names it, and as its header does. */
export interface StateBlock extends Shard {
  readonly id: string;
  /** Masterchain block that includes it. */
  readonly mcSeqno: number;
  readonly rootHash: string;
}

export interface StateHeader extends LinkedBlock {
  readonly rootHash: string;
}

/** What a state should have, and what it has. */
export interface StateFault {
  readonly expected: string;
  readonly got: string;
}

/** Proven headers, by which states of the shards are proven. */
export interface HeldHeaders {
  /** Neighbouring masterchain blocks whose headers are all there. */
  readonly runs: readonly Span[];
  readonly headers: readonly StateHeader[];
  /** The first masterchain block of the index: what is older is not in it. */
  readonly first: number;
}

/** Holds states of the shards against the headers of the blocks before. */
export class StateAudit {
  private readonly held: HeldHeaders;
  private readonly byMcSeqno = new Map<number, StateHeader[]>();
  /** By run and masterchain block: the newest block of each shard that the run has by then. */
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
   * What is wrong with the state at a masterchain block. It must cover every address once, and name exactly the newest blocks that
   * the headers tell, beside older ones of shards that have had none since. Where all headers from the first block of the index on
   * are there, a shard without any is missing for good.
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
