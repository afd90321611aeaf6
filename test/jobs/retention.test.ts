import { cpSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Effects, realEffects } from '../../src/core/effects.ts';
import { StoreError } from '../../src/core/errors.ts';
import { requireRetainedRanges } from '../../src/jobs/check-retention.ts';
import { jobActions } from '../../src/jobs/job-actions.ts';
import { runJob } from '../../src/jobs/run-job.ts';
import { describeJob } from '../../src/jobs/show-job.ts';
import { Health } from '../../src/resident/health.ts';
import { Metrics } from '../../src/resident/metrics.ts';
import { type Sandbox, startSandbox } from '../../src/sandbox/index.ts';
import { tonlake } from '../cli.ts';
import { query } from '../e2e/export.ts';
import { freshFolder } from '../scratch.ts';
import type { FakeActions } from './fakes.ts';
import { jobOf, NIGHT, runFaked } from './support.ts';

const HEAD = 'network: mainnet\npipelines: [transactions, message_links]\n';
const retain = (range: string, more = 'keep: 90d') => `${HEAD}range: ${range}\nretention: {${more}}\n`;

describe('what a job keeps', () => {
  test('covers its pipelines and those they need, unless it names others', async () => {
    const job = await jobOf(retain('yesterday'));
    expect(job.retention).toEqual({ keepDays: 90, pipelines: ['message_links', 'transactions', 'blocks'] });
    expect(describeJob(job, undefined)).toContain('\n  retention  90 days of message_links, transactions, blocks\n');
    const named = await jobOf(retain('yesterday', 'keep: 7 days, pipelines: [message_links]'));
    expect(named.retention).toEqual({ keepDays: 7, pipelines: ['message_links'] });
    expect((await jobOf(`${HEAD}range: yesterday\n`)).retention).toBeUndefined();
  });

  test.each([
    [
      'a number without a unit',
      'keep: 90',
      /expected .*, got 90 \(jobs\/nightly.yaml:4:19\); hint: retention.keep: number of whole UTC days/,
    ],
    ['no day', 'keep: 0d', /got "?0d"? \(jobs\/nightly.yaml:4:19\)/],
    ['hours', 'keep: 12h', /got "?12h"? \(jobs\/nightly.yaml:4:19\)/],
    ['an unknown key', 'keep: 9d, keeps: 1', /got "keeps" .* did you mean keep\?/],
    [
      'an unknown pipeline',
      'keep: 9d, pipelines: [blcks]',
      /expected a pipeline, got "blcks" .* did you mean blocks\?/,
    ],
    [
      'a list of how things are',
      'keep: 9d, pipelines: [jetton_masters]',
      /expected a pipeline that is exported by blocks, got jetton_masters/,
    ],
    [
      'rows that others need',
      'keep: 9d, pipelines: [blocks]',
      /expected transactions beside blocks, .* transactions, which the job exports, needs/,
    ],
  ])('cannot be told by %s', async (_, text, message) => {
    const error = await jobOf(retain('yesterday', text)).catch((fault: unknown) => fault);
    expect(`${error}; hint: ${(error as { hint?: string }).hint}`).toMatch(message);
  });

  test.each([
    'last 91 days',
    '"-91d:"',
    '"-91d:yesterday"',
    '2026-02-02',
    '"2026-02-01T12:00:"',
    '"2026-01-30:2026-05-01"',
  ])('does not reach behind the range %s, which would be exported again and again', async (range) => {
    await expect(jobOf(retain(range))).rejects.toThrow(
      /expected a range within the 90 days that are kept, got .*:3:8\)/,
    );
  });

  test.each(['last 90 days', '"-90d:"', '2026-02-03', 'yesterday', '47670000:47671000', '"-1000:"'])(
    'can hold the range %s',
    async (range) => {
      expect((await jobOf(retain(range))).retention?.keepDays).toBe(90);
    },
  );

  test('is compared with days of another zone', async () => {
    // Its days begin at other hours than those of UTC, which are kept as a whole.
    await expect(jobOf(`${retain('last 90 days')}zone: Asia/Tokyo\n`)).rejects.toThrow(/within the 90 days/);
    await expect(jobOf(`${retain('last 89 days')}zone: Asia/Tokyo\n`)).resolves.toBeDefined();
    await expect(jobOf(`${retain('last 90 days')}zone: America/New_York\n`)).rejects.toThrow(/within the 90 days/);
  });

  test('is compared with the other jobs of a warehouse', async () => {
    const keeps = await jobOf(`${retain('yesterday')}warehouse: data/w\n`);
    const far = await jobOf(`${HEAD}range: last 120 days\nwarehouse: ./data/w\n`, 'jobs/far.yaml');
    expect(() => requireRetainedRanges([far, keeps], NIGHT)).toThrow(
      /got far \(jobs\/far.yaml\), whose range is older than the 90 days that nightly keeps/,
    );
    const elsewhere = await jobOf(`${HEAD}range: last 120 days\nwarehouse: data/v\n`, 'jobs/far.yaml');
    const others = await jobOf(
      'network: mainnet\npipelines: [jetton_masters]\nrange: last 120 days\nwarehouse: data/w\n',
    );
    expect(() => requireRetainedRanges([elsewhere, others, keeps], NIGHT)).not.toThrow();
  });
});

describe('a retention', () => {
  const OUTPUT = 'exports: [{query: select 1, output: OUT}]\nchecks: [unique_keys]\nmarts: [block_times]\n';
  const at = (now: number): Effects => ({ ...realEffects, now: () => now });

  async function runOnce(folder: string, over: FakeActions = {}, options: { due?: number; now?: number } = {}) {
    const text = `${retain('yesterday')}${OUTPUT.replace('OUT', join(folder, 'out.json'))}`;
    const job = await jobOf(text, 'jobs/nightly.yaml', join(folder, 'w'));
    const { due = NIGHT, now = NIGHT } = options;
    return runFaked(job, over, { effects: at(now), due });
  }

  test('is the last step, and never takes what the run exported', async () => {
    const { record, asked } = await runOnce(freshFolder());
    expect(asked.steps).toEqual([
      ...['run', 'marts', 'checks', 'rows'],
      'forget 90 message_links,transactions,blocks 2026-05-04T03:15:00.000Z 1221',
    ]);
    expect(record.steps.map(({ kind }) => kind).slice(-2)).toEqual(['publish', 'retention']);
    expect(record.steps.at(-1)).toMatchObject({
      ...{ name: '90 days', status: 'done', rows: { message_links: 9 } },
      message: 'message_links 1:9 from before 2026-02-03 forgotten',
    });
  });

  test('counts from the clock if the run is due later', async () => {
    const { asked } = await runOnce(freshFolder(), {}, { due: NIGHT, now: NIGHT - 86_400_000 });
    expect(asked.steps.at(-1)).toContain(' 2026-05-03T03:15:00.000Z ');
  });

  test('waits for checks that pass', async () => {
    const { record, asked } = await runOnce(freshFolder(), {
      runChecks: async () => [{ name: 'unique_keys', status: 'failed', offenders: 1 }],
    });
    expect(record.state).toBe('failed');
    expect(asked.steps.join()).not.toContain('forget');
  });

  test('that fails, fails the run, whose outputs are published', async () => {
    const folder = freshFolder();
    const busy = new StoreError('store: busy', { code: 'busy' });
    const { record } = await runOnce(folder, { forgetOld: () => Promise.reject(busy) });
    expect(record).toMatchObject({ state: 'failed', error: { code: 'busy' } });
    expect(record.steps.at(-1)).toMatchObject({ kind: 'retention', status: 'failed' });
    expect(readdirSync(folder)).toContain('out.json');
  });

  test('that was interrupted is done by the resumed run, which exports nothing again', async () => {
    const folder = freshFolder();
    const first = await runOnce(folder);
    const path = join(folder, 'w/_jobs/nightly', `${first.record.id}.json`);
    const cut = { ...JSON.parse(readFileSync(path, 'utf8')), state: 'publishing' };
    writeFileSync(path, JSON.stringify(cut));
    const { record, asked } = await runOnce(folder);
    expect(record).toMatchObject({ id: first.record.id, state: 'done', attempts: [{}, {}] });
    expect(asked.steps).toEqual([expect.stringMatching(/^forget 90 /)]);
  });

  test('is counted in the metrics, apart from rows that came', async () => {
    const { record } = await runOnce(freshFolder());
    const metrics = new Metrics(new Health(realEffects), { head: false, jobs: ['nightly'] });
    metrics.see({ event: 'end', job: 'nightly', seconds: 1, record } as Parameters<typeof metrics.see>[0]);
    const text = await metrics.text();
    expect(text).toContain('tonlake_job_forgotten_rows_total{job="nightly",table="message_links"} 9');
    expect(text).toMatch(/tonlake_job_step_seconds_total\{job="nightly",step="retention"\}/);
    expect(text).not.toContain('tonlake_job_rows_total{job="nightly",table="message_links"}');
  });
});

describe('a job that keeps a day', () => {
  const OLD = '1:19,432:451';
  let sandbox: Sandbox;
  let folder: string;

  beforeAll(async () => {
    sandbox = await startSandbox({ blocks: 460, blockTimeMs: 200_000 });
    folder = freshFolder();
  });

  afterAll(() => sandbox.close());

  const textOf = (range: string): string =>
    `network: ${sandbox.url}\nclock: chain\npipelines: [transactions, message_links, account_latest]\nrange: "${range}"\nmarts: [transactions_daily]\nchecks: [block_tx_counts, unique_keys]\nretention: {keep: 1d}\n`;
  const runOf = async (range: string, warehouse: string) =>
    runJob({ job: await jobOf(textOf(range), 'jobs/kept.yaml', warehouse), actions: jobActions, effects: realEffects });

  test('forgets older days every night, and fetches none of them again', async () => {
    const warehouse = join(folder, 'w');
    const first = await runOf(OLD, warehouse);
    expect(first.record.steps.at(-1)?.message).toMatch(/^nothing from before 2026-05-02 can be forgotten/);
    const days = await query(warehouse, 'select block_date, tx_count from transactions_daily order by all');
    expect(days.map(([day]) => day)).toEqual(['2026-05-01', '2026-05-02', '2026-05-03']);

    const copy = join(freshFolder(), 'w');
    cpSync(warehouse, copy, { recursive: true });
    const file = join(folder, 'kept.yaml');
    writeFileSync(file, textOf('432:451'));
    const dry = await tonlake(['job', 'run', file, '--dry-run', '--warehouse', copy], { cwd: folder });
    expect(dry.code, dry.stderr).toBe(0);
    expect(dry.stdout).toContain('transactions, blocks 1:9 from before 2026-05-02 would be forgotten');
    expect(dry.stdout).toContain('nothing was changed\n');
    expect(await query(copy, 'select count(*) from transactions')).toEqual(
      await query(warehouse, 'select count(*) from transactions'),
    );

    const second = await runOf('432:451', warehouse);
    expect(second.record.state, second.record.error?.message).toBe('done');
    expect(second.record.steps.at(-1)?.message).toMatch(
      /^transactions, blocks 1:9 from before 2026-05-02 forgotten; message_links 1:19 stays: it reaches into days that are kept; account_latest stays: of no block; 1 mart keeps its days$/,
    );
    for (const again of [await runOf('432:451', warehouse), await runOf('432:451', warehouse)]) {
      expect(again.record.state, again.record.error?.message).toBe('done');
      expect(again.record.steps.find(({ kind }) => kind === 'export')?.rows?.['transactions'] ?? 0).toBe(0);
      expect(again.record.steps.find(({ kind }) => kind === 'mart')?.message).toContain('1 day kept');
    }
    expect(await query(warehouse, 'select block_date, tx_count from transactions_daily order by all')).toEqual(days);
    expect(await query(warehouse, 'select count(*) from transactions where mc_block_seqno < 10')).toEqual([['0']]);
  });
});
