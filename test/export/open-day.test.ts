import { join } from 'node:path';
import { expect, test } from 'vitest';
import { run } from '../../src/export/run.ts';
import { tonlake } from '../cli.ts';
import { freshFolder } from '../scratch.ts';

test('a day that is not over is not complete, unless it is wanted as far as it came', async () => {
  const folder = freshFolder();
  // The newest block of the sandbox is half an hour after midnight.
  const words = ['run', 'blocks', '-n', 'sandbox', '-r', '9999:2026-05-02', '-w', join(folder, 'w')];
  const first = await tonlake(words);
  expect(first.code).toBe(1);
  expect(first.stdout).toMatch(/^incomplete: /);
  expect(first.stdout).toContain(
    '2026-05-02 is not over: exported up to block 10000; run it again later, or accept it',
  );
  const soFar = await tonlake([...words, '--so-far']);
  expect(soFar.code).toBe(0);
  expect(soFar.stdout).toMatch(/^complete: /);
  expect(soFar.stderr).toContain('warning: 2026-05-02 is not over: exported up to block 10000\n');
  const status = await tonlake(['status', '--long', '-w', join(folder, 'w')]);
  expect(status.stdout).not.toContain('100 %');
});

test('the library tells the days that are not over', async () => {
  const options = { pipelines: ['blocks'], network: 'sandbox', range: '9999:2026-05-02' };
  const report = await run({ ...options, warehouse: join(freshFolder(), 'w') });
  expect(report).toMatchObject({ complete: false, openDays: ['2026-05-02'] });
  const soFar = await run({ ...options, soFar: true, warehouse: join(freshFolder(), 'w') });
  expect(soFar).toMatchObject({ complete: true, openDays: ['2026-05-02'] });
});

test('a block of a day is not all of it', async () => {
  const warehouse = join(freshFolder(), 'w');
  await run({ pipelines: ['transactions'], network: 'sandbox', range: '4999', warehouse });
  await run({ pipelines: ['blocks'], network: 'sandbox', range: '4999:5000', warehouse });
  const { stdout } = await tonlake(['status', '--long', '-w', warehouse]);
  expect(stdout).toContain('2026-05-01');
  // The two days of the headers, and those of the transactions, which are missing in one.
  const [headers, transactions] = stdout.split('\ntransactions\n');
  expect(headers?.match(/blocks?, half a day/g)).toHaveLength(2);
  expect(transactions?.match(/[01] blocks?, half a day/g)).toEqual(['1 block, half a day', '0 blocks, half a day']);
  expect(transactions).toContain('missing      5000 (not exported)');
});

test.each([
  ['2026-05-02T00:33:2026-05-02T00:40', '2026-05-02T00:40:00Z'],
  ['9999:2026-05', '2026-05-31'],
  ['9999:today', '2026-05-02'],
])('%s is not over at the head', async (range, open) => {
  const options = { pipelines: ['blocks'], network: 'sandbox', range, warehouse: join(freshFolder(), 'w') };
  const report = await run(options);
  expect(report).toMatchObject({ complete: false, to: 10_000, openDays: [open] });
  expect(await run({ ...options, soFar: true })).toMatchObject({ complete: true, to: 10_000 });
});
