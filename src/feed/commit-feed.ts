import type { DeliveryTarget } from '../jobs/delivery-target.ts';
import { commitLine } from './commit-line.ts';
import { readLog } from './consume.ts';
import { Feed } from './feed.ts';

/** Entries that are read at once: a target may have been away for months. */
const MOST_ENTRIES = 200;

/** Sends a line for each commit to one target. */
export function commitFeed(warehouse: string, target: DeliveryTarget): Feed {
  return new Feed(
    warehouse,
    {
      name: 'on-commit',
      file: 'on-commit',
      digest: '',
      followed: [],
      next: async (view, { cursor }) => {
        const log = await readLog(view, cursor, MOST_ENTRIES + 1);
        const entries = log.filter((entry) => entry.number > cursor.number);
        if (entries.length === 0) return { bodies: undefined, cursor };
        const bodies = entries.map((entry) => ({
          text: () => commitLine(entry),
          cursor: { ...cursor, number: entry.number, since: entry.number, id: entry.id },
        }));
        return { bodies, cursor: bodies.at(-1)?.cursor ?? cursor };
      },
    },
    target,
  );
}
