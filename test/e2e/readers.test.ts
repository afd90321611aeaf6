import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { startNode, startTonlake, tonlake } from '../cli.ts';
import { startTestSandbox } from '../faults/test-sandbox.ts';
import { freshFolder } from '../scratch.ts';
import { exportRange, query, readExport } from './export.ts';

const READER = fileURLToPath(new URL('./reader.mjs', import.meta.url));

const sandbox = await startTestSandbox();

/** Many small commits, so that readers meet catalogs and files as they are replaced. */
const parts = (from: number, count: number, size: number): readonly string[] =>
  Array.from({ length: count }, (_, at) => `${from + at * size}:${from + (at + 1) * size - 2}`);

test('readers in other processes see growing counts and no error while an export runs', async () => {
  const path = join(freshFolder(), 'w');
  await exportRange(sandbox.url, '1000:1003', path);
  const catalog = join(path, 'warehouse.duckdb');
  const readers = [startNode([READER, catalog]), startNode([READER, catalog])];
  await Promise.all(readers.map((reader) => reader.until('stdout', /count \d+/)));

  const export_ = startTonlake([
    ...['run', 'transactions', '--network', sandbox.url, '--warehouse', path, '--json'],
    ...['--range', parts(1004, 10, 5).join(',')],
  ]);
  await export_.until('stdout', /"event":"span","pipeline":"transactions"/);
  const during = await tonlake(['sql', 'select count(*) from transactions', '--warehouse', path, '--format', 'csv']);
  // It warns of what is still missing, and of nothing else.
  expect(during.stderr).toMatch(/^(warning: [a-z_]+: missing [^\n]*\n)*$/);
  expect(during.code).toBe(0);
  const files = await tonlake(['show', 'transactions', '--files', '--warehouse', path]);
  expect(files).toMatchObject({ code: 0, stderr: '' });
  const { code, report } = readExport(await export_.finished);
  expect(code).toBe(0);
  expect(report.spans).toBe(20);

  const [[total] = []] = await query(path, 'select count(*) from transactions');
  for (const reader of readers) {
    await reader.until('stdout', new RegExp(`count ${total}\\n`));
    reader.end();
    const { code, stderr, stdout } = await reader.finished;
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    const counts = [...stdout.matchAll(/count (\d+)/g)].map(([, count]) => Number(count));
    expect(counts).toEqual([...counts].sort((a, b) => a - b));
    expect(Number(/reads (\d+)/.exec(stdout)?.[1])).toBeGreaterThan(5);
  }
  expect(Number(during.stdout.split('\n')[1])).toBeLessThanOrEqual(Number(total));
});

test('a DuckDB warehouse says who writes it instead of being read half-way', async () => {
  const path = join(freshFolder(), 'w.duckdb');
  await exportRange(sandbox.url, '1000:1003', path);
  sandbox.setFaults({ slow: 1, slowMs: 30 });
  const run = startTonlake(['run', '--network', sandbox.url, '--range', '1000:1099', '--warehouse', path, '--json']);
  await run.until('stdout', /"event":"start"/);
  const args = ['sql', 'select count(*) from transactions', '--warehouse', path];
  const during = await tonlake(args);
  expect(during).toMatchObject({ code: 1, stdout: '' });
  expect(during.stderr).toMatch(/^error: store: .* is being written by process \d+ .*; hint: .*\n$/);
  expect(during.stderr).toContain(`process ${run.pid} `);
  sandbox.setFaults({ slow: 0 });
  expect((await run.finished).code).toBe(0);
  expect(await tonlake(args)).toMatchObject({ code: 0, stderr: '' });
});
