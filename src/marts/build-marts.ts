import { type Effects, realEffects } from '../core/effects.ts';
import { counted } from '../core/format.ts';
import type { Registry } from '../declare/registry.ts';
import { closeAll } from '../files/file-failure.ts';
import { trimGrownProcess } from '../sql/freed-memory.ts';
import { type LedgerEntry, openStore, type SideConnection } from '../warehouse/index.ts';
import { partOf } from '../warehouse/query/coverage.ts';
import { describeLeftOut } from '../warehouse/query/left-out-gaps.ts';
import { knownWarehouse } from '../warehouse/query/warehouse-registry.ts';
import { martEntries } from './commit-mart.ts';
import { loadMarts, type MartDef, withInputs } from './load-marts.ts';
import { forgottenReason, leftOutBehind } from './mart-inputs.ts';
import {
  buildSlice,
  type MartContext,
  type PlanOptions,
  planMart,
  readMartContext,
  rowsIn,
  type SliceWork,
  whyEmpty,
} from './mart-slices.ts';

/** Result of building a mart. */
export interface MartBuild {
  readonly name: string;
  /** `unchanged`: its inputs have not changed; `empty`: an input was never exported. */
  readonly status: 'built' | 'unchanged' | 'empty';
  /** Rows of the whole mart. */
  readonly rows: number;
  /** Days that were built. */
  readonly days: readonly string[];
  /** Days, or `all`, with missing source rows: `_coverage` of their rows says so. */
  readonly marked: readonly string[];
  /** Days whose inputs were forgotten, at least in part: they keep their rows. */
  readonly kept: readonly string[];
  /** True if new rows of its inputs were merged into its earlier rows. */
  readonly isMerged?: boolean;
  /** Why it is empty, or which inputs were left out or forgotten. */
  readonly reason?: string;
  readonly seconds: number;
}

/** Notes about a build: days with missing rows, days that keep rows of forgotten inputs, and inputs that were left out. */
export function notesOf({ marked, kept, reason }: Pick<MartBuild, 'marked' | 'kept' | 'reason'>): readonly string[] {
  return [
    ...(marked.length === 0 ? [] : [`missing ${partOf(marked)}`]),
    ...(kept.length === 0 ? [] : [`${counted(kept.length, 'day')} kept, whose inputs are forgotten`]),
    ...(reason === undefined ? [] : [reason]),
  ];
}

/** A mart is up to date. */
export interface MartBuiltEvent extends MartBuild {
  readonly event: 'mart';
}

export type MartEvent = { readonly event: 'start'; readonly name: string; readonly slices: number } | MartBuiltEvent;

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
  /** An abort ends the build after the current mart: it rejects with the reason of the signal. */
  readonly signal?: AbortSignal | undefined;
  readonly onEvent?: ((event: MartEvent) => void) | undefined;
  /** Awaited before each step of a commit; for tests. */
  readonly onStep?: ((step: string) => Promise<void>) | undefined;
}

/**
 * Updates marts from the tables they read. Each day or mart is a commit of its own, so a build can be killed at any time. Rows depend
 * only on the data in the warehouse, not on how often they were built.
 *
 * @throws {UsageError}
 * @throws {MartError} when a select is wrong, with file and line
 * @throws {StoreError} `no-warehouse`; `busy` while another process writes the warehouse
 */
export async function buildMarts(warehouse: string, options: BuildOptions = {}): Promise<readonly MartBuild[]> {
  const { effects = realEffects, onEvent, onStep } = options;
  const { registry, ...known } = await knownWarehouse(warehouse, options);
  const marts = await loadMarts(registry, options.folder);
  const chosen = withInputs(marts, options.names);
  const store = await openStore({
    ...known,
    effects,
    tables: registry.tables,
    pipelines: registry.pipelines,
    marts: marts.map(({ table }) => table),
    command: 'tonlake build',
    onStep,
    setAside: new Set(options.damaged?.map(({ id }) => id)),
  });
  let connection: SideConnection | undefined;
  try {
    connection = await store.connect();
    const context = await readMartContext({ store, connection, network: known.network, effects, marts, registry });
    const builds: MartBuild[] = [];
    for (const mart of chosen) {
      options.signal?.throwIfAborted();
      const build = await buildMart(context, mart, options);
      builds.push(build);
      onEvent?.({ event: 'mart', ...build });
    }
    return builds;
  } finally {
    await closeAll([() => connection?.close(), () => store.close()]);
  }
}

interface BuildMartOptions extends PlanOptions {
  readonly onEvent?: ((event: MartEvent) => void) | undefined;
  /** Which of the slices to build now, in this order. Default: all. */
  readonly choose?: (work: readonly SliceWork[]) => readonly SliceWork[];
}

/** Updates a mart. @throws {MartError} {StoreError} */
export async function buildMart(context: MartContext, mart: MartDef, options: BuildMartOptions): Promise<MartBuild> {
  const { store, effects, registry, marts } = context;
  const { name } = mart;
  const startedAt = effects.monotonic();
  const seconds = (): number => Math.round(effects.monotonic() - startedAt) / 1000;
  const reason = whyEmpty(context, mart);
  if (reason !== undefined) {
    const kept = martEntries(store.ledger(), name).flatMap(({ mart: stamp }) => stamp?.day ?? []);
    return { name, status: 'empty', rows: rowsIn(store, name), days: [], marked: [], kept, reason, seconds: seconds() };
  }
  const gaps = leftOutBehind(store.ledger(), registry, marts, mart);
  const plan = await planMart(context, mart, gaps, options);
  const { marked, kept } = plan;
  const work = options.choose?.(plan.work) ?? plan.work;
  options.onEvent?.({ event: 'start', name, slices: work.length });
  let isMerged = false;
  for (const each of work) {
    await trimGrownProcess();
    isMerged = (await buildSlice(context, mart, each)) || isMerged;
  }
  const days = work.flatMap(({ slice }) => slice.date ?? []);
  const status = work.length === 0 ? 'unchanged' : 'built';
  const gone = forgottenReason(context.forgotten, registry, marts, mart);
  const reasons = [...gaps.map(describeLeftOut), ...(gone === undefined ? [] : [gone])];
  const notes = { ...(isMerged ? { isMerged } : {}), ...(reasons.length === 0 ? {} : { reason: reasons.join('; ') }) };
  return { name, status, rows: rowsIn(store, name), days, marked, kept, ...notes, seconds: seconds() };
}
