import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { WalkMode } from '../../src/export/walk-context.ts';
import { readBatches, run } from '../../src/index.ts';
import { NO_FAULTS, type Sandbox, startSandbox } from '../../src/sandbox/index.ts';
import { openWarehouse } from '../../src/warehouse/query/open-warehouse.ts';
import { freshFolder } from '../scratch.ts';

let sandbox: Sandbox;
let quiet: Sandbox;

beforeAll(async () => {
  sandbox = await startSandbox({ blocks: 300 });
  quiet = await startSandbox({ blocks: 6000, activity: 0.05 });
});

afterAll(async () => {
  await sandbox.close();
  await quiet.close();
});

/** Hashes of all transactions that are handed out, sorted. */
async function hashesOf(network: string, range: string, pauseMs = 0, walk?: WalkMode): Promise<readonly string[]> {
  const hashes: string[] = [];
  for await (const { table, batch } of readBatches({ network, range, ...(walk === undefined ? {} : { walk }) })) {
    if (pauseMs > 0) await delay(pauseMs);
    if (table === 'transactions') for (const hash of batch.getChild('hash') ?? []) hashes.push(String(hash));
  }
  return hashes.sort();
}

async function exported(network: string, range: string): Promise<readonly string[]> {
  const path = join(freshFolder(), 'w');
  await run({ pipelines: ['transactions'], network, range, warehouse: path });
  const warehouse = await openWarehouse(path);
  try {
    const { rows } = await warehouse.query('SELECT hash FROM transactions');
    return rows.map(([hash]) => String(hash)).sort();
  } finally {
    await warehouse.close();
  }
}

test('the library tells what is missing of its options', async () => {
  const options = { network: sandbox.url, warehouse: join(freshFolder(), 'w') };
  // As without types.
  const untyped = run as unknown as (options: Readonly<Record<string, unknown>>) => ReturnType<typeof run>;
  await expect(untyped({ ...options, range: '5' })).rejects.toMatchObject({ stage: 'usage', code: 'no-pipelines' });
  await expect(untyped({ ...options, pipelines: ['blocks'] })).rejects.toMatchObject({ code: 'wrong-range' });
  expect(await untyped({ ...options, pipelines: ['blocks'], range: 5 })).toMatchObject({ complete: true, from: 5 });
});

describe('readBatches', () => {
  test('hands out the rows of many spans, each once, however long a consumer takes', async () => {
    // Block by block a span has twenty of them.
    const range = '2:181';
    const rows = await exported(sandbox.url, range);
    expect(rows.length).toBeGreaterThan(2000);
    for (const ms of [0, 20]) expect(await hashesOf(sandbox.url, range, ms, 'masterchain')).toEqual(rows);
  });

  test('goes on beyond the blocks whose headers are read at once', async () => {
    const range = '2:5600';
    const hashes = await hashesOf(quiet.url, range);
    expect(hashes.length).toBeGreaterThan(1000);
    expect(hashes).toEqual(await exported(quiet.url, range));
  });

  test.each(['shard-count-up', 'out-message-missing', 'in-message-missing'] as const)(
    'ends with what is missing after all that is sound: %s',
    async (kind) => {
      sandbox.setFaults({ lies: [{ seqno: 66, kind }] });
      const seqnos = new Set<number>();
      const reading = (async () => {
        for await (const { table, batch } of readBatches({ network: sandbox.url, range: '60:72' })) {
          if (table === 'transactions')
            for (const seqno of batch.getChild('mc_block_seqno') ?? []) seqnos.add(Number(seqno));
        }
      })();
      await expect(reading).rejects.toMatchObject({
        ...{ stage: 'walk', code: 'incomplete', retryable: true },
        message: expect.stringMatching(
          /^walk transactions: expected all of 60:72, got a part: audit transactions 66: expected/,
        ),
      });
      sandbox.setFaults(NO_FAULTS);
      expect([...seqnos].sort((a, b) => a - b)).toEqual([60, 61, 62, 63, 64, 65, 67, 68, 69, 70, 71, 72]);
    },
  );
});
