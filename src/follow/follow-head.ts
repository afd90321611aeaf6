import { readFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import * as z from 'zod';
import { sessionBounds } from '../chain/index-ends.ts';
import { fetchEnds, type IndexHead } from '../chain/index-head.ts';
import { parseRange, resolveRange } from '../chain/range.ts';
import { addCounts, type Counts } from '../core/counts.ts';
import { type Effects, realEffects } from '../core/effects.ts';
import { formatError, usage } from '../core/errors.ts';
import { jsonAs } from '../core/json-as.ts';
import { greatest, least, subtractSpans, totalSize } from '../core/span.ts';
import { CommitSteps } from '../export/commit-steps.ts';
import {
  choosePipelines,
  type ExportOptions,
  failureOf,
  type OpenExport,
  openExportStore,
} from '../export/open-export.ts';
import { ProvenChain } from '../export/proven-chain.ts';
import type { RunEvent, RunReport } from '../export/run.ts';
import { RunTally } from '../export/run-tally.ts';
import { openLoaders, ownLoaders } from '../export/workers/loader-pool.ts';
import { makeFolder, replaceText } from '../files/disk.ts';
import { closeAll, guarded } from '../files/file-failure.ts';
import { linkSignals } from '../http/linked-signal.ts';
import { openSession, type Session } from '../http/session.ts';
import { addRequests, type SourceCounts } from '../http/source.ts';
import { recordsOf } from '../jobs/run-history.ts';
import type { BackgroundMarts } from '../marts/background-marts.ts';
import type { Priority } from '../rate-limit/priority.ts';
import { BackgroundMerge, doneFor } from '../warehouse/index.ts';
import type { FollowEvent } from './follow-event.ts';
import { type FollowStatus, warehouseFigures } from './follow-status.ts';
import { chooseMarts, openMarts } from './followed-marts.ts';
import { HeadLoop } from './head-loop.ts';
import { Outage } from './outage.ts';
import { requireReadings } from './reading-times.ts';
import { RoundLoaders } from './round-loaders.ts';
import { isReading } from './round-plan.ts';
import { Rounds } from './rounds.ts';

export interface FollowHeadOptions extends ExportOptions {
  /**
   * First block, as the start of a range: `2026-05-01`, `-1000:`, `47670000`. Default: the first block of earlier runs on this warehouse;
   * without one, the block after the proven blocks, or the head.
   */
  readonly from?: string | undefined;
  /** Maximum time from a block to its rows, in milliseconds: decides the interval of requests. Default 30,000. */
  readonly lagMs?: number | undefined;
  /** Interval between readings of changing lists, in milliseconds, by pipeline; adds these to `pipelines`. Default: an hour. */
  readonly refreshMs?: Readonly<Record<string, number>> | undefined;
  /** Older blocks to export with the requests that following the head does not need. */
  readonly backfill?: string | undefined;
  /** Marts to keep current, and the marts that they read: rebuilds slices that commits change, in a tenth of the time. Default: none. */
  readonly marts?: 'all' | readonly string[] | undefined;
  /** Called for every event. The report is the last one, even if following fails. */
  readonly onEvent?: ((event: FollowEvent) => void) | undefined;
  /** Called once, after the first response of the source, when the warehouse is open. */
  readonly onOpen?: ((status: FollowStatus) => void) | undefined;
}

const LAG_MS = 30_000;
const MIN_LAG_MS = 1_000;
/** Time that a round waits for a block that is not indexed; the next round requests it again. */
const WAIT = { share: 0.2, maxMs: 5_000 };
/** Attempts of a backfill for blocks that cannot be proven, and the pause between them. */
const BACKFILL = { attempts: 5, pauseMs: 60_000 };

/**
 * Exports missing blocks, and then follows the head until it is stopped. After the first response of the source, transient failures are
 * waited out.
 *
 * @throws {UsageError} {SourceError} {StoreError} {WalkError} when following cannot continue; committed rows stay
 */
export async function followHead(options: FollowHeadOptions): Promise<RunReport> {
  const { refreshMs = {}, lagMs = LAG_MS, effects = realEffects } = options;
  if (lagMs < MIN_LAG_MS) {
    throw usage('a lag of at least 1 second', `${lagMs} ms`);
  }
  const names = [...new Set([...options.pipelines, ...Object.keys(refreshMs)])];
  const resolved = {
    waitMs: Math.min(WAIT.maxMs, lagMs * WAIT.share),
    ...options,
    pipelines: names,
    lagMs,
    refreshMs,
  };
  const { registry, pipelines } = await chooseFollowed(resolved);
  requireReadings(pipelines, refreshMs);
  const marts = await chooseMarts(options.marts, registry, pipelines);
  const parts = options.from === undefined ? undefined : parseRange(options.from);
  if (options.backfill !== undefined) parseRange(options.backfill);
  const command = ['tonlake follow', ...options.pipelines].join(' ');
  const open = (priority: Priority): Promise<Session> => openSession({ ...resolved, effects, command, priority });
  const session = await open('tail');
  let backfillSession: Session | undefined;
  try {
    backfillSession = options.backfill === undefined ? undefined : await open('backfill');
    const head = await fetchEnds(session.source, { signal: options.stop });
    const given = parts && (await resolveRange(parts, sessionBounds(session, effects)))[0]?.from;
    const martTables = marts?.all.map(({ table }) => table);
    const { network } = session;
    const store = await openExportStore(resolved, registry, { network, command, marts: martTables, isShared: true });
    const reporter = new EventReporter(effects, options.onEvent);
    const tally = new RunTally(store, reporter.report);
    const roundLoaders = new RoundLoaders(store);
    // Not for rounds: they replace their loaders to release memory.
    const loaders = ownLoaders(store);
    const exporting: OpenExport = { options: resolved, effects, registry, pipelines, session, store, tally, loaders };
    const building = marts && openMarts(exporting, marts, reporter.report);
    // A merge is a commit as well, and may be the last one.
    const merging = openMerge(exporting, reporter, () => steps.committed());
    const own = building === undefined ? [merging] : [merging, building];
    const steps = new CommitSteps([...own, ...(options.steps ?? [])], store, network);
    try {
      const from = given ?? (await firstBlockOf(exporting, head));
      await steps.begin();
      const opened = { exporting, roundLoaders, backfillSession, reporter, building, steps };
      return await follow({ ...opened, from, options: resolved }, head);
    } finally {
      await closeAll([() => steps.end(), () => roundLoaders.close(), () => store.close()]);
    }
  } finally {
    await closeAll([() => session.close(), () => backfillSession?.close()]);
  }
}

/**
 * Adds the block headers to the pipelines, unless all are changing lists: only the hashes of the headers show that the source still serves the
 * chain of the rows, and their times give the lag.
 */
async function chooseFollowed(options: ExportOptions): ReturnType<typeof choosePipelines> {
  const chosen = await choosePipelines(options);
  const headers = chosen.registry.playing('headers').pipeline.name;
  const isComplete = chosen.pipelines.every((pipeline) => isReading(pipeline) || pipeline.name === headers);
  return isComplete ? chosen : choosePipelines({ ...options, pipelines: [headers, ...options.pipelines] });
}

interface Following {
  readonly exporting: OpenExport;
  readonly roundLoaders: RoundLoaders;
  /** Undefined without a backfill. */
  readonly backfillSession: Session | undefined;
  readonly reporter: EventReporter;
  readonly from: number;
  readonly building: BackgroundMarts | undefined;
  readonly steps: CommitSteps;
  readonly options: FollowHeadOptions & {
    readonly lagMs: number;
    readonly refreshMs: Readonly<Record<string, number>>;
  };
}

/** Follows until stopped, and reports. */
async function follow(following: Following, first: IndexHead): Promise<RunReport> {
  const { roundLoaders, backfillSession, reporter, building, steps, from, options } = following;
  const { effects, store, registry, pipelines, tally, session } = following.exporting;
  const { lagMs, refreshMs, warehouse } = options;
  const startedAt = effects.monotonic();
  // A failure of the head stops the backfill, and vice versa.
  const link = linkSignals([options.stop]);
  const stop = link.signal;
  const exporting: OpenExport = { ...following.exporting, options: { ...options, stop } };
  const chain = new ProvenChain(store, registry);
  const requests = (): SourceCounts => addRequests(session.source.counts, backfillSession?.source.counts ?? {});
  await writeFollowedFrom(warehouse, from, effects.freshId());
  const loop = new HeadLoop(exporting, {
    from,
    lagMs,
    refreshMs,
    stop,
    chain,
    steps,
    report: reporter.report,
    martsBehind: () => building && greatest(Object.values(building.lags()), 0),
    rounds: new Rounds({ chain, concurrency: options.concurrency, loaders: roundLoaders }),
    requests: () => requests().requests,
  });
  reporter.onAny = () => loop.beat();
  options.onOpen?.({
    network: session.network,
    read: () => ({
      ...loop.position,
      ...warehouseFigures(store),
      requests: requests().byOutcome,
      martLags: building?.lags() ?? {},
    }),
  });
  const linked = (work: Promise<void>): Promise<void> =>
    work.catch((error: unknown) => {
      if (stop.aborted) return;
      link.abort(error);
      throw error;
    });
  const works = [linked(loop.run(first)), linked(runBackfill({ ...following, exporting }, chain, stop))];
  const failure = await failureOf(async () => {
    const ends = await Promise.allSettled(works);
    for (const end of ends) if (end.status === 'rejected') throw end.reason;
  });
  link.release();
  await steps.end();
  const span = { from, to: Math.max(from, loop.head) };
  const report: RunReport = {
    event: 'done',
    network: session.network,
    pipeline: options.pipelines.join(','),
    ...span,
    asked: [span],
    // Changing lists cover no blocks.
    ...tally.totals(
      pipelines.filter((pipeline) => !isReading(pipeline)),
      [span],
      requests(),
    ),
    // Not from the ledger: its merged entries include rows of earlier runs.
    rows: reporter.rows,
    openDays: [],
    seconds: Math.round(effects.monotonic() - startedAt) / 1000,
  };
  reporter.report(report);
  if (failure !== undefined) throw failure.error;
  return report;
}

/** Merges small files between rounds. */
function openMerge(
  { effects, registry, options }: OpenExport,
  reporter: EventReporter,
  onMerged: () => void,
): BackgroundMerge {
  const { tables, pipelines } = registry;
  return new BackgroundMerge({
    tables,
    pipelines,
    effects,
    isApart: true,
    stop: options.stop,
    onEvent: (event) => {
      reporter.report(event);
      onMerged();
    },
    onFailure: (error) => reporter.report({ event: 'merge-failed', message: formatError(error) }),
  });
}

/** Exports older blocks, if the options name any: at a lower priority than the head, and in its own threads. */
async function runBackfill(following: Following, chain: ProvenChain, stop: AbortSignal): Promise<void> {
  const { backfillSession: session, reporter, steps, from, options } = following;
  const { effects, store } = following.exporting;
  if (options.backfill === undefined || session === undefined) return;
  const loaders = openLoaders(store, false);
  try {
    const exporting: OpenExport = { ...following.exporting, loaders, session };
    const outage = new Outage(effects, reporter.report, 'backfill');
    const bounds = sessionBounds(session, effects);
    const parts = parseRange(options.backfill);
    const requested = await outage.waitOut(() => resolveRange(parts, bounds), stop, session);
    const spans = subtractSpans(requested, [{ from, to: Number.MAX_SAFE_INTEGER }]);
    const rounds = new Rounds({ chain, concurrency: options.concurrency, isRestoring: true });
    const exportOlder = async (): Promise<boolean> => {
      const ends = await fetchEnds(session.source, { signal: stop });
      const isFull = await rounds.exportMissing(exporting, { requested: spans, ends, due: new Set() });
      if (!isFull) await rounds.retry(exporting, spans, ends);
      return isFull;
    };
    let missing = totalSize(spans);
    try {
      for (let attempts = 0; missing > 0 && attempts < BACKFILL.attempts && !stop.aborted; ) {
        const isFull = await outage.waitOut(exportOlder, stop, session);
        steps.committed();
        if (!isFull) attempts++;
        missing = rounds.missing(exporting, spans);
        if (!isFull && missing > 0 && attempts < BACKFILL.attempts) await effects.sleep(BACKFILL.pauseMs, stop);
      }
    } finally {
      const [first, last] = [spans[0]?.from ?? 0, spans.at(-1)?.to ?? 0];
      reporter.report({ event: 'backfill', complete: missing === 0, from: first, to: last, missing });
    }
  } finally {
    await loaders.close();
  }
}

/** The first block to follow, if the options name none. */
async function firstBlockOf({ options, pipelines, store }: OpenExport, { last }: IndexHead): Promise<number> {
  const recorded = await readFollowedFrom(options.warehouse);
  if (recorded !== undefined) return recorded;
  const ledger = store.ledger();
  const ends = pipelines.filter((each) => !isReading(each)).flatMap((each) => doneFor(ledger, each).at(-1)?.to ?? []);
  return ends.length === 0 ? last : least(ends) + 1;
}

const recordSchema = z.object({ from: z.int().nonnegative() });

/** The first followed block of a warehouse: after a restart, blocks that are missing behind the head are still retried. */
async function readFollowedFrom(warehouse: string): Promise<number | undefined> {
  // An unreadable record is replaced; nothing in the warehouse depends on it.
  const text = await readFile(await recordPath(warehouse), 'utf8').catch(() => '');
  return jsonAs(recordSchema, text)?.from;
}

async function writeFollowedFrom(warehouse: string, from: number, id: string): Promise<void> {
  const path = await recordPath(warehouse);
  await guarded(`warehouse ${warehouse}`, async () => {
    await makeFolder(dirname(path));
    await replaceText(path, `${JSON.stringify({ from })}\n`, id);
  });
}

async function recordPath(warehouse: string): Promise<string> {
  return join(await recordsOf(warehouse, 'follow'), 'follow.json');
}

/** Time until a repeated problem is reported again. */
const QUIET_MS = 3_600_000;

/** Passes events on, and counts committed rows. A problem is reported once an hour: a block that cannot be proven fails in every round. */
class EventReporter {
  private readonly effects: Pick<Effects, 'monotonic'>;
  private readonly listener: ((event: FollowEvent) => void) | undefined;
  private readonly reportedAt = new Map<string, number>();
  private committed: Counts = {};

  constructor(effects: Pick<Effects, 'monotonic'>, listener: ((event: FollowEvent) => void) | undefined) {
    this.effects = effects;
    this.listener = listener;
  }

  /** Called for every event, also for those that are not passed on. */
  onAny: () => void = () => undefined;

  readonly report = (event: FollowEvent): void => {
    this.onAny();
    if (event.event === 'span') this.committed = addCounts(this.committed, event.rows);
    // The pipeline that lacks the blocks has reported the cause.
    if (event.event === 'problem' && event.code === 'need-not-done') return;
    const problem = problemOf(event);
    if (problem === undefined || this.isDue(problem)) this.listener?.(event);
  };

  /** Committed rows by table, including those that replaced earlier ones. */
  get rows(): Counts {
    return this.committed;
  }

  private isDue(problem: string): boolean {
    const now = this.effects.monotonic();
    for (const [old, at] of this.reportedAt) if (now - at >= QUIET_MS) this.reportedAt.delete(old);
    if (this.reportedAt.has(problem)) return false;
    this.reportedAt.set(problem, now);
    return true;
  }
}

/** Identity of a repeatable problem; undefined for other events. */
function problemOf(event: FollowEvent | RunEvent): string | undefined {
  if (event.event === 'problem') return `${event.pipeline} ${event.from}:${event.to} ${event.code}`;
  if (event.event === 'quarantine') return `${event.pipeline} ${event.seqno} ${event.pointer}`;
  // A wrong select fails at every attempt.
  if (event.event === 'mart-failed') return `${event.mart} ${event.message}`;
  return undefined;
}
