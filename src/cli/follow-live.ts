import type { DeliveryEvent } from '../feed/deliveries.ts';
import type { Feed } from '../feed/feed.ts';
import type { FollowEvent } from '../follow/follow-event.ts';
import { type FollowHeadOptions, followHead } from '../follow/follow-head.ts';
import { FollowHealth } from '../follow/follow-health.ts';
import type { FollowMetrics } from '../follow/follow-metrics.ts';
import type { FollowStatus } from '../follow/follow-status.ts';
import { type MetricsAddress, type MetricsServer, serveMetrics } from '../scheduler/metrics-server.ts';
import { openDeliveries } from './feed-options.ts';
import { FollowLines } from './follow-lines.ts';
import { watchInterrupts } from './interrupts.ts';
import { openLog } from './log.ts';
import {
  describeLastUnpublished,
  describeUnpublished,
  finishPublishing,
  openPublishing,
  type PublishPlace,
} from './publishing.ts';
import { isDetail, limitHeap, once } from './run-live.ts';
import { ServiceNotify } from './service-notify.ts';

export interface FollowLiveOptions {
  readonly isJson: boolean;
  readonly logPath: string | undefined;
  /** A line to be shown first, when the source has answered. */
  readonly note?: string | undefined;
  /** Where metrics and health are served; undefined for nowhere. */
  readonly metrics: MetricsAddress | undefined;
  /** Lag above which it is not healthy. */
  readonly maxLagMs: number;
  /** Where the tables are published along with the commits; undefined for nowhere. */
  readonly publish?: PublishPlace | undefined;
  /** What is sent of the commits. */
  readonly feeds: readonly Feed[];
}

/** Follows the head and shows it: JSON lines on standard output, or the lag and what goes wrong on standard error. */
export async function followLive(options: FollowHeadOptions, live: FollowLiveOptions): Promise<void> {
  const { isJson, logPath } = live;
  limitHeap();
  const along = await openPublishing(live.publish, options);
  const log = logPath === undefined ? undefined : await openLog(logPath);
  const lines = new FollowLines(isJson, process.stderr);
  const interrupts = watchInterrupts(lines.tell);
  const operations = new Operations(live);
  await operations.listen();
  const tellNote = once(() => live.note !== undefined && lines.tell(live.note));
  const tell = (event: FollowEvent | DeliveryEvent): void => {
    tellNote();
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
        tellNote();
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
