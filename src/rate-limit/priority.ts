/** Who goes first: an analyst, then what follows the head, then what fills the past. */
export const PRIORITIES = ['interactive', 'tail', 'backfill'] as const;

export type Priority = (typeof PRIORITIES)[number];
