/** Masterchain blocks in one epoch: after so many blocks the template repeats with shifted identifiers. */
export const EPOCH_BLOCKS = 250;
/** First masterchain seqno of the sandbox. */
export const FIRST_SEQNO = 1;
/**
 * First epoch in which amounts, fees and gas reach the ends of their types: the first of 2026-05-02, so that neither the range of
 * `npm start` nor the first day has sums that are absurd.
 */
export const EXTREME_EPOCH = 20;
/** Largest head the arithmetic of balances is exact for. */
export const MAX_BLOCKS = 10_000_000;
/** Logical time between two masterchain blocks. */
export const LT_STEP = 2_000_000;
/** Where in a slot shard blocks run their transactions; their ranges begin earlier, each at its own place. */
export const SHARD_LT = 200_000;
/** Where in a slot the range of the masterchain block begins, after all shard blocks made in it. */
export const MASTERCHAIN_LT = 1_600_000;
/** Masterchain seqno of the first giant block, and the blocks between two of them: a multiple of the epoch. */
export const GIANT_SEQNO = 777;
export const GIANT_PERIOD = 5000;

const FIRST_LT = 66_000_000_000_000;
/** Seqno 5000 is made in the first second of 2026-05-02 UTC. */
const FIRST_UTIME = Date.UTC(2026, 4, 2) / 1000 - 2000;

/** The slot of a masterchain block: its seqno less one, counted from 0 over all epochs. */
export function slotOf(seqno: number): number {
  return seqno - FIRST_SEQNO;
}

export function seqnoOf(slot: number): number {
  return slot + FIRST_SEQNO;
}

/** Unix seconds of what is made in a slot: 400 ms each. */
export function utimeOf(slot: number): number {
  return FIRST_UTIME + Math.floor(((slot + FIRST_SEQNO) * 2) / 5);
}

/** The least logical time of a slot; the slot ends `LT_STEP` later. */
export function ltOf(slot: number): number {
  return FIRST_LT + slot * LT_STEP;
}

/** The slot whose logical times include `lt`; may lie before the first or beyond the head. */
export function slotOfLt(lt: number): number {
  return Math.floor((lt - FIRST_LT) / LT_STEP);
}

/** Slots whose time is `from` to `to`, both included. */
export function slotsOfUtime(from: number, to: number): { readonly first: number; readonly last: number } {
  return {
    first: Math.ceil(((from - FIRST_UTIME) * 5) / 2) - FIRST_SEQNO,
    last: Math.ceil(((to + 1 - FIRST_UTIME) * 5) / 2) - 1 - FIRST_SEQNO,
  };
}

/** The epoch a slot belongs to. */
export function epochOf(slot: number): number {
  return Math.floor(slot / EPOCH_BLOCKS);
}
