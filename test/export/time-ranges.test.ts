import { join } from 'node:path';
import { expect, test } from 'vitest';
import { tonlake } from '../cli.ts';
import { freshFolder } from '../scratch.ts';

const MINUTE = '2026-05-02T00:10:2026-05-02T00:11';

const ask = (command: string, range: string, ...more: readonly string[]) =>
  tonlake([command, ...more, '-n', 'sandbox', '-w', warehouse, '-r', range]);

const warehouse = join(freshFolder(), 'w');
const { code, stderr } = await ask('run', MINUTE, 'blocks');
expect({ code, stderr }).toMatchObject({ code: 0 });

test('a minute is the blocks of which each can hold rows of it, and no more', async () => {
  const { stdout } = await tonlake([
    'sql',
    ...['-w', warehouse, '--format', 'csv'],
    `select min(seqno), max(seqno) filter (gen_utime < epoch('2026-05-02 00:11:00'::timestamp)),
      count(*) filter (gen_utime < epoch('2026-05-02 00:10:00'::timestamp))
    from blocks where workchain = -1`,
  ]);
  // 400 ms each: block 5000 is the first of the day.
  expect(stdout.trim().split('\n').at(-1)).toBe('6500,6649,0');
});

test('a minute that was exported is done, proven and compacted by the same words', async () => {
  expect(await ask('run', '2026-05-02T00:10', 'blocks')).toMatchObject({
    code: 0,
    stdout: expect.stringContaining('nothing was missing'),
  });
  expect(await ask('verify', MINUTE)).toMatchObject({ code: 0 });
  expect(await ask('verify', '2026-05-02T00:10:')).toMatchObject({ code: 0 });
  expect(await ask('compact', MINUTE)).toMatchObject({ code: 0 });
  // The clock of the sandbox is that of its newest block.
  expect(await ask('compact', 'today')).toMatchObject({ code: 0 });
});

test('a day that the warehouse does not have is refused in one way, with those that it has', async () => {
  for (const command of ['verify', 'compact'])
    expect([command, await ask(command, '2026-05-01')]).toMatchObject([
      command,
      {
        code: 2,
        stderr: expect.stringMatching(/expected a day that .* has, got 2026-05-01; hint: it has 2026-05-02\n/),
      },
    ]);
});

test.each(['2026-05-02T00:09:2026-05-02T00:11', '2026-05-02T00:10:2026-05-02T00:12', '-1h:'])(
  '%s, of which the warehouse holds a part, is not proven',
  async (range) => {
    expect(await ask('verify', range)).toMatchObject({
      code: 2,
      stderr: expect.stringMatching(/expected a time that the warehouse has, got 2026-05-.*; hint: it has blocks of/),
    });
  },
);

test('yesterday of the sandbox is the day before that of its newest block', async () => {
  const { stdout } = await tonlake(['run', '--dry-run', 'blocks', '-n', 'sandbox', '-r', 'yesterday', '--json']);
  const [asked] = JSON.parse(stdout).asked;
  expect(asked.from).toBe(1);
  expect(asked.to).toBeGreaterThanOrEqual(5000);
  expect(asked.to).toBeLessThan(5020);
});
