import { afterAll, describe, expect, it } from 'vitest';
import { startSandbox } from '../../src/sandbox/index.ts';
import { readFacts } from '../facts.ts';
import { Checker } from './checker.ts';
import { type Answer, ask, askJson } from './support.ts';

const sandbox = await startSandbox({ blocks: 600 });
const actions = await all(
  '/actions?start_lt=66000500000000&end_lt=66001060000000&supported_action_types=v4&supported_action_types=tgbtc',
);
afterAll(() => sandbox.close());

async function all(path: string): Promise<Answer[]> {
  const rows: Answer[] = [];
  for (let offset = 0; rows.length === offset; offset += 1000) {
    rows.push(...(await askJson(sandbox, `${path}&sort=asc&limit=1000&offset=${offset}`)).actions);
  }
  return rows;
}

/** Opcode of the message by which a pool of an exchange tells what to pay. */
const PAYOUTS: Readonly<Record<string, string>> = {
  stonfi: '0xf93bb43f',
  stonfi_v2: '0x657b54f5',
  dedust: '0xad4eb6f5',
  tonco: '0xa1daa96d',
};

const encoded = (hash: string): string => encodeURIComponent(hash);

describe('actions', () => {
  it('of every type occur within an epoch', () => {
    const types = new Set(actions.map((row) => row.type));
    expect(types.size).toBe(83);
    expect(new Set(actions.map((row) => `${row.trace_id} ${row.action_id}`)).size).toBe(actions.length);
  });

  it('of every type are what records.json says', () => {
    const checker = new Checker();
    for (const row of actions) checker.action(row, row.action_id);
    expect(checker.problems.slice(0, 10)).toEqual([]);
    const known = Object.keys(readFacts<Answer>('records').action_details_by_type);
    expect(known.filter((type) => !actions.some((row) => row.type === type))).toEqual([]);
  });

  it('trade in pools, each of one of four markets, and sell items, at other prices in each epoch', async () => {
    const done = actions.filter((row) => row.success);
    const swaps = done.filter((row) => row.type === 'jetton_swap').map((row) => row.details);
    const markets = swaps.map((swap) => [swap.dex, ...[swap.asset_in ?? 'TON', swap.asset_out ?? 'TON'].sort()].join());
    expect(new Set(markets).size).toBe(4);
    const pools = new Map<string, string>();
    for (const { trace_id: id } of done.filter((row) => row.type === 'jetton_swap').slice(0, 40)) {
      const [trace] = (await askJson(sandbox, `/traces?trace_id=${encoded(id)}&include_actions=true`)).traces;
      const { dex } = trace.actions.find((row: Answer) => row.type === 'jetton_swap').details;
      const paid = Object.values<Answer>(trace.transactions).filter((row) => row.in_msg?.opcode === PAYOUTS[dex]);
      expect(paid).toHaveLength(1);
      expect(pools.get(paid[0]?.in_msg.source) ?? dex).toBe(dex);
      pools.set(paid[0]?.in_msg.source, dex);
    }
    expect(pools.size).toBe(8);
    expect(new Set(swaps.map((swap) => swap.dex_incoming_transfer.amount)).size).toBe(swaps.length);
    const sales = done.filter((row) => row.type === 'nft_purchase').map((row) => row.details);
    expect(new Set(sales.map((sale) => sale.nft_collection)).size).toBe(2);
    expect(new Set(sales.map((sale) => sale.price)).size).toBeGreaterThan(5);
    for (const { price, payout_amount: payout } of sales) expect(20n * BigInt(payout)).toBe(19n * BigInt(price));
  });

  it('belong to a trace and name its transactions', async () => {
    for (const row of actions.filter((_, index) => index % 90 === 0)) {
      const [trace] = (await askJson(sandbox, `/traces?trace_id=${encoded(row.trace_id)}`)).traces;
      expect([row.trace_end_lt, row.trace_end_utime]).toEqual([trace.end_lt, trace.end_utime]);
      expect([String(row.trace_mc_seqno_end), row.trace_external_hash]).toEqual([
        trace.mc_seqno_end,
        trace.external_hash,
      ]);
      const lts = row.transactions.map((hash: string) => Number(trace.transactions[hash].lt));
      expect([row.start_lt, row.end_lt]).toEqual([String(Math.min(...lts)), String(Math.max(...lts))]);
      if (row.type === 'unknown') expect(row.action_id).toBe(row.trace_id);
    }
  });

  it('come by the end of their trace, its id, their own end and id', async () => {
    const key = (row: Answer): string => `${row.trace_end_lt} ${row.trace_id} ${row.end_lt} ${row.action_id}`;
    expect(actions.map(key)).toEqual(actions.map(key).sort());
    const seqno = actions[700].trace_mc_seqno_end;
    const mine = actions.filter((row) => row.trace_mc_seqno_end === seqno);
    const types = 'supported_action_types=v4&supported_action_types=tgbtc';
    const listed: Answer[] = (await askJson(sandbox, `/actions?mc_seqno=${seqno}&limit=1000&${types}`)).actions;
    expect(listed).toEqual([...mine].reverse());
  });

  it('are hidden by the sets of types, and as children of what is shown', async () => {
    const window = 'start_lt=66000500000000&end_lt=66000999999999';
    const latest = await all(`/actions?${window}`);
    expect(latest.some((row) => row.type.startsWith('tgbtc'))).toBe(false);
    const first = await all(`/actions?${window}&supported_action_types=v1`);
    expect(first.some((row) => row.type.startsWith('cocoon'))).toBe(false);
    const count = (rows: Answer[]): number => rows.filter((row) => row.type === 'call_contract').length;
    expect(count(first)).toBeGreaterThan(count(latest));
    const named = await all(`/actions?${window}&action_type=tgbtc_mint`);
    expect(named.length).toBeGreaterThan(0);
    expect(new Set(named.map((row) => row.type))).toEqual(new Set(['tgbtc_mint']));
    const without = await all(`/actions?${window}&exclude_action_type=ton_transfer`);
    expect(without.length).toBe(
      latest.length -
        latest.filter((row) => row.type === 'ton_transfer' || row.details.value_extra_currencies?.['100'] !== undefined)
          .length,
    );
    expect(await all(`/actions?${window}&action_type=extra_currency_transfer`)).toEqual([]);
  });

  it('are found by id, trace, transaction, message and account', async () => {
    const row = actions.find((one) => one.type === 'jetton_transfer');
    const find = async (query: string): Promise<Answer[]> => (await askJson(sandbox, `/actions?${query}`)).actions;
    expect(await find(`action_id=${encoded(row.action_id)}&account=-1:${'3'.repeat(64)}`)).toEqual([row]);
    expect(await find(`trace_id=${encoded(row.trace_id)}`)).toContainEqual(row);
    expect(await find(`tx_hash=${encoded(row.transactions[0])}`)).toContainEqual(row);
    expect(await find(`msg_hash=${encoded(row.trace_external_hash)}`)).toContainEqual(row);
    expect(await all(`/actions?account=${row.details.sender}`)).toContainEqual(row);
    const [full] = await find(`action_id=${encoded(row.action_id)}&include_accounts=1&include_transactions=1`);
    expect(full.accounts).toContain(row.details.sender_jetton_wallet);
    expect(full.transactions_full.map((one: Answer) => one.hash)).toEqual(row.transactions);
    const many: Answer[] = await find('include_transactions=true&limit=200');
    expect(many.flatMap((one) => one.transactions_full).length).toBeLessThanOrEqual(200);
    expect(many.some((one) => one.transactions_full.length === 0)).toBe(true);
  });

  it('answer forbidden combinations with 500 and bad characters with 422', async () => {
    const hash = encoded(actions[0].trace_id);
    const account = `account=-1:${'3'.repeat(64)}`;
    for (const query of [
      `${account}&mc_seqno=300`,
      `${account}&tx_hash=${hash}`,
      `tx_hash=${hash}&mc_seqno=300`,
      `trace_id=${hash}&action_type=ton_transfer`,
    ]) {
      expect([query, (await ask(sandbox, `/actions?${query}`)).status]).toEqual([query, 500]);
    }
    const bad = await ask(sandbox, '/actions?action_type=%24%24');
    expect([bad.status, bad.body]).toEqual([422, '{"error":"action_type contains invalid characters"}']);
    expect((await ask(sandbox, '/actions?mc_seqno=601')).body).toBe('{"error":"masterchain block 601 not found"}');
  });

  it('arrive some blocks after their block when the head grows', async () => {
    let now = 0;
    const growing = await startSandbox({ blocks: 100, blockMs: 400, nowMs: () => now });
    const count = async (): Promise<number> =>
      (await askJson(growing, '/actions?mc_seqno=100&limit=1000')).actions.length;
    expect((await askJson(growing, '/traces?mc_seqno=100')).traces.length).toBeGreaterThan(0);
    expect(await count()).toBe(0);
    now = 1300;
    expect(await count()).toBe((await askJson(sandbox, '/actions?mc_seqno=100&limit=1000')).actions.length);
    await growing.close();
  });
});
