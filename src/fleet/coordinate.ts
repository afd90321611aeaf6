import type { Job } from 'bullmq';
import { sessionBounds } from '../chain/index-ends.ts';
import { parseRange } from '../chain/range.ts';
import { isComing } from '../chain/wait-for-blocks.ts';
import { addCounts } from '../core/counts.ts';
import { type Effects, realEffects } from '../core/effects.ts';
import { shortMessage, UsageError } from '../core/errors.ts';
import { readVersion } from '../core/own-package.ts';
import { formatSpan, intersectSpans, type Span, subtractSpans, unionSpans } from '../core/span.ts';
import { coversBlocks, type PipelineDef } from '../declare/pipeline.ts';
import type { Registry } from '../declare/registry.ts';
import { selectFrom } from '../declare/selection.ts';
import { resolveAsked } from '../export/asked-blocks.ts';
import { type RunOptions, type RunReport, run } from '../export/run.ts';
import { spanEvent } from '../export/walk-context.ts';
import { openSession } from '../http/session.ts';
import { parseRedisAddress } from '../redis/redis-address.ts';
import { doneFor, type LedgerEntry } from '../warehouse/index.ts';
import { warehouseRegistry } from '../warehouse/query/warehouse-registry.ts';
import { CoordinatorLease } from './coordinator-lease.ts';
import { partPrefix } from './incoming-folder.ts';
import { openQueuePlace } from './open-queue-place.ts';
import type { Intake } from './queue-place.ts';
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
 * As `run`, with the blocks exported by workers on any number of machines that see the warehouse. This process hands out orders, commits
 * what comes back (in an object store, workers do), and ends with a run of the range: it fetches what workers left out, reads lists and
 * lookups, and its report is of the ledger. The queue is believed in nothing.
 *
 * @throws as `run`; {SourceError} if the server cannot be used; {StoreError} `queue-busy` if another run asks the workers
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
  readonly pipelines: readonly PipelineDef[];
  readonly queue: WorkQueue;
  readonly intake: Intake;
  readonly gain: Gain;
  /** Orders that are not taken over, by the id of their job. */
  readonly open: Map<string, Span>;
  readonly total: number;
  readonly order: Omit<WorkOrder, 'span'>;
}

async function distribute(options: QueuedRunOptions, effects: Effects, gain: Gain): Promise<void> {
  const { env = process.env } = options;
  const address = parseRedisAddress(options.queue, '--queue', env);
  if (isComing(parseRange(options.range))) throw notYetThere(options.range);
  const place = await openQueuePlace(options.warehouse);
  const registry = await warehouseRegistry(options.warehouse, options.registry);
  const pipelines = selectFrom(registry.toRun(options.pipelines), options).filter(coversBlocks);
  const { network, present } = await resolvePresent(options, effects);
  const command = ['tonlake run', ...options.pipelines, `--range ${options.range} --queue`].join(' ');
  const intake = await place.openIntake({ registry, pipelines, network, effects, command });
  try {
    const queue = await openWorkQueue(intake.record.id, address, env);
    try {
      const order = orderOf(options, pipelines, registry);
      await ask({ options, effects, pipelines, queue, intake, gain, order }, present);
    } finally {
      await queue.close();
    }
  } finally {
    await intake.close();
  }
}

/** Asks the workers, as the only run that does. */
async function ask(given: Omit<Distribution, 'open' | 'total'>, present: readonly Span[]): Promise<void> {
  const { options, effects, pipelines, queue, intake } = given;
  const { stop, orderBlocks = DEFAULT_BLOCKS } = options;
  const lease = intake.isExclusive
    ? undefined
    : await CoordinatorLease.take(queue, intake.record.id, { effects, stop });
  try {
    if (stop?.aborted) return;
    const spans = planOrders(await intake.ledger(), pipelines, present, orderBlocks);
    const open = new Map(spans.map((span) => [`span-${span.from}-${span.to}`, span]));
    const distribution = { ...given, open, total: open.size };
    await begin(distribution);
    await follow(distribution, lease);
    if (stop?.aborted) await queue.use((bull) => bull.drain());
    else await intake.clear([]);
  } finally {
    await lease?.release();
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
  const { queue, open, intake, order } = given;
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
  await intake.clear(kept);
  await addOrders(given);
  await report(given);
}

/** Adds all open orders. Those that the server has are left as they are: the id of a job is its span. */
async function addOrders({ queue, open, order }: Distribution): Promise<void> {
  const jobs = [...open].map(([jobId, span]) => ({ name: 'order', data: { ...order, span }, opts: { jobId } }));
  await queue.use((bull) => bull.addBulk(jobs));
}

async function follow(given: Distribution, lease: CoordinatorLease | undefined): Promise<void> {
  const { queue, open, effects, options } = given;
  let checkedAt = effects.monotonic();
  while (open.size > 0 && options.stop?.aborted !== true) {
    lease?.require();
    const ended = await queue.use((bull) => bull.getJobs(['completed', 'failed']));
    for (const job of ended) await finish(given, job);
    if (effects.monotonic() - checkedAt > CHECK_MS) {
      checkedAt = effects.monotonic();
      const counts = await queue.use((bull) => bull.getJobCounts());
      if (Object.values(counts).reduce((sum, count) => sum + count, 0) < open.size) await restore(given);
    }
    if (ended.length === 0) await effects.sleep(POLL_MS, options.stop).catch(() => undefined);
  }
}

/** Adds the orders again to a server that restarted empty, but for those that are done. */
async function restore(given: Distribution): Promise<void> {
  const { intake, pipelines, open } = given;
  const ledger = await intake.ledger();
  for (const [id, span] of open) {
    if (!isDone(ledger, pipelines, span)) continue;
    open.delete(id);
    count(given, await intake.take(span, undefined));
  }
  await addOrders(given);
  await report(given);
}

/** Takes over what a worker has exported. What it did not bring is fetched by the run at the end. */
async function finish(given: Distribution, job: Job): Promise<void> {
  const { queue, open, intake, pipelines, options } = given;
  const id = job.id ?? '';
  const span = open.get(id);
  const result = resultOf(job);
  if (span !== undefined) {
    open.delete(id);
    try {
      given.gain.requests += result?.requests ?? 0;
      given.gain.retries += result?.retries ?? 0;
      count(given, await intake.take(span, result));
      if (result === undefined) throw new Error(job.failedReason ?? 'no result');
      if (!isDone(await intake.ledger(), pipelines, span)) throw new Error('some blocks are not in the ledger');
      await report(given);
    } catch (error) {
      const message = `the workers did not bring ${formatSpan(span)}, which is fetched at the end: ${shortMessage(error)}`;
      const pipeline = options.pipelines.join(',');
      options.onEvent?.({ event: 'problem', pipeline, ...span, code: 'order-failed', message });
    }
  }
  await queue.use(() => job.remove()).catch(() => undefined);
}

function isDone(ledger: readonly LedgerEntry[], pipelines: readonly PipelineDef[], span: Span): boolean {
  return planOrders(ledger, pipelines, [span], Number.MAX_SAFE_INTEGER).length === 0;
}

/** Counts and tells what workers have added. */
function count({ gain, options }: Distribution, entries: readonly LedgerEntry[]): void {
  for (const entry of entries) {
    const event = spanEvent(entry);
    gain.spans++;
    if (event.event === 'span') gain.rows = addCounts(gain.rows, event.rows);
    options.onEvent?.(event);
  }
}

/** Tells how many orders are done, and who works on the others. */
async function report({ options, open, total, queue }: Distribution): Promise<void> {
  const workers = await queue.use((bull) => bull.getWorkersCount()).catch(() => undefined);
  options.onEvent?.({ event: 'orders', done: total - open.size, total, workers });
}

function resultOf(job: Job): WorkResult | undefined {
  return workResult.safeParse(job.returnvalue).data;
}

function notYetThere(range: string): UsageError {
  return new UsageError(`usage: expected blocks that exist for --queue, got ${range}`, {
    code: 'wrong-range',
    hint: 'run it without --queue: one machine keeps up with the head',
  });
}

/**
 * The blocks of each order: those that any of the pipelines lacks, cut at multiples of `blocks`. So a run that is killed and started again
 * makes the same orders of what is left.
 */
function planOrders(
  ledger: readonly LedgerEntry[],
  pipelines: readonly PipelineDef[],
  asked: readonly Span[],
  blocks: number,
): readonly Span[] {
  const missing = unionSpans(pipelines.flatMap((pipeline) => subtractSpans(asked, doneFor(ledger, pipeline))));
  return missing.flatMap((span) => cutAtMultiples(span, blocks));
}

function cutAtMultiples({ from, to }: Span, blocks: number): readonly Span[] {
  const spans: Span[] = [];
  for (let start = from; start <= to; ) {
    const end = Math.min(to, start - (start % blocks) + blocks - 1);
    spans.push({ from: start, to: end });
    start = end + 1;
  }
  return spans;
}
