import { cpSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import type { FoundPlace, ShownThing, ThingFacts, TraceNode } from '../../src/show/shown-thing.ts';
import { parseThing } from '../../src/show/thing.ts';
import type { Activity, BalanceHistory, ExploreExample, FoundRows, Overview } from '../../src/ui/ui-types.ts';
import { tonlake } from '../cli.ts';
import { query } from '../e2e/export.ts';
import { freshFolder } from '../scratch.ts';
import { exportSandbox, serveWarehouse, Visitor } from './support.ts';

const warehouse = await exportSandbox();
const server = await serveWarehouse(warehouse);
const visitor = await Visitor.enter(server);

const placesOf = (q: string, where: string) =>
  visitor.read<readonly FoundPlace[]>(`/api/explore/places?${new URLSearchParams({ q, where })}`);
async function find(q: string): Promise<ShownThing> {
  const facts = await visitor.read<ThingFacts>(`/api/explore?${new URLSearchParams({ q })}`);
  return { ...facts, places: [...(await placesOf(q, 'indexed')), ...(await placesOf(q, 'others'))] };
}
const flat = (nodes: readonly TraceNode[]): readonly TraceNode[] =>
  nodes.flatMap((node) => [node, ...flat(node.children)]);

describe('what is sought', () => {
  const hash = 'zzR8GhybgT18MHfk8Cy3UBN+LVu+4rGMiHlbrGsHkZQ=';

  test.each([
    [hash, { kind: 'hash', value: hash }],
    [hash.replaceAll('+', '-').replaceAll('/', '_').slice(0, 43), { kind: 'hash', value: hash }],
    [Buffer.from(hash, 'base64').toString('hex'), { kind: 'hash', value: hash }],
    [` ${`0:${'ab'.repeat(32)}`} `, { kind: 'address', value: `0:${'AB'.repeat(32)}` }],
    ['EQCxE6mUtQJKFnGfaROTKOt1lZbDiiX1kCixRv7Nw2Id_sDs', { kind: 'address', value: expect.stringMatching(/^0:B113/) }],
    ['1,234', { kind: 'block', value: '1234' }],
  ])('%s is understood', (text, sought) => expect(parseThing(text)).toEqual(sought));

  test.each(['', 'x', "1' or 1", '-5', '12345678901', 'EQCxE6mUtQJKFnGfaROTKOt1lZbDiiX1kCixRv7Nw2Id_sDx'])(
    '%j is not',
    (text) => expect(parseThing(text)).toBeUndefined(),
  );
});

test('an account is found in every table that has it, by both forms of its address', async () => {
  const [[raw, friendly, count]] = (await query(
    warehouse,
    'select account, friendly_address(account), count(*) from transactions group by all order by 3 desc limit 1',
  )) as [[string, string, string]];
  const found = await find(friendly);
  expect(found).toMatchObject({ kind: 'address', value: raw, friendly });
  expect(found).toEqual(await find(raw.toLowerCase()));
  expect(found.places.find(({ table, column }) => table === 'transactions' && column === 'account')?.count).toBe(
    Number(count),
  );
  const rows = await visitor.read<FoundRows>(
    `/api/explore/rows?${new URLSearchParams({ q: friendly, table: 'transactions', column: 'account' })}`,
  );
  expect(rows.rows.length).toBe(Math.min(50, Number(count)));
  // Columns of the summary of a row.
  const summarized = rows.columns.flatMap(({ name, format }) => (format === undefined ? [] : [`${name} ${format}`]));
  expect(summarized).toEqual(
    expect.arrayContaining(['account address', 'total_fees ton', 'block_time time', 'descr text']),
  );
});

test('a transaction leads to its trace as a tree, whose children received the messages of their parent', async () => {
  const [[trace, size]] = (await query(
    warehouse,
    'select trace_id, count(*) from transactions where trace_id is not null group by 1 order by 2 desc, 1 limit 1',
  )) as [[string, string]];
  const [[last]] = (await query(
    warehouse,
    `select hash from transactions where trace_id = '${trace}' order by lt desc limit 1`,
  )) as [[string]];
  const found = await find(last);
  expect(found.places[0]).toMatchObject({ table: 'transactions', column: 'hash', isKey: true, count: 1 });
  const shown = JSON.parse((await tonlake(['show', last, '--json', '--warehouse', warehouse])).stdout);
  expect(found).toEqual(shown);
  const nodes = flat(found.trace);
  expect(nodes).toHaveLength(Number(size));
  const edges = await query(
    warehouse,
    `select o.tx_hash, i.tx_hash from messages o join messages i on o.msg_hash = i.msg_hash and o.direction = 'out' and i.direction = 'in'
      join transactions t on t.hash = i.tx_hash and t.trace_id = '${trace}' join transactions s on s.hash = o.tx_hash and s.trace_id = '${trace}' order by all`,
  );
  const drawn = nodes.flatMap(({ hash, children }) => children.map((child) => [hash, child.hash]));
  expect(drawn.sort()).toEqual([...edges].sort());
  expect(edges.length).toBeGreaterThan(0);
});

test('a row says where it is from, as tonlake show does', async () => {
  const [[hash]] = (await query(warehouse, 'select hash from transactions order by lt limit 1')) as [[string]];
  const { text } = await visitor.read<{ text: string }>(
    `/api/explain?${new URLSearchParams({ table: 'transactions', key: hash })}`,
  );
  const { stdout } = await tonlake(['show', 'transactions', hash, '--warehouse', warehouse]);
  expect(text).toBe(stdout);
  expect(text).toContain('the file has the SHA-256 that the ledger recorded');
});

test('the balances of an account over time are those of its states', async () => {
  const [[account]] = (await query(
    warehouse,
    'select account from account_states where balance is not null group by 1 order by count(*) desc, 1 limit 1',
  )) as [[string]];
  const history = await visitor.read<BalanceHistory>(`/api/explore/balances?${new URLSearchParams({ q: account })}`);
  const rows = await query(
    warehouse,
    `select block_time, ton(balance) from account_states where account = '${account}' and balance is not null order by last_trans_lt`,
  );
  expect(rows.length).toBeGreaterThan(1);
  expect(history).toMatchObject({ table: 'account_states', count: rows.length });
  expect(history.points.map(({ time, ton }) => [time, ton])).toEqual(rows);
  expect((await visitor.get('/api/explore/balances?q=1005')).status).toBe(404);
});

test('what is not there, or is no value, is said so', async () => {
  expect((await find(`0:${'AB'.repeat(32)}`)).places).toEqual([]);
  expect((await visitor.get('/api/explore?q=nonsense')).status).toBe(400);
  const hostile = new URLSearchParams({ q: '1005', table: 'transactions', column: 'hash" or 1=1 --' });
  expect((await visitor.get(`/api/explore/rows?${hostile}`)).status).toBe(404);
});

test('transactions and fees over time are those of SQL, in whole units of time alone', async () => {
  const activity = await visitor.read<Activity>('/api/activity');
  expect(activity).toMatchObject({ unit: 'second', fees: 'transactions' });
  const whole = await query(
    warehouse,
    `WITH ends AS (SELECT min(block_time) AS first, date_trunc('second', max(block_time)) AS last FROM blocks WHERE workchain = -1)
    SELECT date_trunc('second', block_time) AS time, count(*), ton(sum(total_fees)) FROM transactions, ends
    WHERE time >= first AND time < last GROUP BY ALL ORDER BY 1`,
  );
  expect(activity.points).toEqual(whole);
  expect(whole.length).toBeGreaterThan(20);
});

test('examples and activity are those of the newest commit', async () => {
  const copy = join(freshFolder(), 'w');
  cpSync(warehouse, copy, { recursive: true });
  const followed = await serveWarehouse(copy);
  const guest = await Visitor.enter(followed);
  const seen = async () => {
    const examples = await guest.read<readonly ExploreExample[]>('/api/explore/examples');
    const activity = await guest.read<Activity>('/api/activity');
    return { newest: examples.at(-1)?.value, seconds: activity.points.length };
  };
  const before = await seen();
  expect(before.newest).toBe('1099');
  expect(await tonlake(['run', 'transactions', '--range', '1100:1119', '--warehouse', copy])).toMatchObject({
    code: 0,
  });
  const after = await seen();
  expect(after.newest).toBe('1119');
  expect(after.seconds).toBeGreaterThan(before.seconds);
});

test('the overview has the status of the warehouse, one command for pipelines that lack the same blocks', async () => {
  const overview = await visitor.read<Overview>('/api/overview');
  const status = JSON.parse((await tonlake(['status', '--warehouse', warehouse, '--json'])).stdout);
  expect(overview.pipelines.map(({ name, blocks, bytes }) => [name, blocks, bytes])).toEqual(
    status.pipelines.map((each: { pipeline: string; blocks: number; bytes: number }) => [
      each.pipeline,
      each.blocks,
      each.bytes,
    ]),
  );
  expect(overview).toMatchObject({ missing: 10, writer: null, head: { seqno: 1099 } });
  expect(overview.fills).toEqual([
    {
      ...{ pipelines: ['blocks', 'transactions'], blocks: 10 },
      command: `tonlake run blocks transactions --network sandbox --range 1040:1049 --warehouse ${warehouse}`,
    },
  ]);
  const copy = join(freshFolder(), 'w');
  cpSync(warehouse, copy, { recursive: true });
  const words = (overview.fills[0]?.command ?? '').replace(warehouse, copy).split(' ').slice(1);
  expect(await tonlake(words)).toMatchObject({ code: 0 });
  const filled = await tonlake(['status', '--warehouse', copy, '--range', '1000:1099', 'blocks', 'transactions']);
  expect(filled).toMatchObject({ code: 0 });
});
