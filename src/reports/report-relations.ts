import { spanSize, totalSize } from '../core/span.ts';
import { proofOf } from '../declare/pipeline.ts';
import type { Registry } from '../declare/registry.ts';
import { quoteText } from '../sql/canonical-text.ts';
import type { Query } from '../sql/query-result.ts';
import { selectValues } from '../sql/select-values.ts';
import { doneSpans, type LedgerEntry, spansOf } from '../warehouse/index.ts';
import type { Contents } from '../warehouse/query/coverage.ts';
import { addStates, exportedEntries, ownRelations, walkedPipelines } from '../warehouse/query/state-relations.ts';

const entryColumns = {
  number: 'BIGINT',
  pipeline: 'VARCHAR',
  span_from: 'BIGINT',
  span_to: 'BIGINT',
  blocks: 'BIGINT',
  verdict: 'VARCHAR',
  proof: 'VARCHAR',
  rows: 'BIGINT',
  bytes: 'BIGINT',
  requests: 'BIGINT',
  planned: 'BIGINT',
  retries: 'BIGINT',
  committed_at: 'TIMESTAMP',
} as const;

const doneColumns = { pipeline: 'VARCHAR', span_from: 'BIGINT', span_to: 'BIGINT', blocks: 'BIGINT' } as const;

/** Relations that describe the ledger. */
export const ledgerRelations: readonly string[] = ['_entries', ...ownRelations.map(({ name }) => name)];

/**
 * Creates temporary relations and macros for the selects of a report: `_entries` (one row per active ledger entry), those of
 * `addStates`, `_held` and `is_held()`, `local_time(t)` of a UTC time, and `utc_time(t)` of a local time.
 *
 * @param isPlanned true for a database in which selects are planned: `_held` does not read the headers then
 */
export async function addRelations(
  query: Query,
  contents: Contents<Registry>,
  timezone: string,
  isPlanned = false,
): Promise<void> {
  const ledger = exportedEntries(contents.ledger, contents.registry);
  await query(
    `CREATE OR REPLACE TEMP MACRO local_time(t) AS timezone(${quoteText(timezone)}, timezone('UTC', t::TIMESTAMP))`,
  );
  await query(
    `CREATE OR REPLACE TEMP MACRO utc_time(t) AS timezone('UTC', timezone(${quoteText(timezone)}, t::TIMESTAMP))`,
  );
  const entries = ledger.map((entry) => entryRow(entry, contents.registry));
  await query(`CREATE OR REPLACE TEMP TABLE _entries AS ${selectValues(entryColumns, entries)}`);
  await addStates(query, contents);
  await query(`CREATE OR REPLACE TEMP TABLE _done AS ${selectValues(doneColumns, doneRows(ledger))}`);
  await addHeldTimes(query, isPlanned);
}

/**
 * `_held`: the UTC periods for which each pipeline has every block. It is a view, so that headers are read only if a report needs it.
 * `is_held(pipeline, begins, ends)` is true for a period within one of these. The first and last block may be up to a twentieth of the
 * period, but at least two seconds, inside of it.
 */
async function addHeldTimes(query: Query, isPlanned: boolean): Promise<void> {
  await query(`CREATE TEMP ${isPlanned ? 'TABLE' : 'VIEW'} _held AS
    SELECT pipeline, first_time, last_time,
      CASE WHEN c.blocks > 1 THEN 4 * (epoch(last_time) - epoch(first_time)) / (c.blocks - 1) ELSE 0 END + 1 AS slack_seconds
    FROM _done c
    JOIN (SELECT mc_block_seqno, block_time AS first_time FROM _headers WHERE workchain = -1) f ON f.mc_block_seqno = c.span_from
    JOIN (SELECT mc_block_seqno, block_time AS last_time FROM _headers WHERE workchain = -1) l ON l.mc_block_seqno = c.span_to`);
  await query(`CREATE OR REPLACE TEMP MACRO is_held(pipeline_name, begins, ends) AS EXISTS (
    SELECT 1 FROM _held h WHERE h.pipeline = pipeline_name
      AND epoch(h.first_time) <= epoch(begins) + least(h.slack_seconds, greatest(2, (epoch(ends) - epoch(begins)) / 20))
      AND epoch(h.last_time) >= epoch(ends) - least(h.slack_seconds, greatest(2, (epoch(ends) - epoch(begins)) / 20)))`);
}

function entryRow(entry: LedgerEntry, { pipelines }: Registry) {
  const isCounted = pipelines.some((pipeline) => pipeline.name === entry.pipeline && proofOf(pipeline) !== undefined);
  const tables = Object.values(entry.tables);
  return {
    number: entry.number,
    pipeline: entry.pipeline,
    span_from: entry.span.from,
    span_to: entry.span.to,
    blocks: totalSize(spansOf(entry)),
    verdict: entry.verdict,
    proof: isCounted ? 'headers' : (entry.proof ?? 'none'),
    rows: tables.reduce((sum, { rows }) => sum + rows, 0),
    bytes: tables.flatMap(({ files }) => files).reduce((sum, { bytes }) => sum + bytes, 0),
    requests: entry.requests,
    planned: entry.planned ?? null,
    retries: entry.retries,
    committed_at: entry.committedAt,
  };
}

function doneRows(ledger: readonly LedgerEntry[]) {
  return walkedPipelines(ledger).flatMap((pipeline) =>
    doneSpans(ledger, pipeline).map((span) => ({
      pipeline,
      span_from: span.from,
      span_to: span.to,
      blocks: spanSize(span),
    })),
  );
}
