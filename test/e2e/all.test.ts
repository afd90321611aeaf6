import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { loadRegistry } from '../../src/declare/registry.ts';
import type { RunReport } from '../../src/export/run.ts';
import { tonlake } from '../cli.ts';
import { startTestSandbox } from '../faults/test-sandbox.ts';
import { freshFolder } from '../scratch.ts';
import { contentOf } from '../verify/support.ts';
import { type Hashes, hashTables, query } from './export.ts';

const registry = await loadRegistry();
const warehouse = join(freshFolder(), 'w');
let nowMs = 0;

async function runAll(): Promise<RunReport> {
  const words = ['--all', '--network', sandbox.url, '--range', '1000:1199', '--warehouse', warehouse, '--json'];
  const { code, stdout, stderr } = await tonlake(['run', ...words]);
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
  return JSON.parse(stdout.trim().split('\n').at(-1) ?? '');
}

// What is written late, or consumed late, is there: nothing is under way but what crosses the edges of the range.
const sandbox = await startTestSandbox({ blocks: 3300, blockMs: 1000, nowMs: () => nowMs });
const first = await runAll();
const hashes = await hashTables(warehouse);

const count = async (sql: string): Promise<number> =>
  Number((await query(warehouse, `SELECT count(*) FROM ${sql}`))[0]?.[0]);

describe.sequential('tonlake run --all', () => {
  test('fills every table', () => {
    expect(first).toMatchObject({ complete: true, quarantined: 0, from: 1000, to: 1199 });
    const tables = registry.lasting.flatMap((name) => registry.pipeline(name).tables.map((table) => table.name));
    expect(tables.length).toBeGreaterThan(30);
    expect(tables.filter((name) => (first.rows[name] ?? 0) === 0)).toEqual([]);
  });

  test('gives the rows that it has always given', async () => {
    // Recorded with the version before all walks had one engine.
    const content = Object.entries(await contentOf(warehouse)).filter(([, { rows }]) => rows > 0);
    const given = Object.fromEntries(content.map(([table, { rows, hash }]) => [table, `${rows} rows, ${hash}`]));
    expect(given).toEqual(
      JSON.parse(await readFile(new URL('../golden/sandbox-tables.json', import.meta.url), 'utf8')),
    );
  });

  test('a second run changes nothing', async () => {
    expect(await runAll()).toMatchObject({ complete: true, spans: 0, requests: expect.any(Number) });
    expect(await hashTables(warehouse)).toEqual(hashes);
  });

  test('a run after the head moved reads lists that change anew, and of the chain one proven block', async () => {
    nowMs = 10_000;
    sandbox.requests.reset();
    const { complete } = await runAll();
    expect(complete).toBe(true);
    const snapshots = registry.pipelines.filter(({ walk }) => walk.kind === 'snapshot');
    const moving = snapshots.flatMap(({ tables }) => tables.map(({ name }) => name));
    const after = await hashTables(warehouse);
    const still = (all: Hashes) => Object.entries(all).filter(([name]) => !moving.includes(name));
    expect(still(after)).toEqual(still(hashes));
    const requests = sandbox.requests.entries();
    const asked = new Set(requests.map(({ path }) => `/${path}`));
    const wanted = snapshots.map(({ endpoint }) => endpoint.replace(/^GET /, ''));
    expect([...asked].sort()).toEqual([...wanted, '/blocks', '/masterchainInfo'].sort());
    // The block is compared with the source, which could have become another chain.
    const blocks = requests.filter(({ path }) => path === 'blocks').map(({ query }) => new URLSearchParams(query));
    expect(blocks.map((query) => [query.get('workchain'), query.get('limit')])).toEqual([['-1', '1']]);
  });

  test('actions have their trace, their transactions and the messages of those; what is missing began earlier', async () => {
    expect(await count('actions ANTI JOIN traces USING (trace_id)')).toBe(0);
    const joined = `(SELECT trace_id, unnest(from_json(transactions, '["VARCHAR"]')) AS hash FROM actions)`;
    expect(await count(`${joined} SEMI JOIN transactions USING (hash)`)).toBeGreaterThan(2000);
    expect(await count(`${joined} ANTI JOIN transactions USING (hash) ANTI JOIN traces_early USING (trace_id)`)).toBe(
      0,
    );
    expect(await count('messages m ANTI JOIN transactions t ON t.hash = m.tx_hash')).toBe(0);
  });

  test('transactions have their trace; what is missing ended later', async () => {
    expect(await count('transactions ANTI JOIN traces USING (trace_id) ANTI JOIN traces_late USING (trace_id)')).toBe(
      0,
    );
    expect(await count('transactions SEMI JOIN traces USING (trace_id)')).toBeGreaterThan(3000);
  });

  test('messages have both ends; what is missing crosses the edges of the range', async () => {
    const oneEnd = `messages m WHERE source IS NOT NULL AND destination IS NOT NULL
      AND msg_hash NOT IN (SELECT msg_hash FROM messages_edge) AND (SELECT count(*) FROM messages o WHERE o.msg_hash = m.msg_hash) <> 2`;
    expect(await count(oneEnd)).toBe(0);
  });

  test('what crosses the edges is listed apart, and is little', async () => {
    const edges = await query(
      warehouse,
      `SELECT 'early', count(*), max(mc_seqno_start) FROM traces_early UNION ALL
       SELECT 'late', count(*), min(last_seqno) FROM traces_late UNION ALL
       SELECT missing_end, count(*), CASE missing_end WHEN 'sender' THEN max(tx_mc_block_seqno) ELSE min(tx_mc_block_seqno) END
       FROM messages_edge GROUP BY missing_end`,
    );
    const of = new Map(edges.map(([name, rows, edge]) => [name, [Number(rows), Number(edge)]]));
    expect([...of.keys()].sort()).toEqual(['early', 'late', 'receiver', 'sender']);
    for (const [rows] of of.values()) expect(rows).toBeGreaterThan(0);
    for (const [rows] of of.values()) expect(rows).toBeLessThan(60);
    expect(of.get('early')?.[1]).toBeLessThan(1000);
    expect(of.get('late')?.[1]).toBeGreaterThan(1170);
    expect(of.get('sender')?.[1]).toBeLessThan(1020);
    expect(of.get('receiver')?.[1]).toBeGreaterThan(1180);
    // A trace that began and ended inside has all its transactions.
    expect(await count('traces_early WHERE mc_seqno_start >= 1000')).toBe(0);
  });

  test('links of messages are those of messages, but for what crosses the edges', async () => {
    const ends = `(SELECT min(created_lt) AS low, max(created_lt) AS high FROM message_links)`;
    expect(
      await count(`messages m, ${ends} WHERE direction = 'out' AND created_lt BETWEEN low AND high
        AND NOT EXISTS (SELECT 1 FROM message_links l WHERE l.msg_hash = m.msg_hash)`),
    ).toBe(0);
    expect(await count('message_links ANTI JOIN messages USING (msg_hash)')).toBeLessThan(20);
  });
});

test('a plan says what it rests on, and what it does not know', async () => {
  const plan = async (...words: readonly string[]) => {
    const { code, stdout } = await tonlake([
      'run',
      '--dry-run',
      ...words,
      '--network',
      sandbox.url,
      '--warehouse',
      warehouse,
      '--json',
    ]);
    expect(code).toBe(0);
    return JSON.parse(stdout);
  };
  const next = await plan('actions', 'jetton_transfers', 'top_accounts', 'account_latest', '--range', '1200:1249');
  const bases = Object.fromEntries(next.pipelines.map((one: Plan) => [one.pipeline, one.basis]));
  expect(bases).toEqual({
    blocks: 'sample',
    transactions: 'sample',
    actions: 'history',
    jetton_transfers: 'history',
    top_accounts: 'history',
    account_latest: 'least',
  });
  expect(next.unknown).toEqual(['account_latest']);
  const of = (name: string): Plan => next.pipelines.find((one: Plan) => one.pipeline === name);
  expect(of('actions').requests).toEqual({ '/actions': 50 });
  expect(of('actions').rows).toBeGreaterThan(100);
  expect(of('top_accounts')).toMatchObject({ rows: 1000, requests: { '/topAccountsByBalance': expect.any(Number) } });
  // Where the tables that keys come from hold the range, the keys are counted.
  const { code } = await tonlake([
    'run',
    'transactions',
    '--network',
    sandbox.url,
    '--range',
    '1200:1209',
    '--warehouse',
    warehouse,
  ]);
  expect(code).toBe(0);
  const counted = await plan('account_latest', '--range', '1200:1209');
  const accounts = await count(
    '(SELECT DISTINCT account FROM transactions WHERE mc_block_seqno BETWEEN 1200 AND 1209)',
  );
  const [last] = counted.pipelines.filter((one: Plan) => one.pipeline === 'account_latest');
  expect(last).toMatchObject({
    basis: 'keys',
    rows: accounts,
    requests: { '/accountStates': Math.ceil(accounts / 100) },
  });
  expect(counted.unknown).toEqual([]);
});

interface Plan {
  readonly pipeline: string;
  readonly basis?: string;
  readonly rows: number;
  readonly requests: Readonly<Record<string, number>>;
}

test.each([
  [['transactions', '--all'], '--all cannot be combined with transactions'],
  [['--all', '--from', 'select 1'], '--all cannot be combined with --from'],
])('refuses %o', async (words, text) => {
  const { code, stderr } = await tonlake(['run', ...words, '--network', 'sandbox', '--range', '1:2']);
  expect(code).toBe(2);
  expect(stderr).toContain(text);
});
