/** Masterchain blocks in one epoch, after which the template repeats with shifted ids. */
export const EPOCH_BLOCKS = 250;
/** First masterchain seqno of the sandbox. */
export const FIRST_SEQNO = 1;
/**
 * First epoch in which amounts, fees and gas reach the limits of their types. It is the first epoch of 2026-05-02, so that sums over
 * the range of `npm start` and over the first day are reasonable.
 */
export const EXTREME_EPOCH = 20;
/** Largest head for which balances are exact. */
export const MAX_BLOCKS = 10_000_000;
/** Logical time between two masterchain blocks. */
export const LT_STEP = 2_000_000;
/** Logical time in a slot at which the transactions of shard blocks start; the blocks start at various times before it. */
export const SHARD_LT = 200_000;
/** Logical time in a slot at which the masterchain block starts, after all shard blocks of the slot. */
export const MASTERCHAIN_LT = 1_600_000;
/** Masterchain seqno of the first giant block, and the period of giant blocks, a multiple of the epoch. */
export const GIANT_SEQNO = 777;
export const GIANT_PERIOD = 5000;

const FIRST_LT = 66_000_000_000_000;
/** With blocks of 400 ms, seqno 5000 is made in the first second of 2026-05-02 UTC. */
const FIRST_UTIME = Date.UTC(2026, 4, 2) / 1000 - 2000;

/** Slot of a masterchain block, counted from 0 over all epochs. */
export function slotOf(seqno: number): number {
  return seqno - FIRST_SEQNO;
}

export function seqnoOf(slot: number): number {
  return slot + FIRST_SEQNO;
}

/** Times of slots, in Unix seconds. */
export interface Clock {
  readonly utimeOf: (slot: number) => number;
  /** Slots whose time is from `from` to `to`, inclusive. */
  readonly slotsOfUtime: (from: number, to: number) => { readonly first: number; readonly last: number };
}

/** @param blockTimeMs time between two masterchain blocks */
export function clockOf(blockTimeMs: number): Clock {
  const slotAt = (utime: number): number => Math.ceil(((utime - FIRST_UTIME) * 1000) / blockTimeMs) - FIRST_SEQNO;
  return {
    utimeOf: (slot) => FIRST_UTIME + Math.floor(((slot + FIRST_SEQNO) * blockTimeMs) / 1000),
    slotsOfUtime: (from, to) => ({ first: slotAt(from), last: slotAt(to + 1) - 1 }),
  };
}

/** First logical time of a slot. */
export function ltOf(slot: number): number {
  return FIRST_LT + slot * LT_STEP;
}

/** Slot of a logical time; can be before the first block or after the head. */
export function slotOfLt(lt: number): number {
  return Math.floor((lt - FIRST_LT) / LT_STEP);
}

/** Epoch of a slot. */
export function epochOf(slot: number): number {
  return Math.floor(slot / EPOCH_BLOCKS);
}
