import { spawn, spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { RunProgress } from '../../src/cli/run-progress.ts';
import { startSandbox } from '../../src/sandbox/index.ts';
import { CLI } from '../cli.ts';
import { afterFile, freshFolder } from '../scratch.ts';
import { screenOf } from './screen.ts';

const span = [{ from: 1000, to: 1099 }];
const start = (pipeline: string, records?: number) =>
  ({ event: 'start', pipeline, asked: span, missing: span, seqnos: 100, records }) as const;
const progress = (pipeline: string, seqnos: number, records: number) =>
  ({ event: 'progress', pipeline, seqnos, records }) as const;

describe('progress', () => {
  test('of a stage tells its rate and the time left, which goes on while nothing comes', () => {
    const run = new RunProgress();
    run.see({ event: 'stages', stages: [{ pipeline: 'transactions', blocks: 100 }] }, 0);
    expect(run.line(0)).toBe(undefined);
    run.see(start('transactions', 2000), 0);
    expect(run.line(1000)).toBe(`transactions  ${'-'.repeat(30)}  0/2,000 rows`);
    run.see(progress('transactions', 0, 500), 1000);
    const bar = '='.repeat(8) + '-'.repeat(22);
    expect(run.line(20_000)).toBe(`transactions  ${bar}  500/2,000 rows  25 rows/s  1 min 00 s left`);
    expect(run.line(40_000)).toBe(`transactions  ${bar}  500/2,000 rows  13 rows/s  2 min 00 s left`);
    const paused = run.line(40_000, undefined, 'waiting 8 s: 429');
    expect(paused).toBe(`transactions  ${bar}  500/2,000 rows  2 min 00 s left  waiting 8 s: 429`);
  });

  test('of one stage of several tells the time left of all, those to come as slow as the slowest', () => {
    const run = new RunProgress();
    const stages = ['blocks', 'transactions', 'traces'].map((pipeline) => ({ pipeline, blocks: 100 }));
    run.see({ event: 'stages', stages }, 0);
    run.see(start('blocks'), 0);
    run.see(progress('blocks', 100, 500), 5000);
    run.see(start('transactions', 2000), 10_000);
    run.see(progress('transactions', 0, 1000), 30_000);
    // 20 s are left of this stage, which then took 40 s; traces take as long.
    expect(run.line(30_000)).toBe(
      `transactions (2 of 3)  ${'='.repeat(15)}${'-'.repeat(15)}  1,000/2,000 rows  50 rows/s  about 1 min 00 s left`,
    );
  });

  test('of a list that nothing counts tells its rows', () => {
    const run = new RunProgress();
    run.see({ event: 'stages', stages: [{ pipeline: 'jetton_masters', blocks: 1 }] }, 0);
    run.see(start('jetton_masters'), 0);
    run.see(progress('jetton_masters', 0, 3000), 6000);
    expect(run.line(6000)).toBe('jetton_masters  3,000 rows  500 rows/s');
  });
});

describe('progress', () => {
  test('estimates the time left only from more than a few answers', () => {
    const run = new RunProgress();
    run.see({ event: 'stages', stages: [{ pipeline: 'blocks', blocks: 10_000 }] }, 0);
    run.see({ ...start('blocks'), seqnos: 10_000 }, 0);
    run.see(progress('blocks', 1, 4), 2000);
    expect(run.line(15_000)).toBe(`blocks  ${'-'.repeat(30)}  1/10,000 blocks  0 rows/s`);
    for (let page = 0; page < 20; page++) run.see(progress('blocks', 0, 1000), 15_000);
    expect(run.line(15_000)).toMatch(/ rows\/s$/);
    for (let step = 0; step < 9; step++) run.see(progress('blocks', 1, 4), 15_000);
    expect(run.line(15_000)).toMatch(/ {2}4 h 09 min left$/);
    run.see(progress('blocks', 990, 4000), 16_000);
    expect(run.line(16_000)).toMatch(/ {2}2 min 24 s left$/);
  });

  test('fits a narrow terminal: the bar gets shorter, then it and the rate are left out', () => {
    const run = new RunProgress();
    const stages = ['blocks', 'transactions'].map((pipeline) => ({ pipeline, blocks: 100 }));
    run.see({ event: 'stages', stages }, 0);
    run.see(start('transactions', 200_000), 0);
    run.see(progress('transactions', 0, 50_000), 100_000);
    const [label, count, end] = ['transactions (2 of 2)', '50,000/200,000 rows', '5 min 00 s left'];
    expect([83, 79, 59].map((width) => run.line(100_000, width))).toEqual([
      `${label}  ===-------  ${count}  500 rows/s  ${end}`,
      `${label}  ${count}  500 rows/s  ${end}`,
      `${label}  ${count}  ${end}`,
    ]);
  });

  test('never counts more rows than there are, though a block that is requested again brings its rows twice', () => {
    const run = new RunProgress();
    run.see({ event: 'stages', stages: [{ pipeline: 'transactions', blocks: 100 }] }, 0);
    run.see(start('transactions', 2000), 0);
    run.see(progress('transactions', 100, 2070), 1000);
    expect(run.line(1000)).toContain('  2,000/2,000 rows  ');
  });
});

const LINE = /transactions \(2 of 3\) {2}=.* rows {2}.* rows\/s {2}about .* left/;
const hasScript = spawnSync('script', ['-qec', 'true', '/dev/null'], { stdio: 'ignore' }).status === 0;

describe.skipIf(!hasScript)('on a terminal', () => {
  test('Ctrl-C leaves whole lines and no bar', async () => {
    const sandbox = await startSandbox({ port: 0 });
    afterFile(() => sandbox.close());
    const folder = freshFolder();
    const run = `run transactions traces --network ${sandbox.url} --range 1000:1060 --walk masterchain --rps 20`;
    const line = `stty cols 120; exec '${process.execPath}' '${CLI}' ${run} --warehouse '${join(folder, 'w')}'`;
    const child = spawn('script', ['-qefc', line, '/dev/null'], { env: { ...process.env, TONLAKE_STATE_DIR: folder } });
    afterFile(() => child.kill('SIGKILL'));
    let printed = '';
    let isInterrupted = false;
    child.stdout.setEncoding('utf8').on('data', (text: string) => {
      printed += text;
      // A part of what is printed may end within a line.
      if (isInterrupted || !LINE.test(screenOf(printed).join('\n'))) return;
      isInterrupted = true;
      child.stdin.write('\x03');
    });
    const code = await new Promise((resolve) => child.once('close', resolve));
    expect({ isInterrupted, code, screen: screenOf(printed) }).toEqual({
      isInterrupted: true,
      code: 130,
      screen: [
        'blocks: fetching 1000:1060 (61 blocks)',
        expect.stringMatching(/^transactions: fetching 1000:1060 \(61 blocks, [\d,]+ transactions\)$/),
        'interrupted: stopping after the current span; press Ctrl-C again to stop at once',
        'interrupted: committed rows are kept; run the same command again to continue',
        '',
      ],
    });
  });
});
