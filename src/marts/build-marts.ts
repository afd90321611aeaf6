import type { DaySpan } from '../chain/day-spans.ts';
import { type Effects, realEffects } from '../core/effects.ts';
import { isSealedMeanwhile, StoreError } from '../core/errors.ts';
import { intersectSpans } from '../core/span.ts';
import type { Registry } from '../declare/registry.ts';
import { quoteName, quoteText } from '../sql/canonical-text.ts';
import {
  type ForgottenSpans,
  type LedgerEntry,
  openReader,
  openStore,
  type Store,
  stillForgotten,
} from '../warehouse/index.ts';
import { readHeaderDays } from '../warehouse/query/header-days.ts';
import { describeLeftOut, type LeftOutGap } from '../warehouse/query/left-out-gaps.ts';
import { requireSameNetwork } from '../warehouse/query/status.ts';
import { warehouseRegistry } from '../warehouse/query/warehouse-registry.ts';
import { commitSelect, martEntries } from './commit-mart.ts';
import { describeLost, forgottenReason, isForgotten } from './forgotten-inputs.ts';
import { loadMarts, type MartDef, withInputs } from './load-marts.ts';
import {
  entriesOf,
  isSealed,
  leftOutBehind,
  neverExported,
  pipelinesBehind,
  readSlices,
  type Slice,
  spanOf,
  stampOf,
} from './mart-inputs.ts';
import { sqlErrorWithin } from './sql-references.ts';

/** Result of building a mart. */
export interface MartBuild {
  readonly name: string;
  /** `unchanged`: its inputs have not changed; `empty`: an input was never exported. */
  readonly status: 'built' | 'unchanged' | 'empty';
  /** Rows of the whole mart. */
  readonly rows: number;
  /** Days that were built. */
  readonly days: readonly string[];
  /** Incomplete days, or days with unsealed source spans; their rows have `_sealed` false. */
  readonly marked: readonly string[];
  /** Days whose inputs were forgotten, at least in part: they keep their rows. */
  readonly kept: readonly string[];
  /** Why it is empty, or which inputs were left out or forgotten. */
  readonly reason?: string;
  readonly seconds: number;
}

export type MartEvent =
  | { readonly event: 'start'; readonly name: string; readonly slices: number }
  | ({ readonly event: 'mart' } & MartBuild);

export interface BuildOptions {
  /** Marts to build, with the marts that they read. Default: all. */
  readonly names?: readonly string[] | undefined;
  /** If set, the warehouse must be of this network. */
  readonly network?: string | undefined;
  /** Also build unchanged marts, except for days with forgotten inputs. */
  readonly full?: boolean | undefined;
  /** Entries with damaged files: they are not read, and are replaced by the build. */
  readonly damaged?: readonly LedgerEntry[] | undefined;
  /** Folder of the user's own marts. */
  readonly folder?: string | undefined;
  readonly registry?: Registry | undefined;
  readonly effects?: Effects | undefined;
  readonly onEvent?: ((event: MartEvent) => void) | undefined;
  /** Awaited before each step of a commit; for tests. */
  readonly onStep?: ((step: string) => Promise<void>) | undefined;
}

/**
 * Updates marts from the tables they read. Each day or mart is a commit of its own, so a build can be killed at any time. Rows depend
 * only on the data in the warehouse, not on how often they were built.
 *
 * @throws {UsageError} `unknown-mart`
 * @throws {MartError} when a select is wrong, with file and line
 * @throws {StoreError} `no-warehouse`; `busy` while another process writes the warehouse
 */
export async function buildMarts(warehouse: string, options: BuildOptions = {}): Promise<readonly MartBuild[]> {
  const { effects = realEffects, onEvent, onStep } = options;
  const registry = await warehouseRegistry(warehouse, options.registry);
  const marts = await loadMarts(registry, options.folder);
  const chosen = withInputs(marts, options.names);
  const reader = await openReader(warehouse, registry.tables);
  await reader.close();
  requireSameNetwork(reader.path, reader.network, options.network);
  const { path, network, kind } = reader;
  const store = await openStore({
    ...{ path, network, kind, effects, tables: registry.tables, marts: marts.map(({ table }) => table) },
    command: 'tonlake mart build',
    ...(onStep === undefined ? {} : { onStep }),
    setAside: new Set(options.damaged?.map(({ id }) => id)),
  });
  try {
    const dated = new Set(
      [...registry.tables, ...marts.map(({ table }) => table)]
        .filter(({ time }) => time !== undefined)
        .map(({ name }) => name),
    );
    const context = {
      store,
      forgotten: stillForgotten(store.forgotten(), store.ledger()),
      network,
      effects,
      marts,
      registry,
      dated,
      days: await readHeaderDays(store.query, store.ledger(), registry),
    };
    const builds: MartBuild[] = [];
    for (const mart of chosen) {
      const build = await buildMart(context, mart, options);
      builds.push(build);
      onEvent?.({ event: 'mart', ...build });
    }
    return builds;
  } finally {
    await store.close();
  }
}

interface Context {
  readonly store: Store;
  readonly network: string;
  readonly effects: Effects;
  readonly marts: readonly MartDef[];
  readonly registry: Registry;
  /** Tables with a day. */
  readonly dated: ReadonlySet<string>;
  readonly days: ReadonlyMap<string, DaySpan>;
  readonly forgotten: readonly ForgottenSpans[];
}

async function buildMart(context: Context, mart: MartDef, options: BuildOptions): Promise<MartBuild> {
  const { store, effects, registry, marts } = context;
  const { name } = mart;
  const startedAt = effects.monotonic();
  const seconds = (): number => Math.round(effects.monotonic() - startedAt) / 1000;
  const reason = whyEmpty(context, mart);
  if (reason !== undefined) {
    const kept = martEntries(store, name).flatMap(({ mart: stamp }) => stamp?.day ?? []);
    return { name, status: 'empty', rows: rowsIn(store, name), days: [], marked: [], kept, reason, seconds: seconds() };
  }
  const gaps = leftOutBehind(store.ledger(), registry, marts, mart);
  const { work, marked, kept } = await planMart(context, mart, gaps, options);
  options.onEvent?.({ event: 'start', name, slices: work.length });
  for (const each of work) await buildSlice(context, mart, each);
  const days = work.flatMap(({ slice }) => slice.date ?? []);
  const status = work.length === 0 ? 'unchanged' : 'built';
  const gone = forgottenReason(context.forgotten, registry, marts, mart);
  const reasons = [...gaps.map(describeLeftOut), ...(gone === undefined ? [] : [gone])];
  const told = reasons.length === 0 ? {} : { reason: reasons.join('; ') };
  return { name, status, rows: rowsIn(store, name), days, marked, kept, ...told, seconds: seconds() };
}

interface MartPlan extends Pick<MartBuild, 'marked' | 'kept'> {
  readonly work: readonly Work[];
}

/** Finds the slices of a mart to build. */
async function planMart(
  { store, registry, marts, dated, days, forgotten }: Context,
  mart: MartDef,
  gaps: readonly LeftOutGap[],
  { full, damaged = [] }: BuildOptions,
): Promise<MartPlan> {
  const pipelines = pipelinesBehind(registry, marts, mart);
  const gone = forgotten.filter(({ pipeline }) => pipelines.includes(pipeline));
  const broken = damaged.filter(({ tables }) => tables[mart.name] !== undefined);
  const held = new Map([...broken, ...martEntries(store, mart.name)].map((entry) => [entry.mart?.day, entry]));
  const marked: string[] = [];
  const kept: string[] = [];
  for (const [date, before] of held) {
    if (date === undefined || !isForgotten(gone, { date, day: days.get(date), before })) continue;
    kept.push(date);
    if (before.mart?.sealed !== true) marked.push(date);
    held.delete(date);
  }
  const work: Work[] = [];
  for (const slice of await readSlices(store, mart, dated)) {
    const { date } = slice;
    if (date === undefined ? mart.isDaily && kept.length > 0 : kept.includes(date)) continue;
    const day = date === undefined ? undefined : days.get(date);
    const isNarrow = gaps.some(({ missing }) => day === undefined || intersectSpans(missing, [day]).length > 0);
    const isWhole = date === undefined || day?.isWhole === true;
    const sealed = isSealed(store.ledger(), pipelines, day) && isWhole && !isNarrow;
    if (!sealed) marked.push(date ?? 'all');
    const before = held.get(date);
    held.delete(date);
    const inputs = stampOf(mart, slice, sealed);
    if (full === true || before?.mart?.inputs !== inputs) work.push({ slice, day, sealed, inputs, before });
  }
  // Days without any input left become empty.
  for (const [date, before] of held) {
    const slice = { date, parts: new Map() };
    const inputs = stampOf(mart, slice, true);
    if (before.mart?.inputs !== inputs) work.push({ slice, day: undefined, sealed: true, inputs, before });
  }
  return { work, marked: marked.sort(), kept: kept.sort() };
}

interface Work {
  readonly slice: Slice;
  readonly day: DaySpan | undefined;
  readonly sealed: boolean;
  readonly inputs: string;
  readonly before: LedgerEntry | undefined;
}

async function buildSlice({ store, network }: Context, mart: MartDef, work: Work): Promise<void> {
  const { slice, day, sealed, inputs, before } = work;
  const { table, file } = mart;
  const { date } = slice;
  const span = before !== undefined && slice.parts.size === 0 ? before.span : spanOf(store.ledger(), slice, day);
  const nothing = mart.isDaily ? ' WHERE false' : '';
  const where = date === undefined ? nothing : ` WHERE block_date = DATE ${quoteText(date)}`;
  const order = table.sort.map(quoteName).join(', ');
  const select = `SELECT *, ${sealed} AS _sealed FROM (\n${file.sql.replace(/;\s*$/, '')}\n)${where} ORDER BY ${order}`;
  const stamp = { ...(date === undefined ? {} : { day: date }), inputs, sealed };
  const rows = { table, select, span, network, stamp, before: before === undefined ? [] : [before] };
  await commitSelect(store, rows).catch((error: unknown) => {
    // Another process has built it from what was committed then; the next build compares its inputs.
    if (isSealedMeanwhile(error)) return;
    throw isOfQuery(error) ? sqlErrorWithin(file, error) : error;
  });
}

/** True if the select is at fault, and not the disk or the lock. */
function isOfQuery(error: unknown): boolean {
  return error instanceof StoreError && error.code === 'failed' && error.message.startsWith('store: query');
}

/** Which input of a mart was never exported or built; undefined if none is missing. */
function whyEmpty({ store, marts, registry, forgotten }: Context, mart: MartDef): string | undefined {
  const ledger = store.ledger();
  const missing = mart.inputs.filter((name) => !mart.optional.includes(name) && entriesOf(ledger, name).length === 0);
  const [table] = missing;
  const lost = neverExported(ledger, leftOutBehind(ledger, registry, marts, mart));
  if (lost !== undefined) return `${describeLeftOut(lost)}: tonlake run ${lost.pipeline} without that selection`;
  if (table === undefined) return undefined;
  if (marts.some(({ name }) => name === table)) return `${table} is empty`;
  const pipeline = registry.pipelines.find((each) => each.tables.some(({ name }) => name === table))?.name ?? table;
  return describeLost(forgotten, [pipeline]) ?? `${table} was never exported: tonlake run ${pipeline}`;
}

function rowsIn(store: Store, name: string): number {
  return martEntries(store, name).reduce((sum, { tables }) => sum + (tables[name]?.rows ?? 0), 0);
}
