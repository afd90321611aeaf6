import { execFile } from 'node:child_process';
import { parseRange } from '../chain/range.ts';
import { movingPart } from '../chain/slice.ts';
import { formatError } from '../core/errors.ts';
import type { FollowHeadOptions } from '../follow/follow-head.ts';
import type { FollowStatus } from '../follow/follow-status.ts';
import type { Job } from '../jobs/job.ts';
import { jobActions } from '../jobs/job-actions.ts';
import { JobHistory } from '../jobs/run-history.ts';
import { describeRecord } from '../jobs/show-job.ts';
import { Health } from '../resident/health.ts';
import { type MetricsServer, parseMetricsAddress, serveMetrics } from '../resident/metrics-server.ts';
import { type ResidentEvent, reside } from '../resident/resident.ts';
import { requireNames } from '../resident/schedule.ts';
import { untilReachable } from '../resident/until-reachable.ts';
import type { ScheduleEvent } from '../resident/warehouse-queue.ts';
import type { Context, ContextFlags } from './context.ts';
import { type LiveOptions, LiveOutput } from './live-output.ts';
import { describeLastUnpublished } from './publishing.ts';
import { isDetail } from './run-live.ts';
import { limitHeap } from './v8-flags.ts';

/** Flags of a process that goes on until it is stopped. */
export interface ResidentFlags extends ContextFlags {
  readonly metrics?: string;
  /** Whether other machines may read the metrics. */
  readonly metricsPublic?: boolean;
  /** Seconds. */
  readonly drain: number;
}

/** A head to follow, and how it is shown. */
export interface LiveHead extends LiveOptions {
  readonly options: FollowHeadOptions;
  /** Lag above which it is not healthy. */
  readonly maxLagMs: number;
}

/** How long after the drain the current step may take to stop; the next start resumes what is left. */
const STOP_MS = 30_000;

/**
 * Runs jobs on their schedules until SIGTERM or Ctrl-C, with events on standard output as text or JSON.
 */
export async function scheduleLive(
  context: Context<ResidentFlags>,
  open: () => Promise<readonly Job[]>,
): Promise<void> {
  limitHeap();
  const drainMs = context.flags.drain * 1000;
  const drain = context.interruptedBy(() => void setTimeout(() => process.exit(1), drainMs + STOP_MS).unref());
  let operations: Operations | undefined;
  try {
    const jobs = await reach(context, drain, open);
    operations = new Operations(context, jobs, undefined, drain);
    await operations.listen();
    const { see, noteProgress } = operations;
    await reside({
      jobs,
      actions: jobActions,
      effects: context.effects,
      drain,
      drainMs,
      onProgress: noteProgress,
      onEvent: (event) => {
        see(event);
        if (isOfSchedule(event)) context.print(event, describeScheduled);
      },
    });
  } catch (error) {
    // It waited for a store.
    if (!drain.aborted || error !== drain.reason) throw error;
  } finally {
    await operations?.close();
  }
}

/** Follows the head, with jobs beside it, and shows it: JSON lines on standard output, or what happens on standard error. */
export async function followLive(context: Context<ResidentFlags>, head: LiveHead, jobs: readonly Job[]): Promise<void> {
  limitHeap();
  const { line, effects } = context;
  const { options } = head;
  const output = await LiveOutput.open(context, options, head, false);
  const operations = new Operations(context, jobs, head.maxLagMs, output.signal);
  await operations.listen();
  try {
    await reside({
      jobs,
      actions: jobActions,
      effects,
      drain: output.signal,
      drainMs: context.flags.drain * 1000,
      head: { ...options, steps: output.steps, onOpen: operations.open, onRetry: output.retry },
      onProgress: operations.noteProgress,
      onEvent: (event) => {
        operations.see(event);
        if (isOfSchedule(event)) output.see(event, false, (own) => line.print(describeScheduled(own).trimEnd()));
        else if (!isDetail(event)) output.see(event, false, output.events.showFollow);
      },
    });
    output.throwIfBroken();
  } catch (error) {
    // Before the first answer, an interrupt ends the request.
    if (!context.signal.aborted || error !== context.signal.reason) throw error;
  } finally {
    line.end();
    await operations.close();
  }
  const failure = output.finish();
  if (failure !== undefined) line.print(describeLastUnpublished(failure, head.publish));
  // Without --from, following begins where it began before.
  const isMoving = options.from !== undefined && movingPart(parseRange(options.from)) !== undefined;
  line.print(`interrupted: committed rows are kept; follow again${isMoving ? ' without --from' : ''} to continue`);
  process.exitCode = 130;
}

/** Repeats work until the stores that it needs can be reached. */
function reach<T>({ effects, line }: Context<ResidentFlags>, stop: AbortSignal, work: () => Promise<T>): Promise<T> {
  return untilReachable(work, {
    effects,
    stop,
    onWait: ({ error }) => line.print(`waiting for this to pass: ${formatError(error)}`),
  });
}

/** Metrics, health and the watchdog. */
class Operations {
  readonly #context: Context<ResidentFlags>;
  readonly #jobs: readonly Job[];
  readonly #health: Health;
  readonly #isFollowing: boolean;
  readonly #stop: AbortSignal;
  readonly #service = new ServiceNotify();
  #server: MetricsServer | undefined;
  #metrics: import('../resident/metrics.ts').Metrics | undefined;

  constructor(context: Context<ResidentFlags>, jobs: readonly Job[], maxLagMs: number | undefined, stop: AbortSignal) {
    this.#stop = stop;
    this.#context = context;
    this.#jobs = jobs;
    this.#health = new Health(context.effects, maxLagMs);
    this.#isFollowing = maxLagMs !== undefined;
  }

  /** Serves from the start on, including the runs of earlier processes. */
  async listen(): Promise<void> {
    const { metrics: text, metricsPublic = false } = this.#context.flags;
    if (text === undefined) return;
    const address = parseMetricsAddress(text, metricsPublic);
    const { Metrics } = await import('../resident/metrics.ts');
    const scheduled = this.#jobs.filter(({ schedule }) => schedule !== undefined);
    requireNames(scheduled, 'their metrics would be the same');
    const jobs = scheduled.map(({ name }) => name);
    const metrics = new Metrics(this.#health, { head: this.#isFollowing, jobs });
    for (const { warehouse, name } of this.#jobs) {
      const read = async () => (await JobHistory.open(warehouse, name)).read();
      for (const record of await reach(this.#context, this.#stop, read)) metrics.recall(record);
    }
    this.#metrics = metrics;
    this.#server = await serveMetrics(address, metrics, this.#health);
    this.#context.line.print(`metrics at http://${address.host}:${this.#server.port}/metrics`);
  }

  readonly open = (status: FollowStatus): void => {
    this.#health.open(status);
    const describe = (): string => {
      const { block, seconds } = status.read();
      return block === undefined ? 'nothing is proven yet' : `block ${block}, lag ${seconds} s`;
    };
    this.#service.ready(() => this.#health.read().status !== 'hanging', describe);
  };

  readonly noteProgress = (job: string): void => this.#health.noteProgress(job);

  readonly see = (event: ResidentEvent): void => {
    this.#health.see(event);
    this.#metrics?.see(event);
  };

  async close(): Promise<void> {
    this.#service.stopping();
    await this.#server?.close();
  }
}

const SCHEDULED = new Set<string>([
  'watching',
  'missed',
  'dropped',
  'settled',
  'begin',
  'end',
  'retry',
  'failed',
  'late',
  'unreachable',
  'draining',
]);

function isOfSchedule(event: ResidentEvent): event is ScheduleEvent {
  return SCHEDULED.has(event.event);
}

function describeScheduled(event: ScheduleEvent): string {
  switch (event.event) {
    case 'watching':
      return `${event.job}: next ${event.next ?? 'never'}\n`;
    case 'missed': {
      const older = event.givenUp ? ', older ones are dropped' : '';
      return `${event.job}: ${event.count} missed ${event.count === 1 ? 'run' : 'runs'} to catch up${older}\n`;
    }
    case 'dropped':
      return `${event.job}: ${event.count} ${event.count === 1 ? 'run is' : 'runs are'} dropped: newer ones are due\n`;
    case 'settled':
      return `${event.job}: the run of ${event.due} was done elsewhere\n`;
    case 'late':
      return `${event.job}: the run of ${event.due} is not done at ${event.by}\n`;
    case 'begin':
      return `${event.job}: starting the run of ${event.due} (${event.trigger})\n`;
    case 'end': {
      const failure = event.record.error === undefined ? '' : `error: ${event.record.error.message}\n`;
      return `${describeRecord(event.record)}${failure}`;
    }
    case 'failed':
      return `${event.job}: the run of ${event.due} could not start: ${event.message}\n`;
    case 'retry':
      return `${event.job}: retrying the run of ${event.due} in ${event.seconds} s\n`;
    case 'unreachable':
      return `waiting for this to pass: ${event.message}\n`;
    case 'draining':
      return 'draining: the current run may finish, no new run starts\n';
  }
}

/** Notifies systemd of the state of a service, by `systemd-notify`; does nothing outside of a unit with `Type=notify`. */
class ServiceNotify {
  #timer: NodeJS.Timeout | undefined;

  /**
   * The service works. From now on, notifies the watchdog twice in its period.
   *
   * @param isAlive false lets the watchdog end the service
   * @param describe status line of the service
   */
  ready(isAlive: () => boolean, describe: () => string): void {
    if (!this.#isUnit) return;
    this.#send('READY=1', `STATUS=${describe()}`);
    const periodUs = Number(process.env['WATCHDOG_USEC'] ?? 0);
    if (!(periodUs > 0)) return;
    this.#timer = setInterval(() => {
      if (isAlive()) this.#send('WATCHDOG=1', `STATUS=${describe()}`);
    }, periodUs / 2000);
    this.#timer.unref();
  }

  /** The service ends. */
  stopping(): void {
    clearInterval(this.#timer);
    if (this.#isUnit) this.#send('STOPPING=1');
  }

  get #isUnit(): boolean {
    return (process.env['NOTIFY_SOCKET'] ?? '') !== '';
  }

  #send(...assignments: readonly string[]): void {
    // Node has no datagram sockets of this kind. A message that is lost is followed by the next.
    execFile('systemd-notify', [...assignments], () => undefined);
  }
}
