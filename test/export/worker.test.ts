import { existsSync } from 'node:fs';
import { rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Worker } from 'node:worker_threads';
import { afterEach, beforeAll, describe, expect, test } from 'vitest';
import transactions from '../../pipelines/transactions.ts';
import type { RowRules } from '../../src/export/row-rules.ts';
import type { LoaderPool, StageSource } from '../../src/export/workers/loader-port.ts';
import { openLoaders } from '../../src/export/workers/worker-pool.ts';
import { contentHash, loadRegistry, openWarehouse, type RunOptions, type RunReport } from '../../src/index.ts';
import { NO_FAULTS, type Sandbox, startSandbox } from '../../src/sandbox/index.ts';
import type { FileStage } from '../../src/warehouse/index.ts';
import { readStatus } from '../../src/warehouse/query/status.ts';
import { Stager } from '../../src/warehouse/staging/stager.ts';
import { freshFolder } from '../scratch.ts';

/** Several spans, one after the other and side by side. */
const RANGE = '1000:1009,1060:1064,5030:5039';

/** The compiled library: workers run compiled files. */
const built = new URL('../../dist/src/index.js', import.meta.url);

describe('a run that names no number of workers', () => {
  let sandbox: Sandbox;
  beforeAll(async () => {
    sandbox = await startSandbox({ blocks: 1200 });
    return () => sandbox.close();
  });

  test.each([
    { range: '1000:1009', threads: false },
    { range: '1000:1109', threads: true },
  ])('starts threads for $range: $threads', async ({ range, threads }) => {
    const { run }: { run: (options: RunOptions) => Promise<RunReport> } = await import(built.href);
    let started = 0;
    const count = (): void => void started++;
    process.on('worker', count);
    try {
      const warehouse = join(freshFolder(), 'w');
      const { complete } = await run({ pipelines: ['blocks'], network: sandbox.url, range, warehouse });
      expect({ complete, threads: started > 0 }).toEqual({ complete: true, threads });
    } finally {
      process.off('worker', count);
    }
  });

  test('requests pages while its worker starts', async () => {
    const { run }: { run: (options: RunOptions) => Promise<RunReport> } = await import(built.href);
    const isRequested = (): boolean => sandbox.requests.entries().some(({ path }) => path === 'actions');
    const holdMessages = (worker: Worker): void => {
      const post = worker.postMessage.bind(worker);
      worker.postMessage = (...given) => {
        const attempt = (): unknown => (isRequested() ? post(...given) : setImmediate(attempt));
        attempt();
      };
    };
    process.on('worker', holdMessages);
    try {
      const warehouse = join(freshFolder(), 'w');
      const options = { pipelines: ['actions'], network: sandbox.url, range: '1000:1009', warehouse, workers: 1 };
      expect(await run(options)).toMatchObject({ complete: true, rows: { actions: expect.any(Number) } });
    } finally {
      process.off('worker', holdMessages);
    }
  });
});

describe('a run gives the same rows', () => {
  let sandbox: Sandbox;
  let run: (options: RunOptions) => Promise<RunReport>;

  beforeAll(async () => {
    sandbox = await startSandbox({ blocks: 6000 });
    ({ run } = await import(built.href));
    return () => sandbox.close();
  });

  async function hashesOf(workers: number, walk: 'window' | 'masterchain', store: string): Promise<unknown> {
    const warehouse = join(freshFolder(), store);
    const options = { pipelines: ['transactions'], network: sandbox.url, range: RANGE, warehouse, walk, workers };
    const { complete, rows } = await run(options);
    const reader = await openWarehouse(warehouse);
    try {
      const { tables } = await loadRegistry();
      const hashes = [];
      for (const table of tables) {
        if ((rows[table.name] ?? 0) > 0) hashes.push([table.name, await contentHash(reader.query, table)]);
      }
      return { complete, rows, hashes };
    } finally {
      await reader.close();
    }
  }

  test('with 0, 1, 2 and 4 workers, by both walks, in both stores', async () => {
    const expected = await hashesOf(0, 'window', 'w');
    expect(expected).toMatchObject({ complete: true, rows: { blocks: expect.any(Number) } });
    for (const workers of [0, 1, 2, 4]) {
      for (const walk of ['window', 'masterchain'] as const) {
        // Each number of workers with both walks and both stores, in half of the combinations.
        const store = (walk === 'window') === workers < 2 ? 'w.duckdb' : 'w';
        const found = await hashesOf(workers, walk, store);
        expect({ workers, walk, store, found }).toEqual({ workers, walk, store, found: expected });
      }
    }
  });

  test.each([
    ['window', 'out-message-missing'],
    ['masterchain', 'bounce-missing'],
  ] as const)('and seals no block that lacks a message, with workers that walk by %s', async (walk, kind) => {
    const lying = await startSandbox({ blocks: 200 });
    try {
      lying.setFaults({ lies: [{ seqno: 68, kind }] });
      const options = { pipelines: ['transactions'], network: lying.url, range: '60:72', workers: 2, walk };
      const warehouse = join(freshFolder(), 'w');
      expect((await run({ ...options, warehouse })).complete).toBe(false);
      const { pipelines } = await readStatus(warehouse);
      expect(pipelines.find(({ pipeline }) => pipeline === 'transactions')?.done).toEqual([
        { from: 60, to: 67 },
        { from: 69, to: 72 },
      ]);
      lying.setFaults(NO_FAULTS);
      expect((await run({ ...options, warehouse })).complete).toBe(true);
    } finally {
      await lying.close();
    }
  });

  test('and ends with the error of the store when its folder goes away', async () => {
    const warehouse = join(freshFolder(), 'no', '\0');
    const options = { pipelines: ['transactions'], network: sandbox.url, range: RANGE, warehouse, workers: 2 };
    await expect(run(options)).rejects.toThrow(/warehouse/);
  });
});

describe('a loader in a worker', () => {
  let pool: LoaderPool | undefined;
  const span = { from: 1, to: 9 };
  const rules: RowRules = { block: 'mc_block_seqno', audit: { kind: 'counts', headers: [] } };

  afterEach(async () => {
    await pool?.close();
  });

  function open(file?: URL, workers = 1): { readonly pool: LoaderPool; readonly stager: Stager } {
    const stager = new Stager({ form: 'final', stagingPath: freshFolder() }, () => 'abc');
    pool = openLoaders({ workers, stages: stagesOf(stager), ...(file === undefined ? {} : { file }) });
    return { pool, stager };
  }

  test('refuses a page that is no JSON with the error that a loader here would throw', async () => {
    const loader = await open().pool.take(transactions);
    await loader.open(span, rules);
    const page = Buffer.from('<html>');
    await expect(loader.add(page, {})).rejects.toMatchObject({
      name: 'DecodeError',
      stage: 'decode',
      code: 'not-json',
      retryable: true,
      message: expect.stringMatching(/^decode transactions: expected JSON, got 6 bytes/),
    });
    expect(await loader.audit('facts')).toEqual([]);
  });

  test('explains a record that it cannot decode', async () => {
    const loader = await open().pool.take(transactions);
    await loader.open(span, rules);
    const { records, refused } = await loader.add(Buffer.from('{"transactions":[{"lt":17}]}'), {});
    expect({ records, refused }).toMatchObject({ records: 1, refused: [{ raw: '{"lt":17}' }] });
  });

  test('takes the memory of a large page over, and copies a small one', async () => {
    const loader = await open().pool.take(transactions);
    await loader.open(span, rules);
    const large = Buffer.allocUnsafeSlow(100_000).fill(' ');
    large.write('{"transactions":[]}');
    const small = Buffer.from('{"transactions":[]}');
    await loader.add(large, {});
    await loader.add(small, {});
    expect([large.length, small.length]).toEqual([0, 19]);
  });

  test('is lent to one span at a time, and goes back when its rows are written', async () => {
    const { pool: loaders, stager } = open();
    const first = await loaders.take(transactions);
    const second = loaders.take(transactions);
    await first.open(span, rules);
    const stage = loaders.stage(transactions, span);
    const { written } = await first.write(span, stage);
    await first.release();
    await (await second).open(span, rules);
    // Files without rows have their first four bytes.
    const growing = ['transactions', 'messages', 'account_states'].map((table) => ({
      table,
      bytes: 4,
      path: expect.stringContaining(`${table}.rows.parquet`),
    }));
    expect(await written).toEqual({ bytes: 4, isUniform: true, growing });
    expect(await stage.finish()).toMatchObject({ id: 'abc', tables: { transactions: { rows: 0, files: [] } } });
    await stager.close();
  });

  test('gets others beside it only when pages pile up', async () => {
    let started = 0;
    const count = (): void => void started++;
    process.on('worker', count);
    try {
      const { pool: loaders } = open(undefined, 2);
      const first = await loaders.take(transactions);
      const second = loaders.take(transactions);
      await first.open(span, rules);
      await first.add(Buffer.from('{"transactions":[]}'), {});
      const before = started;
      const large = Buffer.alloc(17 * 2 ** 20, ' ');
      large.write('{"transactions":[]}');
      const added = first.add(large, {});
      await (await second).open(span, rules);
      await added;
      expect(started - before).toBe(1);
    } finally {
      process.off('worker', count);
    }
  });

  test('whose rows cannot be written fails that span with the error of the store, and takes the next one', async () => {
    const { pool: loaders, stager } = open();
    const loader = await loaders.take(transactions);
    await loader.open(span, rules);
    // The folder of the stage is a file.
    const folder = stager.stage(span).folder;
    await writeFile(folder, '');
    const lost = loaders.stage(transactions, span);
    await expect((await loader.write(span, lost)).written).rejects.toMatchObject({ name: 'StoreError' });
    await loader.release();
    await lost.discard();
    await rm(folder, { force: true });
    const next = await loaders.take(transactions);
    await next.open(span, rules);
    const stage = loaders.stage(transactions, span);
    await (await next.write(span, stage)).written;
    await next.release();
    expect(await stage.finish()).toMatchObject({ id: 'abc' });
    await stager.close();
  });

  test('that ends by itself is a clear error, not a wait for ever', async () => {
    const loader = await open(new URL('data:text/javascript,process.exit(3)')).pool.take(transactions);
    const ended = { name: 'WalkError', code: 'worker-ended', message: expect.stringContaining('exit code 3') };
    await expect(loader.open(span, rules)).rejects.toMatchObject(ended);
    await expect(loader.audit('facts')).rejects.toMatchObject(ended);
  });

  test('that throws outside a call is a clear error', async () => {
    const loader = await open(new URL('data:text/javascript,throw new Error("out of luck")')).pool.take(transactions);
    await expect(loader.open(span, rules)).rejects.toThrow('walk: a worker thread ended: out of luck');
  });
});

function stagesOf(stager: Stager): StageSource<FileStage> {
  return { stage: (_, part) => stager.stage(part), scratch: () => stager.scratch() };
}

test('the compiled files that workers run are there', () => {
  expect(existsSync(built)).toBe(true);
});
