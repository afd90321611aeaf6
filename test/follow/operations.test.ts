import { chmodSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, onTestFinished, test, vi } from 'vitest';
import { realEffects } from '../../src/core/effects.ts';
import type { Waiting } from '../../src/follow/follow-event.ts';
import type { FollowFigures } from '../../src/follow/follow-status.ts';
import { Health } from '../../src/resident/health.ts';
import { startSandbox } from '../../src/sandbox/index.ts';
import { startTonlake, tonlake } from '../cli.ts';
import { freshFolder } from '../scratch.ts';

test('the command follows until SIGTERM, serves metrics and health, and tells systemd', async () => {
  const sandbox = await startSandbox({ blocks: 1000, blockMs: 200 });
  onTestFinished(() => sandbox.close());
  const folder = freshFolder();
  const messages = join(folder, 'messages');
  writeFileSync(join(folder, 'systemd-notify'), `#!/bin/sh\necho "$@" >> ${messages}\n`);
  chmodSync(join(folder, 'systemd-notify'), 0o755);
  const warehouse = join(folder, 'w');
  const following = startTonlake(
    [
      ...['follow', '--network', sandbox.url, '--warehouse', warehouse, '--lag', '2s', '--json'],
      ...['--metrics', '127.0.0.1:0'],
    ],
    { env: { PATH: `${folder}:${process.env['PATH']}`, NOTIFY_SOCKET: join(folder, 'none'), WATCHDOG_USEC: '400000' } },
  );
  await following.until('stderr', /metrics at .*\/metrics\n/);
  await following.until('stdout', /("event":"lag"[\s\S]*){2}/);
  await vi.waitUntil(() => /WATCHDOG=1 STATUS=block 1\d+, lag/.test(readFileSync(messages, 'utf8')), {
    timeout: 200_000,
  });
  following.kill('SIGTERM');
  const { code, stdout, stderr } = await following.finished;
  expect({ code, last: JSON.parse(stdout.trim().split('\n').at(-1) ?? '').event }).toEqual({ code: 130, last: 'done' });
  expect(stderr).toContain('interrupted: committed rows are kept');
  expect(readFileSync(messages, 'utf8')).toMatch(/^READY=1 STATUS=[\s\S]*STOPPING=1\n$/);
  const status = await tonlake(['status', '--warehouse', warehouse]);
  expect(status.stdout).toMatch(/^newest block 1\d\d\d, 2026-05-0\dT\d\d:\d\d:\d\dZ, .* ago$/m);
});

test('a cadence for a table that grows with the chain, and a lag below a second, are refused', async () => {
  const follow = (...args: readonly string[]) => tonlake(['follow', '--network', 'sandbox', ...args]);
  expect(await follow('--refresh', 'transactions=1h')).toMatchObject({
    code: 2,
    stderr: expect.stringContaining('expected a changing list with --refresh, got transactions'),
  });
  expect(await follow('--lag', '500ms')).toMatchObject({ code: 2 });
  expect(await follow('47670000')).toMatchObject({ code: 2, stderr: expect.stringContaining('ranges need --from') });
});

const FIGURES: FollowFigures = {
  ...{ head: 1010, block: 1000, seconds: 4, holes: 2, oldestHole: 990, silentMs: 0, rps: 10 },
  ...{ files: 12, quarantined: 1, requests: { answered: 40, 'rate-limited': 2 }, requestsPerSecond: 2.5 },
  martLags: { accounts: 31 },
};

test('health is bad above the bound of the lag, before anything is proven, and when nothing happens any more', () => {
  const stateOf = (change: Partial<FollowFigures>) => {
    const health = new Health(realEffects, 5_000);
    expect(health.read()).toMatchObject({ status: 'starting', maxLagSeconds: 5, jobs: [] });
    health.open({ network: 'testnet', read: () => ({ ...FIGURES, ...change }) });
    return health.read().status;
  };
  expect(stateOf({})).toBe('ok');
  expect(stateOf({ seconds: 5.001 })).toBe('behind');
  expect(stateOf({ seconds: undefined, block: undefined })).toBe('starting');
  expect(stateOf({ silentMs: 600_001 })).toBe('hanging');
});

test('health names what the head waits for, also after the backfill has resumed', () => {
  const health = new Health(realEffects, 5_000);
  const wait = (of: Waiting, message: string) =>
    health.see({ event: 'waiting', of, code: 'gateway-error', message, seconds: 1 });
  const resume = (of: Waiting) => health.see({ event: 'resumed', of, code: 'gateway-error', seconds: 9 });
  const waiting = () => health.read().waiting;
  wait('head', 'source head: 502');
  wait('backfill', 'source blocks: 502');
  expect(waiting()).toBe('source blocks: 502');
  resume('backfill');
  expect(waiting()).toBe('source head: 502');
  wait('head', 'source head: 503');
  resume('head');
  expect(waiting()).toBeUndefined();
});

test('a job whose step takes hours does not make a head unhealthy that goes on', () => {
  let now = 0;
  const clock = { monotonic: () => now };
  const begin = { event: 'begin', job: 'nightly', due: '2026-05-04T03:15:00.000Z', trigger: 'schedule' } as const;
  const [beside, alone] = [new Health(clock, 5_000), new Health(clock)];
  beside.open({ network: 'testnet', read: () => FIGURES });
  for (const health of [beside, alone]) health.see(begin);
  now = 3_660_000;
  expect([beside.read().status, alone.read().status]).toEqual(['ok', 'hanging']);
  expect(beside.silence()).toEqual(new Map([['nightly', now]]));
});

test('metrics show the figures as they are when somebody asks', async () => {
  const { Metrics } = await import('../../src/resident/metrics.ts');
  const health = new Health(realEffects, 5_000);
  const metrics = new Metrics(health, { head: true, jobs: [] });
  let figures = FIGURES;
  health.open({ network: 'testnet', read: () => figures });
  metrics.see({ event: 'span', pipeline: 'blocks', from: 1, to: 2, rows: {} });
  metrics.see({ event: 'merge-failed', message: 'damaged' });
  metrics.see({ event: 'mart-failed', mart: 'accounts', message: 'no such column' });
  const lines = async () => (await metrics.text()).split('\n').filter((line) => line.startsWith('tonlake_'));
  expect(await lines()).toEqual([
    'tonlake_follow_lag_seconds 4',
    'tonlake_follow_lag_blocks 10',
    'tonlake_follow_head_block 1010',
    'tonlake_follow_proven_block 1000',
    'tonlake_follow_missing_blocks 2',
    'tonlake_follow_oldest_hole_block 990',
    'tonlake_follow_files 12',
    'tonlake_follow_quarantined_records 1',
    'tonlake_follow_rate_limit_rps 10',
    'tonlake_follow_rate_limit_used_ratio 0.25',
    'tonlake_follow_progress_age_seconds 0',
    'tonlake_follow_requests_total{outcome="answered"} 40',
    'tonlake_follow_requests_total{outcome="rate-limited"} 2',
    'tonlake_follow_commits_total{pipeline="blocks"} 1',
    'tonlake_follow_merges_total{result="failed"} 1',
    'tonlake_follow_mart_builds_total{mart="accounts",result="failed"} 1',
    'tonlake_follow_mart_lag_seconds{mart="accounts"} 31',
  ]);
  figures = { ...FIGURES, seconds: 9, oldestHole: undefined };
  const later = await lines();
  expect(later).toContain('tonlake_follow_lag_seconds 9');
  expect(later.join()).not.toContain('oldest_hole');
});
