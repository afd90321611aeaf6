import { spawnSync } from 'node:child_process';
import { closeSync, existsSync, openSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { beforeAll, describe, expect, test } from 'vitest';
import { CLI, startTonlake, tonlake } from '../cli.ts';
import { freshFolder } from '../scratch.ts';

const ONE_LINE = /^error: [^\n]*\n$/;
const RANGE = '10:11';
/** Enough blocks for a worker. */
const LONG = '10:110';
const RUN = ['run', 'transactions', '--network', 'sandbox', '--range'];

/** Runs the program with its standard output, or standard error, going to a file. */
function runInto(path: string, stream: 1 | 2, args: readonly string[]) {
  const file = openSync(path, 'w');
  try {
    const stdio = ['ignore', stream === 1 ? file : 'pipe', stream === 2 ? file : 'pipe'] as const;
    const { status, stdout, stderr } = spawnSync(process.execPath, [CLI, ...args], {
      stdio: [...stdio],
      encoding: 'utf8',
    });
    return { code: status, stdout, stderr };
  } finally {
    closeSync(file);
  }
}

describe.skipIf(!existsSync('/dev/full'))('a full disk', () => {
  let warehouse: string;
  beforeAll(async () => {
    warehouse = join(freshFolder(), 'w');
    await tonlake([...RUN, RANGE, '--warehouse', warehouse]);
  });

  test.each([
    'status -w',
    'sql --format csv transactions -w',
    'sql --format json transactions -w',
    'report export-health --format md -w',
    'run blocks --network sandbox --range 10:11 --json -w',
    '--help',
  ])('below the standard output of %s ends it in one line', (line) => {
    const words = line.split(' ').map((word) => (word === 'transactions' ? 'from transactions' : word));
    const { code, stderr } = runInto('/dev/full', 1, line.endsWith(' -w') ? [...words, warehouse] : words);
    expect({ code, stderr }).toEqual({
      code: 1,
      stderr: expect.stringMatching(/^(warning: .*\n)*error: store: standard output: the disk is full \(.*\n$/),
    });
  });

  test('below standard error lets a run come to its end, with exit code 1', () => {
    const path = join(freshFolder(), 'w');
    const { code, stdout } = runInto('/dev/full', 2, [...RUN, RANGE, '--warehouse', path]);
    expect({ code, stdout }).toEqual({
      code: 1,
      stdout: expect.stringMatching(new RegExp(`^complete: transactions ${RANGE}`)),
    });
  });

  test('below a log ends a run in one line; the same command without it goes on', async () => {
    const path = join(freshFolder(), 'w');
    const full = await tonlake([...RUN, RANGE, '--warehouse', path, '--log', '/dev/full']);
    const lines = full.stderr.split('\n').filter((line) => !/^\w+: (fetching|committed)/.test(line));
    expect({ code: full.code, text: lines.join('\n') }).toEqual({
      code: 1,
      text: expect.stringMatching(/^error: store: log \/dev\/full: the disk is full \(.*\n$/),
    });
    const { code, stdout } = await tonlake([...RUN, RANGE, '--warehouse', path]);
    expect({ code, stdout }).toEqual({ code: 0, stdout: expect.stringMatching(/^complete: /) });
  });
});

const hasCompiler = process.platform === 'linux' && spawnSync('gcc', ['--version']).status === 0;

// What remains are the runtime's own event descriptors and wake-up pipes, which no disk is behind: there libuv aborts.
describe.skipIf(!hasCompiler)('a write that fails', () => {
  let shim: string;
  beforeAll(() => {
    shim = join(freshFolder(), 'failing-write.so');
    const source = fileURLToPath(new URL('failing-write.c', import.meta.url));
    const { status, stderr } = spawnSync('gcc', ['-shared', '-fPIC', '-o', shim, source], { encoding: 'utf8' });
    expect({ status, stderr }).toEqual({ status: 0, stderr: '' });
  });

  const EIO = 5;
  const ENOSPC = 28;
  test.each([
    { what: 'the lock', path: '_lock', number: EIO },
    { what: 'the catalog', path: 'catalog.duckdb', number: EIO },
    { what: 'rows of a nested table', path: 'messages.rows.parquet', number: ENOSPC, range: LONG },
    { what: 'an entry of the ledger', path: '-00000001.json', number: EIO },
    { what: 'the log of events', path: 'events.log', number: EIO, from: 3 },
    { what: 'a DuckDB file', path: 'w.duckdb', number: ENOSPC, from: 15, isFile: true },
    { what: 'the log of a DuckDB file', path: 'w.duckdb.wal', number: EIO, from: 10, isFile: true },
  ])('on $what ends in one line and exit code 1, and the same command goes on', async (fault) => {
    const { path, number, from = 1, isFile = false, range = RANGE } = fault;
    const folder = freshFolder();
    const warehouse = join(folder, isFile ? 'w.duckdb' : 'w');
    const log = join(folder, 'events.log');
    const args = [...RUN, range, '--warehouse', warehouse, '--log', log];
    const env = { LD_PRELOAD: shim, FAIL_PATH: path, FAIL_FROM: String(from), FAIL_ERRNO: String(number) };
    const { code, signal, stderr } = await startTonlake(args, { env }).finished;
    const lines = stderr.split('\n').filter((line) => !/^\w+: (fetching|committed)/.test(line));
    expect({ code, signal, text: lines.join('\n') }).toEqual({
      code: 1,
      signal: undefined,
      text: expect.stringMatching(ONE_LINE),
    });
    const again = await tonlake(args);
    expect({ code: again.code, stdout: again.stdout }).toEqual({
      code: 0,
      stdout: expect.stringMatching(new RegExp(`^complete: transactions ${range}`)),
    });
    expect(readFileSync(join(folder, 'events.log'), 'utf8')).toContain('"event":"done"');
  });
});
