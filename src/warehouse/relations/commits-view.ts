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
  { name: 'verdict', type: 'VARCHAR', doc: 'whether the span is sealed' },
  { name: 'rows', type: 'JSON', doc: 'rows of each table that it brought, in the row of its first span' },
  { name: 'requests', type: 'BIGINT', doc: 'requests that it took, in the row of its first span' },
  { name: 'committed_at', type: 'TIMESTAMP', doc: 'UTC time of the commit' },
] as const;

/** Types of the columns in JSON, which has no timestamps. */
const readAs = Object.fromEntries(
  commitColumns.map(({ name, type }) => [name, type === 'TIMESTAMP' ? 'VARCHAR' : type]),
);

/** SQL of the view `_commits`. */
export function commitsView(entries: readonly LedgerEntry[]): string {
  const commits = entries.flatMap((entry) =>
    spansOf(entry).map(({ from, to }, at) => ({
      number: entry.number,
      id: entry.id,
      pipeline: entry.pipeline,
      span_from: from,
      span_to: to,
      verdict: entry.verdict,
      // Counts of an entry with several spans are in the row of its first span, so that sums count them once.
      rows: at > 0 ? {} : Object.fromEntries(Object.entries(entry.tables).map(([table, { rows }]) => [table, rows])),
      requests: at > 0 ? 0 : entry.requests,
      committed_at: entry.committedAt,
    })),
  );
  const columns = commitColumns.map(({ name, type }) => `c.${name}::${type} AS ${name}`);
  const json = quoteText(JSON.stringify(commits));
  return `CREATE OR REPLACE VIEW ${COMMITS} AS SELECT ${columns.join(', ')} FROM (SELECT unnest(from_json(${json}, ${quoteText(
    JSON.stringify([readAs]),
  )})) AS c)`;
}
