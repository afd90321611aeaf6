import { LIST_COMPARISONS, type ListComparison } from '../audit/list-faults.ts';
import { formatSpans, intersectSpans, type Span, subtractSpans, unionSpans } from '../core/span.ts';
import { formatLeftOut, narrowPipeline, WHOLE } from '../declare/left-out.ts';
import { LIST_COLUMNS } from '../declare/list-columns.ts';
import { type PipelineDef, proofOf } from '../declare/pipeline.ts';
import type { Registry } from '../declare/registry.ts';
import type { TableDef } from '../declare/table.ts';
import { leftOutGaps, type Reads } from '../warehouse/query/left-out-gaps.ts';
import type { LedgerEntry } from '../warehouse/store.ts';
import { auditDeep, type DeepEdges } from './audit-deep.ts';
import { auditHeaders } from './audit-headers.ts';
import { auditList } from './audit-lists.ts';
import { setHeaders, setRuns, setView } from './audit-scope.ts';
import { auditStates } from './audit-shard-states.ts';
import {
  auditMessages,
  auditProjection,
  auditTransactions,
  projectionOf,
  setMessages,
  setTransactions,
} from './audit-transactions.ts';
import { type Held, messageOf } from './damaged-warehouse.ts';
import type { EntryState } from './entry-state.ts';
import type { Finding } from './finding.ts';

/** What leaves the ranges that a warehouse holds, and is therefore no finding. */
export type Edges = { readonly linksBefore: number } & Partial<DeepEdges>;

export interface AuditOptions {
  readonly held: Held;
  readonly registry: Registry;
  readonly states: readonly EntryState[];
  /** Masterchain blocks to look at. */
  readonly limits: readonly Span[];
  readonly isDeep: boolean;
  readonly report: (finding: Finding) => void;
  /** Told of what cannot be compared, because a selection left it out. */
  readonly skip: (unchecked: Unchecked) => void;
}

/** What could not be proven, because columns were left out that it takes. It is neither right nor wrong. */
export interface Unchecked {
  readonly audit: string;
  readonly pipeline: string;
  /** `transactions.prev_trans_hash`, or tables. */
  readonly without: readonly string[];
  readonly missing: readonly Span[];
}

export interface Audited {
  readonly edges: Edges;
  /** Blocks of lists that were compared with transactions, by pipeline. */
  readonly compared: ReadonlyMap<string, readonly Span[]>;
  readonly unchecked: readonly Unchecked[];
}

/** Compares the tables with each other, where they can be read. */
export async function auditRows(given: Omit<AuditOptions, 'skip'>): Promise<Audited> {
  const unchecked: Unchecked[] = [];
  const options: AuditOptions = { ...given, skip: (each) => void (each.missing.length > 0 && unchecked.push(each)) };
  const { registry, isDeep } = options;
  let edges: Edges = { linksBefore: 0 };
  for (const pipeline of registry.pipelines) {
    const [main] = pipeline.tables;
    if (main === undefined || !options.states.some(({ entry }) => entry.pipeline === pipeline.name)) continue;
    await guard(options, pipeline, async () => {
      if (pipeline.name === 'blocks') edges = { ...edges, ...(await auditBlocks(options, main)) };
      if (proofOf(pipeline) === 'tx_count')
        edges = { ...edges, ...(await auditCounted(options, pipeline, main, isDeep)) };
    });
  }
  const states = registry.pipelines.find(({ name }) => name === 'shard_state');
  if (states !== undefined) await guard(options, states, () => auditShards(options, states));
  const compared = new Map<string, readonly Span[]>();
  for (const comparison of LIST_COMPARISONS) {
    const pipeline = registry.pipelines.find(({ name }) => name === comparison.pipeline);
    if (pipeline === undefined) continue;
    await guard(options, pipeline, async () => {
      compared.set(pipeline.name, await auditOne(options, comparison));
    });
  }
  return { edges, compared, unchecked };
}

/** Proves states of the shards by themselves, and by the headers where the warehouse holds them. */
async function auditShards(options: AuditOptions, { name, tables }: PipelineDef): Promise<void> {
  const { held, registry, report } = options;
  const runs = runsOf(options, name, [name]);
  if (runs.length === 0) return;
  for (const table of [registry.table('blocks'), ...tables]) await setViewOf(options, table);
  for (const finding of await auditStates(held, runs, runsOf(options, 'blocks', ['blocks']))) report(finding);
}

/** Compares a list with transactions, where the warehouse holds both. @returns the blocks that were compared */
async function auditOne(options: AuditOptions, comparison: ListComparison): Promise<readonly Span[]> {
  const { held, registry, report } = options;
  const { pipeline } = comparison;
  const blocks = registry.table('blocks');
  const others = comparison.with.map((name) => registry.table(name));
  const ofOthers = others.map((table) => {
    const source = registry.pipelines.find(({ tables }) => tables.includes(table));
    return runsOf(options, source?.name ?? '', [table.name]);
  });
  const reads = new Map(
    Object.entries(LIST_COLUMNS[pipeline] ?? {}).map(([table, columns]) => [table, new Set(columns)]),
  );
  const own = intersectSpans(runsOf(options, 'blocks', ['blocks']), runsOf(options, pipeline, [pipeline]));
  withColumns(options, pipeline, `${pipeline} with ${comparison.with.join(' and ')}`, reads, own);
  const all = [runsOf(options, 'blocks', ['blocks']), ...ofOthers].reduce(intersectSpans);
  const since = subtractSpans(all, spansWithout(options, reads));
  const runs = intersectSpans(since, runsOf(options, pipeline, [pipeline])).map((run) => {
    const whole = since.find(({ from, to }) => from <= run.from && to >= run.to);
    return { ...run, heldFrom: whole?.from ?? run.from };
  });
  if (runs.length === 0) return [];
  const read = comparison.reads.map((name) => registry.table(name));
  for (const table of [blocks, registry.table(pipeline), ...others, ...read]) await setViewOf(options, table);
  for (const finding of await auditList(held, comparison, blocks, runs)) report(finding);
  return runs;
}

/** The part of some runs whose rows have all columns that an audit takes; tells of the rest. */
function withColumns(
  { held, registry, skip }: AuditOptions,
  pipeline: string,
  audit: string,
  reads: Reads,
  runs: readonly Span[],
): readonly Span[] {
  const gaps = leftOutGaps(held.entries, registry, reads);
  const without = gaps.flatMap(({ table, columns }) =>
    columns.map((column) => (column === WHOLE ? table : `${table}.${column}`)),
  );
  const missing = intersectSpans(runs, unionSpans(gaps.flatMap((gap) => gap.missing)));
  skip({ audit, pipeline, without: [...new Set(without)], missing });
  return subtractSpans(runs, missing);
}

/** Blocks where something that an audit takes was left out. */
function spansWithout({ held, registry }: AuditOptions, reads: Reads): readonly Span[] {
  return unionSpans(leftOutGaps(held.entries, registry, reads).flatMap((gap) => gap.missing));
}

/** Columns that the chains of accounts and the ends of messages are followed by, beside those that every export has. */
const DEEP_COLUMNS: Readonly<Record<string, readonly string[]>> = {
  transactions: [
    ...['prev_trans_lt', 'prev_trans_hash', 'account_state_hash_before', 'account_state_hash_after', 'end_status'],
  ],
  messages: ['value', 'source', 'created_lt'],
};

/** Damaged files can hold anything: what the audits cannot digest is a finding, not the end. */
async function guard({ report }: AuditOptions, { name }: PipelineDef, work: () => Promise<void>): Promise<void> {
  try {
    await work();
  } catch (error) {
    report({ kind: 'file-unreadable', pipeline: name, expected: 'rows that can be compared', got: messageOf(error) });
  }
}

async function auditBlocks(options: AuditOptions, blocks: TableDef): Promise<Edges> {
  const { held, report } = options;
  await setViewOf(options, blocks);
  await setRuns(held, runsOf(options, 'blocks', ['blocks']));
  const { findings, linksBefore } = await auditHeaders(held, blocks);
  for (const finding of findings) report(finding);
  return { linksBefore };
}

async function auditCounted(
  options: AuditOptions,
  pipeline: PipelineDef,
  main: TableDef,
  isDeep: boolean,
): Promise<Partial<DeepEdges>> {
  const { held, registry, report, limits } = options;
  const tell = (findings: readonly Finding[]): void => findings.forEach(report);
  const blocks = registry.table('blocks');
  await setViewOf(options, blocks);
  for (const table of pipeline.tables) await setViewOf(options, table);
  const runs = runsOf(options, pipeline.name, [main.name]);
  const headed = unionSpans(held.entries.filter((entry) => entry.pipeline === 'blocks').map(({ span }) => span));
  for (const span of subtractSpans(intersectSpans(runs, limits), headed)) {
    const got = `none of ${formatSpans([span])}`;
    report({ kind: 'no-headers', pipeline: pipeline.name, span, expected: 'headers of the same blocks', got });
  }
  const proven = intersectSpans(runs, runsOf(options, 'blocks', ['blocks']));
  await setRuns(held, proven);
  await setHeaders(held, blocks);
  await setTransactions(held, main, isDeep);
  tell(await auditTransactions(held));
  for (const table of pipeline.tables.filter(({ rows }) => rows.kind === 'projection')) {
    tell(await auditProjected(options, pipeline, table, proven));
  }
  const messages = pipeline.tables.find(({ name }) => name === 'messages');
  if (messages === undefined) return {};
  const both = intersectSpans(proven, runsOf(options, pipeline.name, [main.name, messages.name]));
  if (formatSpans(both) !== formatSpans(proven)) {
    await setRuns(held, both);
    await setHeaders(held, blocks);
    await setTransactions(held, main, isDeep);
  } else await setRuns(held, proven);
  await setMessages(held, messages, isDeep);
  tell(await auditMessages(held));
  if (!isDeep) return {};
  const reads = new Map(Object.entries(DEEP_COLUMNS).map(([table, columns]) => [table, new Set(columns)]));
  const what = 'chains of accounts and ends of messages';
  const followed = intersectSpans(both, withColumns(options, pipeline.name, what, reads, proven));
  if (formatSpans(followed) !== formatSpans(both)) {
    await setRuns(held, followed);
    await setHeaders(held, blocks);
    await setTransactions(held, main, isDeep);
    await setMessages(held, messages, isDeep);
  }
  const { findings, edges } = await auditDeep(held);
  tell(findings);
  return edges;
}

/** Compares projected rows with their records, selection by selection: each has other columns in common. */
async function auditProjected(
  options: AuditOptions,
  pipeline: PipelineDef,
  declared: TableDef,
  proven: readonly Span[],
): Promise<readonly Finding[]> {
  const { held, states, skip } = options;
  const readable = intersectSpans(
    proven,
    runsOf(options, pipeline.name, [declared.rows.kind === 'projection' ? declared.rows.of : '', declared.name]),
  );
  const selections = new Map<string, LedgerEntry[]>();
  for (const { entry } of states.filter(({ entry: { pipeline: name } }) => name === pipeline.name)) {
    const key = JSON.stringify(entry.without ?? {});
    selections.set(key, [...(selections.get(key) ?? []), entry]);
  }
  const findings: Finding[] = [];
  for (const entries of selections.values()) {
    const own = narrowPipeline(pipeline, entries[0]?.without);
    const table = own.tables.find(({ name }) => name === declared.name);
    const runs = intersectSpans(readable, unionSpans(entries.map(({ span }) => span)));
    if (table === undefined) continue;
    if (projectionOf(own, table) === undefined) {
      const without = formatLeftOut(own.leftOut ?? {}).split(', ');
      skip({ audit: `rows of ${table.name}`, pipeline: pipeline.name, without, missing: runs });
      continue;
    }
    await setRuns(held, runs);
    findings.push(...(await auditProjection(held, own, table)));
  }
  return findings;
}

/** Blocks of a pipeline where all the named tables can be read. */
function runsOf({ states, limits }: AuditOptions, pipeline: string, tables: readonly string[]): readonly Span[] {
  const readable = states.filter(
    ({ entry, tables: found }) =>
      entry.pipeline === pipeline &&
      entry.verdict === 'sealed' &&
      tables.every((name) => (found.get(name)?.trust ?? 'unreadable') !== 'unreadable'),
  );
  return intersectSpans(unionSpans(readable.map(({ entry }) => entry.span)), limits);
}

async function setViewOf({ held, states }: AuditOptions, table: TableDef): Promise<void> {
  const readable = states.filter(({ tables }) => (tables.get(table.name)?.trust ?? 'unreadable') !== 'unreadable');
  await setView(
    held,
    table,
    readable.map(({ entry }) => entry),
  );
}
