/** Who goes first: an analyst, then what follows the head, then what fills the past. */
export const LANES = ['interactive', 'tail', 'backfill'] as const;

export type Lane = (typeof LANES)[number];
