import type { MasterBlock } from '../chain/index-head.ts';

/** Share of the promised lag that a round may use; the rest is for slower rounds. */
const SHARE = 0.7;
/** Decay of the maxima, per round. */
const DECAY = 0.9;
const MIN_MS = 200;
/** Assumed time between two blocks until it is measured. */
const CADENCE_MS = 1000;

/**
 * Time between two requests for the head. The oldest block of a round is proven within the promised lag if that covers the delay of the
 * index, this interval, and the duration of the round.
 */
export class RoundInterval {
  private readonly lagMs: number;
  private roundMs = 0;
  private delayMs = 0;
  private before: MasterBlock | undefined;
  /** Time between two masterchain blocks, in milliseconds. */
  cadenceMs = CADENCE_MS;

  constructor(lagMs: number) {
    this.lagMs = lagMs;
  }

  /**
   * Measures the time between blocks.
   *
   * @param first an older block, for the first measurement
   */
  noteHead(head: MasterBlock, first: MasterBlock, ageMs: number): void {
    const from = this.before ?? first;
    const blocks = head.seqno - from.seqno;
    if (blocks > 0 && head.time > from.time) {
      const measured = (head.time - from.time) / blocks;
      this.cadenceMs = this.before === undefined ? measured : 0.8 * this.cadenceMs + 0.2 * measured;
    }
    if (blocks > 0 || this.before === undefined) this.before = head;
    // If the index is behind by more than the lag, shorter intervals do not help.
    if (ageMs < this.lagMs) this.delayMs = Math.max(ageMs, this.delayMs * DECAY);
  }

  /** Records the time from a head to the last commit of its blocks. */
  noteRound(ms: number): void {
    this.roundMs = Math.max(ms, this.roundMs * DECAY);
  }

  /** In milliseconds. */
  get nextMs(): number {
    const free = SHARE * this.lagMs - this.roundMs - this.delayMs;
    return Math.max(MIN_MS, Math.min(this.cadenceMs, this.lagMs / 2), free);
  }
}
