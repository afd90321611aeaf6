import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { afterAll, describe, expect, test } from 'vitest';
import { lookupsBatch } from '../../src/decode/lookups-table.ts';
import { BatchQueue, noWarehouse } from '../../src/export/batch-queue.ts';
import { readBatches } from '../../src/export/read-batches.ts';
import { run } from '../../src/export/run.ts';
import type { WalkMode } from '../../src/export/walk-context.ts';
import { NO_FAULTS } from '../faults/faults.ts';
import { withRows } from '../faults/lists.ts';
import { startTestSandbox } from '../faults/test-sandbox.ts';
import { openWarehouse } from '../open-warehouse.ts';
import { hurriedEffects } from '../rate-limit/clock.ts';
import { freshFolder } from '../scratch.ts';

const sandbox = await startTestSandbox({ blocks: 300 });
const quiet = await startTestSandbox({ blocks: 6000, activity: 0 });

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
  await expect(untyped({ ...options, range: '5' })).rejects.toThrow('usage: expected names of pipelines, got none');
  await expect(untyped({ ...options, pipelines: ['blocks'] })).rejects.toThrow(/^usage: expected a range /);
  expect(await untyped({ ...options, pipelines: ['blocks'], range: 5 })).toMatchObject({ complete: true, from: 5 });
});

/** Rows of some tables by a column that tells them apart, sorted. */
async function batchRows(options: Parameters<typeof readBatches>[0], column: string): Promise<readonly string[]> {
  const values: string[] = [];
  for await (const { table, batch } of readBatches(options)) {
    if (table === options.pipeline) for (const value of batch.getChild(column) ?? []) values.push(String(value));
  }
  return values.sort();
}

describe('readBatches of a list', () => {
  const range = '60:89';

  test('hands out what a warehouse would hold', async () => {
    const columns = {
      ...{ traces: 'trace_id', actions: 'action_id', message_links: 'msg_hash' },
      ...{ jetton_transfers: 'tx_hash', jetton_masters: 'address' },
    };
    const path = join(freshFolder(), 'w');
    await run({ pipelines: Object.keys(columns), network: sandbox.url, range, warehouse: path });
    const warehouse = await openWarehouse(path);
    for (const [pipeline, column] of Object.entries(columns)) {
      const { rows } = await warehouse.query(`SELECT ${column} FROM ${pipeline}`);
      expect(rows.length, pipeline).toBeGreaterThan(5);
      const handedOut = await batchRows({ network: sandbox.url, range, pipeline }, column);
      expect(handedOut, pipeline).toEqual(rows.map(([value]) => String(value)).sort());
    }
    await warehouse.close();
  });

  test('leaves out a block whose rows come twice, and says so', async () => {
    sandbox.changeAnswers((target, answer) =>
      target.path === '/traces' && target.query.get('mc_seqno') === '66'
        ? withRows(answer, 'traces', (rows) => [...rows, ...rows.slice(0, 1)])
        : undefined,
    );
    const blocks = new Set<number>();
    const options = { network: sandbox.url, range: '60:72', effects: hurriedEffects() };
    const reading = (async () => {
      for await (const { batch } of readBatches({ ...options, pipeline: 'traces' })) {
        for (const seqno of batch.getChild('mc_seqno_end') ?? []) blocks.add(Number(seqno));
      }
    })();
    await expect(reading).rejects.toMatchObject({ code: 'incomplete', message: expect.stringContaining('traces 66') });
    expect(blocks.has(66)).toBe(false);
    expect(blocks.has(65) && blocks.has(67)).toBe(true);
  });
});

describe('readBatches of a list of how things are now', () => {
  const range = '60:89';

  test('hands it out in batches of about 32 MiB, each row once', async () => {
    const rows = 3000;
    let sample: Readonly<Record<string, unknown>> | undefined;
    sandbox.changeAnswers(({ path, query }, answer) =>
      path === '/jetton/masters'
        ? withRows<Readonly<Record<string, unknown>>>(answer, 'jetton_masters', ([first]) => {
            sample ??= first;
            const offset = Number(query.get('offset') ?? 0);
            return Array.from({ length: Math.max(0, Math.min(1000, rows - offset)) }, (_, at) => ({
              ...sample,
              address: `0:${(offset + at).toString(16).toUpperCase().padStart(64, '0')}`,
              jetton_content: { description: `${at}${'x'.repeat(12_000)}` },
            }));
          })
        : undefined,
    );
    const addresses = new Set<string>();
    const sizes: number[] = [];
    for await (const { batch } of readBatches({ network: sandbox.url, range, pipeline: 'jetton_masters' })) {
      sizes.push(batch.numRows);
      for (const address of batch.getChild('address') ?? []) addresses.add(String(address));
    }
    expect(addresses.size).toBe(rows);
    expect(sizes).toEqual([expect.any(Number), rows - Number(sizes[0])]);
    expect(Number(sizes[0]) * 12_000).toBeLessThan(32 * 2 ** 20);
  });
});

test('a batch is handed out when it is written, and the next one waits until it is taken', async () => {
  const queue = new BatchQueue(Date.now, noWarehouse);
  const stage = queue.sink(true).stage({ from: 1, to: 1 });
  let written = 0;
  const writing = (async () => {
    for (const key of ['a', 'b', 'c', 'd', 'e']) {
      await stage.write(
        lookupsBatch([{ ...{ pipeline: 'account_latest', leftOut: null, key, error: null }, readAt: 1, asOf: 1 }]),
      );
      written++;
    }
  })();
  const keys: string[] = [];
  for await (const { batch } of queue.batches(writing)) {
    await delay(1);
    keys.push(String(batch.getChild('key')?.get(0)));
    expect(written).toBeLessThanOrEqual(keys.length + 1);
  }
  expect(keys).toEqual(['a', 'b', 'c', 'd', 'e']);
});

describe('readBatches of a lookup', () => {
  test('takes its keys from a select, and tells which were asked for', async () => {
    const accounts = await batchRows({ network: sandbox.url, range: '60:62', pipeline: 'transactions' }, 'account');
    const [first = '', second = ''] = [...new Set(accounts)];
    const from = `SELECT unnest(['${first}', '${second}']) AS address`;
    const asked: string[] = [];
    const found: string[] = [];
    const options = { network: sandbox.url, range: '60:62', pipeline: 'account_info', from };
    for await (const { table, batch } of readBatches(options)) {
      const column = table === 'lookups' ? 'key' : 'address';
      for (const value of batch.getChild(column) ?? []) (table === 'lookups' ? asked : found).push(String(value));
    }
    expect(asked.sort()).toEqual([first, second].sort());
    expect(found.length).toBe(2);
  });

  test('without keys is refused before anything is asked', async () => {
    const reading = batchRows({ network: sandbox.url, range: '60:62', pipeline: 'account_info' }, 'address');
    await expect(reading).rejects.toThrow(
      'usage account_info: expected the option from, a query of its keys, got none',
    );
  });
});

describe('readBatches', () => {
  test('hands out the rows of many spans, each once, however long a consumer takes', async () => {
    // Block by block a span has twenty of them.
    const range = '2:121';
    const rows = await exported(sandbox.url, range);
    expect(rows.length).toBeGreaterThan(1000);
    expect(await hashesOf(sandbox.url, range, 20, 'masterchain')).toEqual(rows);
  });

  test('asks for nothing more when the consumer stops', async () => {
    const range = '2:181';
    sandbox.requests.reset();
    for await (const { batch } of readBatches({ network: sandbox.url, range, walk: 'masterchain' })) {
      expect(batch.numRows).toBeGreaterThan(0);
      break;
    }
    // Two spans of twenty blocks are under way while the rows of the first are taken.
    const lists = sandbox.requests.entries().filter(({ path }) => path === 'transactions');
    expect(lists.length).toBeLessThan(120);
  });

  test('goes on beyond the blocks whose headers are read at once', async () => {
    const range = '2:5050';
    const hashes = await hashesOf(quiet.url, range);
    expect(hashes.length).toBeGreaterThan(1000);
    expect(hashes).toEqual(await exported(quiet.url, range));
  });

  test.each(['shard-count-up', 'out-message-missing', 'in-message-missing'] as const)(
    'ends with what is missing after all that is sound: %s',
    async (kind) => {
      sandbox.setFaults({ lies: [{ seqno: 66, kind }] });
      const seqnos = new Set<number>();
      const options = { network: sandbox.url, range: '60:72', effects: hurriedEffects() };
      const reading = (async () => {
        for await (const { table, batch } of readBatches(options)) {
          if (table === 'transactions')
            for (const seqno of batch.getChild('mc_block_seqno') ?? []) seqnos.add(Number(seqno));
        }
      })();
      await expect(reading).rejects.toMatchObject({
        ...{ stage: 'walk', code: 'incomplete', retryable: true },
        message: expect.stringMatching(
          /^walk transactions: expected all of 60:72, got only a part: audit transactions 66: expected/,
        ),
      });
      sandbox.setFaults(NO_FAULTS);
      expect([...seqnos].sort((a, b) => a - b)).toEqual([60, 61, 62, 63, 64, 65, 67, 68, 69, 70, 71, 72]);
    },
  );
});
