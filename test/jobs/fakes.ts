import type { Effects } from '../../src/core/effects.ts';
import { realEffects } from '../../src/core/effects.ts';
import { addDays, daysBetween } from '../../src/core/time-zone.ts';
import type { RunReport } from '../../src/export/run.ts';
import type { JobActions } from '../../src/jobs/job-actions.ts';

/** Blocks of a made-up day; the first is that of 2026-01-01. */
const BLOCKS_A_DAY = 10;
const FIRST_DAY = '2026-01-01';

const firstOf = (date: string): number => daysBetween(FIRST_DAY, date) * BLOCKS_A_DAY + 1;

/** When a block was made: the blocks of a day are spread evenly over it. */
const timeOf = (seqno: number): number =>
  Date.parse(`${FIRST_DAY}T00:00:00Z`) + ((seqno - 1) * 86_400_000) / BLOCKS_A_DAY;

const blocksUntil = (ms: number): number => ((ms - timeOf(1)) * BLOCKS_A_DAY) / 86_400_000;

/** The days that a range of blocks stands for, oldest first. */
export function daysOfBlocks(range: string): readonly string[] {
  const [from = 0, to = 0] = range.split(':').map(Number);
  const count = Math.round((to - from + 1) / BLOCKS_A_DAY);
  return Array.from({ length: count }, (_, at) => addDays(FIRST_DAY, (from - 1) / BLOCKS_A_DAY + at));
}

/** What the actions of a job were asked to do. */
export interface Asked {
  readonly ranges: string[];
  readonly notices: string[];
  readonly steps: string[];
}

/** Answers of actions, of which a job reads a part. */
export type FakeActions = {
  readonly [K in keyof JobActions]?: (...given: Parameters<JobActions[K]>) => Promise<unknown>;
};

/** Actions that note what they are asked for, on a chain whose days have ten blocks each. */
export function fakeActions(over: FakeActions = {}): { readonly actions: JobActions; readonly asked: Asked } {
  const asked: Asked = { ranges: [], notices: [], steps: [] };
  const actions: Required<FakeActions> = {
    withChain: async (_options, use) =>
      use({
        head: async () => 5000,
        firstOfDay: async (date) => firstOf(date),
        lastOfDay: async (date) => firstOf(addDays(date, 1)) - 1,
        firstSince: async (ms) => Math.ceil(blocksUntil(ms)) + 1,
        lastBefore: async (ms) => Math.ceil(blocksUntil(ms)),
        today: async () => '2026-05-02',
        headTime: async () => Date.UTC(2026, 4, 2, 0, 33),
        blockTime: async (seqno) => timeOf(seqno),
      }),
    preflight: async () => [],
    run: async ({ range, pipelines, onEvent }) => {
      asked.ranges.push(range);
      asked.steps.push('run');
      const [from = 0, to = 0] = range.split(':').map(Number);
      const report: RunReport = {
        ...{ event: 'done', network: 'sandbox', pipeline: pipelines.join(','), from, to, asked: [{ from, to }] },
        ...{ rows: { blocks: to - from + 1 }, requests: 3, retries: 0, planned: 3, spans: 1, quarantined: 0 },
        ...{ complete: true, openDays: [], unknownKeys: {}, unproven: {}, content: {}, seconds: 1 },
      };
      onEvent?.(report);
      return report;
    },
    verify: async ({ repair, since }) => {
      asked.steps.push(
        `${repair ? 'repair' : 'verify'} after ${since === undefined ? 0 : `${since.entry}, ${since.digest}`}`,
      );
      return { entry: 8, ledger: 'a1', proven: true, findings: 0, files: 4, unproven: {} };
    },
    compact: async () => {
      asked.steps.push('compact');
      return { kind: 'parquet', merged: 0, files: { before: 4, after: 4 } };
    },
    publishIceberg: async () => {
      asked.steps.push('iceberg');
      return { entry: 7, tables: 4, published: 4, skipped: [] };
    },
    forgetOld: async ({ keepDays, pipelines, now, keepFrom }) => {
      asked.steps.push(`forget ${keepDays} ${pipelines.join(',')} ${new Date(now).toISOString()} ${keepFrom ?? ''}`);
      const [first = ''] = pipelines;
      return {
        ...{ event: 'forgotten', firstDay: '2026-02-03', spans: { [first]: [{ from: 1, to: 9 }] } },
        ...{ rows: { [first]: 9 }, retained: [], withoutBlocks: [], marts: [] },
      };
    },
    buildMarts: async (_warehouse, { names }) => {
      asked.steps.push('marts');
      return (names ?? ['all']).map((name) => ({ name, status: 'built', rows: 7, marked: [], kept: [], seconds: 0.1 }));
    },
    runChecks: async (_warehouse, { names }) => {
      asked.steps.push('checks');
      return (names ?? ['all']).map((name) => ({ name, status: 'passed', offenders: 0 }));
    },
    renderReport: async (_warehouse, report, { params, now, timezone }) => {
      asked.steps.push(`report ${report}`);
      return { content: JSON.stringify({ report, params, now, timezone }), gaps: [], isEmpty: false };
    },
    exportRows: async (_warehouse, source, to, { parameters } = {}) => {
      if (typeof to === 'string') asked.steps.push(`database ${to}`);
      else if (to.kind === 'file') {
        const { writeFile } = await import('node:fs/promises');
        asked.steps.push('rows');
        await writeFile(to.path, JSON.stringify({ source, parameters }));
      }
      return { rows: 1, warnings: [] };
    },
    notify: async (_target, body) => {
      asked.notices.push(body);
    },
    ...over,
  };
  // A job reads no other part of the answers.
  return { actions: actions as unknown as JobActions, asked };
}

/** A clock that moves only when somebody sleeps, and then at once. */
export function sleepingClock(start: number): Effects & { set(ms: number): void; onMove: (now: number) => unknown } {
  let now = start;
  const clock = {
    ...realEffects,
    now: () => now,
    monotonic: () => now,
    sleep: async (ms: number, signal?: AbortSignal): Promise<void> => {
      signal?.throwIfAborted();
      now += ms;
      await clock.onMove(now);
      signal?.throwIfAborted();
    },
    set: (ms: number) => {
      now = ms;
    },
    onMove: (_now: number): unknown => undefined,
  };
  return clock;
}
