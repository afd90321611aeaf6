import { join } from 'node:path';
import { describe, expect, test, vi } from 'vitest';
import { realEffects } from '../../src/core/effects.ts';
import { SourceError } from '../../src/core/errors.ts';
import type { Job } from '../../src/jobs/job.ts';
import type { JobActions } from '../../src/jobs/job-actions.ts';
import { JobHistory } from '../../src/jobs/run-history.ts';
import { Health } from '../../src/resident/health.ts';
import { Metrics } from '../../src/resident/metrics.ts';
import { parseMetricsAddress } from '../../src/resident/metrics-server.ts';
import { runSchedule } from '../../src/resident/schedule.ts';
import type { ScheduleEvent } from '../../src/resident/warehouse-queue.ts';
import { fakeActions, sleepingClock } from '../jobs/fakes.ts';
import { jobOf } from '../jobs/support.ts';
import { freshFolder } from '../scratch.ts';

const START = Date.parse('2026-05-04T12:00:00Z');
const HOUR = 3_600_000;

async function jobsOf(...crons: readonly string[]): Promise<readonly Job[]> {
  const warehouse = join(freshFolder(), 'w');
  return Promise.all(
    crons.map((cron, at) =>
      jobOf(
        `network: mainnet\npipelines: [blocks]\nrange: yesterday\nschedule: {cron: '${cron}'}\n`,
        `j${at}.yaml`,
        warehouse,
      ),
    ),
  );
}

/** Serves jobs for some simulated hours. @returns what was told */
async function serve(jobs: readonly Job[], actions: JobActions, hours: number): Promise<readonly ScheduleEvent[]> {
  const clock = sleepingClock(START);
  const drain = new AbortController();
  clock.onMove = (now) => {
    if (now >= START + hours * HOUR) drain.abort();
  };
  const events: ScheduleEvent[] = [];
  const onEvent = (event: ScheduleEvent): void => {
    events.push(event);
  };
  await runSchedule({ jobs, actions, effects: clock, drain: drain.signal, drainMs: 0, onEvent });
  return events;
}

const told = (events: readonly ScheduleEvent[], kind: ScheduleEvent['event']): readonly string[] =>
  events.flatMap((event) =>
    event.event === kind && 'job' in event ? [`${event.job} ${'due' in event ? event.due.slice(11, 16) : ''}`] : [],
  );

describe('jobs of one warehouse', () => {
  test('run one after the other, the one that came due first before', async () => {
    let under = 0;
    let most = 0;
    const { actions } = fakeActions({
      buildMarts: async () => [],
      withChain: async (options, use) => {
        most = Math.max(most, ++under);
        await new Promise((resolve) => setTimeout(resolve, 5));
        under--;
        return fakeActions().actions.withChain(options, use);
      },
    });
    const events = await serve(await jobsOf('30 * * * *', '15,30 * * * *'), actions, 2);
    expect(told(events, 'begin')).toEqual(['j1 12:15', 'j0 12:30', 'j1 12:30', 'j1 13:15', 'j0 13:30', 'j1 13:30']);
    expect(most).toBe(1);
  });

  test('that hang are late as well, without a sign of life', async () => {
    const [job] = await jobsOf("0 13 * * *', expected_by: '14:00 UTC");
    vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] });
    const clock = sleepingClock(START);
    const drain = new AbortController();
    clock.onMove = (now) => {
      if (now > START + 5 * HOUR) drain.abort();
    };
    const late: ScheduleEvent[] = [];
    const { actions } = fakeActions({
      run: async () => {
        clock.set(START + 3 * HOUR);
        vi.advanceTimersByTime(30_000);
        drain.abort();
        throw new Error(`${late.length} late`);
      },
    });
    try {
      await runSchedule({
        ...{ jobs: job === undefined ? [] : [job], actions, effects: clock, drain: drain.signal, drainMs: 0 },
        onEvent: (event) => event.event === 'late' && late.push(event),
      });
    } finally {
      vi.useRealTimers();
    }
    expect(late).toMatchObject([{ job: 'j0', by: '2026-05-04T14:00:00.000Z' }]);
    const records = await (await JobHistory.open(job?.warehouse ?? '', 'j0')).read();
    expect(records).toMatchObject([{ error: { message: '1 late' } }]);
  });

  test('that wait behind one that hangs are late as well', async () => {
    const jobs = await jobsOf('0 13 * * *', "15 13 * * *', expected_by: '14:00 UTC");
    vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] });
    const clock = sleepingClock(START);
    const drain = new AbortController();
    const late: ScheduleEvent[] = [];
    const { actions } = fakeActions({
      run: async () => {
        clock.set(START + 3 * HOUR);
        vi.advanceTimersByTime(30_000);
        await vi.waitUntil(() => late.length > 0);
        drain.abort();
        throw new Error('gave up');
      },
    });
    try {
      await runSchedule({
        ...{ jobs, actions, effects: clock, drain: drain.signal, drainMs: 0 },
        onEvent: (event) => event.event === 'late' && late.push(event),
      });
    } finally {
      vi.useRealTimers();
    }
    expect(late).toMatchObject([{ job: 'j1', due: '2026-05-04T13:15:00.000Z', by: '2026-05-04T14:00:00.000Z' }]);
  });

  test('have different names', async () => {
    const [job] = await jobsOf('0 3 * * *');
    if (job === undefined) throw new Error('no job');
    const twin = { ...job, file: 'other/j0.yaml' };
    await expect(serve([job, twin], fakeActions().actions, 1)).rejects.toThrow(
      'usage: expected jobs of different names, got j0.yaml and other/j0.yaml',
    );
  });

  test('have one schedule: a second one is refused in one line', async () => {
    const jobs = await jobsOf('0 3 * * *');
    const drain = new AbortController();
    const { actions } = fakeActions();
    const first = runSchedule({
      ...{ jobs, actions, effects: realEffects, drain: drain.signal, drainMs: 0 },
      onEvent: ({ event }) => {
        if (event === 'watching') watched();
      },
    });
    let watched = (): void => undefined;
    await new Promise<void>((resolve) => {
      watched = resolve;
    });
    await expect(serve(jobs, actions, 1)).rejects.toThrow(/^store: warehouse \S+ is scheduled already by process \d+/);
    drain.abort();
    await first;
    expect(await serve(jobs, actions, 1)).toContainEqual(expect.objectContaining({ event: 'watching' }));
  });
});

test('a run that is tried again later holds up no other job of its warehouse', async () => {
  const isDown = { value: true };
  const { actions } = fakeActions({
    withChain: async (options, use) => {
      if (isDown.value) throw new SourceError('source: 503', { code: 'http', retryable: true });
      return fakeActions().actions.withChain(options, use);
    },
    buildMarts: async () => {
      isDown.value = false;
      return [];
    },
  });
  const [first] = await jobsOf('30 12 * * *');
  const text = "network: mainnet\nmarts: [block_times]\nschedule: {cron: '33 12 * * *'}\n";
  const second = await jobOf(text, 'marts.yaml', first?.warehouse);
  const events = await serve([...(first === undefined ? [] : [first]), second], actions, 1);
  expect(told(events, 'end')).toEqual(['j0 ', 'marts ', 'j0 ']);
  expect(told(events, 'begin')).toEqual(['j0 12:30', 'marts 12:33', 'j0 12:30']);
});

test('what may pass by itself is tried again later; what cannot is not', async () => {
  let calls = 0;
  const flaky = fakeActions({
    run: async (options) => {
      calls++;
      if (calls < 3) throw new SourceError('source: 503', { code: 'http', retryable: true });
      return fakeActions().actions.run(options);
    },
  });
  const events = await serve(await jobsOf('30 12 * * *'), flaky.actions, 2);
  expect(told(events, 'retry')).toEqual(['j0 12:30', 'j0 12:30']);
  expect(events.flatMap((event) => (event.event === 'end' ? [event.record.state] : []))).toEqual([
    'failed',
    'failed',
    'done',
  ]);

  const down = fakeActions({
    run: () => Promise.reject(new SourceError('source: 503', { code: 'http', retryable: true })),
  });
  const tried = await serve(await jobsOf('30 12 * * *'), down.actions, 6);
  expect(tried.flatMap((event) => (event.event === 'retry' ? [event.seconds / 60] : []))).toEqual([
    ...[5, 10, 20, 40, 60, 60, 60, 60, 60],
  ]);

  const broken = fakeActions({ run: () => Promise.reject(new SourceError('source: 401', { code: 'http' })) });
  expect(told(await serve(await jobsOf('30 12 * * *'), broken.actions, 2), 'retry')).toEqual([]);
});

test('told to end, it lets the run under way end, and stops it after the limit', async () => {
  for (const [drainMs, state] of [
    [10_000, 'done'],
    [1, 'interrupted'],
  ] as const) {
    const [job] = await jobsOf('* * * * *');
    if (job === undefined) throw new Error('no job');
    const drain = new AbortController();
    const { actions } = fakeActions({
      run: async (options) => {
        drain.abort();
        await new Promise((resolve) => {
          setTimeout(resolve, 50);
          options.stop?.addEventListener('abort', resolve);
        });
        return { ...(await fakeActions().actions.run(options)), complete: options.stop?.aborted !== true };
      },
    });
    const clock = { ...sleepingClock(START), sleep: realEffects.sleep };
    let now = START;
    const moving = { ...clock, now: () => (now += 61_000) };
    await runSchedule({
      jobs: [job],
      actions,
      effects: moving,
      drain: drain.signal,
      drainMs,
      onEvent: () => undefined,
    });
    const records = await (await JobHistory.open(job.warehouse, job.name)).read();
    expect(records.map((record) => record.state)).toEqual([state]);
  }
});

test('metrics tell runs, rows, requests and the last success, named as Prometheus wants', async () => {
  const health = new Health(realEffects);
  const metrics = new Metrics(health, { head: false, jobs: ['j0', 'never'] });
  const events = await serve(await jobsOf('30 12 * * *'), fakeActions().actions, 1);
  for (const event of events) {
    metrics.see(event);
    health.see(event);
  }
  const text = await metrics.text();
  for (const line of [
    'tonlake_job_runs_total{job="j0",result="done"} 1',
    'tonlake_job_runs_total{job="j0",result="failed"} 0',
    'tonlake_job_rows_total{job="j0",table="blocks"} 10',
    'tonlake_job_requests_total{job="j0"} 3',
    'tonlake_job_running{job="j0"} 0',
    'tonlake_job_missed_runs_total{job="j0"} 0',
    'tonlake_job_dropped_runs_total{job="j0"} 0',
    'tonlake_job_late{job="j0"} 0',
    'tonlake_job_late{job="never"} 0',
    'tonlake_job_progress_age_seconds{job="j0"} 0',
    'tonlake_job_last_success_timestamp_seconds{job="never"} 0',
    'tonlake_job_runs_total{job="never",result="done"} 0',
    'tonlake_job_duration_seconds_count{job="j0"} 1',
    `tonlake_job_next_run_timestamp_seconds{job="j0"} ${Date.parse('2026-05-05T12:30:00Z') / 1000}`,
  ]) {
    expect(text.split('\n')).toContain(line);
  }
  expect(text).toMatch(/^tonlake_job_last_success_timestamp_seconds\{job="j0"\} 17778978\d\d(\.\d+)?$/m);
  // Counters end in _total, and every series has its help and its type.
  const names = [...text.matchAll(/^# TYPE (tonlake_\w+) (\w+)$/gm)];
  expect(names.length).toBeGreaterThan(8);
  for (const [, name, type] of names) {
    expect(name?.endsWith('_total')).toBe(type === 'counter');
    expect(text).toMatch(new RegExp(`^# HELP ${name} \\S`, 'm'));
  }
  expect(health.read()).toEqual({
    status: 'draining',
    jobs: [
      {
        job: 'j0',
        running: false,
        next: '2026-05-05T12:30:00.000Z',
        last: 'done',
        lastDue: '2026-05-04T12:30:00.000Z',
        late: false,
      },
    ],
  });
});

test.each(['0.0.0.0:9464', 'example.org:80', '127.0.0.1', '127.0.0.1:99999', '9464', ':x'])(
  'metrics are not served at %s',
  (text) => {
    expect(() => parseMetricsAddress(text)).toThrow(/^usage: expected a loopback address, got "/);
  },
);

test.each([
  ['127.0.0.1:9464', '127.0.0.1', 9464],
  [':0', '127.0.0.1', 0],
  ['[::1]:9464', '::1', 9464],
  ['localhost:9464', 'localhost', 9464],
])('metrics are served at %s', (text, host, port) => {
  expect(parseMetricsAddress(text)).toEqual({ host, port });
});
