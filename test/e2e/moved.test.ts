import { execFile } from 'node:child_process';
import { cp, mkdir, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Sandbox, startSandbox } from '../../src/sandbox/index.ts';
import { Database } from '../../src/sql/database.ts';
import { startNode, tonlake } from '../cli.ts';
import { hasModules, PYTHON } from '../programs.ts';
import { freshFolder } from '../scratch.ts';
import { exportRange, query } from './export.ts';

const READER = fileURLToPath(new URL('./reader.mjs', import.meta.url));
const run = promisify(execFile);
const hasPython = hasModules(['duckdb']);

let sandbox: Sandbox;
let original: string;
let total: string;

beforeAll(async () => {
  sandbox = await startSandbox();
  original = join(freshFolder(), 'w');
  await exportRange(sandbox.url, '1000:1002', original);
  [[total = ''] = []] = (await query(original, 'SELECT count(*) FROM transactions')) as string[][];
});

afterAll(async () => {
  await sandbox.close();
});

/** A copy of a copy that is gone by now. */
async function moved(name = 'elsewhere [x] o*=1'): Promise<string> {
  const first = join(freshFolder(), 'w');
  await cp(original, first, { recursive: true });
  // Its catalog names its own place.
  expect((await tonlake(['publish', 'duckdb', '--warehouse', first])).code).toBe(0);
  const second = join(freshFolder(), name);
  await cp(first, second, { recursive: true });
  await rm(first, { recursive: true });
  return second;
}

async function count(catalog: string): Promise<string> {
  const database = await Database.open(catalog, { access_mode: 'READ_ONLY' });
  try {
    const { rows } = await database.query('SELECT count(block_date) FROM transactions');
    return String(rows[0]?.[0]);
  } finally {
    database.close();
  }
}

test('the catalog of a copy reads the files of the copy, wherever it lies', async () => {
  const copy = await moved();
  expect(await count(join(copy, 'warehouse.duckdb'))).toBe(total);
  // A name that is relative to the working folder.
  for (const [cwd, path] of [
    [copy, 'warehouse.duckdb'],
    [join(copy, 'tables'), '../warehouse.duckdb'],
  ] as const) {
    const reader = startNode([READER, path], { cwd });
    await reader.until('stdout', new RegExp(`count ${total}\\n`));
    reader.end();
    expect((await reader.finished).stderr).toBe('');
  }
});

test('so does that of a warehouse that was moved, before and after the next command that writes', async () => {
  const copy = await moved();
  await mkdir(`${copy}-new`);
  const place = join(`${copy}-new`, 'w');
  await rename(copy, place);
  expect(await count(join(place, 'warehouse.duckdb'))).toBe(total);
  expect(
    (await tonlake(['sql', 'select count(*) from transactions', '-w', place, '--format', 'csv'])).stdout,
  ).toContain(total);
  expect((await tonlake(['publish', 'duckdb', '--warehouse', place])).code).toBe(0);
  expect(await count(join(place, 'warehouse.duckdb'))).toBe(total);
});

test('a copy never reads the original: what the original has lost, the copy still has', async () => {
  const first = join(freshFolder(), 'w');
  await cp(original, first, { recursive: true });
  await tonlake(['publish', 'duckdb', '--warehouse', first]);
  const copy = join(freshFolder(), 'w');
  await cp(first, copy, { recursive: true });
  await rm(join(first, 'tables', 'transactions'), { recursive: true });
  expect(await count(join(copy, 'warehouse.duckdb'))).toBe(total);
});

test('an attached catalog reads the files where it was written last; tonlake publish duckdb brings it to its place', async () => {
  const attached = async (path: string): Promise<string> => {
    const database = await Database.open();
    try {
      await database.run(`ATTACH '${path}/warehouse.duckdb' AS w (READ_ONLY)`);
      return String((await database.query('SELECT count(*) FROM w.transactions')).rows[0]?.[0]);
    } finally {
      database.close();
    }
  };
  const copy = await moved('plain');
  await expect(attached(copy)).rejects.toThrow('No files found');
  expect((await tonlake(['publish', 'duckdb', '--warehouse', copy])).code).toBe(0);
  expect(await attached(copy)).toBe(total);
});

test.skipIf(!hasPython)('DuckDB for Python reads a copy, too', async () => {
  const copy = await moved();
  const script =
    'import duckdb, sys; print(duckdb.connect(sys.argv[1], read_only=True).execute("select count(*) from transactions").fetchall()[0][0])';
  const { stdout } = await run(PYTHON, ['-c', script, join(copy, 'warehouse.duckdb')]);
  expect(stdout.trim()).toBe(total);
});
