import { join } from 'node:path';
import { expect, test } from 'vitest';
import type { PipelineStatus } from '../../src/warehouse/query/status.ts';
import { formatSummary } from '../../src/warehouse/query/status-summary.ts';
import { tonlake } from '../cli.ts';
import { freshFolder } from '../scratch.ts';

test('status begins with what is missing, and has a line for each pipeline; one that is named is told whole', async () => {
  const path = join(freshFolder(), 'w');
  const run = (...args: readonly string[]) => tonlake(['run', ...args, '-n', 'sandbox', '-w', path]);
  expect(await run('blocks', '-r', '1000:1005')).toMatchObject({ code: 0 });
  expect(await run('transactions', '-r', '1000:1001')).toMatchObject({ code: 0 });
  expect(await run('transactions', '-r', '1004:1005')).toMatchObject({ code: 0 });
  const status = (...args: readonly string[]) => tonlake(['status', ...args, '-w', path]);
  const { stdout: summary } = await status();
  expect(summary).toMatch(
    /^sandbox in .*\nnewest block 1005, 2026-05-01T23:33:22Z, .* ago\n\nmissing +transactions +1002:1003 \(not exported\)\n/,
  );
  expect(summary).not.toContain('nothing is missing');
  expect(summary.match(/^blocks .*$/gm)).toEqual([expect.stringMatching(/^blocks +1000:1005 +\d+ +\d+ \(/)]);
  expect(summary.match(/^transactions .*$/gm)).toEqual([
    expect.stringMatching(/ 1000:1001,1004:1005 +[\d,]+ \(3 tables\) +6 \(/),
  ]);

  const { stdout: one } = await status('transactions');
  expect(one).toContain('\n  unproven     nothing\n  missing      1002:1003 (not exported)\n');
  expect(one).not.toMatch(/^blocks$/m);
  const { stdout: long } = await status('--long');
  expect(long).toMatch(/^blocks$/m);
  expect(long).toContain('\n  missing      1002:1003 (not exported)\n');
  const namesIn = (json: string) => JSON.parse(json).pipelines.map((each: PipelineStatus) => each.pipeline);
  expect(namesIn((await status('--json')).stdout)).toEqual(['blocks', 'transactions']);
  expect(namesIn((await status('blocks', '--json')).stdout)).toEqual(['blocks']);
  await tonlake(['build', 'transactions_daily', '-w', path]);
  const { stdout: mart } = await status('transactions_daily');
  expect(mart).toMatch(/\nmarts\n {2}transactions_daily: 1 row/);
  expect(mart).not.toContain('nothing is committed');
  const { code, stderr } = await status('block');
  expect({ code, stderr }).toEqual({
    code: 2,
    stderr: expect.stringContaining('got block; hint: did you mean blocks?'),
  });
});

test('transactions are missing where only headers are, once there are any; headers alone are complete', async () => {
  const path = join(freshFolder(), 'w');
  const run = (...args: readonly string[]) => tonlake(['run', ...args, '-n', 'sandbox', '-w', path]);
  const status = async () => {
    const { stdout: text } = await tonlake(['status', '-w', path]);
    const { stdout: long } = await tonlake(['status', '--long', '-w', path]);
    const { pipelines } = JSON.parse((await tonlake(['status', '--json', '-w', path])).stdout);
    const found = pipelines.find(({ pipeline }: PipelineStatus) => pipeline === 'transactions');
    return { text, long, missing: found?.missing };
  };
  expect(await run('blocks', '-r', '1000:1020')).toMatchObject({ code: 0 });
  const before = await status();
  expect(before.text).toContain('nothing is missing');
  expect(before.long).not.toContain('transactions');
  expect(before.missing).toBeUndefined();
  expect(await run('transactions', '-r', '1005:1009')).toMatchObject({ code: 0 });
  const after = await status();
  expect(after.text).toMatch(/^missing +transactions +1000:1004,1010:1020 \(not exported\)$/m);
  expect(after.long).toContain('\n  missing      1000:1004,1010:1020 (not exported)\n');
  const spans = [
    { from: 1000, to: 1004 },
    { from: 1010, to: 1020 },
  ];
  expect(after.missing).toEqual([{ why: 'not exported', spans }]);
  const { stderr } = await tonlake(['sql', 'select count(*) from transactions', '-w', path]);
  expect(stderr).toContain('missing 1000:1004,1010:1020');
});

test('a mart that lacks newer commits of what it reads is stale', async () => {
  const path = join(freshFolder(), 'w');
  const run = (range: string) => tonlake(['run', 'transactions', '-r', range, '-n', 'sandbox', '-w', path]);
  const build = () => tonlake(['build', 'accounts', '-w', path]);
  const status = async () => (await tonlake(['status', '-w', path])).stdout;
  expect(await run('1000:1005')).toMatchObject({ code: 0 });
  expect(await build()).toMatchObject({ code: 0 });
  expect(await status()).not.toMatch(/^stale/m);
  const { stdout: own } = await tonlake(['status', 'accounts', '-w', path]);
  expect(own).toMatch(/^ {2}accounts: [\d,]+ rows; current$/m);
  expect(await run('1006:1008')).toMatchObject({ code: 0 });
  expect(await status()).toMatch(/^stale +accounts +built 1 commit ago: \S*tonlake.* build/m);
  expect(await build()).toMatchObject({ code: 0 });
  expect(await status()).not.toMatch(/^stale/m);
});

test('a summary of many pipelines is short: spans are counted, and names that are alike share a line', () => {
  const spans = Array.from({ length: 1000 }, (_, i) => ({ from: 10 * i, to: 10 * i + 4 }));
  const span = { from: 1, to: 9 };
  const sound = (pipeline: string): PipelineStatus => ({
    ...{
      pipeline,
      proven: [span],
      unproven: [],
      missing: [],
      blocks: 9,
      rows: { a: 1, b: 2 },
    },
    ...{ files: 2, bytes: 1000, commits: 1, leftOut: [], days: [], lastCommit: '2026-05-01T00:00:00.000Z' },
  });
  const unproven = [{ why: 'compared with nothing', spans: [span] }] as const;
  const pipelines = Array.from({ length: 40 }, (_, i) => ({
    ...sound(`p${i}`),
    ...(i > 0 ? { proven: [], unproven } : {}),
  }));
  const missing = (['not exported', 'quarantined'] as const).map((why) => ({ why, spans }));
  const open = { ...sound('open'), proven: spans, missing };
  const mart = {
    rows: 1,
    days: 1,
    lacking: ['2026-05-01'],
    files: 1,
    bytes: 9,
    lastCommit: '2026-05-01',
    behind: undefined,
  };
  const marts = [
    { mart: 'one', ...mart },
    { mart: 'two', ...mart },
    { mart: 'three', ...mart },
    { mart: 'four', ...mart },
  ];
  const place = { network: 'sandbox', warehouse: '/w', store: 'parquet', newest: undefined } as const;
  const now = Date.parse('2026-05-03T12:00:00Z');
  const lines = formatSummary({ ...place, quarantined: 2, pipelines: [...pipelines, open], marts }, now).split('\n');
  const end = lines.indexOf('', 2);
  expect(lines.slice(0, end)).toEqual([
    'sandbox in /w (parquet)',
    '',
    'missing      open                 0:4,10:14,20:24 and 997 more (not exported), 0:4,10:14,20:24 and 997 more (quarantined)',
    'missing      one, two and 2 more  part of 2026-05-01',
    'quarantined  2 records in quarantine: tonlake sql "select * from quarantine"',
    'unproven     p1, p2 and 37 more   1:9 (compared with nothing)',
  ]);
  expect(lines.slice(end)).toHaveLength(2 + 41 + 4 + 4);
  expect(Math.max(...lines.slice(end).map((line) => line.length))).toBeLessThan(120);
  expect(lines.filter((line) => line.startsWith('p7 '))).toEqual([expect.stringMatching(/ {2}2 d ago$/)]);
});
