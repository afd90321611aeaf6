import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { SourceError } from '../../src/core/errors.ts';
import { addDays } from '../../src/core/time-zone.ts';
import type { Job } from '../../src/jobs/job.ts';
import { JobHistory } from '../../src/jobs/run-history.ts';
import { runJob } from '../../src/jobs/run-job.ts';
import { dueId, type JobRecord } from '../../src/jobs/run-record.ts';
import { runSchedule } from '../../src/resident/schedule.ts';
import type { ScheduleEvent } from '../../src/resident/warehouse-queue.ts';
import { daysOfBlocks, fakeActions, sleepingClock } from '../jobs/fakes.ts';
import { jobOf } from '../jobs/support.ts';
import { freshFolder } from '../scratch.ts';

const at = (text: string): number => Date.parse(text);

interface Week {
  readonly job: Job;
  readonly history: JobHistory;
  /** Days that were exported, in order. */
  readonly days: () => readonly string[];
  readonly events: ScheduleEvent[];
  /** Lets a schedule run from one moment to another, as one process. */
  serve(from: string, to: string, onMove?: (now: number, set: (ms: number) => void) => unknown): Promise<void>;
  records(): Promise<readonly JobRecord[]>;
  /** States of which somebody was notified. */
  notices(): readonly string[];
}

async function weekOf(schedule: string, zone = 'UTC', fault?: (now: number) => Error | undefined): Promise<Week> {
  const warehouse = join(freshFolder(), 'w');
  const text = `network: mainnet\npipelines: [blocks]\nrange: yesterday\nzone: ${zone}\nnotify: [{command: [told]}]\nschedule: ${schedule}\n`;
  const job = await jobOf(text, 'jobs/nightly.yaml', warehouse);
  const events: ScheduleEvent[] = [];
  const clock = sleepingClock(0);
  const { actions, asked } = fakeActions({
    withChain: async (options, use) => {
      const error = fault?.(clock.now());
      if (error !== undefined) throw error;
      return fakeActions().actions.withChain(options, use);
    },
  });
  const history = await JobHistory.open(warehouse, job.name);
  return {
    ...{ job, history, events },
    days: () => asked.ranges.flatMap(daysOfBlocks),
    serve: async (from, to, onMove) => {
      clock.set(at(from));
      const drain = new AbortController();
      clock.onMove = (now) => {
        if (now < at(to)) return onMove?.(now, clock.set);
        drain.abort();
        return undefined;
      };
      await runSchedule({
        ...{ jobs: [job], actions, effects: clock, drain: drain.signal, drainMs: 0 },
        onEvent: (event) => events.push(event),
      });
    },
    records: () => history.read(),
    notices: () => asked.notices.map((text) => String(JSON.parse(text).state)),
  };
}

const days = (first: string, count: number): readonly string[] =>
  Array.from({ length: count }, (_, index) => addDays(first, index));

describe('a week of nightly jobs', () => {
  test('takes every day once, also when nobody was there for half of it', async () => {
    const week = await weekOf("{cron: '15 3 * * *'}");
    await week.serve('2026-05-04T12:00:00Z', '2026-05-06T12:00:00Z');
    expect(week.days()).toEqual(days('2026-05-04', 2));
    // Down from Wednesday noon to Saturday noon.
    await week.serve('2026-05-09T12:00:00Z', '2026-05-11T12:00:00Z');
    expect(week.days()).toEqual(days('2026-05-04', 7));
    expect(week.events).toContainEqual({ event: 'missed', job: 'nightly', count: 3, givenUp: false });
    const records = await week.records();
    expect(records.map(({ due, trigger, state }) => [due.slice(0, 16), trigger, state])).toEqual([
      ['2026-05-05T03:15', 'schedule', 'done'],
      ['2026-05-06T03:15', 'schedule', 'done'],
      ['2026-05-07T03:15', 'catch-up', 'done'],
      ['2026-05-08T03:15', 'catch-up', 'done'],
      ['2026-05-09T03:15', 'catch-up', 'done'],
      ['2026-05-10T03:15', 'schedule', 'done'],
      ['2026-05-11T03:15', 'schedule', 'done'],
    ]);
    // One more start finds nothing to do.
    await week.serve('2026-05-11T12:00:00Z', '2026-05-11T13:00:00Z');
    expect(week.days()).toHaveLength(7);
  });

  test.each([
    ['clocks skip the hour', '2026-03-25', '30 2 * * *'],
    ['clocks repeat the hour', '2026-10-21', '30 2 * * *'],
    ['a list of hours and days', '2026-03-25', '30 2,2 * * 1-7'],
    ['midnight', '2026-10-21', '0 0 * * *'],
  ])('takes every day once across a change of clocks in Europe/Berlin: %s', async (_, first, cron) => {
    for (const outage of [false, true]) {
      const week = await weekOf(`{cron: '${cron}'}`, 'Europe/Berlin');
      const end = `${addDays(first, 9)}T12:00:00Z`;
      if (outage) {
        await week.serve(`${first}T12:00:00Z`, `${addDays(first, 2)}T12:00:00Z`);
        await week.serve(`${addDays(first, 7)}T12:00:00Z`, end);
      } else {
        await week.serve(`${first}T12:00:00Z`, end);
      }
      expect(week.days(), `outage: ${outage}`).toEqual(days(first, 9));
    }
  });

  test('skips no night and takes none twice when the clock jumps three days ahead, and is put right', async () => {
    const week = await weekOf("{cron: '15 3 * * *', catch_up: 1}");
    const jumps = [
      [at('2026-05-05T12:00:00Z'), at('2026-05-08T12:00:00Z')],
      [at('2026-05-08T13:00:00Z'), at('2026-05-05T13:00:00Z')],
    ];
    const jump = (now: number, set: (ms: number) => void): void => {
      const [from = Number.POSITIVE_INFINITY, to = 0] = jumps[0] ?? [];
      if (now < from) return;
      jumps.shift();
      set(to);
    };
    await week.serve('2026-05-04T12:00:00Z', '2026-05-10T12:00:00Z', jump);
    // The wrong clock let the newest night that it saw run, which had its blocks.
    expect([...week.days()].sort()).toEqual(days('2026-05-04', 6));
  });

  test('makes up for as many runs as catch_up says, the newest; older ones do not come back', async () => {
    const week = await weekOf("{cron: '15 3 * * *', catch_up: 2}");
    await week.serve('2026-05-04T12:00:00Z', '2026-05-05T12:00:00Z');
    await week.serve('2026-05-10T12:00:00Z', '2026-05-10T13:00:00Z');
    expect(week.days()).toEqual(['2026-05-04', '2026-05-08', '2026-05-09']);
    expect(week.events).toContainEqual({ event: 'missed', job: 'nightly', count: 2, givenUp: true });
    await week.serve('2026-05-10T14:00:00Z', '2026-05-10T15:00:00Z');
    expect(week.days()).toHaveLength(3);
  });

  test('makes up for nothing with catch_up 0, and goes on with the next night', async () => {
    const week = await weekOf("{cron: '15 3 * * *', catch_up: 0}");
    await week.serve('2026-05-04T12:00:00Z', '2026-05-05T12:00:00Z');
    await week.serve('2026-05-08T12:00:00Z', '2026-05-09T12:00:00Z');
    expect(week.days()).toEqual(['2026-05-04', '2026-05-08']);
    // What is given up is told once.
    const idle = await weekOf("{cron: '15 3 * * *', catch_up: 0}");
    await idle.serve('2026-05-04T12:00:00Z', '2026-05-04T13:00:00Z');
    await idle.serve('2026-05-06T12:00:00Z', '2026-05-06T13:00:00Z');
    await idle.serve('2026-05-06T14:00:00Z', '2026-05-06T15:00:00Z');
    expect(idle.events.filter(({ event }) => event === 'missed')).toEqual([
      { event: 'missed', job: 'nightly', count: 0, givenUp: true },
    ]);
  });

  test('does not take a night again that somebody made up for by hand', async () => {
    const week = await weekOf("{cron: '15 3 * * *'}");
    await week.serve('2026-05-04T12:00:00Z', '2026-05-05T12:00:00Z');
    await runJob({
      ...{ job: week.job, actions: fakeActions().actions, effects: sleepingClock(at('2026-05-07T10:00:00Z')) },
      due: at('2026-05-06T03:15:00Z'),
    });
    await week.serve('2026-05-07T12:00:00Z', '2026-05-07T13:00:00Z');
    expect(week.days()).toEqual(['2026-05-04', '2026-05-06']);
  });

  test('takes up a run that was killed, with the days that it had, before what was missed after it', async () => {
    const week = await weekOf("{cron: '15 3 * * *', catch_up: 1}");
    await week.serve('2026-05-04T12:00:00Z', '2026-05-05T12:00:00Z');
    const [night] = await week.records();
    const due = at('2026-05-06T03:15:00Z');
    if (night === undefined) throw new Error('no night was run');
    const killed: JobRecord = {
      ...{ ...night, id: dueId(due), due: new Date(due).toISOString(), now: new Date(due).toISOString() },
      ...{ state: 'running', steps: [], outputs: [] },
      range: { blocks: '1241:1250', from: 1241, to: 1250, firstDay: '2026-05-05', lastDay: '2026-05-05' },
    };
    await week.history.write(killed, sleepingClock(due));
    await week.serve('2026-05-08T12:00:00Z', '2026-05-08T13:00:00Z');
    expect(week.days()).toEqual(['2026-05-04', '2026-05-05', '2026-05-07']);
    const records = await week.records();
    expect(records.map(({ id, attempts, state }) => [id, attempts.length, state])).toEqual([
      ['20260505T031500Z', 1, 'done'],
      ['20260506T031500Z', 2, 'done'],
      ['20260508T031500Z', 1, 'done'],
    ]);
  });

  const down = new SourceError('source: 503', { code: 'http', retryable: true });
  /** A week whose source is down for a while. */
  const downFrom = (from: string, to: string, schedule: string): Promise<Week> =>
    weekOf(schedule, 'UTC', (now) => (now >= at(from) && now < at(to) ? down : undefined));

  test.each([
    ['05:00', 'that is over by the time by which the run is expected, sends no notice', []],
    ['10:00', 'that is not over by then, sends one notice at that time', ['late']],
  ])('an outage until %s, %s', async (until, _, notices) => {
    const schedule = "{cron: '15 3 * * *', expected_by: 06:00 UTC}";
    const week = await downFrom('2026-05-05T02:00:00Z', `2026-05-05T${until}:00Z`, schedule);
    await week.serve('2026-05-04T12:00:00Z', '2026-05-06T12:00:00Z');
    expect([...week.days()].sort()).toEqual(days('2026-05-04', 2));
    expect(week.notices()).toEqual(notices);
    expect(week.events.filter(({ event }) => event === 'late')).toEqual(
      notices.map(() => ({
        ...{ event: 'late', job: 'nightly', due: '2026-05-05T03:15:00.000Z', by: '2026-05-05T06:00:00.000Z' },
      })),
    );
  });

  test('an outage of a night and a day leaves no hole, and one notice for the night that is late', async () => {
    const week = await downFrom('2026-05-05T02:00:00Z', '2026-05-06T10:00:00Z', "{cron: '15 3 * * *'}");
    await week.serve('2026-05-04T12:00:00Z', '2026-05-07T12:00:00Z');
    expect([...week.days()].sort()).toEqual(days('2026-05-04', 3));
    expect(week.notices()).toEqual(['late']);
  });

  test('a night that failed, and that somebody made up for by hand beside the schedule, is neither late nor tried again', async () => {
    const week = await weekOf("{cron: '15 3 * * *', expected_by: 06:00 UTC}", 'UTC', (now) =>
      now < at('2026-05-05T04:00:00Z') ? new SourceError('source: 401', { code: 'http' }) : undefined,
    );
    const due = at('2026-05-05T03:15:00Z');
    let byHand: Promise<unknown> | undefined;
    await week.serve('2026-05-04T12:00:00Z', '2026-05-06T12:00:00Z', (now) => {
      if (now < at('2026-05-05T04:00:00Z')) return;
      byHand ??= runJob({ job: week.job, actions: fakeActions().actions, effects: sleepingClock(now), due });
      return byHand;
    });
    expect(week.days()).toEqual(['2026-05-05']);
    expect(week.notices()).toEqual(['failed']);
    expect(week.events.filter(({ event }) => event === 'settled')).toMatchObject([
      { job: 'nightly', due: '2026-05-05T03:15:00.000Z', record: { trigger: 'manual', state: 'done' } },
    ]);
  });

  describe('a night that failed, and does not pass by itself', () => {
    /** The key is refused until somebody renews it. */
    const refused = (until: string) => (now: number) =>
      now < at(until) ? new SourceError('source: 401', { code: 'http' }) : undefined;

    test('is made up for after the next one that is done', async () => {
      const week = await weekOf("{cron: '15 3 * * *'}", 'UTC', refused('2026-05-06T12:00:00Z'));
      await week.serve('2026-05-04T12:00:00Z', '2026-05-08T12:00:00Z');
      expect(week.days()).toEqual(['2026-05-06', '2026-05-04', '2026-05-05', '2026-05-07']);
      expect(week.events.filter(({ event }) => event === 'retry')).toEqual([]);
    });

    test('is made up for by the next start, but not above catch_up', async () => {
      const week = await weekOf("{cron: '15 3 * * *', catch_up: 2}", 'UTC', refused('2026-05-07T12:00:00Z'));
      await week.serve('2026-05-04T12:00:00Z', '2026-05-07T11:00:00Z');
      expect(week.days()).toEqual([]);
      // The third night pushes out the first.
      expect(week.events.filter(({ event }) => event === 'dropped' || event === 'missed')).toEqual([
        { event: 'dropped', job: 'nightly', count: 1 },
      ]);
      await week.serve('2026-05-07T13:00:00Z', '2026-05-07T14:00:00Z');
      expect(week.days()).toEqual(['2026-05-05', '2026-05-06']);
      await week.serve('2026-05-07T15:00:00Z', '2026-05-07T16:00:00Z');
      expect(week.days()).toHaveLength(2);
    });
  });

  test('a job that is scheduled for the first time makes up for nothing', async () => {
    const week = await weekOf("{cron: '15 3 * * *'}");
    await week.serve('2026-05-04T12:00:00Z', '2026-05-04T13:00:00Z');
    expect(week.days()).toEqual([]);
    // It was not run yet, but it is known since when it is watched.
    await week.serve('2026-05-06T12:00:00Z', '2026-05-06T13:00:00Z');
    expect(week.days()).toEqual(['2026-05-04', '2026-05-05']);
  });
});
