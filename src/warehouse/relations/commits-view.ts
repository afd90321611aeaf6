import { quoteText } from '../../sql/canonical-text.ts';
import { spansOf } from '../ledger/done-spans.ts';
import type { LedgerEntry } from '../store.ts';

/** The view of the ledger: one row for each span of an entry in force. */
export const COMMITS = '_commits';

/** Its columns. */
export const commitColumns = [
  { name: 'number', type: 'BIGINT', doc: 'number of the commit, from 1' },
  { name: 'id', type: 'VARCHAR', doc: 'identifier of the commit' },
  { name: 'pipeline', type: 'VARCHAR', doc: 'what was exported' },
  { name: 'span_from', type: 'BIGINT', doc: 'first masterchain block of the span' },
  { name: 'span_to', type: 'BIGINT', doc: 'last masterchain block of the span' },
  { name: 'verdict', type: 'VARCHAR', doc: 'accepted, or quarantined: a record could not be decoded' },
  { name: 'rows', type: 'JSON', doc: 'rows of each table that it brought, in the row of its first span' },
  { name: 'requests', type: 'BIGINT', doc: 'requests that it took, in the row of its first span' },
  { name: 'committed_at', type: 'TIMESTAMP', doc: 'UTC time of the commit' },
] as const;

type CommitColumn = (typeof commitColumns)[number]['name'];

/** SQL of the view `_commits`. Its values are a list for each column, which takes half of the space of a list of rows. */
export function commitsView(entries: readonly LedgerEntry[]): string {
  const commits = entries.flatMap((entry) => spansOf(entry).map((span, at) => ({ entry, span, isFirst: at === 0 })));
  const values: Readonly<Record<CommitColumn, readonly unknown[]>> = {
    number: commits.map(({ entry }) => entry.number),
    id: commits.map(({ entry }) => entry.id),
    pipeline: commits.map(({ entry }) => entry.pipeline),
    span_from: commits.map(({ span }) => span.from),
    span_to: commits.map(({ span }) => span.to),
    verdict: commits.map(({ entry }) => entry.verdict),
    // Counts of an entry with several spans are in the row of its first span, so that sums count them once.
    rows: commits.map(({ entry, isFirst }) => (isFirst ? rowsOf(entry) : {})),
    requests: commits.map(({ entry, isFirst }) => (isFirst ? entry.requests : 0)),
    committed_at: commits.map(({ entry }) => entry.committedAt),
  };
  const columns = commitColumns.map(({ name, type }) => {
    // JSON has no timestamps.
    const list = quoteText(JSON.stringify([type === 'TIMESTAMP' ? 'VARCHAR' : type]));
    return `unnest(from_json(${quoteText(JSON.stringify(values[name]))}, ${list}))::${type} AS ${name}`;
  });
  return `CREATE OR REPLACE VIEW ${COMMITS} AS SELECT ${columns.join(', ')}`;
}

function rowsOf({ tables }: LedgerEntry): Readonly<Record<string, number>> {
  return Object.fromEntries(Object.entries(tables).map(([table, { rows }]) => [table, rows]));
}
