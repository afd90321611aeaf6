import { loadRegistry, type Registry } from '../declare/registry.ts';
import type { BatchOf } from '../export/batch-queue.ts';
import { type BatchOptions as BaseBatchOptions, readBatches as readEachBatch } from '../export/read-batches.ts';
import { type RunOptions as BaseRunOptions, run as exportRange, type RunReport } from '../export/run.ts';
import {
  type ConsumeOptions as BaseConsumeOptions,
  type ConsumedRows,
  consume as consumeFrom,
} from '../feed/consume.ts';
import { type FollowHeadOptions, followHead } from '../follow/follow-head.ts';
import { networkOf, type PlaceOptions, warehouseOf } from './place-options.ts';
import { unlessAborted } from './unless-aborted.ts';

/** Options that have other defaults here, or are not for callers. */
type Replaced = 'network' | 'warehouse' | 'pipelines' | 'effects' | 'stop' | 'signal' | 'steps';

interface CommonOptions extends PlaceOptions {
  /** Names of pipelines; those that they need come first. Default `['transactions']`. */
  readonly pipelines?: readonly string[] | undefined;
  /** An abort ends it: rows that are proven by then are committed, and it rejects with the reason of the signal. */
  readonly signal?: AbortSignal | undefined;
}

export type RunOptions = Omit<BaseRunOptions, Replaced> & CommonOptions;

/**
 * Exports a range to a warehouse, as `tonlake run`: for each pipeline, the blocks that are not done yet.
 *
 * @throws {UsageError} {SourceError} {StoreError} {DecodeError} if it cannot continue, or the reason of `signal`; committed rows stay
 */
export function run(options: RunOptions): Promise<RunReport> {
  return unlessAborted(options.signal, async () => exportRange(await exportOptions(options)));
}

export type FollowOptions = Omit<FollowHeadOptions, Replaced | 'onOpen'> & CommonOptions;

/**
 * Keeps a warehouse current, as `tonlake follow`: exports what is missing, then follows the head until `signal` is aborted. It waits out
 * transient trouble once the source has answered.
 *
 * @throws {UsageError} {SourceError} {StoreError} {WalkError} if it cannot continue, or the reason of `signal`; committed rows stay
 */
export async function follow(options: FollowOptions): Promise<void> {
  await unlessAborted(options.signal, async () => followHead(await exportOptions(options)));
}

async function exportOptions<T extends CommonOptions & { readonly registry?: Registry | undefined }>(options: T) {
  const { signal: stop, ...given } = options;
  const registry = options.registry ?? (await loadRegistry());
  const network = await networkOf(options);
  const { pipelines = [registry.playing('counted').pipeline.name] } = options;
  return { ...given, network, warehouse: warehouseOf({ ...options, network }), pipelines, stop, signal: undefined };
}

export type BatchOptions = Omit<BaseBatchOptions, Exclude<Replaced, 'pipelines' | 'signal'>> &
  Pick<PlaceOptions, 'network'>;

/**
 * Reads a range of one pipeline as Arrow batches, without a warehouse. The rows of a span come after they were proven: headers by their
 * links, transactions by the headers; keys are unique. Lists are not compared with transactions, which needs a warehouse. It waits while the
 * consumer is busy, and ends when the consumer stops.
 *
 * @throws {UsageError} {SourceError} {DecodeError}, or the reason of `signal`; after all good rows {WalkError} `incomplete` if others
 *   could not be fetched, or `content` if some contradict their hashes
 */
export async function* readBatches(options: BatchOptions): AsyncGenerator<BatchOf> {
  options.signal?.throwIfAborted();
  yield* readEachBatch({ ...options, network: await networkOf(options) });
  options.signal?.throwIfAborted();
}

export type ConsumeOptions = Omit<BaseConsumeOptions, 'warehouse' | 'effects'> & PlaceOptions;

/**
 * Hands out the rows of a warehouse in the order of their commits, and goes on with each commit that follows. A consumer that stores the
 * cursor together with the effect of the rows, and starts again from it, sees every row once.
 *
 * @throws {UsageError} `foreign-cursor`, `unknown-table`; for a text that is no cursor, tables of another cursor, and tables of readings
 * @throws {StoreError} `no-warehouse`; `busy` with `wait: false`, while a process writes a DuckDB warehouse; or the reason of `signal`
 */
export function consume(options: ConsumeOptions): AsyncGenerator<ConsumedRows> {
  return consumeFrom({ ...options, warehouse: warehouseOf(options) });
}
