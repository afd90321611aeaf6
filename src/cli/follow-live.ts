import { formatCount, formatDuration } from '../core/format.ts';
import { formatSpan } from '../core/span.ts';
import { describeEvent, isTrouble } from '../export/describe-event.ts';
import type { DeliveryEvent } from '../feed/deliveries.ts';
import type { Feed } from '../feed/feed.ts';
import type { BackfillEvent, FollowEvent, LagEvent } from '../follow/follow-event.ts';
import { type FollowHeadOptions, followHead } from '../follow/follow-head.ts';
import { FollowHealth } from '../follow/follow-health.ts';
import type { FollowMetrics } from '../follow/follow-metrics.ts';
import type { FollowStatus } from '../follow/follow-status.ts';
import type { RetryEvent } from '../http/source.ts';
import { type MetricsAddress, type MetricsServer, serveMetrics } from '../scheduler/metrics-server.ts';
import { openDeliveries } from './feed-options.ts';
import { watchInterrupts } from './interrupts.ts';
import { pasteable } from './invocation.ts';
import { openLog } from './log.ts';
import { describeRetry, TELL_WAIT_MS } from './progress-text.ts';
import {
  describeLastUnpublished,
  describeUnpublished,
  finishPublishing,
  openPublishing,
  type PublishPlace,
} from './publishing.ts';
import { isDetail, limitHeap } from './run-live.ts';
import { ServiceNotify } from './service-notify.ts';

export interface FollowLiveOptions {
  readonly isJson: boolean;
  readonly logPath: string | undefined;
  /** Where metrics and health are served; undefined for nowhere. */
  readonly metrics: MetricsAddress | undefined;
  /** Lag above which it is not healthy. */
  readonly maxLagMs: number;
  /** Where the tables are published along with the commits; undefined for nowhere. */
  readonly publish?: PublishPlace | undefined;
  /** What is sent of the commits. */
  readonly feeds: readonly Feed[];
}

/** How often the lag is printed where lines stay, such as in a log. */
const TELL_LAG_MS = 60_000;

/** Follows the head and shows it: JSON lines on standard output, or the lag and what goes wrong on standard error. */
export async function followLive(options: FollowHeadOptions, live: FollowLiveOptions): Promise<void> {
  const { isJson, logPath } = live;
  limitHeap();
  const along = await openPublishing(live.publish, options);
  const log = logPath === undefined ? undefined : await openLog(logPath);
  const lines = new FollowLines(isJson);
  const interrupts = watchInterrupts(lines.tell);
  const operations = new Operations(live);
  await operations.listen();
  const tell = (event: FollowEvent | DeliveryEvent): void => {
    if (isJson) process.stdout.write(`${JSON.stringify(event)}\n`);
    log?.info(event);
    lines.show(event);
  };
  const command = ['tonlake follow', ...options.pipelines].join(' ');
  const beside = await openDeliveries(live.feeds, command, tell);
  const stop = log === undefined ? interrupts.signal : AbortSignal.any([interrupts.signal, log.failure]);
  try {
    await followHead({
      ...options,
      stop,
      beside,
      onOpen: (status) => operations.open(status),
      onEvent: (event) => {
        operations.see(event);
        if (event.event !== 'done' && isDetail(event)) return;
        if (event.event === 'span') along?.committed((message) => lines.tell(describeUnpublished(message)));
        tell(event);
      },
      onRetry: (event) => {
        log?.warn({ event: 'retry', ...event });
        lines.retry(event);
      },
    });
    lines.end();
    log?.failure.throwIfAborted();
  } catch (error) {
    // Before the first answer, an interrupt ends the request.
    if (!interrupts.signal.aborted || error !== interrupts.signal.reason) throw error;
  } finally {
    lines.end();
    interrupts.close();
    await operations.close();
  }
  const failure = await finishPublishing(along, isJson);
  if (failure !== undefined) lines.tell(describeLastUnpublished(failure));
  lines.tell('interrupted: committed rows are kept; follow again to continue');
  process.exitCode = 130;
}

/** Metrics, health and the watchdog. */
class Operations {
  private readonly live: FollowLiveOptions;
  private readonly service = new ServiceNotify();
  private server: MetricsServer | undefined;
  private health: FollowHealth | undefined;
  private metrics: FollowMetrics | undefined;

  constructor(live: FollowLiveOptions) {
    this.live = live;
  }

  /** Serves from the start on: until the warehouse is open, it is starting. */
  async listen(): Promise<void> {
    const { metrics: address } = this.live;
    if (address === undefined) return;
    const { openFollowMetrics } = await import('../follow/follow-metrics.ts');
    this.metrics = openFollowMetrics();
    const { metrics } = this;
    this.server = await serveMetrics(address, metrics, { read: () => this.health?.read() ?? { status: 'starting' } });
    process.stderr.write(`metrics at http://${address.host}:${this.server.port}/metrics\n`);
  }

  open(status: FollowStatus): void {
    const health = new FollowHealth(status, this.live.maxLagMs);
    this.health = health;
    this.metrics?.open(status);
    const describe = (): string => {
      const { block, seconds } = status.read();
      return block === undefined ? 'nothing is sealed yet' : `block ${block}, lag ${seconds} s`;
    };
    this.service.ready(() => health.read().status !== 'hanging', describe);
  }

  see(event: FollowEvent): void {
    this.health?.see(event);
    this.metrics?.see(event);
  }

  async close(): Promise<void> {
    this.service.stopping();
    await this.server?.close();
  }
}

/** What people see of it: on a terminal one line that changes, elsewhere a line now and then. */
class FollowLines {
  private readonly isQuiet: boolean;
  private readonly isLive: boolean;
  private toldAt = Number.NEGATIVE_INFINITY;
  private isOpen = false;

  constructor(isJson: boolean) {
    this.isQuiet = isJson;
    this.isLive = !isJson && process.stderr.isTTY;
  }

  readonly show = (event: FollowEvent | DeliveryEvent): void => {
    if (event.event === 'lag') this.showLag(event);
    else if (event.event === 'waiting') this.tell(`waiting: ${event.message}`);
    else if (event.event === 'resumed') this.tell(`going on after ${formatDuration(event.seconds)}`);
    else if (event.event === 'clock' || event.event === 'merge-failed') this.tell(`note: ${event.message}`);
    else if (event.event === 'backfill') this.tell(describeBackfill(event));
    else if (event.event === 'delivery-failed') this.tell(`${event.to}: ${event.message}; trying until it is taken`);
    else if (event.event === 'delivery-resumed')
      this.tell(`${event.to}: taken again after ${formatDuration(event.seconds)}`);
    else if (event.event === 'mart-failed') this.tell(`note: mart ${event.mart} was not built: ${event.message}`);
    else if (event.event === 'merged' || event.event === 'mart') return;
    else if (event.event !== 'done' && isTrouble(event)) this.tell(describeEvent(event) ?? '');
  };

  readonly retry = (event: RetryEvent): void => {
    const now = performance.now();
    if (event.sleepMs < TELL_WAIT_MS || now - this.toldAt < TELL_WAIT_MS) return;
    this.toldAt = now;
    this.tell(describeRetry(event));
  };

  readonly tell = (line: string): void => {
    this.end();
    process.stderr.write(`${pasteable(line)}\n`);
  };

  readonly end = (): void => {
    if (this.isOpen) process.stderr.write('\n');
    this.isOpen = false;
  };

  private showLag(event: LagEvent): void {
    if (this.isQuiet) return;
    if (this.isLive) {
      process.stderr.write(`\r\u001b[K${describeLag(event)}`);
      this.isOpen = true;
    } else if (performance.now() - this.toldAt >= TELL_LAG_MS) {
      this.toldAt = performance.now();
      this.tell(describeLag(event));
    }
  }
}

function describeBackfill({ complete, from, to, missing }: BackfillEvent): string {
  const state = complete ? 'complete' : `incomplete, ${formatCount(missing)} blocks are missing`;
  return `backfill ${formatSpan({ from, to })}: ${state}`;
}

function describeLag({ block, blocks, seconds, holes, oldestHole, requests, martsBehind = 0 }: LagEvent): string {
  const behind = blocks === 0 ? 'at the head' : `${formatCount(blocks)} blocks behind the head`;
  const missing = holes === 0 ? '' : `, ${formatCount(holes)} missing from ${oldestHole}`;
  const marts = martsBehind === 0 ? '' : `, marts ${formatDuration(Math.round(martsBehind))} behind`;
  return `block ${block}, ${behind}, lag ${formatDuration(Math.round(seconds))}${missing}${marts}  (${formatCount(requests)} requests)`;
}
