import { join } from 'node:path';
import { afterAll, afterEach, expect, test } from 'vitest';
import { realEffects } from '../../src/core/effects.ts';
import { isFinal } from '../../src/declare/pipeline.ts';
import { loadRegistry, Registry } from '../../src/declare/registry.ts';
import { run } from '../../src/export/run.ts';
import { verifyWarehouse } from '../../src/verify/verify.ts';
import { compactWarehouse } from '../../src/warehouse/compaction/compact.ts';
import { NO_FAULTS } from '../faults/faults.ts';
import type { LieKind } from '../faults/lie-kinds.ts';
import { startTestSandbox } from '../faults/test-sandbox.ts';
import { openWarehouse } from '../open-warehouse.ts';
import { closing, freshFolder } from '../scratch.ts';

const LIARS = [50, 52];
const BLOCKS = '1:100';
const HEAD = { from: 200, to: 200 };

const sandbox = await startTestSandbox({ blocks: 200 });

afterEach(() => {
  sandbox.setFaults(NO_FAULTS);
});

afterAll(() => sandbox.close());

/** What is missing for good is asked for again without a pause. */
const effects = { ...realEffects, sleep: (ms: number) => realEffects.sleep(Math.min(ms, 5)) };

function bring(warehouse: string, pipeline: string, range: string) {
  return run({ pipelines: [pipeline], network: sandbox.url, range, warehouse, waitMs: 500, effects });
}

/** Entries of headers in force, rows, and rows that are there once. */
async function headersOf(path: string): Promise<readonly unknown[]> {
  const warehouse = await openWarehouse(path);
  try {
    const { rows } = await warehouse.query(
      `SELECT (SELECT list(span_from || ':' || span_to ORDER BY span_from)::VARCHAR FROM _commits WHERE pipeline = 'blocks'),
         count(*)::INTEGER, count(DISTINCT (workchain, shard, seqno))::INTEGER FROM blocks`,
    );
    return rows[0] ?? [];
  } finally {
    await warehouse.close();
  }
}

/** Headers of all blocks in one entry, of which two told another number of transactions at that time. */
async function outdated(): Promise<string> {
  const path = join(freshFolder(), 'w');
  sandbox.setFaults({ lies: LIARS.map((seqno) => ({ seqno, kind: 'mc-count-up' as LieKind })) });
  expect((await bring(path, 'blocks', BLOCKS)).complete).toBe(true);
  const { tables } = await loadRegistry();
  await compactWarehouse({ warehouse: path, tables, pipelines: [], effects: realEffects });
  expect((await headersOf(path))[0]).toBe("['1:100']");
  return path;
}

test('outdated headers of a compacted entry are read again, each once, and those of its other blocks stay', async () => {
  const path = await outdated();
  const [, rows] = await headersOf(path);
  sandbox.setFaults(NO_FAULTS);
  sandbox.requests.targets.length = 0;
  expect((await bring(path, 'transactions', '48:52')).complete).toBe(true);
  const [spans, after, distinct] = await headersOf(path);
  expect([spans, after, distinct]).toEqual(["['1:100']", rows, rows]);
  // Those of other blocks are kept: one request shows that a block has changed. The one between costs less than the states around it.
  const lists = sandbox.requests.targets.filter(
    (target) => target.startsWith('/blocks?') && target.includes('limit=1000'),
  );
  expect(lists.map((target) => new URLSearchParams(target.split('?')[1]).get('mc_seqno'))).toEqual([
    ...['50', '52'],
    ...['50', '51', '52'],
  ]);
  expect(await verifyWarehouse({ warehouse: path })).toMatchObject({ proven: true });
});

test('an entry stays as it is where a part of it cannot be read again', async () => {
  const path = await outdated();
  const before = await headersOf(path);
  // One count is right now, and the header of the other block is gone for good.
  sandbox.setFaults({ lies: [{ seqno: 52, kind: 'mc-header-missing' as LieKind }] });
  expect((await bring(path, 'transactions', '48:52')).complete).toBe(false);
  expect(await headersOf(path)).toEqual(before);
  sandbox.setFaults(NO_FAULTS);
  expect((await bring(path, 'transactions', '48:52')).complete).toBe(true);
});

test('a source that refuses to show the headers again leaves the blocks missing, and the run goes on', async () => {
  const path = await outdated();
  sandbox.setFaults(NO_FAULTS);
  sandbox.answer = (passing) => {
    const isRefused = passing.path === '/blocks' && LIARS.includes(Number(passing.query.get('mc_seqno')));
    return isRefused ? { status: 400, body: '{"error":"refused"}' } : passing.forward();
  };
  const report = await bring(path, 'transactions', '48:54').finally(() => {
    sandbox.answer = undefined;
  });
  expect(report.complete).toBe(false);
  const { rows } = await closing(await openWarehouse(path)).query(
    "SELECT span_from, span_to FROM _commits WHERE pipeline = 'transactions' ORDER BY span_from",
  );
  expect(rows.map((row) => row.map(Number))).toEqual([
    [48, 49],
    [51, 51],
    [53, 54],
  ]);
});

test.each(['actions', 'message_links'])(
  'of a list that looks back one block, rows of the newest one may change (%s)',
  async (name) => {
    const shipped = await loadRegistry('');
    const registry = new Registry(
      shipped.pipelines.map((each) =>
        each.name === name ? { ...each, walk: { ...each.walk, lookBack: 1 } as never } : each,
      ),
    );
    const warehouse = join(freshFolder(), 'w');
    const options = { pipelines: [name], network: sandbox.url, range: '-3:', warehouse, registry };
    expect(await run(options)).toMatchObject({ complete: true });
    const opened = await openWarehouse(warehouse);
    const own = (await opened.ledger()).filter(({ pipeline }) => pipeline === name);
    await opened.close();
    const { walk } = registry.pipeline(name);
    expect(own.filter((entry) => !isFinal(walk, entry)).map(({ span, asOf }) => [span, asOf])).toEqual([[HEAD, HEAD]]);
  },
);
