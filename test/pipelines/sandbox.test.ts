import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { loadRegistry } from '../../src/declare/registry.ts';
import { type RunEvent, type RunOptions, type RunReport, run } from '../../src/export/run.ts';
import { buildMarts } from '../../src/marts/build-marts.ts';
import { endpointsMarkdown } from '../../tools/reference-docs.ts';
import { hashTables, query } from '../e2e/export.ts';
import { startTestSandbox } from '../faults/test-sandbox.ts';
import { freshFolder } from '../scratch.ts';

const RANGE = '5000:5039';
/** Nothing of these happens in so short a range. */
const MAY_BE_EMPTY = ['nft_transfers', 'dns_records'];

const registry = await loadRegistry();
/** Paths of all requests. */
const askedPaths = new Set<string>();

async function go(pipelines: readonly string[], more: Partial<RunOptions> = {}) {
  const events: RunEvent[] = [];
  sandbox.requests.reset();
  const options = { network: sandbox.url, range: RANGE, warehouse, ...more };
  const report: RunReport = await run({ ...options, pipelines, onEvent: (event) => events.push(event) });
  const told = events.filter(({ event }) => ['problem', 'quarantine', 'unknown-field'].includes(event));
  const asked = sandbox.requests.entries();
  for (const { path } of asked) askedPaths.add(path);
  return { report, told, asked };
}

const sandbox = await startTestSandbox();
const warehouse = join(freshFolder(), 'w');

const rows = async (sql: string): Promise<readonly (readonly string[])[]> => query(warehouse, sql);
const count = async (sql: string): Promise<number> => Number((await rows(`SELECT count(*) FROM ${sql}`))[0]?.[0]);

describe.sequential('all pipelines', () => {
  test('are complete, and nothing is in quarantine', async () => {
    const { report, told } = await go(registry.lasting);
    expect(told).toEqual([]);
    expect(report.complete).toBe(true);
  });

  test.each(registry.lasting)('%s fills its table, and has each key once', async (name) => {
    const [table] = registry.pipeline(name).tables;
    const key = table?.key.map((column) => `"${column}"`).join(', ');
    const found = await rows(`SELECT count(*), count(DISTINCT (${key})) FROM ${table?.name}`);
    expect(found[0]?.[0]).toBe(found[0]?.[1]);
    if (!MAY_BE_EMPTY.includes(name)) expect(Number(found[0]?.[0])).toBeGreaterThan(0);
  });

  test('they ask every endpoint that docs/endpoints.md says is tested here', async () => {
    const blockByBlock = { range: '5000:5001', walk: 'masterchain', warehouse: join(freshFolder(), 'w') } as const;
    expect((await go(['transactions'], blockByBlock)).report.complete).toBe(true);
    const rows = endpointsMarkdown(registry)
      .split('\n')
      .filter((row) => row.includes('test/pipelines/sandbox.test.ts'));
    const paths = rows.map((row) => /`\/(.+?)`/.exec(row)?.[1] ?? row);
    expect(paths.length).toBeGreaterThan(20);
    expect(paths.filter((path) => !askedPaths.has(path))).toEqual([]);
  });

  test('a second run asks for no more than the head, and changes nothing', async () => {
    const before = await hashTables(warehouse);
    const { report, asked } = await go(registry.lasting);
    expect(report).toMatchObject({ complete: true, spans: 0 });
    expect(new Set(asked.map(({ path }) => path))).toEqual(new Set(['masterchainInfo']));
    expect(await hashTables(warehouse)).toEqual(before);
  });

  test('traces hold transactions of the range, and their number of them where they began in it', async () => {
    expect(
      await count(`traces t WHERE mc_seqno_start >= 5000 AND transactions <>
        (SELECT count(*) FROM transactions x WHERE x.trace_id = t.trace_id)`),
    ).toBe(0);
    expect(await count('traces WHERE mc_seqno_end NOT BETWEEN 5000 AND 5039')).toBe(0);
  });

  test('amounts at the end of 64 bits arrive with all their digits', async () => {
    const greatest = '9223372036854775807';
    expect(
      await rows(`SELECT total_fees, compute_gas_fees, compute_gas_used FROM transactions WHERE total_fees > 1e15`),
    ).toEqual([1, 2].map(() => [greatest, greatest, '72057594037927935']));
    const twice = [['18446744073709551614']];
    expect(await rows('SELECT sum(credit) FROM transactions WHERE credit > 1e15')).toEqual(twice);
    expect(await rows('SELECT sum(value) FROM actions WHERE value > 1e15')).toEqual(twice);
    expect(await rows(`SELECT sum(value) FROM messages WHERE direction = 'out' AND value > 1e15`)).toEqual(twice);
  });

  test('every action belongs to a trace, and its typed columns say what its details say', async () => {
    expect(await count('actions a ANTI JOIN traces t USING (trace_id)')).toBe(0);
    expect(await count(`actions WHERE amount::VARCHAR IS DISTINCT FROM details->>'amount'`)).toBe(0);
    expect(await rows('SELECT DISTINCT _supported_action_types FROM actions')).toEqual([['v4,tgbtc']]);
  });

  test('transfers and burns are transactions with their opcode that were not aborted', async () => {
    await buildMarts(warehouse, { names: ['shard_state'] });
    expect(await count('jetton_transfers j ANTI JOIN transactions t ON t.hash = j.tx_hash')).toBeLessThanOrEqual(
      await count('jetton_transfers WHERE tx_lt < (SELECT min(end_lt) FROM shard_state WHERE mc_seqno = 5001)'),
    );
    expect(
      await count(`jetton_transfers j JOIN messages m ON m.tx_hash = j.tx_hash AND m.direction = 'in'
        WHERE m.opcode <> 260734629`),
    ).toBe(0);
  });

  test('links of messages agree with the messages of transactions at both ends', async () => {
    const differs = (direction: string, column: string): string =>
      `message_links l JOIN messages m ON m.msg_hash = l.msg_hash AND m.direction = '${direction}'
       WHERE l.${column} IS DISTINCT FROM m.tx_hash`;
    expect(await count(differs('in', 'in_msg_tx_hash'))).toBe(0);
    expect(await count(differs('out', 'out_msg_tx_hash'))).toBe(0);
    // Inbound externals have no logical time: they are in no window, and are counted apart.
    expect(await count(`message_links l JOIN messages m USING (msg_hash) WHERE m.created_lt IS NULL`)).toBe(0);
  });

  test('latest states are those of the accounts that transactions changed', async () => {
    const accounts = await count('(SELECT DISTINCT account FROM transactions)');
    expect(await count('account_latest')).toBeGreaterThan(0.9 * accounts);
    expect(await count('account_latest a ANTI JOIN transactions t ON t.account = a.address')).toBe(0);
    // Deleted accounts give no row; that they were asked for is known all the same.
    expect(await count(`lookups WHERE pipeline = 'account_latest'`)).toBe(accounts);
  });

  test('wallets of jettons are read per jetton, items per collection and those without one', async () => {
    expect(await count('jetton_wallets w ANTI JOIN jetton_masters m ON m.address = w.jetton')).toBe(0);
    const foreign = 'nft_items i ANTI JOIN nft_collections c ON c.address = i.collection_address';
    expect(await count(`(FROM ${foreign} WHERE collection_address IS NOT NULL)`)).toBe(0);
    const alone: unknown[] = [];
    for (const offset of [0, 1000]) {
      const answer = await fetch(`${sandbox.url}/nft/items?limit=1000&offset=${offset}`);
      const { nft_items: items } = (await answer.json()) as { readonly nft_items: readonly Record<string, unknown>[] };
      alone.push(...items.filter((item) => item['collection_address'] === null).map(({ address }) => [address]));
    }
    expect(alone.length).toBeGreaterThan(0);
    const held = await rows('SELECT address FROM nft_items WHERE collection_address IS NULL ORDER BY address');
    expect(held).toEqual(alone.sort());
  });
});

test('every declared view can be read, and the newest readings have each key once', async () => {
  const counts = registry.tables.flatMap(({ name: table, views, key }) =>
    views.map(({ name }) => {
      const own = key.filter((column) => column !== '_read_at').map((column) => `"${column}"`);
      const distinct = name === `${table}_now` ? `count(DISTINCT (${own.join(', ')}))` : 'count(*)';
      return `SELECT '${name}', count(*), ${distinct} FROM ${name}`;
    }),
  );
  expect(counts.length).toBeGreaterThan(100);
  for (const [name, all, distinct] of await rows(counts.join(' UNION ALL '))) expect(all, name).toBe(distinct);
  expect(await count('actions_jetton_transfer')).toBe(await count(`actions WHERE type = 'jetton_transfer'`));
  expect(await count('actions_jetton_transfer')).toBeGreaterThan(0);
  expect(await rows(`SELECT count(*) FROM (SHOW TABLES) WHERE name LIKE 'actions%'`)).not.toEqual([['1']]);
});

describe('a lookup', () => {
  test('asks only for keys that changed since they were read', async () => {
    const { asked } = await go(['account_latest'], { range: '5000:5044' });
    const keys = asked
      .filter(({ path }) => path === 'accountStates')
      .reduce((sum, { query: text }) => sum + new URLSearchParams(text).getAll('address').length, 0);
    const fresh = await count(`(SELECT DISTINCT account FROM transactions WHERE mc_block_seqno > 5039
      EXCEPT SELECT DISTINCT account FROM transactions WHERE mc_block_seqno <= 5039)`);
    expect(keys).toBe(fresh);
  });

  test('halves a batch until the one bad key is known, and keeps the others', async () => {
    const bad = `'0:${'Z'.repeat(64)}'`;
    const from = `SELECT account AS address FROM (SELECT DISTINCT account FROM transactions LIMIT 30) UNION SELECT ${bad}`;
    const { report } = await go(['vesting'], { from: from.replaceAll('address', 'wallet_address') });
    expect(report.complete).toBe(true);
    const found = await rows(
      `SELECT "key", error IS NOT NULL FROM lookups WHERE pipeline = 'vesting' AND error IS NOT NULL`,
    );
    expect(found).toEqual([[`0:${'Z'.repeat(64)}`, 'true']]);
  });

  test.each([
    ['no key column', 'SELECT account AS adress FROM transactions', /expected a query with the columns address/],
    [
      'a table that nothing was exported of',
      'SELECT address FROM nft_sales',
      /expected rows in table nft_sales, got none/,
    ],
  ])('refuses a query with %s before it asks', async (_, from, message) => {
    const path = join(freshFolder(), 'w');
    await go(['transactions'], { warehouse: path, range: '1000:1001' });
    await expect(go(['account_latest'], { warehouse: path, range: '1000:1001', from })).rejects.toThrow(message);
    expect(sandbox.requests.entries().filter((entry) => entry.path === 'accountStates')).toEqual([]);
  });
});

describe('what may still change', () => {
  test('is read again once the head has moved, in place of the older reading', async () => {
    let nowMs = 0;
    const growing = await startTestSandbox({ blocks: 1045, blockMs: 1000, actionLag: 10, nowMs: () => nowMs });
    try {
      const path = join(freshFolder(), 'w');
      const options = { network: growing.url, warehouse: path, range: '1030:1045' };
      const first = await run({ ...options, pipelines: ['actions', 'jetton_masters'] });
      nowMs = 60_000;
      const second = await run({ ...options, pipelines: ['actions', 'jetton_masters'] });
      expect(second.rows['actions']).toBeGreaterThan(first.rows['actions'] ?? 0);
      const held = await query(path, 'SELECT count(*), count(DISTINCT (trace_id, action_id)) FROM actions');
      expect(held[0]?.[0]).toBe(held[0]?.[1]);
      expect(Number(held[0]?.[0])).toBe(second.rows['actions']);
      expect(await query(path, 'SELECT count(DISTINCT _read_at) FROM jetton_masters')).toEqual([['1']]);
      nowMs = 120_000;
      await run({ ...options, pipelines: ['jetton_masters'], history: true });
      expect(await query(path, 'SELECT count(DISTINCT _read_at) FROM jetton_masters')).toEqual([['2']]);
    } finally {
      await growing.close();
    }
  });
});
