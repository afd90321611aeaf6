import { sessionBounds } from '../chain/index-ends.ts';
import { fetchHead, type IndexHead } from '../chain/index-head.ts';
import { parseRange, resolveRange } from '../chain/range.ts';
import { realEffects } from '../core/effects.ts';
import { formatError, usage } from '../core/errors.ts';
import { greatest, least, subtractSpans, totalSize } from '../core/span.ts';
import { CommitSteps } from '../export/commit-steps.ts';
import {
  choosePipelines,
  type Exporting,
  type ExportOptions,
  failureOf,
  openExportStore,
} from '../export/open-export.ts';
import { ProvenChain } from '../export/proven-chain.ts';
import type { RunReport } from '../export/run.ts';
import { RunTally } from '../export/run-tally.ts';
import { openLoaders, ownLoaders } from '../export/workers/loader-pool.ts';
import { takeAll } from '../files/file-failure.ts';
import { linkSignals } from '../http/linked-signal.ts';
import { openSession, type Session } from '../http/session.ts';
import { addRequests, type SourceCounts } from '../http/source.ts';
import type { BackgroundMarts } from '../marts/background-marts.ts';
import type { Priority } from '../rate-limit/priority.ts';
import { BackgroundMerge, doneFor } from '../warehouse/index.ts';
import type { FollowEvent } from './follow-event.ts';
import { readFollowedFrom, writeFollowedFrom } from './follow-record.ts';
import { type FollowStatus, warehouseFigures } from './follow-status.ts';
import { chooseMarts, keepMarts } from './followed-marts.ts';
import { HeadLoop } from './head-loop.ts';
import { Outage } from './outage.ts';
import { requireReadings } from './reading-times.ts';
import { RoundLoaders } from './round-loaders.ts';
import { isReading } from './round-plan.ts';
import { Rounds } from './rounds.ts';
import { ToldEvents } from './told-events.ts';

export interface FollowHeadOptions extends ExportOptions {
  /**
   * First block, as the start of a range: `2026-05-01`, `-1000:`, `47670000`. Default: where following this warehouse began; for the
   * first time the end of what is proven, or the head.
   */
  readonly from?: string | undefined;
  /** Promised time from a block to its rows, in milliseconds: decides how often the source is asked. Default 30,000. */
  readonly lagMs?: number | undefined;
  /** How often changing lists are read, in milliseconds, by pipeline; those named here are followed as well. Default: every hour. */
  readonly refreshMs?: Readonly<Record<string, number>> | undefined;
  /** Older blocks to export beside the head, with what it leaves of the rate limit. */
  readonly backfill?: string | undefined;
  /** Marts to keep current, with those that they read: what commits touched is built again, in a tenth of the time. Default: none. */
  readonly marts?: 'all' | readonly string[] | undefined;
  /** Called for every event. The report comes last, even if following fails. */
  readonly onEvent?: ((event: FollowEvent) => void) | undefined;
  /** Called once, when the source has answered and the warehouse is open. */
  readonly onOpen?: ((status: FollowStatus) => void) | undefined;
}

const LAG_MS = 30_000;
const LEAST_LAG_MS = 1_000;
/** How long a round waits for a block that is not indexed, which the next round would request again. */
const WAIT_MS = { share: 0.2, most: 5_000 };
/** Tries of a backfill for blocks that cannot be proven, and the pause between them. */
const BACKFILL = { tries: 5, pauseMs: 60_000 };

/**
 * Exports what is missing, and then keeps up with the head until it is stopped. Transient trouble is waited out once the source has
 * answered.
 *
 * @throws {UsageError} {SourceError} {StoreError} {WalkError} when following cannot continue; committed rows stay
 */
export async function followHead(options: FollowHeadOptions): Promise<RunReport> {
  const { refreshMs = {}, lagMs = LAG_MS, effects = realEffects } = options;
  if (lagMs < LEAST_LAG_MS) {
    throw usage('a lag of at least 1 second', `${lagMs} ms`, { code: 'bad-option' });
  }
  const names = [...new Set([...options.pipelines, ...Object.keys(refreshMs)])];
  const asked = {
    waitMs: Math.min(WAIT_MS.most, lagMs * WAIT_MS.share),
    ...options,
    pipelines: names,
    lagMs,
    refreshMs,
  };
  const { registry, pipelines } = await chooseFollowed(asked);
  requireReadings(pipelines, refreshMs);
  const marts = await chooseMarts(options.marts, registry, pipelines);
  const parts = options.from === undefined ? undefined : parseRange(options.from);
  if (options.backfill !== undefined) parseRange(options.backfill);
  const command = ['tonlake follow', ...options.pipelines].join(' ');
  const openOne = (priority: Priority): Promise<Session> => openSession({ ...asked, effects, command, priority });
  const session = await openOne('tail');
  let older: Session | undefined;
  try {
    older = options.backfill === undefined ? undefined : await openOne('backfill');
    const head = await fetchHead(session.source, options.stop);
    const given = parts && (await resolveRange(parts, sessionBounds(session, effects)))[0]?.from;
    const martTables = marts?.all.map(({ table }) => table);
    const { network } = session;
    const store = await openExportStore(asked, registry, { network, command, marts: martTables, isShared: true });
    const told = new ToldEvents(effects, options.onEvent);
    const tally = new RunTally(store, told.tell);
    const roundLoaders = new RoundLoaders(store);
    // Rounds have loaders of their own, which change: whoever kept one would keep its memory.
    const loaders = ownLoaders(store);
    const exporting: Exporting = { options: asked, effects, registry, pipelines, session, store, tally, loaders };
    const building = marts && keepMarts(exporting, marts, told.tell);
    // A merge is a commit, too, and may be the last one.
    const merging = mergeFiles(exporting, told, () => steps.committed());
    const kept = building === undefined ? [merging] : [merging, building];
    const steps = new CommitSteps([...kept, ...(options.steps ?? [])], store, network);
    try {
      const from = given ?? (await startOf(exporting, head));
      await steps.begin();
      const opened = { exporting, roundLoaders, older, told, building, steps };
      return await follow({ ...opened, from, options: asked }, head);
    } finally {
      await takeAll([() => steps.end(), () => roundLoaders.close(), () => store.close()]);
    }
  } finally {
    await takeAll([() => session.close(), () => older?.close()]);
  }
}

/**
 * The pipelines, and with them the headers of the blocks: only their hashes show that the source still serves the chain of the rows, and their
 * times how old the rows are. Changing lists belong to no block.
 */
async function chooseFollowed(options: ExportOptions): ReturnType<typeof choosePipelines> {
  const chosen = await choosePipelines(options);
  const headers = chosen.registry.playing('headers').pipeline.name;
  const isKnown = chosen.pipelines.every((pipeline) => isReading(pipeline) || pipeline.name === headers);
  return isKnown ? chosen : choosePipelines({ ...options, pipelines: [headers, ...options.pipelines] });
}

interface Following {
  readonly exporting: Exporting;
  readonly roundLoaders: RoundLoaders;
  /** For a backfill, if there is one. */
  readonly older: Session | undefined;
  readonly told: ToldEvents;
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
  const { roundLoaders, older, told, building, steps, from, options } = following;
  const { effects, store, registry, pipelines, tally, session } = following.exporting;
  const { lagMs, refreshMs, warehouse } = options;
  const startedAt = effects.monotonic();
  // What ends one of both ends the other, too.
  const link = linkSignals([options.stop]);
  const stop = link.signal;
  const exporting: Exporting = { ...following.exporting, options: { ...options, stop } };
  const chain = new ProvenChain(store, registry);
  const requests = (): SourceCounts => addRequests(session.source.counts, older?.source.counts ?? {});
  await writeFollowedFrom(warehouse, from, effects.freshId());
  const loop = new HeadLoop(exporting, {
    ...{ from, lagMs, refreshMs, stop, tell: told.tell, chain, steps },
    martsBehind: () => building && greatest(Object.values(building.lags()), 0),
    rounds: new Rounds({ chain, concurrency: options.concurrency, loaders: roundLoaders }),
    requests: () => requests().requests,
  });
  told.onAny = () => loop.beat();
  options.onOpen?.({
    network: session.network,
    read: () => ({
      ...{ ...loop.position, ...warehouseFigures(store) },
      ...{ requests: requests().byOutcome, martLags: building?.lags() ?? {} },
    }),
  });
  const linked = (work: Promise<void>): Promise<void> =>
    work.catch((error: unknown) => {
      if (stop.aborted) return;
      link.abort(error);
      throw error;
    });
  const works = [linked(loop.run(first)), linked(fillBack({ ...following, exporting }, chain, stop))];
  const failure = await failureOf(async () => {
    const ends = await Promise.allSettled(works);
    for (const end of ends) if (end.status === 'rejected') throw end.reason;
  });
  link.release();
  await steps.end();
  const span = { from, to: Math.max(from, loop.head) };
  const report: RunReport = {
    ...{ event: 'done', network: session.network, pipeline: options.pipelines.join(',') },
    ...{ ...span, asked: [span] },
    // A changing list covers no blocks: it is as old as its cadence.
    ...tally.totals(
      pipelines.filter((pipeline) => !isReading(pipeline)),
      [span],
      requests(),
    ),
    // Not those of the ledger, in which merged entries have rows of earlier ones.
    ...{ rows: told.rows, openDays: [] },
    seconds: Math.round(effects.monotonic() - startedAt) / 1000,
  };
  told.tell(report);
  if (failure !== undefined) throw failure.error;
  return report;
}

/** Merges small files beside the rounds. */
function mergeFiles(
  { effects, registry, options }: Exporting,
  told: ToldEvents,
  onMerged: () => void,
): BackgroundMerge {
  const { tables, pipelines } = registry;
  return new BackgroundMerge({
    ...{ tables, pipelines, effects, isApart: true, stop: options.stop },
    onEvent: (event) => {
      told.tell(event);
      onMerged();
    },
    onFailure: (error) => told.tell({ event: 'merge-failed', message: formatError(error) }),
  });
}

/**
 * Exports the older blocks, if the user asks for any, beside the head: with what its requests leave of the rate limit, and by threads of their
 * own.
 */
async function fillBack(following: Following, chain: ProvenChain, stop: AbortSignal): Promise<void> {
  const { older: session, told, steps, from, options } = following;
  const { effects, store } = following.exporting;
  if (options.backfill === undefined || session === undefined) return;
  const loaders = openLoaders(store, false);
  try {
    const exporting: Exporting = { ...following.exporting, loaders, session };
    const outage = new Outage(effects, told.tell);
    const bounds = sessionBounds(session, effects);
    const asked = await resolveRange(parseRange(options.backfill), bounds);
    const spans = subtractSpans(asked, [{ from, to: Number.MAX_SAFE_INTEGER }]);
    const rounds = new Rounds({ chain, concurrency: options.concurrency, isRestoring: true });
    const bring = async (): Promise<boolean> => {
      const ends = await fetchHead(session.source, stop);
      const isFull = await rounds.bring(exporting, { asked: spans, ends, due: new Set() });
      if (!isFull) await rounds.retry(exporting, spans, ends);
      return isFull;
    };
    let missing = totalSize(spans);
    for (let tries = 0; missing > 0 && tries < BACKFILL.tries && !stop.aborted; ) {
      const isFull = await outage.waitOut(bring, stop, session);
      steps.committed();
      if (!isFull) tries++;
      missing = rounds.missing(exporting, spans);
      if (!isFull && missing > 0 && tries < BACKFILL.tries) await effects.sleep(BACKFILL.pauseMs, stop);
    }
    if (stop.aborted) return;
    const [first, last] = [spans[0]?.from ?? 0, spans.at(-1)?.to ?? 0];
    told.tell({ event: 'backfill', complete: missing === 0, from: first, to: last, missing });
  } finally {
    await loaders.close();
  }
}

/** The first block to follow, if the user names none. */
async function startOf({ options, pipelines, store }: Exporting, { last }: IndexHead): Promise<number> {
  const recorded = await readFollowedFrom(options.warehouse);
  if (recorded !== undefined) return recorded;
  const ledger = store.ledger();
  const ends = pipelines.filter((each) => !isReading(each)).flatMap((each) => doneFor(ledger, each).at(-1)?.to ?? []);
  return ends.length === 0 ? last : least(ends) + 1;
}
