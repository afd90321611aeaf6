import { readFileSync } from 'node:fs';
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { JobHistory } from '../../src/jobs/run-history.ts';
import { startSandbox } from '../../src/sandbox/index.ts';
import { startTonlake, tonlake } from '../cli.ts';
import { query } from '../e2e/export.ts';
import { freePort } from '../free-port.ts';
import { freshFolder } from '../scratch.ts';

const job = (network: string, more = '') => `network: ${network}
warehouse: w
pipelines: [transactions]
range: "980:1000"
marts: [transactions_daily]
checks: [unique_keys]
compact: true
schedule: {cron: "15 3 * * *", catch_up: 1}
exports:
  - {query: 'select count(distinct mc_block_seqno)::int as blocks from transactions where mc_block_seqno < 1000', output: out/count.json}
${more}`;

/** A folder with a job whose last night was missed. */
async function missedNight(text: string) {
  const folder = freshFolder();
  await mkdir(join(folder, 'jobs'));
  await writeFile(join(folder, 'jobs', 'nightly.yaml'), text);
  const history = await JobHistory.open(join(folder, 'w'), 'nightly');
  await mkdir(history.folder, { recursive: true });
  const since = new Date(Date.now() - 30 * 3_600_000).toISOString();
  await writeFile(join(history.folder, 'schedule.json'), JSON.stringify({ since }));
  return { folder, history };
}

test('a nightly job exports, builds marts, checks and publishes beside a followed head, in its local warehouse', async () => {
  const sandbox = await startSandbox({ blocks: 1000, blockMs: 200 });
  onTestFinished(() => sandbox.close());
  const { folder } = await missedNight(job(sandbox.url));
  const address = `127.0.0.1:${await freePort()}`;
  const following = startTonlake(
    [
      ...['follow', '--network', sandbox.url, '--warehouse', 'w', '--from', '990:', '--lag', '1s'],
      ...['--max-lag', '5m', '--jobs', 'jobs', '--json', '--metrics', address],
    ],
    { cwd: folder },
  );
  await following.until('stdout', /"event":"end"/);
  const health: unknown = await (await fetch(`http://${address}/healthz`)).json();
  expect(health).toMatchObject({ status: 'ok', block: expect.any(Number), jobs: [{ job: 'nightly', last: 'done' }] });
  const metrics = await (await fetch(`http://${address}/metrics`)).text();
  expect(metrics).toMatch(/^tonlake_job_runs_total\{job="nightly",result="done"\} 1$/m);
  expect(metrics).toMatch(/^tonlake_follow_lag_seconds \d/m);
  await following.until('stdout', /"event":"end"[\s\S]*"event":"lag"[\s\S]*"event":"lag"/);
  following.kill('SIGTERM');
  const { code, stdout } = await following.finished;
  expect(code).toBe(130);
  const end = stdout.split('\n').find((line) => line.includes('"event":"end"'));
  expect(JSON.parse(end ?? '')).toMatchObject({ record: { state: 'done', range: { blocks: '980:1000' } } });
  expect(readFileSync(join(folder, 'out', 'count.json'), 'utf8')).toContain('{"blocks":20}');
  const verified = await tonlake(['verify', '--warehouse', join(folder, 'w')]);
  expect(verified.stderr + verified.stdout).toMatch(/proven/);
  expect(verified.code).toBe(0);
});

test('the head and a job that export the same blocks commit each of them once', async () => {
  const sandbox = await startSandbox({ blocks: 1000, blockMs: 100 });
  onTestFinished(() => sandbox.close());
  const text = job(sandbox.url).replace('"980:1000"', 'since last run\nstart: 900');
  const { folder } = await missedNight(text);
  const following = startTonlake(
    [
      'follow',
      '--network',
      sandbox.url,
      '--warehouse',
      'w',
      '--from',
      '900:',
      '--lag',
      '1s',
      '--jobs',
      'jobs',
      '--json',
    ],
    { cwd: folder },
  );
  await following.until('stdout', /"event":"end"[\s\S]*"event":"lag"/);
  following.kill('SIGTERM');
  expect((await following.finished).code).toBe(130);
  const twice = 'SELECT count(*) - count(DISTINCT (account, lt)) AS twice FROM transactions';
  expect(await query(join(folder, 'w'), twice)).toEqual([['0']]);
  expect((await tonlake(['verify', '--warehouse', join(folder, 'w')])).code).toBe(0);
});

test('a job beside a followed DuckDB file, which nobody can read meanwhile, is refused at the start', async () => {
  const { folder } = await missedNight(job('sandbox').replace('warehouse: w', 'warehouse: w.duckdb'));
  const { code, stderr } = await tonlake(
    ['follow', '--network', 'sandbox', '--warehouse', 'w.duckdb', '--jobs', 'jobs'],
    { cwd: folder },
  );
  expect([code, stderr]).toEqual([
    2,
    expect.stringContaining('usage: expected jobs of other warehouses than the followed DuckDB file'),
  ]);
});
