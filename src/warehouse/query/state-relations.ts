import { intersectSpans, spanSize, subtractSpans, unionSpans } from '../../core/span.ts';
import { isEphemeral } from '../../declare/pipeline.ts';
import type { Query } from '../../sql/query-result.ts';
import { selectValues } from '../../sql/select-values.ts';
import { commentsOn } from '../relations/table-comments.ts';
import type { LedgerEntry } from '../store.ts';
import { behindOf, coverage, type Held, type KnownPipelines, leftOutGaps, spansIn } from './coverage.ts';

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

const coverageDocs: Readonly<Record<keyof typeof coverageColumns, string>> = {
  relation: 'name of the table',
  pipeline: 'the pipeline that exports it',
  state: 'proven, unproven or missing',
  reason: 'why it is unproven or missing; null if it is proven',
  span_from: 'first masterchain block of the span',
  span_to: 'last masterchain block of the span',
  blocks: 'masterchain blocks of the span',
};

const freshnessColumns = { mart: 'VARCHAR', built_at: 'TIMESTAMP', commits_behind: 'BIGINT' } as const;

const freshnessDocs: Readonly<Record<keyof typeof freshnessColumns, string>> = {
  mart: 'name of the mart',
  built_at: 'UTC time of its last build',
  commits_behind: 'commits of its inputs that it lacks; 0: current, more: stale',
};

interface StateRelation {
  readonly name: string;
  readonly grain: string;
  readonly docs: Readonly<Record<string, string>>;
  readonly select: (held: Held) => string;
}

/** What is there of each table, and how current each mart is. */
const states: readonly StateRelation[] = [
  {
    name: '_coverage',
    grain: 'one table and one range of blocks that is proven, unproven or missing for one reason',
    docs: coverageDocs,
    select: (held) => selectValues(coverageColumns, coverageRows(held)),
  },
  {
    name: '_freshness',
    grain: 'one mart that is built',
    docs: freshnessDocs,
    select: (held) => selectValues(freshnessColumns, freshnessRows(held)),
  },
];

/** Creates the relations for one session, as temporary tables. */
export async function addStates(query: Query, held: Held): Promise<void> {
  for (const { name, select } of states) await query(`CREATE OR REPLACE TEMP TABLE ${name} AS ${select(held)}`);
}

/** SQL of the relations, and of their comments, for a file that other programs open. */
export function stateViews(held: Held): readonly string[] {
  return states.flatMap(({ name, grain, docs, select }) => [
    `CREATE OR REPLACE VIEW ${name} AS ${select(held)}`,
    ...commentsOn({
      name,
      grain,
      views: [],
      columns: Object.entries(docs).map(([column, doc]) => ({ name: column, doc })),
    }),
  ]);
}

function coverageRows(held: Held) {
  const exported = new Set(exportedEntries(held.ledger, held.registry).map(({ pipeline }) => pipeline));
  const pipelines = held.registry.pipelines.filter(({ name }) => exported.has(name));
  const tables = pipelines.flatMap((pipeline) => pipeline.tables);
  const leftOut = leftOutGaps(held.ledger, held.registry, new Map(tables.map(({ name }) => [name, new Set()])));
  return pipelines.flatMap((pipeline) => {
    const { proven, unproven, missing } = coverage(held, pipeline);
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

function freshnessRows(held: Held) {
  const built = new Map<string, string>();
  for (const { mart, tables, committedAt } of held.ledger) {
    if (mart !== undefined) for (const name of Object.keys(tables)) built.set(name, committedAt);
  }
  return [...built].sort().map(([mart, at]) => ({
    ...{ mart, built_at: at },
    commits_behind: behindOf(held, mart)?.commits ?? 0,
  }));
}

/** Entries of exported pipelines, without marts and pending data. */
export function exportedEntries(ledger: readonly LedgerEntry[], known: KnownPipelines): readonly LedgerEntry[] {
  const passing = known.pipelines.filter(isEphemeral).map(({ name }) => name);
  return ledger.filter(({ mart, pipeline }) => mart === undefined && !passing.includes(pipeline));
}

export function walkedPipelines(ledger: readonly LedgerEntry[]): readonly string[] {
  return [...new Set(ledger.map(({ pipeline }) => pipeline))].sort();
}
