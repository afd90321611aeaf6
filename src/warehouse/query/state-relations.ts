import { spanSize } from '../../core/span.ts';
import { isEphemeral } from '../../declare/pipeline.ts';
import type { Registry } from '../../declare/registry.ts';
import { quoteText } from '../../sql/canonical-text.ts';
import type { Query } from '../../sql/query-result.ts';
import type { LedgerEntry } from '../store.ts';
import { behindOf, coverage, type Held } from './coverage.ts';

/** Statements that may read one of the relations. */
export const READS_STATES = /\b_(coverage|freshness)\b/i;

const coverageColumns = {
  relation: 'VARCHAR',
  pipeline: 'VARCHAR',
  state: 'VARCHAR',
  reason: 'VARCHAR',
  span_from: 'BIGINT',
  span_to: 'BIGINT',
  blocks: 'BIGINT',
} as const;

const freshnessColumns = { mart: 'VARCHAR', built_at: 'TIMESTAMP', commits_behind: 'BIGINT' } as const;

/**
 * Creates the temporary relations `_coverage` (one row per table and proven, unproven or missing span, and why) and `_freshness` (one row per
 * mart that is built, with the commits of its inputs that it lacks).
 */
export async function addStates(query: Query, held: Held): Promise<void> {
  await addRelation(query, '_coverage', coverageColumns, coverageRows(held));
  await addRelation(query, '_freshness', freshnessColumns, freshnessRows(held));
}

/** Values are passed as one bound JSON text. */
export async function addRelation(
  query: Query,
  name: string,
  columns: Readonly<Record<string, string>>,
  rows: readonly Readonly<Record<string, string | number | null>>[],
): Promise<void> {
  const names = Object.keys(columns).join(', ');
  await query(
    `CREATE OR REPLACE TEMP TABLE ${name} AS SELECT ${names} FROM
      (SELECT unnest(from_json($rows::JSON, ${quoteText(JSON.stringify([columns]))}), recursive := true))`,
    { rows: JSON.stringify(rows) },
  );
}

function coverageRows(held: Held) {
  return walkedPipelines(exportedEntries(held.ledger, held.registry)).flatMap((name) => {
    const pipeline = held.registry.pipeline(name);
    const { proven, unproven, missing } = coverage(held, pipeline);
    const parts = [
      { state: 'proven', why: null, spans: proven },
      ...unproven.map((part) => ({ state: 'unproven', ...part })),
      ...missing.map((part) => ({ state: 'missing', ...part })),
    ];
    return pipeline.tables.flatMap((table) =>
      parts.flatMap(({ state, why, spans }) =>
        spans.map((span) => ({
          ...{ relation: table.name, pipeline: name, state, reason: why },
          ...{ span_from: span.from, span_to: span.to, blocks: spanSize(span) },
        })),
      ),
    );
  });
}

function freshnessRows(held: Held) {
  const built = new Map<string, string>();
  for (const { mart, tables, committedAt } of held.ledger) {
    if (mart !== undefined) for (const name of Object.keys(tables)) built.set(name, committedAt);
  }
  return [...built].sort().map(([mart, at]) => ({
    ...{ mart, built_at: at.replace(/Z$/, '') },
    commits_behind: behindOf(held, mart)?.commits ?? 0,
  }));
}

/** Entries of exported pipelines, without marts and pending data. */
export function exportedEntries(ledger: readonly LedgerEntry[], registry: Registry): readonly LedgerEntry[] {
  const passing = registry.pipelines.filter(isEphemeral).map(({ name }) => name);
  return ledger.filter(({ mart, pipeline }) => mart === undefined && !passing.includes(pipeline));
}

export function walkedPipelines(ledger: readonly LedgerEntry[]): readonly string[] {
  return [...new Set(ledger.map(({ pipeline }) => pipeline))].sort();
}
