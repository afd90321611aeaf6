import { Counter, collectDefaultMetrics, Gauge, Registry } from 'prom-client';
import type { FollowEvent } from './follow-event.ts';
import type { FollowFigures, FollowStatus } from './follow-status.ts';

/** Prometheus metrics of following the head. */
export interface FollowMetrics {
  readonly contentType: string;
  /** Gives the gauges their figures; before, there are none. */
  open(status: FollowStatus): void;
  readonly see: (event: FollowEvent) => void;
  text(): Promise<string>;
}

/** Gauges that are read when somebody asks for them, and the figure that each shows. */
const GAUGES: readonly (readonly [name: string, help: string, of: (figures: FollowFigures) => number | undefined])[] = [
  ['lag_seconds', 'Age of the newest sealed block.', ({ seconds }) => seconds],
  ['lag_blocks', 'Blocks from the newest sealed one to the head.', ({ head, block }) => block && head - block],
  ['head_block', 'Newest masterchain block of the index.', ({ head }) => head],
  ['sealed_block', 'Newest masterchain block that all followed pipelines have.', ({ block }) => block],
  ['missing_blocks', 'Blocks before the newest sealed one that are not sealed.', ({ holes }) => holes],
  ['oldest_hole_block', 'The first of the missing blocks; absent if there is none.', ({ oldestHole }) => oldestHole],
  ['files', 'Files of the warehouse.', ({ files }) => files],
  ['quarantined_records', 'Records that could not be decoded.', ({ quarantined }) => quarantined],
  ['rate_limit_rps', 'Maximum of requests per second; absent without a limit.', ({ rps }) => rps],
  [
    'rate_limit_used_ratio',
    'Share of it that was used over the last minute.',
    ({ rps, requestsPerSecond: used }) => rps && used && used / rps,
  ],
];

/** Creates metrics in their own registry. */
export function openFollowMetrics(): FollowMetrics {
  let opened: FollowStatus | undefined;
  const registry = new Registry();
  collectDefaultMetrics({ register: registry });
  const registers = [registry];
  const gauges = GAUGES.map(
    ([name, help, of]) => [new Gauge({ name: `tonlake_follow_${name}`, help, registers }), of] as const,
  );
  const requests = new Counter({
    ...{ name: 'tonlake_follow_requests_total', help: 'Requests, by outcome.', registers, labelNames: ['outcome'] },
  });
  const commits = new Counter({
    ...{ name: 'tonlake_follow_commits_total', help: 'Commits of rows.', registers, labelNames: ['pipeline'] },
  });
  const waits = new Counter({
    ...{ name: 'tonlake_follow_waits_total', help: 'Times that something kept it from catching up.', registers },
    labelNames: ['code'],
  });
  const merges = new Counter({
    ...{ name: 'tonlake_follow_merges_total', help: 'Merges of small files, by result.', registers },
    labelNames: ['result'],
  });
  const builds = new Counter({
    ...{ name: 'tonlake_follow_mart_builds_total', help: 'Builds of marts, by result.', registers },
    labelNames: ['mart', 'result'],
  });
  const martLags = new Gauge({
    ...{ name: 'tonlake_follow_mart_lag_seconds', help: 'How long a mart has lacked committed rows.', registers },
    labelNames: ['mart'],
  });
  return {
    contentType: registry.contentType,
    open: (status) => {
      opened = status;
    },
    see: (event) => {
      if (event.event === 'span') commits.inc({ pipeline: event.pipeline });
      if (event.event === 'merged') merges.inc({ result: 'merged' });
      if (event.event === 'merge-failed') merges.inc({ result: 'failed' });
      if (event.event === 'mart') builds.inc({ mart: event.name, result: 'built' });
      if (event.event === 'mart-failed') builds.inc({ mart: event.mart, result: 'failed' });
      if (event.event === 'waiting') waits.inc({ code: event.code });
    },
    text: () => {
      const figures = opened?.read();
      if (figures === undefined) return registry.metrics();
      for (const [gauge, of] of gauges) {
        const value = of(figures);
        if (value === undefined) gauge.remove();
        else gauge.set(value);
      }
      for (const [mart, seconds] of Object.entries(figures.martLags)) martLags.set({ mart }, seconds);
      requests.reset();
      for (const [outcome, count] of Object.entries(figures.requests)) requests.inc({ outcome }, count);
      return registry.metrics();
    },
  };
}
