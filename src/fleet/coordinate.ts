import type { Job } from 'bullmq';
import { sessionBounds } from '../chain/index-ends.ts';
import { parseRange } from '../chain/range.ts';
import { isComing } from '../chain/wait-for-blocks.ts';
import { addCounts } from '../core/counts.ts';
import { type Effects, realEffects } from '../core/effects.ts';
import { shortMessage, UsageError } from '../core/errors.ts';
import { readVersion } from '../core/package-version.ts';
import { formatSpan, intersectSpans, type Span } from '../core/span.ts';
import { coversBlocks, type PipelineDef } from '../declare/pipeline.ts';
import type { Registry } from '../declare/registry.ts';
import { selectFrom } from '../declare/selection.ts';
import { resolveAsked } from '../export/asked-blocks.ts';
import { type RunOptions, type RunReport, run } from '../export/run.ts';
import { spanEvent } from '../export/walk-context.ts';
import { openSession } from '../http/session.ts';
import { parseRedisAddress } from '../redis/redis-address.ts';
import { openStore, type Store } from '../warehouse/index.ts';
import { warehouseRegistry } from '../warehouse/query/warehouse-registry.ts';
import { IncomingFolder, partPrefix } from './incoming-folder.ts';
import { planOrders } from './plan-orders.ts';
import { takeOver } from './take-over.ts';
import {
  declarationsOf,
  ORDER_FORMAT,
  selectionOf,
  type WorkOrder,
  type WorkResult,
  workResult,
} from './work-order.ts';
import { openWorkQueue, type WorkQueue } from './work-queue.ts';

const DEFAULT_BLOCKS = 1000;
const POLL_MS = 300;
/** How often it is checked that the server still has the orders. */
const CHECK_MS = 5000;

export interface QueuedRunOptions extends RunOptions {
  /** Redis server of the queue: `redis://host:port`, or `rediss://` for TLS. */
  readonly queue: string;
  /** Masterchain blocks of an order. Default 1000. */
  readonly orderBlocks?: number | undefined;
}

/** What workers have added. */
interface Gain {
  rows: Record<string, number>;
  requests: number;
  retries: number;
  spans: number;
}

/**
 * As `run`, with the blocks exported by workers on any number of machines that see the folder of the warehouse. This process hands out
 * orders, commits what comes back, and ends with a run of the range: it fetches what workers left out, reads lists and lookups, and its
 * report is of the ledger. The queue is believed in nothing.
 *
 * @throws as `run`; {SourceError} if the server cannot be used
 */
export async function runQueued(options: QueuedRunOptions): Promise<RunReport> {
  const { effects = realEffects } = options;
  const startedAt = effects.monotonic();
  const gain: Gain = { rows: {}, requests: 0, retries: 0, spans: 0 };
  await distribute(options, effects, gain);
  const { onEvent } = options;
  let whole: RunReport | undefined;
  const add = (report: RunReport): RunReport => ({
    ...report,
    rows: addCounts(report.rows, gain.rows),
    requests: report.requests + gain.requests,
    retries: report.retries + gain.retries,
    spans: report.spans + gain.spans,
    seconds: Math.round(effects.monotonic() - startedAt) / 1000,
  });
  const report = await run({
    ...options,
    onEvent: (event) => {
      if (event.event === 'done') whole = add(event);
      onEvent?.(event.event === 'done' && whole !== undefined ? whole : event);
    },
  });
  return whole ?? add(report);
}

/** What the phases of distribution share. */
interface Distribution {
  readonly options: QueuedRunOptions;
  readonly effects: Effects;
  readonly registry: Registry;
  readonly store: Store;
  readonly queue: WorkQueue;
  readonly incoming: IncomingFolder;
  readonly gain: Gain;
  /** Orders that are not taken over, by the id of their job. */
  readonly open: Map<string, Span>;
  readonly total: number;
  readonly order: Omit<WorkOrder, 'span'>;
}

async function distribute(options: QueuedRunOptions, effects: Effects, gain: Gain): Promise<void> {
  const { env = process.env, stop } = options;
  const address = parseRedisAddress(options.queue, '--queue', env);
  if (isComing(parseRange(options.range))) throw notYetThere(options.range);
  const incoming = await IncomingFolder.of(options.warehouse);
  const registry = await warehouseRegistry(options.warehouse, options.registry);
  const pipelines = selectFrom(registry.toRun(options.pipelines), options).filter(coversBlocks);
  const { network, present } = await resolvePresent(options, effects);
  const command = ['tonlake run', ...options.pipelines, `--range ${options.range} --queue`].join(' ');
  const { tables, pipelines: declared } = registry;
  const store = await openStore({ path: options.warehouse, network, effects, tables, pipelines: declared, command });
  try {
    const { id } = await incoming.openRecord(network, effects.freshId);
    const queue = await openWorkQueue(id, address, env);
    try {
      const spans = planOrders(store.ledger(), pipelines, present, options.orderBlocks ?? DEFAULT_BLOCKS);
      const open = new Map(spans.map((span) => [`span-${span.from}-${span.to}`, span]));
      const order = orderOf(options, pipelines, registry);
      const given = { options, effects, registry, store, queue, incoming, gain, open, total: open.size, order };
      await begin(given);
      await follow(given);
      if (stop?.aborted === true) await queue.use((bull) => bull.drain());
      else await incoming.clearParts([]);
    } finally {
      await queue.close();
    }
  } finally {
    await store.close();
  }
}

/** The asked blocks that the index has. The others are left to the run at the end. */
async function resolvePresent(options: QueuedRunOptions, effects: Effects) {
  const session = await openSession({ ...options, effects, command: 'tonlake run' });
  try {
    const chain = sessionBounds(session, effects);
    const asked = await resolveAsked(options, chain);
    const { first, last } = await chain.ends();
    return { network: session.network, present: intersectSpans(asked, [{ from: first, to: last }]) };
  } finally {
    await session.close();
  }
}

function orderOf(
  options: QueuedRunOptions,
  pipelines: readonly PipelineDef[],
  registry: Registry,
): Distribution['order'] {
  const { walk } = options;
  return JSON.parse(
    JSON.stringify({
      ...{ format: ORDER_FORMAT, version: readVersion(), walk, ...selectionOf(options) },
      pipelines: pipelines.map(({ name }) => name),
      declarations: declarationsOf(pipelines, registry),
    }),
  );
}

/**
 * Adds the orders of this run. Of those of a run that was killed, it keeps the ones that are finished or being worked on, and forgets the
 * others: they may be of another version or selection.
 */
async function begin(given: Distribution): Promise<void> {
  const { queue, open, incoming, order } = given;
  const active = await queue.use((bull) => bull.getJobs(['active']));
  const kept = active.flatMap(({ id = '' }) => open.get(id) ?? []).map(partPrefix);
  for (const job of await queue.use((bull) => bull.getJobs())) {
    if (active.some(({ id }) => id === job.id)) continue;
    const span = open.get(job.id ?? '');
    const isSame = span !== undefined && JSON.stringify(job.data) === JSON.stringify({ ...order, span });
    const part = resultOf(job)?.part;
    if (isSame && part !== undefined) kept.push(part);
    // One that a worker has taken meanwhile cannot be removed; what comes of it is checked like anything else.
    else await queue.use(() => job.remove()).catch(() => undefined);
  }
  await incoming.clearParts(kept);
  await addOrders(given);
  await report(given);
}

/** Adds all open orders. Those that the server has are left as they are: the id of a job is its span. */
async function addOrders({ queue, open, order }: Distribution): Promise<void> {
  const jobs = [...open].map(([jobId, span]) => ({ name: 'order', data: { ...order, span }, opts: { jobId } }));
  await queue.use((bull) => bull.addBulk(jobs));
}

async function follow(given: Distribution): Promise<void> {
  const { queue, open, effects, options } = given;
  let checkedAt = effects.monotonic();
  while (open.size > 0 && options.stop?.aborted !== true) {
    const ended = await queue.use((bull) => bull.getJobs(['completed', 'failed']));
    for (const job of ended) await finish(given, job);
    if (effects.monotonic() - checkedAt > CHECK_MS) {
      checkedAt = effects.monotonic();
      // A server that restarted empty has lost them.
      const counts = await queue.use((bull) => bull.getJobCounts());
      if (Object.values(counts).reduce((sum, count) => sum + count, 0) < open.size) await addOrders(given);
    }
    if (ended.length === 0) await effects.sleep(POLL_MS, options.stop).catch(() => undefined);
  }
}

/** Takes over what a worker has exported. What cannot be taken over is fetched by the run at the end. */
async function finish(given: Distribution, job: Job): Promise<void> {
  const { queue, open, store, registry, incoming, options } = given;
  const id = job.id ?? '';
  const span = open.get(id);
  const result = resultOf(job);
  if (span !== undefined) {
    open.delete(id);
    try {
      if (result === undefined) throw new Error(job.failedReason ?? 'no result');
      const entries = await takeOver(store, registry, incoming.partPath(result.part), span);
      addGain(given.gain, entries, result);
      for (const entry of entries) options.onEvent?.(spanEvent(entry));
      await report(given);
    } catch (error) {
      const message = `the workers did not bring ${formatSpan(span)}, which is fetched at the end: ${shortMessage(error)}`;
      const pipeline = options.pipelines.join(',');
      options.onEvent?.({ event: 'problem', pipeline, ...span, code: 'order-failed', message });
    }
  }
  if (result !== undefined) await incoming.removePart(result.part);
  await queue.use(() => job.remove()).catch(() => undefined);
}

/** Tells how many orders are done, and who works on the others. */
async function report({ options, open, total, queue }: Distribution): Promise<void> {
  const workers = await queue.use((bull) => bull.getWorkersCount()).catch(() => undefined);
  options.onEvent?.({ event: 'orders', done: total - open.size, total, workers });
}

function resultOf(job: Job): WorkResult | undefined {
  return workResult.safeParse(job.returnvalue).data;
}

function addGain(gain: Gain, entries: readonly Parameters<typeof spanEvent>[0][], result: WorkResult): void {
  gain.requests += result.requests;
  gain.retries += result.retries;
  gain.spans += entries.length;
  for (const { tables } of entries) {
    const rows = Object.fromEntries(Object.entries(tables).map(([table, { rows: count }]) => [table, count]));
    gain.rows = addCounts(gain.rows, rows);
  }
}

function notYetThere(range: string): UsageError {
  return new UsageError(`usage: expected blocks that exist for --queue, got ${range}`, {
    code: 'wrong-range',
    hint: 'run it without --queue: one machine keeps up with the head',
  });
}
