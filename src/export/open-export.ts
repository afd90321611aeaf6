import { type Effects, realEffects } from '../core/effects.ts';
import { usage } from '../core/errors.ts';
import { unionSpans } from '../core/span.ts';
import type { PipelineDef } from '../declare/pipeline.ts';
import type { Registry } from '../declare/registry.ts';
import { type Selection, selectFrom } from '../declare/selection.ts';
import type { TableDef } from '../declare/table.ts';
import type { Session, SessionOptions } from '../http/session.ts';
import {
  type CommitPart,
  type CommitStep,
  covering,
  FORGOTTEN,
  type OpenStoreOptions,
  openStore,
  requireKind,
  type Store,
  spansOf,
} from '../warehouse/index.ts';
import { redeclaredPipelines, warehouseRegistry } from '../warehouse/query/warehouse-registry.ts';
import { COMMIT_EVERY_MS, type ContentOption } from './run-context.ts';
import type { RunTally } from './run-tally.ts';
import type { WalkMode } from './walk-context.ts';
import { walkKindOf } from './walk-kinds.ts';
import type { LoaderPool } from './workers/loader-port.ts';

/** Options shared by all exports into a warehouse. */
export interface ExportOptions extends Omit<SessionOptions, 'effects' | 'names' | 'command'>, Selection {
  /** Names of pipelines; those that they need run first. */
  readonly pipelines: readonly string[];
  /** Folder of Parquet files, or a file that ends in `.duckdb`. Created if missing. */
  readonly warehouse: string;
  readonly store?: Store['kind'] | undefined;
  /** How rows are requested; all ways give the same rows. Default `auto`: the way with the fewest requests. */
  readonly walk?: WalkMode | undefined;
  /** Maximum time that proven rows wait for their commit, in milliseconds, at most a day; 0 commits each span by itself. Default 60,000. */
  readonly commitEveryMs?: number | undefined;
  /** `none` does not compare transactions with their hashes. Default `hash`. */
  readonly content?: ContentOption | undefined;
  readonly registry?: Registry | undefined;
  readonly effects?: Effects | undefined;
  /** Aborted to stop after the current spans; committed rows stay. */
  readonly stop?: AbortSignal | undefined;
  /** Work after each commit, in this order. Default: none. */
  readonly steps?: readonly CommitStep[] | undefined;
}

const MAX_COMMIT_EVERY_MS = 86_400_000;

/** An open export: session, warehouse and loaders. */
export interface OpenExport {
  readonly options: ExportOptions;
  readonly effects: Effects;
  readonly registry: Registry;
  readonly pipelines: readonly PipelineDef[];
  readonly session: Session;
  readonly store: Store;
  readonly tally: RunTally;
  readonly loaders: LoaderPool;
}

/**
 * The pipelines of an export in the order of their needs. Opens nothing.
 *
 * @throws {UsageError} for an unknown pipeline, a selection that does not fit, or an option out of range
 */
export async function choosePipelines(options: ExportOptions): Promise<{
  readonly registry: Registry;
  readonly pipelines: readonly PipelineDef[];
  /** True if the export will create the warehouse. */
  readonly isNew: boolean;
}> {
  requireInterval(options.commitEveryMs);
  const { isNew } = await requireKind(options.warehouse, options.store);
  const registry = await warehouseRegistry(options.warehouse, options.registry);
  const pipelines = selectFrom(registry.toRun(options.pipelines), options);
  for (const pipeline of pipelines) walkKindOf(registry, pipeline);
  return { registry, pipelines, isNew };
}

/** @throws {UsageError} for an interval out of range */
function requireInterval(ms = COMMIT_EVERY_MS): void {
  if (ms >= 0 && ms <= MAX_COMMIT_EVERY_MS) return;
  throw usage(
    'at most 24 hours between commits',
    `${ms} ms`,
    'after a kill, all that is not committed is requested again',
  );
}

/** Options for opening the warehouse of an export. */
export interface OpenExportOptions extends Pick<OpenStoreOptions, 'network' | 'isShared'> {
  /** Shown to other processes that want to write to the warehouse. */
  readonly command: string;
  /** Marts that may be built while it is open. */
  readonly marts?: readonly TableDef[] | undefined;
}

/** Opens the warehouse of an export. */
export async function openExportStore(
  { warehouse: path, store: kind, effects = realEffects }: ExportOptions,
  registry: Registry,
  { network, command, marts = [], isShared }: OpenExportOptions,
): Promise<Store> {
  const { tables, pipelines } = registry;
  const anew = await redeclaredPipelines(path, registry);
  const store = await openStore({ path, kind, network, effects, tables, pipelines, marts, command, isShared });
  try {
    for (const name of anew) await forgetEmpty(store, network, registry.pipeline(name), effects);
    return store;
  } catch (error) {
    await store.close();
    throw error;
  }
}

/** Forgets the entries of a pipeline without rows: its current declaration may find rows where an older one found none. */
async function forgetEmpty(
  store: Store,
  network: string,
  { name, version }: PipelineDef,
  effects: Effects,
): Promise<void> {
  const old = store.ledger().filter(({ pipeline }) => pipeline === name);
  if (old.length === 0) return;
  const id = effects.freshId();
  const draft: CommitPart['draft'] = {
    network,
    pipeline: name,
    version,
    ...covering(unionSpans(old.flatMap(spansOf))),
    verdict: 'accepted',
    scope: FORGOTTEN,
    requests: 0,
    retries: 0,
    supersedes: [...old.map((entry) => entry.id), id],
  };
  await store.commitTogether([{ staged: { id, tables: {} }, draft }]);
}

/** Runs some work and returns its error, so that the caller can report before throwing it. */
export async function failureOf(work: () => Promise<void>): Promise<{ readonly error: unknown } | undefined> {
  try {
    await work();
    return undefined;
  } catch (error) {
    return { error };
  }
}
