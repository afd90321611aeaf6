import { join } from 'node:path';
import { expect, test } from 'vitest';
import { startTonlake, tonlake } from '../cli.ts';
import { NO_FAULTS } from '../faults/faults.ts';
import { startTestSandbox } from '../faults/test-sandbox.ts';
import { freshFolder } from '../scratch.ts';

test.each([
  // The newest block of the sandbox is 10000.
  [':+2', '10001:10002'],
  ['9999:+3', '9999:+3'],
])('after an incomplete run of %s, the suggested command names %s', async (range, named) => {
  const words = ['run', 'blocks', '-n', 'sandbox', '-r', range, '--wait', '0', '-w', join(freshFolder(), 'w')];
  const { code, stdout } = await tonlake(words);
  expect(code).toBe(1);
  expect(stdout).toMatch(/^incomplete: /);
  expect(stdout).toContain(` --range ${named} `);
  expect(stdout).toContain(' fetches the rest\n');
});

test.each([
  ['-60:', ' with --range 9941:10000'],
  ['9941:10000', ''],
])('an interrupted run of %s is continued by the same command%s', async (range, change) => {
  const sandbox = await startTestSandbox();
  sandbox.setFaults({ ...NO_FAULTS, slow: 1, slowMs: 40 });
  const path = join(freshFolder(), 'w');
  const words = ['run', '--network', sandbox.url, '--range', range, '--warehouse', path, '--walk', 'masterchain'];
  const run = startTonlake([...words, '--json', '--concurrency', '4']);
  await run.until('stdout', /"event":"start","pipeline":"transactions"/);
  run.kill('SIGINT');
  const { code, stderr } = await run.finished;
  expect(code).toBe(130);
  expect(stderr).toContain(`run the same command again${change} to continue\n`);
});

test.each([
  ['-5:', ' without --from'],
  ['9990', ''],
])('following from %s is continued by following again%s', async (from, change) => {
  const words = ['follow', 'blocks', '-n', 'sandbox', '--from', from, '-w', join(freshFolder(), 'w'), '--json'];
  const following = startTonlake(words);
  await following.until('stdout', /"event":"span"/);
  following.kill('SIGINT');
  const { stderr } = await following.finished;
  expect(stderr).toContain(`interrupted: committed rows are kept; follow again${change} to continue\n`);
});
