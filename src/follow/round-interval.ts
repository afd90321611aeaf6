import type { MasterBlock } from '../chain/index-head.ts';

/** Share of the promised lag that a round may use; the rest is for rounds that take longer. */
const SHARE = 0.7;
/** Decay of the longest round, by round. */
const MEMORY = 0.9;
const LEAST_MS = 200;
/** Assumed time between two blocks before it is known. */
const GUESS_MS = 1000;

/**
 * Decides when to ask for the head again, so that the oldest block of a round is proven within the promised lag: it waited for the round,
 * for the index, and for its requests.
 */
export class RoundInterval {
  private readonly lagMs: number;
  private roundMs = 0;
  private delayMs = 0;
  private before: MasterBlock | undefined;
  /** Time between two masterchain blocks, in milliseconds. */
  cadenceMs = GUESS_MS;

  constructor(lagMs: number) {
    this.lagMs = lagMs;
  }

  /** Learns the time between blocks from two of them, the last ones seen if there are any. */
  noteHead(head: MasterBlock, first: MasterBlock, ageMs: number): void {
    const from = this.before ?? first;
    const blocks = head.seqno - from.seqno;
    if (blocks > 0 && head.time > from.time) {
      const measured = (head.time - from.time) / blocks;
      this.cadenceMs = this.before === undefined ? measured : 0.8 * this.cadenceMs + 0.2 * measured;
    }
    if (blocks > 0 || this.before === undefined) this.before = head;
    // An index that is far behind keeps no promise, and asking it more often would not help.
    if (ageMs < this.lagMs) this.delayMs = Math.max(ageMs, this.delayMs * MEMORY);
  }

  /** Notes how long it took from a head to the last commit of its blocks. */
  noteRound(ms: number): void {
    this.roundMs = Math.max(ms, this.roundMs * MEMORY);
  }

  /** From one request for the head to the next, in milliseconds. */
  get nextMs(): number {
    const free = SHARE * this.lagMs - this.roundMs - this.delayMs;
    return Math.max(LEAST_MS, Math.min(this.cadenceMs, this.lagMs / 2), free);
  }
}
