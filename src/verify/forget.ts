import { mkdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Effects, realEffects } from '../core/effects.ts';
import { StoreError } from '../core/errors.ts';
import { type Span, shortSpans, totalSize, unionSpans } from '../core/span.ts';
import { narrowTable } from '../declare/left-out.ts';
import type { Registry } from '../declare/registry.ts';
import type { TableDef } from '../declare/table.ts';
import { loadMarts } from '../marts/load-marts.ts';
import { quoteName, quoteText } from '../sql/canonical-text.ts';
import { requireSound } from '../warehouse/compaction/compact.ts';
import { covering, FORGOTTEN, spansOf } from '../warehouse/ledger/done-spans.ts';
import { openStore } from '../warehouse/open-store.ts';
import { requireSameNetwork } from '../warehouse/query/status.ts';
import { warehouseRegistry } from '../warehouse/query/warehouse-registry.ts';
import { schemaOf } from '../warehouse/relations/table-schema.ts';
import { addEvidence, measureRows } from '../warehouse/staging/row-evidence.ts';
import type { CommitPart, LedgerEntry, StagedSpan, Store } from '../warehouse/store.ts';
import { type Held, openHeld } from './damaged-warehouse.ts';
import { describeEvidence } from './entry-state.ts';
import { limitTo } from './limit-range.ts';
import { type ForgetPlan, type ForgottenEntry, inSpans, planForget } from './plan-forget.ts';

export interface ForgetOptions {
  /** Folder of Parquet files, or a DuckDB file. */
  readonly warehouse: string;
  /** When given, the warehouse must hold it. */
  readonly network?: string | undefined;
  readonly pipelines: readonly string[];
  /** Masterchain blocks or UTC days, as for `verify`. */
  readonly range: string;
  /** Only tells what would go. Default false. */
  readonly isDry?: boolean | undefined;
  readonly registry?: Registry | undefined;
  readonly effects?: Effects | undefined;
  /** Awaited before each step of the commit; for tests. */
  readonly onStep?: ((step: string) => Promise<void>) | undefined;
}

/** What is forgotten, or would be. */
export interface ForgetReport {
  readonly event: 'forgotten' | 'planned';
  readonly network: string;
  readonly warehouse: string;
  /** Blocks that count as not done any more, by pipeline. */
  readonly spans: Readonly<Record<string, readonly Span[]>>;
  /** Rows that go, by table. */
  readonly rows: Readonly<Record<string, number>>;
  /** Pipelines whose rows were looked up by, or compared with, those that go. They stay. */
  readonly staying: readonly string[];
  /** Marts that were built from rows that go. They stay until they are built again. */
  readonly marts: readonly string[];
}

/**
 * Removes the rows of some blocks, and the fact that they are done, in one commit: a kill leaves everything or nothing. Of an entry that is cut,
 * the kept rows are written anew; kept and removed rows together must be what the ledger recorded.
 *
 * @throws {UsageError} when other rows need those that go, or nothing tells the rows of the range from others
 * @throws {StoreError} `damaged`, `not-the-same` when the rows are not what was committed; `busy`; nothing is changed then
 */
export async function forgetRange(options: ForgetOptions): Promise<ForgetReport> {
  const { effects = realEffects } = options;
  const registry = await warehouseRegistry(options.warehouse, options.registry);
  const spill = join(tmpdir(), `tonlake-forget-${process.pid}-${effects.freshId()}`);
  const held = await openHeld({ path: options.warehouse, registry, spill, memoryMb: 512 });
  const { kind, path, network } = held;
  let plan: ForgetPlan;
  let report: ForgetReport;
  try {
    requireSameNetwork(path, network, options.network);
    const spans = await limitTo(held, registry, options.range, () => {});
    const marts = await loadMarts(registry);
    plan = planForget({ ledger: held.entries, registry, marts, names: options.pipelines, spans });
    report = { event: 'planned', network, warehouse: path, ...(await tell(held, plan, registry.tables)) };
  } finally {
    held.close();
    await rm(spill, { recursive: true, force: true });
  }
  if (options.isDry === true || plan.entries.length === 0) return report;
  const { onStep } = options;
  const store = await openStore({
    ...{ path, network, kind, effects, tables: registry.tables, command: 'tonlake forget' },
    pipelines: registry.pipelines,
    ...(onStep === undefined ? {} : { onStep }),
  });
  try {
    await forgetEntries({ store, held, tables: registry.tables, effects }, plan);
  } finally {
    await store.close();
  }
  return { ...report, event: 'forgotten' };
}

/** What a plan comes to. Rows of entries that are cut are counted. */
async function tell(
  held: Held,
  plan: ForgetPlan,
  tables: readonly TableDef[],
): Promise<Pick<ForgetReport, 'spans' | 'rows' | 'staying' | 'marts'>> {
  const spans: Record<string, readonly Span[]> = {};
  const rows: Record<string, number> = {};
  for (const each of plan.entries) {
    const { pipeline, entry, gone, kept } = each;
    spans[pipeline.name] = unionSpans([...(spans[pipeline.name] ?? []), ...gone]);
    for (const table of tablesOf(each, tables)) {
      const all = entry.tables[table.name]?.rows ?? 0;
      const count = kept.length === 0 ? all : await countRows(held, each, table);
      rows[table.name] = (rows[table.name] ?? 0) + count;
    }
  }
  return { spans, rows, staying: plan.staying, marts: plan.marts };
}

async function countRows(held: Held, { pipeline, entry, gone }: ForgottenEntry, table: TableDef): Promise<number> {
  const { rows } = await held.database.query(
    `SELECT count(*)::INTEGER FROM (${held.select(table, [entry])}) WHERE ${inSpans(pipeline, table, gone)}`,
  );
  return Number(rows[0]?.[0]);
}

async function forgetEntries(context: Forgetting, { entries }: ForgetPlan): Promise<void> {
  const { store, effects } = context;
  const inForce = new Set(store.ledger().map(({ id }) => id));
  const changed = entries.find(({ entry }) => !inForce.has(entry.id))?.entry;
  if (changed !== undefined) {
    throw new StoreError(
      `store: ${changed.pipeline} ${shortSpans(spansOf(changed))} was changed by another process in the meantime`,
      {
        code: 'busy',
        hint: 'run the same command again',
      },
    );
  }
  const parts: CommitPart[] = [];
  for (const each of entries.filter(({ kept }) => kept.length > 0)) {
    const files = Object.values(each.entry.tables).flatMap((table) => table.files);
    for (const file of files) await requireSound(store.path, file);
    const own: StagedSpan[] = [];
    for (const spans of keptGroups(each)) {
      const staged = await stageKept(context, each, spans);
      own.push(staged);
      parts.push({ staged, draft: keptDraft(each, spans) });
    }
    await requireSame(context, each, own);
  }
  const stones = tombstones(entries, effects);
  const last = stones.at(-1);
  if (last === undefined) return;
  const supersedes = [...entries.map(({ entry }) => entry.id), ...last.draft.supersedes];
  await store.commitTogether([...parts, ...stones.slice(0, -1), { ...last, draft: { ...last.draft, supersedes } }]);
}

/** The spans of each entry that stays: those of a merged one stay together. */
function keptGroups({ entry, kept }: ForgottenEntry): readonly (readonly Span[])[] {
  return entry.spans === undefined ? kept.map((span) => [span]) : [kept];
}

/**
 * Entries without rows for what goes of each pipeline: one for each span, or for all of them where entries were merged. They
 * supersede themselves, so they are never in force.
 */
function tombstones(entries: readonly ForgottenEntry[], effects: Effects): readonly CommitPart[] {
  const pipelines = new Map(entries.map((each) => [each.pipeline.name, each]));
  return [...pipelines].flatMap(([name, { entry }]) => {
    const own = entries.filter(({ pipeline }) => pipeline.name === name);
    const gone = unionSpans(own.flatMap((each) => each.gone));
    const isMerged = own.some((each) => each.entry.spans !== undefined);
    return (isMerged ? [gone] : gone.map((span) => [span])).map((spans): CommitPart => {
      const id = effects.freshId();
      const { network, version } = entry;
      return {
        staged: { id, tables: {} },
        draft: {
          ...{ network, pipeline: name, version, ...covering(spans), verdict: 'sealed', scope: FORGOTTEN },
          ...{ requests: 0, retries: 0, supersedes: [id] },
        },
      };
    });
  });
}

/** A kept part stays what its entry was: read at the same time, and proven by the same rows. */
function keptDraft({ entry }: ForgottenEntry, spans: readonly Span[]): CommitPart['draft'] {
  const { network, pipeline, version, verdict, asOf, scope, proof, without, requests } = entry;
  const share = Math.round((requests * totalSize(spans)) / totalSize(spansOf(entry)));
  return {
    ...{ network, pipeline, version, ...covering(spans), verdict, asOf, scope, proof, without },
    ...{ requests: share, retries: 0, supersedes: [] },
  };
}

/** Tables that an entry has rows of, with the columns that it has. */
function tablesOf({ entry }: ForgottenEntry, tables: readonly TableDef[]): readonly TableDef[] {
  return tables
    .filter(({ name }) => entry.tables[name] !== undefined)
    .map((table) => narrowTable(table, entry.without));
}

interface Forgetting {
  readonly store: Store;
  readonly held: Held;
  readonly tables: readonly TableDef[];
  readonly effects: Effects;
}

/** SQL of the rows of an entry, as the store sees them. */
function rowsOf({ store, held }: Forgetting, table: TableDef, entry: LedgerEntry): string {
  const select = held.select(table, [entry]);
  // Before, a one-file warehouse was an attached database; now it is the store's own.
  return store.kind === 'duckdb' ? select.replace(' FROM w._rows.', ' FROM _rows.') : select;
}

async function stageKept(context: Forgetting, each: ForgottenEntry, spans: readonly Span[]): Promise<StagedSpan> {
  const { store, tables } = context;
  const { pipeline, entry } = each;
  const stage = store.stage(pipeline.name, covering(spans).span);
  await mkdir(stage.folder, { recursive: true });
  for (const table of tablesOf(each, tables)) {
    const path = join(stage.folder, `${table.name}-kept.parquet`);
    const columns = schemaOf(table).columns.map(({ name }) => quoteName(name));
    await store.query(`COPY (SELECT ${columns.join(', ')} FROM (${rowsOf(context, table, entry)})
      WHERE ${inSpans(pipeline, table, spans)}) TO ${quoteText(path)} (FORMAT parquet, COMPRESSION uncompressed)`);
    await stage.adopt(table, path);
  }
  return stage.finish();
}

/** @throws {StoreError} `not-the-same` when kept and removed rows together are not those that were committed */
async function requireSame(context: Forgetting, each: ForgottenEntry, kept: readonly StagedSpan[]): Promise<void> {
  const { store, tables } = context;
  const { pipeline, entry, gone } = each;
  for (const table of tablesOf(each, tables)) {
    const recorded = entry.tables[table.name];
    if (recorded === undefined) continue;
    const relation = `(SELECT * FROM (${rowsOf(context, table, entry)}) WHERE ${inSpans(pipeline, table, gone)})`;
    const removed = await measureRows(store.query, table, relation);
    const found = addEvidence([...removed, ...kept.flatMap(({ tables: own }) => own[table.name] ?? [])], table);
    if (JSON.stringify(describeEvidence(found)) === JSON.stringify(describeEvidence(recorded))) continue;
    throw new StoreError(
      `store: ${table.name} ${shortSpans(spansOf(entry))}: expected the rows that were committed, got others`,
      { code: 'not-the-same', hint: `tonlake verify --repair --warehouse ${store.path}` },
    );
  }
}
