import { comparisonOf, type ListComparison } from '../audit/list-faults.ts';
import { rethrowAccessError, shortMessage } from '../core/errors.ts';
import { groupBy } from '../core/group-by.ts';
import { formatSpans, intersectSpans, type Span, subtractSpans, unionSpans } from '../core/span.ts';
import { formatLeftOut, narrowPipeline, WHOLE } from '../declare/left-out.ts';
import { coversBlocks, isMasterchain, type PipelineDef, proofOf } from '../declare/pipeline.ts';
import type { Registry } from '../declare/registry.ts';
import { CHAIN_COLUMNS, type RoleColumns, type RoleName } from '../declare/roles.ts';
import type { TableDef } from '../declare/table.ts';
import { CONTENT_COLUMNS } from '../proof/proof-columns.ts';
import { quoteName } from '../sql/canonical-text.ts';
import { trimGrownProcess } from '../sql/freed-memory.ts';
import { type DamagedStore, hasMadeUpHashes, spansOf } from '../warehouse/index.ts';
import { coverage, leftOutGaps, type Reads, spansIn } from '../warehouse/query/coverage.ts';
import { auditContent } from './audit-content.ts';
import { auditDeep, type DeepEdges } from './audit-deep.ts';
import { auditHeaders } from './audit-headers.ts';
import { auditList } from './audit-lists.ts';
import { setHeaders, setRuns, setView } from './audit-scope.ts';
import {
  auditMessages,
  auditProjection,
  auditTransactions,
  projectionOf,
  setMessages,
  setTransactions,
} from './audit-transactions.ts';
import type { EntryState } from './entry-state.ts';
import type { Finding } from './finding.ts';

/** Links that leave the exported ranges; they are not findings. */
export type Edges = { readonly linksBefore: number } & Partial<DeepEdges>;

export interface AuditOptions {
  readonly warehouse: DamagedStore;
  readonly registry: Registry;
  readonly states: readonly EntryState[];
  /** Masterchain blocks to verify. */
  readonly limits: readonly Span[];
  readonly isDeep: boolean;
  /** True if an audit may exceed the memory limit. */
  readonly isWidened: boolean;
  readonly report: (finding: Finding) => void;
  /** Called for each audit that is impossible because a selection left out the columns. */
  readonly skip: (unchecked: Unchecked) => void;
}

/** An audit that was not possible, because the columns it reads were left out. */
export interface Unchecked {
  readonly audit: string;
  readonly pipeline: string;
  /** Columns such as `transactions.prev_trans_hash`, or tables. */
  readonly without: readonly string[];
  readonly missing: readonly Span[];
}

export interface Audited {
  readonly edges: Edges;
  /** Blocks of lists that were compared with transactions, by pipeline. */
  readonly compared: ReadonlyMap<string, readonly Span[]>;
  readonly unchecked: readonly Unchecked[];
}

/** Compares the readable tables with each other. */
export async function auditRows(given: Omit<AuditOptions, 'skip'>): Promise<Audited> {
  const unchecked: Unchecked[] = [];
  const options: AuditOptions = { ...given, skip: (each) => void (each.missing.length > 0 && unchecked.push(each)) };
  const { registry, isDeep } = options;
  let edges: Edges = { linksBefore: 0 };
  for (const pipeline of registry.pipelines) {
    const [main] = pipeline.tables;
    if (main === undefined || !options.states.some(({ entry }) => entry.pipeline === pipeline.name)) continue;
    await guard(options, pipeline, async (own) => {
      if (main.plays === 'headers') edges = { ...edges, ...(await auditBlocks(own, pipeline, main)) };
      if (proofOf(pipeline) === 'tx_count') edges = { ...edges, ...(await auditCounted(own, pipeline, main, isDeep)) };
    });
  }
  const compared = new Map<string, readonly Span[]>();
  for (const pipeline of registry.inOrder(registry.lasting)) {
    await guard(options, pipeline, (own) => auditKeys(own, pipeline));
    const comparison = comparisonOf(pipeline);
    const [table] = pipeline.tables;
    if (comparison === undefined || table === undefined) continue;
    await guard(options, pipeline, async (own) => {
      compared.set(pipeline.name, await compareList(own, comparison, table));
    });
  }
  return { edges, compared, unchecked };
}

/** Finds rows of a list with equal keys, in the same or in different entries. */
async function auditKeys(options: AuditOptions, pipeline: PipelineDef): Promise<void> {
  const { warehouse, states, report } = options;
  const [table] = pipeline.tables;
  const own = states.filter(({ entry }) => entry.pipeline === pipeline.name && entry.verdict === 'accepted');
  if (table === undefined || own.length === 0 || !coversBlocks(pipeline) || isMasterchain(pipeline)) return;
  const key = table.key.map(quoteName).join(', ');
  const twins = `SELECT ${key} FROM ${quoteName(table.name)} GROUP BY ALL HAVING count(*) > 1`;
  await setViewOf(options, table);
  await warehouse.database.run(`CREATE OR REPLACE TEMP TABLE twins AS ${twins}`);
  const { rows } = await warehouse.database.query(`SELECT ${key} FROM twins ORDER BY ALL LIMIT 1`);
  const [first] = rows;
  if (first === undefined) return;
  const named = table.key.map((name, at) => `${name} ${first[at] ?? 'null'}`).join(', ');
  const isSame = table.key.map((name) => `t.${quoteName(name)} IS NOT DISTINCT FROM twins.${quoteName(name)}`);
  for (const { entry } of own) {
    await setView(warehouse, table, [entry]);
    const found = await warehouse.database.query(
      `SELECT count(*) FROM ${quoteName(table.name)} t WHERE EXISTS (FROM twins WHERE ${isSame.join(' AND ')})`,
    );
    const count = Number(found.rows[0]?.[0] ?? 0);
    if (count === 0) continue;
    const what = { kind: 'key-twice', pipeline: pipeline.name, table: table.name, span: entry.span } as const;
    report({ ...what, expected: 'rows with keys of their own', got: `${count} that others have, such as ${named}` });
  }
}

/** Compares a list with transactions where the warehouse has both. @returns the compared blocks */
async function compareList(options: AuditOptions, comparison: ListComparison, own: TableDef): Promise<readonly Span[]> {
  const { warehouse, registry, report } = options;
  const { pipeline } = comparison;
  const others = comparison.with.map((role) => registry.playing(role));
  const names = others.map(({ table }) => table.name);
  const reads = new Map([...readsOf(registry, comparison.columns), [own.name, new Set(comparison.values)]]);
  const listed = runsOf(options, pipeline, [own.name]);
  const headed = headedRuns(options);
  const title = `${pipeline} with ${names.join(' and ')}`;
  const lacking = blocksWithout(options, pipeline, title, reads, intersectSpans(headed, listed));
  const ofOthers = others.map(({ pipeline: { name }, table }) => runsOf(options, name, [table.name]));
  const all = [headed, ...ofOthers].reduce(intersectSpans);
  const since = subtractSpans(all, lacking);
  const runs = intersectSpans(since, listed).map((run) => {
    const whole = since.find(({ from, to }) => from <= run.from && to >= run.to);
    return { ...run, storedFrom: whole?.from ?? run.from };
  });
  if (runs.length === 0) return runs;
  const tables = [registry.playing('headers').table, own, ...others.map(({ table }) => table)];
  for (const table of [...tables, ...comparison.reads.map((name) => registry.table(name))]) {
    await setViewOf(options, table);
  }
  const { findings, outdated } = await auditList(warehouse, comparison, own.name, runs);
  const contents = { registry, ledger: options.states.map(({ entry }) => entry), forgotten: [] };
  const notFinal = spansIn(coverage(contents, registry.pipeline(pipeline)).unproven, 'not final');
  const isEarly = ({ span }: Finding): boolean => span !== undefined && subtractSpans([span], notFinal).length === 0;
  for (const finding of [...findings, ...outdated.filter((each) => !isEarly(each))]) report(finding);
  return runs;
}

/** Columns by the table that has them. */
function readsOf(registry: Registry, columns: RoleColumns): Reads {
  const roles = Object.entries(columns) as readonly (readonly [RoleName, readonly string[]])[];
  return new Map(roles.map(([role, names]) => [registry.playing(role).table.name, new Set(names)]));
}

/** Blocks whose headers can be read. */
function headedRuns(options: AuditOptions): readonly Span[] {
  const { pipeline, table } = options.registry.playing('headers');
  return runsOf(options, pipeline.name, [table.name]);
}

/** Blocks whose rows lack columns that an audit reads. Those inside the runs are reported as unchecked. */
function blocksWithout(
  { warehouse, registry, skip }: AuditOptions,
  pipeline: string,
  audit: string,
  reads: Reads,
  runs: readonly Span[],
): readonly Span[] {
  const gaps = leftOutGaps(warehouse.entries, registry, reads);
  const without = gaps.flatMap(({ table, columns }) =>
    columns.map((column) => (column === WHOLE ? table : `${table}.${column}`)),
  );
  const lacking = unionSpans(gaps.flatMap((gap) => gap.missing));
  skip({ audit, pipeline, without: [...new Set(without)], missing: intersectSpans(runs, lacking) });
  return lacking;
}

/**
 * Runs an audit. Damaged files can contain anything, so a failed audit is a finding, and the others continue. One that lacks memory is retried
 * with more; its reports are buffered so that none comes twice.
 */
async function guard(
  options: AuditOptions,
  { name }: PipelineDef,
  work: (own: AuditOptions) => Promise<void>,
): Promise<void> {
  const { warehouse, isWidened, report, skip } = options;
  let reports: (() => void)[] = [];
  const own: AuditOptions = {
    ...options,
    report: (finding) => reports.push(() => report(finding)),
    skip: (unchecked) => reports.push(() => skip(unchecked)),
  };
  const attempt = (): Promise<void> => {
    reports = [];
    return work(own);
  };
  await trimGrownProcess();
  try {
    await (isWidened ? warehouse.database.withMemory(attempt) : attempt());
  } catch (error) {
    rethrowAccessError(error);
    const got = shortMessage(error);
    own.report({ kind: 'file-unreadable', pipeline: name, expected: 'rows that can be compared', got });
  }
  for (const send of reports) send();
}

async function auditBlocks(options: AuditOptions, { name }: PipelineDef, table: TableDef): Promise<Edges> {
  const { warehouse, report } = options;
  await setViewOf(options, table);
  await setRuns(warehouse, headedRuns(options));
  const { findings, linksBefore } = await auditHeaders(warehouse, { pipeline: name, table: table.name });
  for (const finding of findings) report(finding);
  return { linksBefore };
}

async function auditCounted(
  options: AuditOptions,
  pipeline: PipelineDef,
  main: TableDef,
  isDeep: boolean,
): Promise<Partial<DeepEdges>> {
  const { warehouse, registry, report } = options;
  const reportAll = (findings: readonly Finding[]): void => findings.forEach(report);
  const ends = pipeline.tables.find(({ plays }) => plays === 'messageEnds');
  const setRows = async (runs: readonly Span[]): Promise<void> => {
    await setRuns(warehouse, runs);
    await setHeaders(warehouse);
    await setTransactions(warehouse, main, ends, isDeep);
  };
  for (const table of [registry.playing('headers').table, ...pipeline.tables]) await setViewOf(options, table);
  const runs = runsOf(options, pipeline.name, [main.name]);
  reportMissingHeaders(options, pipeline, runs);
  const proven = intersectSpans(runs, headedRuns(options));
  await setRows(proven);
  reportAll(await auditTransactions(warehouse, pipeline.name, main));
  for (const table of pipeline.tables.filter(({ rows }) => rows.kind === 'projection')) {
    reportAll(await auditProjected(options, pipeline, table, proven));
  }
  if (ends === undefined) return {};
  const both = intersectSpans(proven, runsOf(options, pipeline.name, [main.name, ends.name]));
  if (formatSpans(both) === formatSpans(proven)) await setRuns(warehouse, proven);
  else await setRows(both);
  await setMessages(warehouse, ends, isDeep);
  reportAll(await auditMessages(warehouse, { pipeline: pipeline.name, table: ends.name }, ends, isDeep));
  if (!isDeep) return {};
  const what = 'chains of accounts and ends of messages';
  const followed = subtractSpans(
    both,
    blocksWithout(options, pipeline.name, what, readsOf(registry, CHAIN_COLUMNS), proven),
  );
  if (formatSpans(followed) !== formatSpans(both)) {
    await setRows(followed);
    await setMessages(warehouse, ends, isDeep);
  }
  const { findings, edges } = await auditDeep(warehouse, {
    pipeline: pipeline.name,
    table: main.name,
    ends,
  });
  reportAll(findings);
  const reads = readsOf(registry, CONTENT_COLUMNS);
  const lacking = blocksWithout(options, pipeline.name, 'content of transactions', reads, proven);
  // Without opcodes, only their own comparison is impossible.
  const opcode = new Map([[ends.name, new Set(['opcode'])]]);
  const withoutOpcodes = blocksWithout(options, pipeline.name, 'opcodes of messages', opcode, proven);
  const unhashed = unhashedBlocks(options, pipeline);
  const complete = subtractSpans(followed, lacking);
  for (const isHashed of [true, false]) {
    const proved = isHashed ? subtractSpans(complete, unhashed) : intersectSpans(complete, unhashed);
    if (proved.length === 0) continue;
    if (formatSpans(proved) !== formatSpans(followed)) await setRows(proved);
    const scope = {
      pipeline: pipeline.name,
      transactions: main,
      messages: ends,
      runs: proved,
      isHashed,
      withoutOpcodes,
    };
    reportAll(await auditContent(warehouse, scope));
  }
  return edges;
}

/** Blocks whose hashes are not those of cells, as their entry records, or are possibly not. */
function unhashedBlocks({ warehouse }: AuditOptions, { name }: PipelineDef): readonly Span[] {
  const isPublic = warehouse.network === 'mainnet' || warehouse.network === 'testnet';
  const unhashed = warehouse.entries.filter(
    (entry) => entry.pipeline === name && (entry.content === undefined ? !isPublic : hasMadeUpHashes(entry)),
  );
  return unionSpans(unhashed.flatMap(spansOf));
}

/** Reports blocks whose headers were never exported. */
function reportMissingHeaders(
  { warehouse, registry, report, limits }: AuditOptions,
  { name }: PipelineDef,
  runs: readonly Span[],
): void {
  const headers = registry.playing('headers').pipeline.name;
  const headed = unionSpans(warehouse.entries.filter(({ pipeline }) => pipeline === headers).flatMap(spansOf));
  for (const span of subtractSpans(intersectSpans(runs, limits), headed)) {
    const got = `none of ${formatSpans([span])}`;
    report({ kind: 'no-headers', pipeline: name, span, expected: 'headers of the same blocks', got });
  }
}

/** Compares projected rows with their records, separately for each selection, because each has other columns. */
async function auditProjected(
  options: AuditOptions,
  pipeline: PipelineDef,
  declared: TableDef,
  proven: readonly Span[],
): Promise<readonly Finding[]> {
  const { warehouse, states, skip } = options;
  const readable = intersectSpans(
    proven,
    runsOf(options, pipeline.name, [declared.rows.kind === 'projection' ? declared.rows.of : '', declared.name]),
  );
  const ofPipeline = states.map(({ entry }) => entry).filter((entry) => entry.pipeline === pipeline.name);
  const selections = groupBy(ofPipeline, ({ without = {} }) => JSON.stringify(without));
  const findings: Finding[] = [];
  for (const entries of selections.values()) {
    const own = narrowPipeline(pipeline, entries[0]?.without);
    const table = own.tables.find(({ name }) => name === declared.name);
    const runs = intersectSpans(readable, unionSpans(entries.flatMap(spansOf)));
    if (table === undefined) continue;
    if (projectionOf(own, table) === undefined) {
      const without = formatLeftOut(own.leftOut ?? {}).split(', ');
      skip({ audit: `rows of ${table.name}`, pipeline: pipeline.name, without, missing: runs });
      continue;
    }
    await setRuns(warehouse, runs);
    findings.push(...(await auditProjection(warehouse, own, table)));
  }
  return findings;
}

/** Blocks of a pipeline where all named tables are readable. */
function runsOf({ states, limits }: AuditOptions, pipeline: string, tables: readonly string[]): readonly Span[] {
  const readable = states.filter(
    ({ entry, tables: found }) =>
      entry.pipeline === pipeline &&
      entry.verdict === 'accepted' &&
      tables.every((name) => (found.get(name)?.trust ?? 'unreadable') !== 'unreadable'),
  );
  return intersectSpans(unionSpans(readable.flatMap(({ entry }) => spansOf(entry))), limits);
}

async function setViewOf({ warehouse, states }: AuditOptions, table: TableDef): Promise<void> {
  const readable = states.filter(({ tables }) => (tables.get(table.name)?.trust ?? 'unreadable') !== 'unreadable');
  await setView(
    warehouse,
    table,
    readable.map(({ entry }) => entry),
  );
}
