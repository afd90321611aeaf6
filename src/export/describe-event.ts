import { formatCount } from '../core/format.ts';
import { shortSpans } from '../core/span.ts';
import type { RunEvent } from './run.ts';

export function isTrouble(event: RunEvent): boolean {
  return ['problem', 'quarantine', 'refused-keys', 'fewer-rows', 'witness'].includes(event.event);
}

/** An event in one line; undefined for those that only move a progress bar. */
export function describeEvent(event: RunEvent): string | undefined {
  switch (event.event) {
    case 'start': {
      const rows = event.records === undefined ? '' : `, ${formatCount(event.records)} transactions`;
      return `${event.pipeline}: fetching ${shortSpans(event.missing)} (${formatCount(event.seqnos)} blocks${rows})`;
    }
    case 'span': {
      const rows = Object.entries(event.rows).map(([table, count]) => `${formatCount(count)} ${table}`);
      return `${event.pipeline}: committed ${event.from}:${event.to} (${rows.join(', ')})`;
    }
    case 'skew':
      return `${event.pipeline}: read while the chain grew from ${event.from} to ${event.to}; ${formatCount(event.rows)} rows are newer than ${event.from}`;
    case 'fewer-rows':
      return `${event.pipeline}: ${formatCount(event.rows)} rows, ${formatCount(event.before - event.rows)} fewer than in the reading before; if the list cannot shrink, run it again after the next block`;
    case 'refused-keys':
      return `${event.pipeline}: ${formatCount(event.refused)} of ${formatCount(event.keys)} keys rejected, the first: ${event.message}; see select * from lookups where error is not null`;
    case 'rival':
      return `${event.pipeline}: another writer has committed blocks of ${event.from}:${event.to} meanwhile; these rows were dropped`;
    case 'halved':
      return `${event.message}: requested in halves, as far as one block`;
    case 'witness':
      return event.answered ? undefined : `witness: no answer for block ${event.seqno}: ${event.message}`;
    case 'problem':
      return `problem: ${event.message}`;
    case 'unknown-field':
      return `unknown field: ${event.field}, stored in _extra`;
    case 'quarantine':
      return `quarantined: ${event.pipeline} ${event.seqno}: ${event.reason} at ${event.pointer}`;
    default:
      return undefined;
  }
}
