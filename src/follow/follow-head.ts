import { sessionBounds } from '../chain/index-ends.ts';
import { fetchHead, type IndexHead } from '../chain/index-head.ts';
import { parseRange, resolveRange } from '../chain/range.ts';
import { realEffects } from '../core/effects.ts';
import { UsageError } from '../core/errors.ts';
import { least } from '../core/span.ts';
import {
  choosePipelines,
  type Exporting,
  type ExportOptions,
  failureOf,
  openExportStore,
} from '../export/exporting.ts';
import type { RunReport } from '../export/run.ts';
import { RunTally } from '../export/run-tally.ts';
import { openLoaders } from '../export/workers/worker-pool.ts';
import { openSession } from '../http/session.ts';
import { doneFor, type Store } from '../warehouse/index.ts';
import type { FollowEvent } from './follow-event.ts';
import { readFollowedFrom, writeFollowedFrom } from './follow-record.ts';
import { type FollowStatus, heldBy } from './follow-status.ts';
import { HeadLoop } from './head-loop.ts';
import { NetworkClock } from './network-clock.ts';
import { requireReadings } from './reading-times.ts';
import { isReading } from './round-plan.ts';
import { Rounds } from './rounds.ts';
import { SealedChain } from './sealed-chain.ts';
import { Sessions } from './sessions.ts';
import { ToldEvents } from './told-events.ts';

export interface FollowHeadOptions extends ExportOptions {
  /**
   * First block, as the start of a range: `2026-05-01`, `-1000:`, `47670000`. Default: where following this warehouse began; for the
   * first time the end of what is sealed, or the head.
   */
  readonly from?: string | undefined;
  /** Promised time from a block to its rows, in milliseconds: decides how often the source is asked. Default 30,000. */
  readonly lagMs?: number | undefined;
  /** How often changing lists are read, in milliseconds, by pipeline; those named here are followed as well. Default: every hour. */
  readonly refreshMs?: Readonly<Record<string, number>> | undefined;
  /** Called for every event. The report comes last, even if following fails. */
  readonly onEvent?: ((event: FollowEvent) => void) | undefined;
  /** Called once, when the source has answered and the warehouse is open. */
  readonly onOpen?: ((status: FollowStatus) => void) | undefined;
  /** Called after each round that committed blocks; the next round waits for it. */
  readonly maintenance?: ((store: Store) => Promise<void>) | undefined;
}

const LAG_MS = 30_000;
const LEAST_LAG_MS = 1_000;
/** How long a round waits for a block that is not indexed, which the next round would request again. */
const WAIT_MS = { share: 0.2, most: 5_000 };

/**
 * Exports what is missing, and then keeps up with the head until it is stopped. Transient trouble is waited out once the source has
 * answered.
 *
 * @throws {UsageError} {SourceError} {StoreError} {WalkError} when following cannot continue; committed rows stay
 */
export async function followHead(options: FollowHeadOptions): Promise<RunReport> {
  const { refreshMs = {}, lagMs = LAG_MS, effects = realEffects } = options;
  if (lagMs < LEAST_LAG_MS) {
    throw new UsageError(`usage: expected a lag of at least 1 second, got ${lagMs} ms`, { code: 'bad-option' });
  }
  const names = [...new Set([...options.pipelines, ...Object.keys(refreshMs)])];
  const asked = {
    waitMs: Math.min(WAIT_MS.most, lagMs * WAIT_MS.share),
    ...options,
    pipelines: names,
    lagMs,
    refreshMs,
  };
  const { registry, pipelines } = await choosePipelines(asked);
  requireReadings(pipelines, refreshMs);
  const parts = options.from === undefined ? undefined : parseRange(options.from);
  const command = ['tonlake follow', ...options.pipelines].join(' ');
  const sessions = new Sessions(() => openSession({ priority: 'tail', ...asked, effects, command }));
  try {
    const session = await sessions.open();
    const head = await fetchHead(session.source, options.stop);
    const given = parts && (await resolveRange(parts, sessionBounds(session, effects)))[0]?.from;
    const store = await openExportStore(asked, registry, session.network, command);
    const told = new ToldEvents(effects, options.onEvent);
    const tally = new RunTally(store, told.tell);
    const loaders = openLoaders({ workers: options.workers, stages: store });
    const exporting: Exporting = { options: asked, effects, registry, pipelines, session, store, tally, loaders };
    try {
      const from = given ?? (await startOf(exporting, head));
      return await follow({ exporting, sessions, told, from, options: asked }, head);
    } finally {
      await loaders.close();
      await store.close();
    }
  } finally {
    await sessions.close();
  }
}

interface Following {
  readonly exporting: Exporting;
  readonly sessions: Sessions;
  readonly told: ToldEvents;
  readonly from: number;
  readonly options: FollowHeadOptions & {
    readonly lagMs: number;
    readonly refreshMs: Readonly<Record<string, number>>;
  };
}

/** Follows until stopped, and reports. */
async function follow({ exporting, sessions, told, from, options }: Following, first: IndexHead): Promise<RunReport> {
  const { effects, store, registry, pipelines, tally } = exporting;
  const { lagMs, refreshMs, maintenance, warehouse, stop = new AbortController().signal } = options;
  const startedAt = effects.monotonic();
  await writeFollowedFrom(warehouse, from, effects.freshId());
  const chain = new SealedChain(store, registry);
  const loop = new HeadLoop(exporting, {
    ...{ from, lagMs, refreshMs, maintenance, stop, tell: told.tell },
    ...{ chain, clock: new NetworkClock(effects), rounds: new Rounds(chain, options.concurrency) },
    reopen: async () => ({ ...exporting, session: await sessions.open() }),
    requests: () => sessions.counts.requests,
  });
  told.onAny = () => loop.beat();
  options.onOpen?.({
    network: exporting.session.network,
    read: () => ({ ...loop.position, ...heldBy(store), requests: sessions.counts.byOutcome }),
  });
  const failure = await failureOf(() => loop.run(first));
  const span = { from, to: Math.max(from, loop.head) };
  const report: RunReport = {
    ...{ event: 'done', network: exporting.session.network, pipeline: options.pipelines.join(','), ...span },
    ...tally.totals(pipelines, [span], sessions.counts),
    // Not those of the ledger, in which merged entries have rows of earlier ones.
    ...{ rows: told.rows, openDays: [] },
    seconds: Math.round(effects.monotonic() - startedAt) / 1000,
  };
  told.tell(report);
  if (failure !== undefined) throw failure.error;
  return report;
}

/** The first block to follow, if the user names none. */
async function startOf({ options, pipelines, store }: Exporting, { last }: IndexHead): Promise<number> {
  const recorded = await readFollowedFrom(options.warehouse);
  if (recorded !== undefined) return recorded;
  const ledger = store.ledger();
  const ends = pipelines.filter((each) => !isReading(each)).flatMap((each) => doneFor(ledger, each).at(-1)?.to ?? []);
  return ends.length === 0 ? last : least(ends) + 1;
}
