import { formatSpans } from '../core/span.ts';
import type { DeliveryTarget } from '../jobs/delivery-target.ts';
import { FORGOTTEN, type LedgerEntry, spansOf } from '../warehouse/index.ts';
import { readLog } from './consume.ts';
import { Feed } from './feed.ts';

/** Entries per batch: a target may have been unreachable for months. */
const BATCH_ENTRIES = 200;

/** Sends a line to a target for each commit. */
export function commitFeed(warehouse: string, target: DeliveryTarget): Feed {
  return new Feed(
    warehouse,
    {
      name: 'on-commit',
      file: 'on-commit',
      digest: '',
      followed: [],
      next: async (view, { cursor }) => {
        const log = await readLog(view, cursor, BATCH_ENTRIES + 1);
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

/**
 * The effect of a commit. `rows`: new rows. `replaced`: rows that replace others. `merged`: the same rows in other files. `forgotten`: rows
 * removed on purpose. `mart`: rows of a mart. `partial`, `quarantined`: blocks that are not done. `void`: a repair filled a lost entry.
 */
type CommitKind = 'rows' | 'replaced' | 'merged' | 'forgotten' | 'mart' | 'partial' | 'quarantined' | 'void';

/** One line of `--on-commit`. */
export function commitLine(entry: LedgerEntry): string {
  const { number, id, network, pipeline, span, tables, supersedes, committedAt, commitWith } = entry;
  const each = Object.entries(tables);
  return `${JSON.stringify({
    event: 'commit',
    number,
    id,
    kind: kindOf(entry),
    network,
    pipeline,
    from: span.from,
    to: span.to,
    blocks: formatSpans(spansOf(entry)),
    rows: Object.fromEntries(each.map(([table, { rows }]) => [table, rows])),
    files: each.flatMap(([, { files }]) => files.map(({ path }) => path)),
    replaces: supersedes.filter((other) => other !== id),
    ...(commitWith === undefined ? {} : { commitWith }),
    committedAt,
  })}\n`;
}

function kindOf({ id, mart, scope, verdict, copies, supersedes }: LedgerEntry): CommitKind {
  if (mart !== undefined) return 'mart';
  if (scope === FORGOTTEN) return 'forgotten';
  if (supersedes.includes(id)) return 'void';
  if (verdict === 'quarantined') return 'quarantined';
  if (scope !== undefined) return 'partial';
  if (copies !== undefined) return 'merged';
  return supersedes.length > 0 ? 'replaced' : 'rows';
}
