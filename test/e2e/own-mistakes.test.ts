import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { loadRegistry } from '../../src/declare/registry.ts';
import { run } from '../../src/export/run.ts';
import { forgetRange } from '../../src/verify/forget.ts';
import { tonlake } from '../cli.ts';
import { startTestSandbox } from '../faults/test-sandbox.ts';
import { DRAFT, MISTAKE, OWN_ORDERS, pipelineFolder } from '../own-pipeline.ts';
import { freshFolder } from '../scratch.ts';
import { verify } from '../verify/support.ts';
import { query } from './export.ts';

const RANGE = '1000:1049';

const sandbox = await startTestSandbox({ blocks: 4000 });

async function bring(warehouse: string, text: string, range = RANGE) {
  const registry = await loadRegistry(pipelineFolder(text));
  return run({ pipelines: ['own_orders'], network: sandbox.url, range, warehouse, registry });
}

const contents = (warehouse: string) => query(warehouse, 'SELECT * FROM own_orders ORDER BY ALL');

describe.each(['w', 'w.duckdb'])('a mistake in a declaration, in %s', (name) => {
  test('can be corrected: the table has no rows', async () => {
    const [warehouse, once] = [join(freshFolder(), name), join(freshFolder(), name)];
    await expect(bring(warehouse, MISTAKE)).rejects.toThrow('/sourse');
    expect(await bring(warehouse, DRAFT)).toMatchObject({ complete: true });
    expect(await bring(once, DRAFT)).toMatchObject({ complete: true });
    expect(await contents(warehouse)).toEqual(await contents(once));
    expect(await verify(warehouse)).toMatchObject({ kinds: [] });
  });

  test('can be corrected when its rows are forgotten', async () => {
    const warehouse = join(freshFolder(), name);
    const wrong = DRAFT.replace("'/source'", "'/destination'").replace("'who sends it')", "'who sends it').nullable()");
    await bring(warehouse, wrong);
    await expect(bring(warehouse, DRAFT)).rejects.toThrow('sender from /destination, now declared from /source');
    const registry = await loadRegistry(pipelineFolder(wrong));
    await forgetRange({ warehouse, pipelines: ['own_orders'], range: RANGE, registry });
    expect(await bring(warehouse, DRAFT)).toMatchObject({ complete: true });
    // And back: what is stored last is what the rows are read by.
    await forgetRange({ warehouse, pipelines: ['own_orders'], range: RANGE });
    expect(await bring(warehouse, wrong)).toMatchObject({ complete: true });
    await expect(bring(warehouse, DRAFT)).rejects.toThrow('sender from /destination, now declared from /source');
  });

  // What follows is the same code, whatever the store.
  if (name !== 'w') return;

  test('that no record fits ends the run after a page, and names the place', async () => {
    const warehouse = join(freshFolder(), name);
    const before = sandbox.requests.stats().requests;
    await expect(bring(warehouse, MISTAKE)).rejects.toMatchObject({
      code: 'no-record-fits',
      message: expect.stringMatching(
        /^decode own_orders: expected .* at \/jetton_transfers\/\d+\/sourse, and no record fits/,
      ),
    });
    expect(sandbox.requests.stats().requests - before).toBeLessThan(20);
    expect(await query(warehouse, 'SELECT count(*) FROM quarantine')).toEqual([['0']]);
  });

  test('of what is requested does not leave blocks that count as done without rows', async () => {
    const warehouse = join(freshFolder(), name);
    const none = DRAFT.replace("{ sort: 'asc' }", `{ sort: 'asc', jetton_wallet: '0:${'0'.repeat(64)}' }`).replace(
      "'/amount'",
      "'/amont'",
    );
    expect(await bring(warehouse, none)).toMatchObject({ complete: true, rows: { own_orders: 0 } });
    const report = await bring(warehouse, DRAFT);
    expect(report.rows['own_orders']).toBeGreaterThan(20);
    expect(await verify(warehouse)).toMatchObject({ kinds: [] });
    // Nor do those of a declaration that had its turn before.
    expect(
      (await tonlake(['sql', 'select count(amount) > 20 from own_orders', '--warehouse', warehouse])).stdout,
    ).toContain('true');
  });
});

test('a wrong path is found before the first request, in a table that names its record', async () => {
  const wrong = OWN_ORDERS.replace("'/source'", "'/sourse'");
  await expect(loadRegistry(pipelineFolder(wrong))).rejects.toThrow(
    "expected a field of the table's record for column sender, got /sourse",
  );
});
