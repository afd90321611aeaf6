import { selectValues } from '../../sql/select-values.ts';
import { spansOf } from '../ledger/done-spans.ts';
import type { LedgerEntry } from '../store.ts';
import { type OwnRelation, type OwnRow, typesOf } from './own-relation.ts';
import { viewOf } from './table-relation.ts';

/** The view of the ledger: one row for each span of an entry in force. */
export const COMMITS = '_commits';

const commitColumns = [
  { name: 'number', type: 'BIGINT', unit: 'id', doc: 'number of the commit, from 1' },
  { name: 'id', type: 'VARCHAR', doc: 'identifier of the commit' },
  { name: 'pipeline', type: 'VARCHAR', doc: 'what was exported' },
  { name: 'span_from', type: 'BIGINT', unit: 'seqno', doc: 'first masterchain block of the span' },
  { name: 'span_to', type: 'BIGINT', unit: 'seqno', doc: 'last masterchain block of the span' },
  { name: 'verdict', type: 'VARCHAR', doc: 'accepted, or quarantined: a record could not be decoded' },
  { name: 'rows', type: 'JSON', doc: 'rows of each table that it brought, in the row of its first span' },
  { name: 'requests', type: 'BIGINT', doc: 'requests that it took, in the row of its first span' },
  { name: 'committed_at', type: 'TIMESTAMP', doc: 'UTC time of the commit' },
] as const;

/** The ledger. */
export const commits: OwnRelation = {
  ...{ name: COMMITS, grain: 'one span of blocks of a commit in force: the ledger', key: ['number', 'span_from'] },
  columns: commitColumns,
  rows: ({ ledger }) => commitRows(ledger),
};

/** SQL of the view `_commits` over rows of entries. */
export function commitsView(entries: readonly LedgerEntry[]): string {
  return viewOf(COMMITS, selectValues(typesOf(commitColumns), commitRows(entries)));
}

function commitRows(entries: readonly LedgerEntry[]): readonly OwnRow<typeof commitColumns>[] {
  return entries.flatMap((entry) =>
    spansOf(entry).map((span, at) => ({
      number: entry.number,
      id: entry.id,
      pipeline: entry.pipeline,
      span_from: span.from,
      span_to: span.to,
      verdict: entry.verdict,
      // Counts of an entry with several spans are in the row of its first span, so that sums count them once.
      rows: at === 0 ? rowsOf(entry) : {},
      requests: at === 0 ? entry.requests : 0,
      committed_at: entry.committedAt,
    })),
  );
}

function rowsOf({ tables }: LedgerEntry): Readonly<Record<string, number>> {
  return Object.fromEntries(Object.entries(tables).map(([table, { rows }]) => [table, rows]));
}
