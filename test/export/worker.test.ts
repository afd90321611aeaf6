import { rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Worker } from 'node:worker_threads';
import { afterEach, beforeAll, describe, expect, test } from 'vitest';
import blocks from '../../pipelines/blocks.ts';
import transactions from '../../pipelines/transactions.ts';
import { contentHash } from '../../src/audit/content-hash.ts';
import { loadRegistry } from '../../src/declare/registry.ts';
import type { RowRules } from '../../src/export/load-rules.ts';
import { run } from '../../src/export/run.ts';
import { workerLoaders } from '../../src/export/workers/loader-pool.ts';
import type { LoaderPool, StageSource } from '../../src/export/workers/loader-port.ts';
import { Instance } from '../../src/sql/instance.ts';
import type { FileStage } from '../../src/warehouse/index.ts';
import { Stager } from '../../src/warehouse/staging/stager.ts';
import { countedIn } from '../e2e/export.ts';
import { NO_FAULTS } from '../faults/faults.ts';
import { startTestSandbox, type TestSandbox } from '../faults/test-sandbox.ts';
import { openWarehouse } from '../open-warehouse.ts';
import { freshFolder } from '../scratch.ts';

/** Several spans, one after the other and side by side. */
const RANGE = '1000:1009,1060:1064,1130:1219';

describe('a run', () => {
  let sandbox: TestSandbox;
  beforeAll(async () => {
    sandbox = await startTestSandbox({ blocks: 1200 });
    return () => sandbox.close();
  });

  test.each([
    { range: '1000:1009', threads: 0 },
    { range: '1000:1109', threads: 1 },
  ])('starts $threads threads for $range', async ({ range, threads }) => {
    let started = 0;
    const count = (): void => void started++;
    process.on('worker', count);
    try {
      const warehouse = join(freshFolder(), 'w');
      const { complete } = await run({ pipelines: ['blocks'], network: sandbox.url, range, warehouse });
      expect({ complete, threads: started }).toEqual({ complete: true, threads });
    } finally {
      process.off('worker', count);
    }
  });

  test('requests pages while its worker starts', async () => {
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
      const options = { pipelines: ['actions'], network: sandbox.url, range: '1000:1109', warehouse };
      expect(await run(options)).toMatchObject({ complete: true, rows: { actions: expect.any(Number) } });
    } finally {
      process.off('worker', holdMessages);
    }
  });
});

describe('a run gives the same rows', () => {
  let sandbox: TestSandbox;

  beforeAll(async () => {
    sandbox = await startTestSandbox({ blocks: 1300 });
    return () => sandbox.close();
  });

  /** What runs of some ranges bring together, and how many threads they start. */
  async function contentOf(ranges: readonly string[], walk: 'window' | 'masterchain', store: string) {
    const warehouse = join(freshFolder(), store);
    const rows: Record<string, number> = {};
    let threads = 0;
    const count = (): void => void threads++;
    process.on('worker', count);
    for (const range of ranges) {
      const report = await run({ pipelines: ['transactions'], network: sandbox.url, range, warehouse, walk });
      expect(report.complete).toBe(true);
      for (const [table, more] of Object.entries(report.rows)) rows[table] = (rows[table] ?? 0) + more;
    }
    process.off('worker', count);
    const reader = await openWarehouse(warehouse);
    try {
      const { tables } = await loadRegistry();
      const hashes = [];
      for (const table of tables) {
        if ((rows[table.name] ?? 0) > 0) hashes.push([table.name, await contentHash(reader.query, table)]);
      }
      return { threads, content: { rows, hashes } };
    } finally {
      await reader.close();
    }
  }

  test('in the main thread and in a worker, by both walks, in both stores', async () => {
    // Runs of up to 100 blocks have no worker.
    const parts = ['1000:1009,1060:1064', '1130:1174', '1175:1219'];
    const { threads, content } = await contentOf(parts, 'window', 'w');
    expect({ threads, content }).toMatchObject({ threads: 0, content: { rows: { blocks: expect.any(Number) } } });
    expect(await contentOf(parts, 'masterchain', 'w.duckdb')).toEqual({ threads: 0, content });
    for (const walk of ['window', 'masterchain'] as const) {
      for (const store of ['w', 'w.duckdb']) {
        const found = await contentOf([RANGE], walk, store);
        expect({ walk, store, ...found }).toEqual({ walk, store, threads: 1, content });
      }
    }
  });

  test.each([
    ['window', 'out-message-missing'],
    ['masterchain', 'bounce-missing'],
  ] as const)('and commits no block that lacks a message, with a worker, by the walk %s', async (walk, kind) => {
    const lying = await startTestSandbox({ blocks: 200 });
    try {
      lying.setFaults({ lies: [{ seqno: 68, kind }] });
      const options = { pipelines: ['transactions'], network: lying.url, range: '60:172', walk };
      const warehouse = join(freshFolder(), 'w');
      expect((await run({ ...options, warehouse })).complete).toBe(false);
      expect(await countedIn(warehouse)).toEqual([
        { from: 60, to: 67 },
        { from: 69, to: 172 },
      ]);
      lying.setFaults(NO_FAULTS);
      expect((await run({ ...options, warehouse })).complete).toBe(true);
    } finally {
      await lying.close();
    }
  });

  test('and ends with the error of the store when its folder goes away', async () => {
    const warehouse = join(freshFolder(), 'no', '\0');
    const options = { pipelines: ['transactions'], network: sandbox.url, range: RANGE, warehouse };
    await expect(run(options)).rejects.toThrow(/warehouse/);
  });
});

describe('a loader in a worker', () => {
  let pool: LoaderPool | undefined;
  const span = { from: 1, to: 9 };
  const rules: RowRules = { block: 'mc_block_seqno', audit: { kind: 'counts', headers: [] } };

  afterEach(async () => {
    await pool?.close();
    await instance.close();
  });

  const instance = new Instance({});

  function open(file?: URL): { readonly pool: LoaderPool; readonly stager: Stager } {
    const stager = new Stager({ form: 'final', stagingPath: freshFolder() }, instance, () => 'abc');
    const opened = workerLoaders(stagesOf(stager), file);
    pool = opened;
    return { pool: opened, stager };
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

  test('is lent to one span at a time, and goes back when it is released', async () => {
    const { pool: loaders } = open();
    const first = await loaders.take(transactions);
    const second = await loaders.take(transactions);
    const third = loaders.take(transactions);
    await first.open(span, rules);
    const stage = loaders.stage(transactions, span);
    // Files without rows have their first four bytes.
    const growing = ['transactions', 'messages', 'account_states'].map((table) => ({
      table,
      bytes: 4,
      path: expect.stringContaining(`${table}.rows.parquet`),
    }));
    expect(await first.write(span, stage)).toEqual({ bytes: 4, isUniform: true, growing });
    // A loader that no span has opened has nothing to drop.
    await second.release();
    await (await third).open(span, rules);
    expect(await stage.finish()).toMatchObject({ id: 'abc', tables: { transactions: { rows: 0, files: [] } } });
  });

  test('decodes pages of another pipeline after it was released', async () => {
    const { pool: loaders } = open();
    const first = await loaders.take(transactions);
    await first.open(span, rules);
    await first.release();
    const next = await loaders.take(blocks);
    await next.open(span, { block: undefined, audit: { kind: 'none' } });
    expect(await next.add(Buffer.from('{"blocks":[]}'), {})).toMatchObject({ records: 0, isTaken: true });
  });

  test('whose rows cannot be written fails that span with the error of the store, and takes the next one', async () => {
    const { pool: loaders, stager } = open();
    const loader = await loaders.take(transactions);
    await loader.open(span, rules);
    // The folder of the stage is a file.
    const folder = stager.stage(span).folder;
    await writeFile(folder, '');
    const lost = loaders.stage(transactions, span);
    await expect(loader.write(span, lost)).rejects.toMatchObject({ name: 'StoreError' });
    await loader.release();
    await lost.discard();
    await rm(folder, { force: true });
    const next = await loaders.take(transactions);
    await next.open(span, rules);
    const stage = loaders.stage(transactions, span);
    await next.write(span, stage);
    await next.release();
    expect(await stage.finish()).toMatchObject({ id: 'abc' });
  });

  test('that ends by itself is a clear error, not a wait for ever', async () => {
    const loader = await open(new URL('data:text/javascript,process.exit(3)')).pool.take(transactions);
    const ended = {
      name: 'WalkError',
      message: expect.stringMatching(/^walk: the worker thread ended: .*exit code 3$/),
    };
    await expect(loader.open(span, rules)).rejects.toMatchObject(ended);
    await expect(loader.audit('facts')).rejects.toMatchObject(ended);
  });

  test('that throws outside a call is a clear error', async () => {
    const loader = await open(new URL('data:text/javascript,throw new Error("out of luck")')).pool.take(transactions);
    await expect(loader.open(span, rules)).rejects.toThrow('walk: the worker thread ended: out of luck');
  });
});

function stagesOf(stager: Stager): StageSource<FileStage> {
  return { stage: (part) => stager.stage(part), scratch: () => stager.scratch() };
}
