import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { beforeAll, describe, expect, test } from 'vitest';
import { startTonlake, tonlake } from '../cli.ts';
import { startTestSandbox } from '../faults/test-sandbox.ts';
import { freePort } from '../free-port.ts';
import { freshFolder } from '../scratch.ts';

/** A job of 20 blocks, whose outputs lie in `out`. */
const JOB = `network: sandbox
warehouse: w
pipelines: [blocks]
range: "1000:1019"
exports:
  - {table: blocks, output: out/blocks.parquet}
  - {query: 'select count(*)::int as blocks, $from::int as first, $to::int as last from blocks', output: out/count.json}
  - {query: 'select workchain, count(*) as blocks from blocks group by all order by all', output: 'out/{job}.csv'}
`;

function folderWith(jobs: Readonly<Record<string, string>>): string {
  const folder = freshFolder();
  for (const [name, text] of Object.entries(jobs)) writeFileSync(join(folder, name), text);
  return folder;
}

const outcomeOf = (stdout: string): Readonly<Record<string, unknown>> =>
  JSON.parse(stdout.trim().split('\n').at(-1) ?? '');

describe('tonlake job', () => {
  let cwd: string;

  beforeAll(async () => {
    cwd = folderWith({ 'nightly.yaml': JOB });
    const { code, stdout } = await tonlake(['job', 'run', 'nightly.yaml'], { cwd });
    expect(stdout).toBe(
      'done: nightly (1000:1019) on sandbox\n  out/blocks.parquet\n  out/count.json\n  out/nightly.csv\n',
    );
    expect(code).toBe(0);
  });

  test('run writes its outputs and nothing else beside them', () => {
    expect(readdirSync(join(cwd, 'out')).sort()).toEqual(['blocks.parquet', 'count.json', 'nightly.csv']);
    const [{ blocks, first, last }] = JSON.parse(readFileSync(join(cwd, 'out/count.json'), 'utf8'));
    expect({ first, last }).toEqual({ first: 1000, last: 1019 });
    expect(blocks).toBeGreaterThan(40);
    expect(readFileSync(join(cwd, 'out/nightly.csv'), 'utf8')).toMatch(/^workchain,blocks\n-1,20\n0,\d+\n$/);
  });

  test('log --since tells a plain cron whether a run has ended well lately', async () => {
    const { code, stdout } = await tonlake(['job', 'log', 'nightly.yaml', '--since', '1h'], { cwd });
    expect([code, stdout]).toEqual([0, expect.stringMatching(/^done: nightly /)]);
    const late = await tonlake(['job', 'log', 'nightly.yaml', '--since', '1ms'], { cwd });
    expect([late.code, late.stderr]).toEqual([
      1,
      expect.stringMatching(
        /^error: job nightly: expected a run that ended well since \S+, got the last one at \S+; hint: tonlake job list/,
      ),
    ]);
    writeFileSync(join(cwd, 'never.yaml'), JOB);
    const never = await tonlake(['job', 'log', 'never.yaml', '--since', '24h'], { cwd });
    expect([never.code, never.stderr]).toEqual([1, expect.stringContaining('got none at all')]);
  });

  test('run once more asks for nothing and writes the same', async () => {
    const before = readFileSync(join(cwd, 'out/blocks.parquet'));
    const { code, stdout } = await tonlake(['job', 'run', 'nightly.yaml', '--json'], { cwd });
    expect(code).toBe(0);
    const { state, steps } = outcomeOf(stdout);
    expect(state).toBe('done');
    expect(steps).toContainEqual(expect.objectContaining({ kind: 'export', requests: 0, rows: { blocks: 0 } }));
    expect(readFileSync(join(cwd, 'out/blocks.parquet')).equals(before)).toBe(true);
  });

  test('list tells what a job does and its runs, as a table and as JSON with every step', async () => {
    const table = await tonlake(['job', 'list', 'nightly.yaml'], { cwd });
    expect(table.stdout).toContain('ok: nightly (nightly.yaml)');
    expect(table.stdout).toContain('outputs    out/blocks.parquet, out/count.json, out/{job}.csv');
    expect(table.stdout).toMatch(/done +│ 1000:1019/);
    const log = await tonlake(['job', 'log', 'nightly.yaml'], { cwd });
    expect(log.stdout.split('\n').at(-2)).toMatch(/^2\S+Z done$/);
    const { stdout } = await tonlake(['job', 'list', 'nightly.yaml', '--json', '--limit', '1'], { cwd });
    expect(stdout.split('\n')).toHaveLength(2);
    expect(JSON.parse(stdout).runs).toMatchObject([{ job: 'nightly', state: 'done', range: { from: 1000, to: 1019 } }]);
  });

  test('list of a folder has a line for each job', async () => {
    const list = await tonlake(['job', 'list', '.', '--json'], { cwd });
    expect(outcomeOf(list.stdout)).toMatchObject({ name: 'nightly', network: 'sandbox', lastRun: { state: 'done' } });
    const table = await tonlake(['job', 'list', '.'], { cwd });
    expect(table.stdout).toMatch(/nightly +│ sandbox .* done /);
  });

  test('a query that the data refuse fails the job, tells why and where in one line, and leaves the outputs', async () => {
    const before = readFileSync(join(cwd, 'out/count.json'), 'utf8');
    writeFileSync(join(cwd, 'nightly.yaml'), JOB.replace('select workchain', 'select shard::tinyint'));
    const { code, stdout, stderr } = await tonlake(['job', 'run', 'nightly.yaml'], { cwd });
    expect(stderr).toMatch(/\nerror: store: query: Conversion Error: [^\n]* \(nightly.yaml:8\)\n$/);
    expect(stdout).toBe('failed: nightly (1000:1019) on sandbox\n');
    expect(code).toBe(1);
    expect(readFileSync(join(cwd, 'out/count.json'), 'utf8')).toBe(before);
    expect(readdirSync(join(cwd, 'out'))).toHaveLength(3);
    writeFileSync(join(cwd, 'nightly.yaml'), JOB);
  });

  test.each([
    {
      args: ['job', 'run', 'nowhere.yaml'],
      says: /expected a job file, cannot read nowhere.yaml; hint: tonlake job list/,
    },
    { args: ['job', 'run'], says: /missing required argument 'file'/ },
    { args: ['job', 'rnu'], says: /unknown command 'rnu'; hint: did you mean run\?/ },
    {
      args: ['job', 'run', 'nightly.yaml', '--at', 'monday'],
      says: /expected a time with a zone, got "monday"; hint: --at/,
    },
    { args: ['job', 'run', 'nightly.yaml', '--at', '2026-05-04T03:15'], says: /expected a time with a zone/ },
    {
      args: ['job', 'run', 'nightly.yaml', '--at', '2026-02-31'],
      says: /expected a time with a zone, got "2026-02-31"/,
    },
    { args: ['job', 'list', 'out'], says: /expected job files, there are none in out/ },
    { args: ['job', 'list', 'nightly.yaml', '--limit', '0'], says: /whole number/ },
    {
      args: ['job', 'log', 'nightly.yaml', '20200101T000000Z'],
      says: /expected a run of nightly, got 20200101T000000Z/,
    },
    { args: ['job', 'schedule', 'nightly.yaml'], says: /expected jobs with a schedule, got none/ },
    { args: ['job', 'schedule', 'nowhere'], says: /expected job files, cannot read nowhere/ },
    { args: ['job', 'schedule', 'nightly.yaml', '--metrics', '0.0.0.0:9464'], says: /expected a loopback address/ },
    { args: ['job', 'schedule', 'nightly.yaml', '--drain', 'x'], says: /at least 0/ },
  ])('$args is refused in one line with exit code 2', async ({ args, says }) => {
    const { code, stdout, stderr } = await tonlake(args, { cwd });
    expect(stderr).toMatch(/^error: usage[^\n]*; hint: [^\n]+\n$/);
    expect(stderr).toMatch(says);
    expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
  });

  test('a fault in the file is told with line and column, and the warehouse is not touched', async () => {
    const folder = folderWith({ 'bad.yaml': JOB.replace('[blocks]', '[blcks]') });
    const { code, stderr } = await tonlake(['job', 'run', 'bad.yaml'], { cwd: folder });
    expect(stderr).toMatch(
      /^error: usage: expected a pipeline, got "blcks" \(bad.yaml:3:13\); hint: did you mean blocks\?[^\n]*\n$/,
    );
    expect(code).toBe(2);
    expect(existsSync(join(folder, 'w'))).toBe(false);
  });
});

test.each([
  ['job', 'run'],
  ['job', 'list'],
  ['job', 'schedule'],
])('%s %s refuses a query that cannot be answered before anything is asked or written', async (...command) => {
  const schedule = "schedule: {cron: '15 3 * * *'}\n";
  const cwd = folderWith({ 'bad.yaml': `${JOB.replace('as last from blocks', 'as last from blcks')}${schedule}` });
  const { code, stdout, stderr } = await tonlake([...command, 'bad.yaml'], { cwd });
  expect({ code, stdout, stderr }).toEqual({
    ...{ code: 2, stdout: '' },
    stderr: 'error: usage: expected a table or mart, got blcks (bad.yaml:7); hint: did you mean blocks?\n',
  });
  expect(readdirSync(cwd)).toEqual(['bad.yaml']);
});

test('words for days are those of the blocks, also where the warehouse holds no headers', async () => {
  const text = `network: sandbox
warehouse: w
pipelines: [top_accounts]
range: "4990:5010"
exports:
  - {query: 'select $first_date as first, $date as last, count(*) > 0 as is_there from top_accounts', output: 'o-{first_date}-{date}.json'}
`;
  const cwd = folderWith({ 'top.yaml': text });
  const { stdout, stderr } = await tonlake(['job', 'run', 'top.yaml'], { cwd });
  expect(stdout, stderr).toBe('done: top (4990:5010) on sandbox\n  o-2026-05-01-2026-05-02.json\n');
  expect(JSON.parse(readFileSync(join(cwd, 'o-2026-05-01-2026-05-02.json'), 'utf8'))).toEqual([
    { first: '2026-05-01', last: '2026-05-02', is_there: true },
  ]);
});

test('a day that the index has not passed is not taken', async () => {
  const cwd = folderWith({ 'day.yaml': JOB.replace('"1000:1019"', '2026-05-02') });
  const { code, stdout, stderr } = await tonlake(['job', 'run', 'day.yaml'], { cwd });
  expect(stderr).toMatch(
    /\nerror: walk: expected the index to be past the end of 2026-05-02 \(UTC\)[^\n]*; hint: [^\n]*\n$/,
  );
  expect({ code, stdout }).toEqual({ code: 1, stdout: 'failed: day on sandbox\n' });
  expect(existsSync(join(cwd, 'out'))).toBe(false);
});

test('Ctrl-C ends a job after the span in hand, and the same command goes on', async () => {
  const sandbox = await startTestSandbox({ blocks: 2000, faults: { slow: 1, slowMs: 100 } });
  const cwd = folderWith({ 'slow.yaml': JOB.replace('sandbox', sandbox.url).replace('[blocks]', '[transactions]') });
  // Always due at the same time, so that the second run is the first one, also across midnight.
  const args = ['job', 'run', 'slow.yaml', '--at', '2026-05-04T03:15:00Z'];
  const run = startTonlake(args, { cwd });
  await run.until('stderr', /transactions: fetching/);
  run.kill('SIGINT');
  expect(await run.finished).toMatchObject({ code: 130, stdout: expect.stringMatching(/^interrupted: slow /) });
  expect(existsSync(join(cwd, 'out'))).toBe(false);
  const again = await tonlake(args, { cwd });
  await sandbox.close();
  expect(again.stderr).toContain('slow: resuming the run of 2026-05-04T03:15:00.000Z\n');
  expect(again).toMatchObject({
    code: 0,
    stdout: expect.stringMatching(/^done: slow \(1000:1019\) on \S+, attempt 2\n/),
  });
});

test('a failed job tells by command and by webhook', async () => {
  const bodies: string[] = [];
  const server = createServer((request, response) => {
    let body = '';
    request.on('data', (chunk) => {
      body += String(chunk);
    });
    request.on('end', () => {
      bodies.push(body);
      response.writeHead(bodies.length === 1 ? 204 : 500).end();
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  const notify = `notify:
  - {command: [node, -e, 'process.stdin.pipe(fs.createWriteStream("told.json"))']}
  - {webhook: 'http://127.0.0.1:${port}/secret'}
  - {webhook_env: TOLD}
  - {command: [no-such-program]}
`;
  const cwd = folderWith({ 'bad.yaml': `${JOB.replace('count(*)::int', 'min(shard)::tinyint')}${notify}` });
  const env = { TOLD: `http://127.0.0.1:${port}/other` };
  const { code, stderr } = await tonlake(['job', 'run', 'bad.yaml'], { cwd, env });
  server.close();
  expect(code).toBe(1);
  const told = {
    job: 'bad',
    state: 'failed',
    outputs: [],
    text: expect.stringContaining('bad failed: 1000:1019: store: query'),
  };
  expect(JSON.parse(readFileSync(join(cwd, 'told.json'), 'utf8'))).toMatchObject(told);
  expect(JSON.parse(bodies[0] ?? '')).toMatchObject(told);
  expect(stderr).toContain(
    `warning: notify webhook of TOLD: failed, job: notification failed: 127.0.0.1:${port} answered 500`,
  );
  expect(stderr).toMatch(/warning: notify no-such-program: failed, [^\n]*cannot be started/);
  expect(stderr).not.toContain('/secret');
});

describe('tonlake job schedule', () => {
  test('refuses metrics of jobs with the same name, also on different warehouses', async () => {
    const job = (warehouse: string): string =>
      `${JOB.replace(/^warehouse: .*$/m, `warehouse: ${warehouse}`)}schedule: {cron: '15 3 * * *'}\n`;
    const cwd = folderWith({ 'nightly.yaml': job('w1') });
    mkdirSync(join(cwd, 'other'));
    writeFileSync(join(cwd, 'other/nightly.yaml'), job('w2'));
    const args = [
      'job',
      'schedule',
      'nightly.yaml',
      'other/nightly.yaml',
      '--metrics',
      `127.0.0.1:${await freePort()}`,
    ];
    const { code, stderr } = await tonlake(args, { cwd });
    expect(stderr).toContain(
      'expected jobs of different names, got nightly.yaml and other/nightly.yaml; hint: their metrics would be the same',
    );
    expect(code).toBe(2);
  });

  test('makes up for a missed run, serves metrics, refuses a second schedule, and drains on SIGTERM', async () => {
    const schedule = "schedule: {cron: '15 3 * * *', catch_up: 1}\n";
    const cwd = folderWith({ 'nightly.yaml': `${JOB}${schedule}`, 'other.yaml': JOB });
    const jobs = join(cwd, 'w/_jobs/nightly');
    mkdirSync(jobs, { recursive: true });
    const since = new Date(Date.now() - 3 * 86_400_000).toISOString();
    writeFileSync(join(jobs, 'schedule.json'), JSON.stringify({ since }));
    const address = `127.0.0.1:${await freePort()}`;
    const run = startTonlake(['job', 'schedule', '.', '--metrics', address], { cwd });
    await run.until('stdout', /nightly: 1 missed run to catch up, older ones are dropped\n/);
    await run.until('stdout', /done: nightly \(1000:1019\) on sandbox\n(.*\n)*nightly: next/);
    const metrics = await (await fetch(`http://${address}/metrics`)).text();
    expect(metrics).toContain('tonlake_job_runs_total{job="nightly",result="done"} 1\n');
    expect(metrics).toMatch(/^tonlake_job_last_success_timestamp_seconds\{job="nightly"\} \d+/m);
    const health = await fetch(`http://${address}/healthz`);
    expect(health.status).toBe(200);
    expect(await health.json()).toMatchObject({
      status: 'ok',
      jobs: [{ job: 'nightly', running: false, last: 'done' }],
    });
    expect((await fetch(`http://${address}/`)).status).toBe(404);

    const second = await tonlake(['job', 'schedule', 'nightly.yaml'], { cwd });
    expect(second).toMatchObject({
      code: 1,
      stderr: expect.stringMatching(
        /^error: store: warehouse \S+\/w is scheduled already by process \d+ since [^\n]*\n$/,
      ),
    });

    run.kill('SIGTERM');
    const { code, stdout } = await run.finished;
    expect(stdout).toMatch(/draining: .*\n$/);
    expect(code).toBe(0);
  });
});

test('a step that builds a mart tells of it what `build` tells', async () => {
  const cwd = freshFolder();
  const without = ['--without-column', 'transactions.total_fees'];
  await tonlake(['run', 'transactions', '-n', 'sandbox', '-r', '5000:5002', '-w', 'w'], { cwd });
  await tonlake(['run', 'transactions', '-n', 'sandbox', '-r', '5003:5004', '-w', 'w', ...without], { cwd });
  writeFileSync(join(cwd, 'fees.yaml'), 'network: sandbox\nwarehouse: w\nmarts: [gas_fees_daily]\n');
  await tonlake(['job', 'run', 'fees.yaml'], { cwd });
  const job = await tonlake(['job', 'run', 'fees.yaml'], { cwd });
  const build = await tonlake(['build', 'gas_fees_daily', '-w', 'w'], { cwd });
  const [, notes] = /^gas_fees_daily: unchanged, \d rows; (.*)$/m.exec(build.stdout) ?? [];
  expect(notes).toMatch(/^missing part of 2026-05-01, 2026-05-02; transactions.*total_fees/);
  expect(`${job.stdout}${job.stderr}`).toContain(`unchanged; ${notes} (`);
});
