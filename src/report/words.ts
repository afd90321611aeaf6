import type { Footing } from './footing.ts';

/** `Made 2026-05-02 03:15:00 UTC from sandbox ...`: one line that all forms of a report end with. */
export function madeText({ madeAt, network, head, timezone }: Footing): string {
  const made = madeAt.replace('T', ' ').replace(/\.\d+Z$/, '');
  const newest = head === null ? 'no block is known' : `newest masterchain block ${head.seqno} of ${head.time}`;
  return `Made at ${made} UTC from ${network}; ${newest}; times are of the zone ${timezone}.`;
}

export const GAPS_TITLE = 'The data of this report has gaps';
