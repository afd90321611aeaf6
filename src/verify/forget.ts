import { type Effects, realEffects } from '../core/effects.ts';
import { type Span, unionSpans } from '../core/span.ts';
import { storedTables } from '../declare/left-out.ts';
import type { Registry } from '../declare/registry.ts';
import type { TableDef } from '../declare/table.ts';
import { loadMarts, type MartDef } from '../marts/load-marts.ts';
import { textOf } from '../sql/row-text.ts';
import { inSpans } from '../sql/span-condition.ts';
import { type DamagedStore, type ForgottenRows, openStore } from '../warehouse/index.ts';
import { requireSameNetwork, warehouseRegistry } from '../warehouse/query/warehouse-registry.ts';
import { forgetEntries } from './commit-forget.ts';
import { withDamagedStore } from './damaged-warehouse.ts';
import { limitTo } from './limit-range.ts';
import { type Lost, stillLost } from './lost-entries.ts';
import { type ForgetPlan, type ForgottenEntry, planForget } from './plan-forget.ts';

export interface ForgetOptions {
  /** Folder of Parquet files, or a DuckDB file. */
  readonly warehouse: string;
  /** If set, the warehouse must be of this network. */
  readonly network?: string | undefined;
  readonly pipelines: readonly string[];
  /** Masterchain blocks or UTC days, as for `verify`. */
  readonly range: string;
  /** Only report what would be removed. Default false. */
  readonly isDry?: boolean | undefined;
  readonly registry?: Registry | undefined;
  readonly effects?: Effects | undefined;
  /** Awaited before each step of the commit; for tests. */
  readonly onStep?: ((step: string) => Promise<void>) | undefined;
}

/** The removal, or in a dry run the plan. */
export interface ForgetReport {
  readonly event: 'forgotten' | 'planned';
  readonly network: string;
  readonly warehouse: string;
  /** Blocks that no longer count as done, by pipeline. */
  readonly spans: Readonly<Record<string, readonly Span[]>>;
  /** Number of removed rows, by table. */
  readonly rows: Readonly<Record<string, number>>;
  /** Pipelines whose rows were looked up by, or compared with, removed rows. They are kept. */
  readonly staying: readonly string[];
  /** Marts built from removed rows. Daily marts keep their rows; the others are rebuilt from the remaining rows. */
  readonly marts: readonly string[];
}

/**
 * Removes the rows of some blocks and marks the blocks as not done, in one commit. Blocks of lost entries are no longer expected. If only part
 * of an entry is removed, the remaining rows are rewritten; remaining and removed rows together must match the ledger.
 *
 * @throws {UsageError} if other rows need the removed ones, or an entry's rows cannot be assigned to blocks
 * @throws {StoreError} `damaged` if the rows differ from the committed rows; `busy`. Nothing is changed then
 */
export async function forgetRange(options: ForgetOptions): Promise<ForgetReport> {
  const { pipelines: names, range } = options;
  return forgetPlanned(options, 'command', async ({ warehouse, lost, registry, marts }) => {
    const spans = await limitTo(warehouse, registry, { range, since: 0 }, () => {});
    return planForget({ ledger: warehouse.entries, lost, registry, marts, names, spans });
  });
}

/** Input of a plan. */
export interface PlanContext {
  readonly warehouse: DamagedStore;
  /** Blocks of lost entries that are still missing. */
  readonly lost: readonly Lost[];
  readonly registry: Registry;
  readonly marts: readonly MartDef[];
}

/** Plans and carries out a removal. @throws as `forgetRange` */
export async function forgetPlanned(
  options: Omit<ForgetOptions, 'range' | 'pipelines'>,
  by: ForgottenRows['by'],
  planOf: (context: PlanContext) => Promise<ForgetPlan>,
): Promise<ForgetReport> {
  const { effects = realEffects, onStep } = options;
  const registry = await warehouseRegistry(options.warehouse, options.registry);
  const { tables } = registry;
  const opened = { path: options.warehouse, registry, effects };
  const { kind, path, network, plan, counted } = await withDamagedStore(opened, async (warehouse) => {
    requireSameNetwork(warehouse.path, warehouse.network, options.network);
    const hasMarts = warehouse.entries.some(({ mart }) => mart !== undefined);
    const marts = hasMarts ? await loadMarts(registry) : [];
    const plan = await planOf({ warehouse, lost: stillLost(warehouse, registry), registry, marts });
    const { kind, path, network } = warehouse;
    return { kind, path, network, plan, counted: await countPlan(warehouse, plan, tables) };
  });
  const { spans, rows, days } = counted;
  const { staying, marts } = plan;
  const report = { network, warehouse: path, spans, rows, staying, marts };
  if (options.isDry === true || plan.entries.length + plan.lost.length === 0) return { event: 'planned', ...report };
  const store = await openStore({
    ...{ path, network, kind, effects, tables, command: 'tonlake forget' },
    pipelines: registry.pipelines,
    onStep,
  });
  try {
    await forgetEntries({ store, network, tables, effects, by, days }, plan);
  } finally {
    await store.close();
  }
  return { event: 'forgotten', ...report };
}

interface Counted extends Pick<ForgetReport, 'spans' | 'rows'> {
  /** First and last day of the removed rows, by pipeline. */
  readonly days: ReadonlyMap<string, NonNullable<ForgottenRows['days']>>;
}

/** Spans, rows and days of a plan. */
async function countPlan(warehouse: DamagedStore, plan: ForgetPlan, tables: readonly TableDef[]): Promise<Counted> {
  const spans: Record<string, readonly Span[]> = {};
  const rows: Record<string, number> = {};
  const days = new Map<string, NonNullable<ForgottenRows['days']>>();
  for (const each of plan.entries) {
    const { name } = each.pipeline;
    spans[name] = unionSpans([...(spans[name] ?? []), ...each.removed]);
    for (const table of storedTables([each.entry], tables)) {
      const { count, from, to } = await measureRemoved(warehouse, each, table);
      rows[table.name] = (rows[table.name] ?? 0) + count;
      if (from === undefined || to === undefined) continue;
      const before = days.get(name) ?? { from, to };
      days.set(name, { from: from < before.from ? from : before.from, to: to > before.to ? to : before.to });
    }
  }
  for (const { pipeline, span } of plan.lost) {
    spans[pipeline.name] = unionSpans([...(spans[pipeline.name] ?? []), span]);
  }
  return { spans, rows, days };
}

interface RemovedRows {
  readonly count: number;
  readonly from: string | undefined;
  readonly to: string | undefined;
}

/** Number of removed rows, and their first and last day. Files of a completely removed entry are not read, because they may be damaged. */
async function measureRemoved(
  warehouse: DamagedStore,
  { pipeline, entry, removed, remaining }: ForgottenEntry,
  table: TableDef,
): Promise<RemovedRows> {
  const { files = [], rows: count = 0 } = entry.tables[table.name] ?? {};
  if (remaining.length === 0 && files.length > 0) {
    const days = files.flatMap(({ path }) => /\/block_date=(\d{4}-\d{2}-\d{2})\//.exec(path)?.[1] ?? []).sort();
    return { count, from: days[0], to: days.at(-1) };
  }
  const [first, last] = table.time === undefined ? ['NULL', 'NULL'] : ['min(block_date)', 'max(block_date)'];
  const where = remaining.length === 0 ? 'true' : inSpans(pipeline, table, removed);
  const { rows } = await warehouse.database.query(
    `SELECT count(*)::INTEGER, ${first}::VARCHAR, ${last}::VARCHAR FROM (${warehouse.select(table, [entry])}) WHERE ${where}`,
  );
  const [found, from, to] = rows[0] ?? [];
  return { count: Number(found), from: textOf(from), to: textOf(to) };
}
