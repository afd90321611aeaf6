import type { Heading } from './heading.ts';
import type { Provenance } from './provenance.ts';

/** `Created 2026-05-02 03:15:00 UTC from sandbox ...`: the last line of a report. */
export function madeText({ madeAt, network, head, timezone }: Provenance): string {
  const made = madeAt.replace('T', ' ').replace(/\.\d+Z$/, '');
  const newest = head === null ? 'no blocks yet' : `newest masterchain block ${head.seqno} of ${head.time}`;
  return `Created ${made} UTC from ${network}; ${newest}; time zone ${timezone}.`;
}

/** `Network sandbox, warehouse data/sandbox, 2026-05-01 23:33:19 to 2026-05-01 23:39:59 (UTC).`: the source in the heading. */
export function sourceText({ network, warehouse, period }: Heading, timezone: string): string {
  const time = period === null ? 'no blocks yet' : `${period.from} to ${period.to} (${timezone})`;
  return `Network ${network}, warehouse ${warehouse}, ${time}.`;
}

export const GAPS_TITLE = 'Missing from the data of this report';
