import { intersectSpans, spanSize, subtractSpans, unionSpans } from '../../core/span.ts';
import { isEphemeral } from '../../declare/pipeline.ts';
import type { Declared } from '../../sql/lazy-declarations.ts';
import type { Query } from '../../sql/query-result.ts';
import { selectValues } from '../../sql/select-values.ts';
import type { Reader } from '../reader.ts';
import { commits } from '../relations/commits-view.ts';
import { type OwnRelation, type OwnRow, typesOf } from '../relations/own-relation.ts';
import { ASKS_COMMENTS, commentsOn } from '../relations/table-comments.ts';
import { viewOf } from '../relations/table-relation.ts';
import type { LedgerEntry } from '../store.ts';
import {
  behindOf,
  type Contents,
  coverage,
  type KnownPipelines,
  leftOutGaps,
  readContents,
  spansIn,
} from './coverage.ts';

const coverageColumns = [
  { name: 'relation', type: 'VARCHAR', doc: 'name of the table' },
  { name: 'pipeline', type: 'VARCHAR', doc: 'the pipeline that exports it' },
  { name: 'state', type: 'VARCHAR', doc: 'proven, unproven or missing' },
  { name: 'reason', type: 'VARCHAR', nullable: true, doc: 'why it is unproven or missing; null if it is proven' },
  { name: 'span_from', type: 'BIGINT', unit: 'seqno', doc: 'first masterchain block of the span' },
  { name: 'span_to', type: 'BIGINT', unit: 'seqno', doc: 'last masterchain block of the span' },
  { name: 'blocks', type: 'BIGINT', doc: 'masterchain blocks of the span' },
] as const;

const freshnessColumns = [
  { name: 'mart', type: 'VARCHAR', doc: 'name of the mart' },
  { name: 'built_at', type: 'TIMESTAMP', doc: 'UTC time of its last build' },
  { name: 'commits_behind', type: 'BIGINT', doc: 'commits of its inputs that it lacks; 0: current, more: stale' },
] as const;

/** Coverage of each table, and freshness of each mart. */
const states: readonly OwnRelation[] = [
  {
    name: '_coverage',
    grain: 'one table and one range of blocks that is proven, unproven or missing for one reason',
    key: ['relation', 'state', 'reason', 'span_from'],
    columns: coverageColumns,
    rows: coverageRows,
  },
  {
    name: '_freshness',
    grain: 'one mart that is built',
    key: ['mart'],
    columns: freshnessColumns,
    rows: freshnessRows,
  },
];

/** Matches statements that may read one of them. */
const READS_STATES = new RegExp(String.raw`\b(${states.map(({ name }) => name).join('|')})\b`, 'i');

/** The relations about a warehouse: its ledger, coverage and freshness. */
export const ownRelations: readonly OwnRelation[] = [commits, ...states];

const NOTHING: Contents = { registry: { pipelines: [] }, ledger: [], forgotten: [] };

/** {@link ownRelations} of an empty warehouse. */
export function emptyRelations(): readonly Declared[] {
  return ownRelations.map((own) => ({
    name: own.name,
    body: '',
    statement: () => viewOf(own.name, selectOf(own, NOTHING)),
  }));
}

/** Creates the relations that a statement may read. */
export async function addStatesIn(sql: string, reader: Reader, registry: KnownPipelines): Promise<void> {
  if (!READS_STATES.test(sql)) return;
  await addStates(reader.query, await readContents(reader, registry));
  if (!ASKS_COMMENTS.test(sql)) return;
  for (const comment of states.flatMap((state) => commentsOn(state, 'TABLE'))) await reader.query(comment);
}

/** Creates the relations for one session, as temporary tables. */
export async function addStates(query: Query, contents: Contents): Promise<void> {
  for (const state of states) {
    await query(`CREATE OR REPLACE TEMP TABLE ${state.name} AS ${selectOf(state, contents)}`);
  }
}

/** SQL of relations and their comments, for a file that other programs open. @param relations default: all except the ledger */
export function stateViews(contents = NOTHING, relations = states): readonly string[] {
  return relations.flatMap((state) => [viewOf(state.name, selectOf(state, contents)), ...commentsOn(state)]);
}

function selectOf({ columns, rows }: OwnRelation, contents: Contents): string {
  return selectValues(typesOf(columns), rows(contents));
}

function coverageRows(contents: Contents): readonly OwnRow<typeof coverageColumns>[] {
  const exported = new Set(exportedEntries(contents.ledger, contents.registry).map(({ pipeline }) => pipeline));
  const pipelines = contents.registry.pipelines.filter(({ name }) => exported.has(name));
  const tables = pipelines.flatMap((pipeline) => pipeline.tables);
  const leftOut = leftOutGaps(contents.ledger, contents.registry, new Map(tables.map(({ name }) => [name, new Set()])));
  return pipelines.flatMap((pipeline) => {
    const { proven, unproven, missing } = coverage(contents, pipeline);
    const there = unionSpans([...proven, ...spansIn(unproven)]);
    const parts = [
      { state: 'proven', why: null, spans: proven },
      ...unproven.map((part) => ({ state: 'unproven', ...part })),
      ...missing.map((part) => ({ state: 'missing', ...part })),
    ];
    return pipeline.tables.flatMap((table) => {
      const gap = leftOut.find((each) => each.table === table.name);
      const left = { state: 'missing', why: 'left out', spans: intersectSpans(there, gap?.missing ?? []) };
      const own = parts.map((part) => ({ ...part, spans: subtractSpans(part.spans, left.spans) }));
      return [...own, left].flatMap(({ state, why, spans }) =>
        spans.map((span) => ({
          ...{ relation: table.name, pipeline: pipeline.name, state, reason: why },
          ...{ span_from: span.from, span_to: span.to, blocks: spanSize(span) },
        })),
      );
    });
  });
}

function freshnessRows(contents: Contents): readonly OwnRow<typeof freshnessColumns>[] {
  const built = new Map<string, string>();
  for (const { mart, tables, committedAt } of contents.ledger) {
    if (mart !== undefined) for (const name of Object.keys(tables)) built.set(name, committedAt);
  }
  return [...built].sort().map(([mart, at]) => ({
    ...{ mart, built_at: at },
    commits_behind: behindOf(contents, mart)?.commits ?? 0,
  }));
}

/** Entries of exported pipelines, without marts and pending data. */
export function exportedEntries(ledger: readonly LedgerEntry[], known: KnownPipelines): readonly LedgerEntry[] {
  const ephemeral = known.pipelines.filter(isEphemeral).map(({ name }) => name);
  return ledger.filter(({ mart, pipeline }) => mart === undefined && !ephemeral.includes(pipeline));
}

export function walkedPipelines(ledger: readonly LedgerEntry[]): readonly string[] {
  return [...new Set(ledger.map(({ pipeline }) => pipeline))].sort();
}
