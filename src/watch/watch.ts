import { fetchEnds } from '../chain/index-head.ts';
import type { Counts } from '../core/counts.ts';
import { type Effects, realEffects } from '../core/effects.ts';
import { StoreError, TonlakeError, usage } from '../core/errors.ts';
import { formatCount } from '../core/format.ts';
import { isEphemeral, type PipelineDef } from '../declare/pipeline.ts';
import type { Registry } from '../declare/registry.ts';
import { followPending } from '../declare/walk.ts';
import { BusyError } from '../files/writer-lock.ts';
import { retry } from '../http/retry.ts';
import { openSession, type SessionOptions } from '../http/session.ts';
import type { Source } from '../http/source.ts';
import { openStore, requireKind, type Store } from '../warehouse/index.ts';
import { warehouseRegistry } from '../warehouse/query/warehouse-registry.ts';
import { type EphemeralPipeline, fetchPoll, planPoll, type Watched } from './poll.ts';
import { saveSightings } from './save-sightings.ts';
import { PENDING_ROLES, type PendingRole, pendingRole, perRole, type Sighting, Sightings } from './sightings.ts';

export interface WatchOptions
  extends Omit<SessionOptions, 'effects' | 'priority' | 'names' | 'waitMs' | 'command' | 'witness'>,
    Partial<Watched> {
  /** Folder of Parquet files, or a file that ends in `.duckdb`. Created if it does not exist; locked only while rows are saved. */
  readonly warehouse: string;
  readonly store?: Store['kind'] | undefined;
  /** Interval between the starts of polls, in milliseconds. Default 2000. */
  readonly everyMs?: number | undefined;
  /** Duration of the watch, in milliseconds. Default: until `stop`. */
  readonly forMs?: number | undefined;
  /** Number of polls. Default: unlimited. */
  readonly polls?: number | undefined;
  readonly registry?: Registry | undefined;
  readonly effects?: Effects | undefined;
  /** Aborted to end after the current poll; pending rows are saved. */
  readonly stop?: AbortSignal | undefined;
  readonly onEvent?: ((event: WatchEvent) => void) | undefined;
}

/** Events of a watch. */
export type WatchEvent =
  | { readonly event: 'poll'; readonly poll: number; readonly seen: Counts }
  /** A trace was listed for the first time. */
  | { readonly event: 'trace'; readonly externalHash: string }
  | { readonly event: 'problem'; readonly code: string; readonly message: string }
  | WatchReport;

export interface WatchReport {
  readonly event: 'done';
  readonly network: string;
  readonly polls: number;
  /** Rows stored by this watch, by table. */
  readonly rows: Counts;
  /** Number of traces seen. */
  readonly traces: number;
  readonly requests: number;
  readonly retries: number;
  readonly seconds: number;
}

const COMMAND = 'tonlake follow --pending';
const EVERY_MS = 2_000;
/** Time between saves: a twentieth of the duration so far, within these limits, so that a long watch saves rarely. */
const SAVE_SHARE = 20;
const MIN_SAVE_MS = 10_000;
const MAX_SAVE_MS = 300_000;
/** Number of rows that are saved at once, without waiting. */
const MAX_UNSAVED = 5_000;
/** Time that the last save waits for another writer. */
const BUSY_MS = 60_000;
/** Interval between two reports that another process writes the warehouse. */
const REPORT_MS = 300_000;
/** Number of rows that are kept in memory while another process writes the warehouse; with more, the watch waits as at the end. */
const MOST_UNSAVED = 100_000;

/**
 * Polls pending transactions, traces and actions of some accounts and messages, and stores them. A response without rows proves nothing.
 *
 * @throws {UsageError} for nothing to watch, or an invalid account or hash, before the first request
 * @throws {StoreError} `busy` if the head is followed into the same warehouse, or if another process writes it for too long
 * @throws {SourceError} {StoreError} if it cannot continue; pending rows are saved before, if possible
 */
export async function watch(options: WatchOptions): Promise<WatchReport> {
  const { effects = realEffects, accounts = [], messages = [] } = options;
  const registry = await warehouseRegistry(options.warehouse, options.registry);
  if (accounts.length + messages.length === 0) {
    throw usage('at least one account or message', 'none', followPending(), { of: 'watch' });
  }
  const pipelines = registry.pipelines.filter(isWatched);
  const requests = planPoll(pipelines, { accounts, messages });
  const session = await openSession({ ...options, effects, priority: 'tail', command: COMMAND });
  try {
    return await new Watch({ ...options, ...session, effects, registry, pipelines, requests }).run();
  } finally {
    await session.close();
  }
}

function isWatched(pipeline: PipelineDef): pipeline is EphemeralPipeline {
  return isEphemeral(pipeline) && pendingRole(pipeline) !== undefined;
}

interface WatchContext extends WatchOptions {
  readonly network: string;
  readonly source: Source;
  readonly effects: Effects;
  readonly registry: Registry;
  readonly pipelines: readonly EphemeralPipeline[];
  readonly requests: ReturnType<typeof planPoll>;
}

class Watch {
  private readonly context: WatchContext;
  private readonly sightings = new Sightings();
  private readonly rows: Record<PendingRole, number> = perRole(() => 0);
  private readonly stop: AbortSignal;
  private readonly startedAt: number;
  private readonly watchAt: number;
  private head = { from: 0, to: 0 };
  private savedAt: number;
  /** When it was last reported that another process writes the warehouse; undefined since the last save. */
  private reportedAt: number | undefined;
  private polls = 0;
  private traces = 0;

  constructor(context: WatchContext) {
    this.context = context;
    this.stop = context.stop ?? new AbortController().signal;
    this.startedAt = context.effects.monotonic();
    this.savedAt = this.startedAt;
    this.watchAt = context.effects.now();
  }

  async run(): Promise<WatchReport> {
    const { effects, everyMs = EVERY_MS, source, warehouse, store } = this.context;
    const { isNew } = await requireKind(warehouse, store);
    if (!isNew) await this.requireStore();
    const { last } = await fetchEnds(source);
    if (isNew) await this.requireStore();
    this.head = { from: last, to: last };
    let failure: { readonly error: unknown } | undefined;
    while (!this.isOver()) {
      const startedAt = effects.monotonic();
      await this.pollOnce().catch((error: unknown) => {
        failure = this.judge(error);
      });
      if (failure !== undefined || this.isOver()) break;
      if (this.isSaveDue()) await this.save(this.sightings.unsaved.length > MOST_UNSAVED ? BUSY_MS : 0);
      const restMs = Math.min(everyMs - (effects.monotonic() - startedAt), this.endsInMs());
      if (restMs > 0) await effects.sleep(restMs, this.stop).catch(() => {});
    }
    await this.save(BUSY_MS);
    const report = this.report();
    this.context.onEvent?.(report);
    if (failure !== undefined) throw failure.error;
    return report;
  }

  /** Finds problems of the warehouse before the first poll; a busy one will be free later, unless the head is followed into it. */
  private async requireStore(): Promise<void> {
    await this.inStore(async () => {}).catch((error: unknown) => {
      if (!isBusy(error)) throw error;
      if (isByFollower(error)) throw beside(error);
    });
  }

  private async pollOnce(): Promise<void> {
    const { source, requests, effects, pipelines, onEvent } = this.context;
    const polled = await fetchPoll(source, requests);
    const now = effects.now();
    const fresh = this.sightings.see(polled, now);
    this.polls++;
    this.traces += fresh.length;
    const seen = perRole((role) => polled[role].length);
    onEvent?.({ event: 'poll', poll: this.polls, seen: byTable(pipelines, seen) });
    for (const externalHash of fresh) onEvent?.({ event: 'trace', externalHash });
  }

  /** Reports a transient error; returns any other. */
  private judge(error: unknown): { readonly error: unknown } | undefined {
    if (!(error instanceof TonlakeError && error.retryable)) return { error };
    this.context.onEvent?.({ event: 'problem', code: error.code, message: error.message });
    return undefined;
  }

  private isOver(): boolean {
    const { polls = Number.POSITIVE_INFINITY } = this.context;
    return this.stop.aborted || this.polls >= polls || this.endsInMs() <= 0;
  }

  private endsInMs(): number {
    const { effects, forMs = Number.POSITIVE_INFINITY } = this.context;
    return this.startedAt + forMs - effects.monotonic();
  }

  private isSaveDue(): boolean {
    const now = this.context.effects.monotonic();
    const pauseMs = Math.min(MAX_SAVE_MS, Math.max(MIN_SAVE_MS, (now - this.startedAt) / SAVE_SHARE));
    const { length } = this.sightings.unsaved;
    return length > 0 && (length >= MAX_UNSAVED || now - this.savedAt >= pauseMs);
  }

  /** Saves new sightings. If another process writes the warehouse, retries for `busyMs`, or leaves them to the next save if that is 0. */
  private async save(busyMs: number): Promise<void> {
    const { effects, source } = this.context;
    const rows = [...this.sightings.unsaved];
    if (rows.length === 0) return;
    const attempt = async (): Promise<void> => {
      this.head = { ...this.head, to: await newestOf(source, this.head.to) };
      await this.inStore((store) => this.saveInto(store, rows));
      this.head = { from: this.head.to, to: this.head.to };
      this.savedAt = effects.monotonic();
      this.reportedAt = undefined;
    };
    const pauseAfter = (error: TonlakeError) => (isBusy(error) ? ({ kind: 'poll' } as const) : undefined);
    const { signal } = new AbortController();
    await retry(attempt, { attempts: 1, waitMs: busyMs, effects, signal, pauseAfter }).catch((error: unknown) => {
      if (busyMs > 0 || !isBusy(error)) throw error;
      this.reportBusy(error, rows.length);
    });
  }

  /** Reports that rows could not be saved: at once, and every five minutes. */
  private reportBusy(error: TonlakeError, rows: number): void {
    const now = this.context.effects.monotonic();
    if (this.reportedAt !== undefined && now - this.reportedAt < REPORT_MS) return;
    this.reportedAt = now;
    const message = `${formatCount(rows)} rows are not saved yet: ${error.message}`;
    this.context.onEvent?.({ event: 'problem', code: error.code, message });
  }

  private async saveInto(store: Store, rows: readonly Sighting[]): Promise<void> {
    const { network, effects, pipelines } = this.context;
    const { watchAt, head: span } = this;
    await saveSightings(rows, { store, network, pipelines, span, watchAt, now: effects.now() });
    for (const { role } of rows) this.rows[role]++;
    this.sightings.saved(rows);
  }

  /** Locks the warehouse only briefly, so that runs and other watches can write it as well. */
  private async inStore(work: (store: Store) => Promise<void>): Promise<void> {
    const { warehouse, network, registry, effects, store: kind } = this.context;
    const { tables } = registry;
    const store = await openStore({
      path: warehouse,
      network,
      tables,
      pipelines: registry.pipelines,
      effects,
      command: COMMAND,
      kind,
    });
    try {
      await work(store);
    } finally {
      await store.close();
    }
  }

  private report(): WatchReport {
    const { network, source, effects, pipelines } = this.context;
    const { requests, retries } = source.counts;
    const seconds = Math.round(effects.monotonic() - this.startedAt) / 1000;
    const { polls, traces } = this;
    const rows = byTable(pipelines, this.rows);
    return { event: 'done', network, polls, rows, traces, requests, retries, seconds };
  }
}

/** The head, or the last known one if the request fails, because a save must not fail for that. */
async function newestOf(source: Source, known: number): Promise<number> {
  try {
    return (await fetchEnds(source)).last;
  } catch (error) {
    if (error instanceof TonlakeError) return known;
    throw error;
  }
}

function isBusy(error: unknown): error is TonlakeError {
  return error instanceof TonlakeError && error.code === 'busy';
}

/** True if the head is followed into the warehouse, which then is never free. */
function isByFollower(error: TonlakeError): boolean {
  return error instanceof BusyError && error.command.startsWith('tonlake follow') && error.command !== COMMAND;
}

function beside(cause: TonlakeError): StoreError {
  const hint = 'keep what is pending in another --warehouse';
  return new StoreError(cause.message, { code: cause.code, hint, cause });
}

/** Counts by role under the names of the tables that play it. */
function byTable(pipelines: readonly EphemeralPipeline[], counts: Readonly<Record<PendingRole, number>>): Counts {
  const tables = pipelines.flatMap((pipeline) => pipeline.tables);
  return Object.fromEntries(
    PENDING_ROLES.flatMap((role) =>
      tables.filter(({ plays }) => plays === role).map(({ name }) => [name, counts[role]] as const),
    ),
  );
}
