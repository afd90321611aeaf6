/** Highest first: interactive use, following the head, backfills. */
export const PRIORITIES = ['interactive', 'tail', 'backfill'] as const;

export type Priority = (typeof PRIORITIES)[number];
