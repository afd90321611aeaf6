import type { Feed } from '../feed/feed.ts';
import type { FollowEvent } from '../follow/follow-event.ts';
import { type FollowHeadOptions, followHead } from '../follow/follow-head.ts';
import { FollowHealth } from '../follow/follow-health.ts';
import type { FollowMetrics } from '../follow/follow-metrics.ts';
import type { FollowStatus } from '../follow/follow-status.ts';
import { type MetricsAddress, type MetricsServer, serveMetrics } from '../scheduler/metrics-server.ts';
import type { Context } from './context.ts';
import { openDeliveries } from './feed-options.ts';
import { type LiveOptions, LiveOutput } from './live-output.ts';
import { describeLastUnpublished } from './publishing.ts';
import { isDetail } from './run-live.ts';
import { ServiceNotify } from './service-notify.ts';
import { limitHeap } from './v8-flags.ts';

export interface FollowLiveOptions extends LiveOptions {
  /** Where metrics and health are served; undefined for nowhere. */
  readonly metrics: MetricsAddress | undefined;
  /** Lag above which it is not healthy. */
  readonly maxLagMs: number;
  /** What is sent of the commits. */
  readonly feeds: readonly Feed[];
}

/** Follows the head and shows it: JSON lines on standard output, or the lag and what goes wrong on standard error. */
export async function followLive(context: Context, options: FollowHeadOptions, live: FollowLiveOptions): Promise<void> {
  limitHeap();
  const { line } = context;
  const output = await LiveOutput.open(context, options, live);
  const operations = new Operations(context, live);
  await operations.listen();
  const command = ['tonlake follow', ...options.pipelines].join(' ');
  const beside = await openDeliveries(live.feeds, command, (event) =>
    output.see(event, false, output.events.showFollow),
  );
  try {
    await followHead({
      ...options,
      stop: output.signal,
      beside,
      onOpen: (status) => operations.open(status),
      onEvent: (event) => {
        operations.see(event);
        if (!isDetail(event)) output.see(event, false, output.events.showFollow);
      },
      onRetry: output.retry,
    });
    output.throwIfBroken();
  } catch (error) {
    // Before the first answer, an interrupt ends the request.
    if (!context.signal.aborted || error !== context.signal.reason) throw error;
  } finally {
    line.end();
    await operations.close();
  }
  const failure = await output.finish();
  if (failure !== undefined) line.tell(describeLastUnpublished(failure));
  line.tell('interrupted: committed rows are kept; follow again to continue');
  process.exitCode = 130;
}

/** Metrics, health and the watchdog. */
class Operations {
  private readonly context: Context;
  private readonly live: FollowLiveOptions;
  private readonly service = new ServiceNotify();
  private server: MetricsServer | undefined;
  private health: FollowHealth | undefined;
  private metrics: FollowMetrics | undefined;

  constructor(context: Context, live: FollowLiveOptions) {
    this.context = context;
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
    this.context.line.tell(`metrics at http://${address.host}:${this.server.port}/metrics`);
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
