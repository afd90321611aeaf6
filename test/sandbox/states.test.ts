import { afterAll, describe, expect, it } from 'vitest';
import { startSandbox } from '../../src/sandbox/index.ts';
import { Checker } from './checker.ts';
import { type Answer, ask, askJson, askTransactions, type Transaction } from './support.ts';

const sandbox = await startSandbox({ blocks: 600 });
const transactions: Transaction[] = [];
for (let seqno = 570; seqno <= 600; seqno += 1)
  transactions.push(...(await askTransactions(sandbox, `mc_seqno=${seqno}`)));
const accounts = [...new Set(transactions.map((row) => row.account))].slice(0, 150);
afterAll(() => sandbox.close());

const listOf = (addresses: readonly string[]): string => addresses.map((address) => `address=${address}`).join('&');

describe('latest states', () => {
  it('are those after the last transaction of each account', async () => {
    const rows: Answer[] = (await askJson(sandbox, `/accountStates?${listOf(accounts)}`)).accounts;
    expect(rows.length).toBeGreaterThan(accounts.length - 5);
    for (const row of rows) {
      const [last] = await askTransactions(sandbox, `account=${row.address}&limit=1`);
      if (last === undefined || last.end_status === 'nonexist') continue;
      expect([row.address, row.last_transaction_hash, row.last_transaction_lt]).toEqual([
        row.address,
        last.hash,
        last.lt,
      ]);
      const state = last.account_state_after;
      expect(row.account_state_hash).toBe(state.hash);
      if (state.balance !== null) {
        expect([row.balance, row.status, row.extra_currencies]).toEqual([
          state.balance,
          state.account_status,
          state.extra_currencies,
        ]);
      }
    }
    const bare: Answer[] = (await askJson(sandbox, `/accountStates?${listOf(accounts)}&include_boc=false`)).accounts;
    expect(bare.every((row) => row.code_boc === undefined && row.data_boc === undefined)).toBe(true);
    expect(bare.map((row) => row.address)).not.toEqual(rows.map((row) => row.address));
  });

  it('of wallets agree with those of accounts', async () => {
    const rows: Answer[] = (await askJson(sandbox, `/walletStates?${listOf(accounts)}`)).wallets;
    const states: Answer[] = (await askJson(sandbox, `/accountStates?${listOf(accounts)}`)).accounts;
    expect(rows.map((row) => row.address).sort()).toEqual(states.map((row) => row.address).sort());
    const known = new Map(states.map((row) => [row.address, row]));
    for (const row of rows) {
      const state = known.get(row.address);
      expect([row.balance, row.status, row.last_transaction_lt]).toEqual([
        state.balance,
        state.status,
        state.last_transaction_lt,
      ]);
      expect(row.is_wallet).toBe(row.wallet_type !== undefined);
      const one = await ask(sandbox, `/walletInformation?address=${row.address}`);
      if (row.status !== 'active') continue;
      expect(one.status).toBe(row.is_wallet ? 200 : 409);
      if (row.is_wallet) expect(JSON.parse(one.body)).toMatchObject({ seqno: row.seqno, balance: row.balance });
    }
    expect(new Set(rows.map((row) => row.wallet_type)).size).toBe(4);
  });

  it('of unknown accounts are left out, or uninit and empty where one is asked for', async () => {
    const unknown = `0:${'1'.repeat(64)}`;
    expect((await askJson(sandbox, `/accountStates?address=${unknown}`)).accounts).toEqual([]);
    expect(await askJson(sandbox, `/addressInformation?address=${unknown}`)).toMatchObject({
      status: 'uninit',
      balance: '0',
      last_transaction_lt: '0',
    });
    expect((await ask(sandbox, '/addressInformation')).status).toBe(401);
    expect((await ask(sandbox, '/addressInformation?address=zz')).status).toBe(422);
    expect((await ask(sandbox, '/accountStates?address=zz')).status).toBe(422);
  });

  it('ranked by balance are a bare list without repeats', async () => {
    const all: Answer[] = [];
    for (let offset = 0; all.length === offset; offset += 1000) {
      all.push(...(await askJson(sandbox, `/topAccountsByBalance?limit=1000&offset=${offset}`)));
    }
    const balances = all.map((row) => Number(row.balance));
    expect(balances).toEqual([...balances].sort((a, b) => b - a));
    expect(new Set(all.map((row) => row.account)).size).toBe(all.length);
    expect(all.length).toBeGreaterThan(2000);
    const [state] = (await askJson(sandbox, `/accountStates?address=${all[3].account}`)).accounts;
    expect(state.balance).toBe(all[3].balance);
    const orders = new Set<string>();
    for (let count = 0; count < 4; count += 1)
      orders.add(JSON.stringify(await askJson(sandbox, `/topAccountsByBalance?limit=1000&offset=${all.length - 600}`)));
    expect(orders.size).toBeGreaterThan(1);
  });

  it('change as the head grows', async () => {
    let now = 0;
    const growing = await startSandbox({ blocks: 300, blockMs: 400, nowMs: () => now });
    const [row] = transactions.filter((one) => one.in_msg?.source === null);
    const lt = async (): Promise<number> =>
      Number((await askJson(growing, `/accountStates?address=${row?.account}`)).accounts[0].last_transaction_lt);
    const before = await lt();
    now = 400 * 260;
    expect(await lt()).toBeGreaterThan(before);
    await growing.close();
  });
});

describe('address book and metadata', () => {
  it('are keyed by the text that was asked, and by raw address', async () => {
    const book = await askJson(sandbox, `/addressBook?${listOf(accounts.slice(0, 5))}&address=nonsense`);
    expect(book['nonsense']).toEqual({ user_friendly: null, domain: null, interfaces: null });
    const friendly = book[accounts[0] ?? ''].user_friendly;
    expect((await askJson(sandbox, `/addressBook?address=${friendly}`))[friendly].user_friendly).toBe(friendly);
    const listed = (await askJson(sandbox, `/transactions?account=${accounts[0]}&limit=1`)).address_book;
    expect(book[accounts[0] ?? '']).toEqual(listed[accounts[0] ?? '']);
    const wallets: Answer[] = (await askJson(sandbox, '/jetton/wallets?limit=3')).jetton_wallets;
    const tokens = await askJson(
      sandbox,
      `/metadata?${listOf(wallets.map((row) => row.address))}&address=nonsense&address=${accounts[0]}`,
    );
    for (const row of wallets)
      expect([tokens[row.address], tokens[row.jetton]].every((one) => one.is_indexed)).toBe(true);
  });
});

describe('records', () => {
  it('of accounts are what records.json says', async () => {
    const checker = new Checker();
    const states = await askJson(sandbox, `/accountStates?${listOf(accounts)}`);
    for (const row of states.accounts) checker.check('AccountStateFull', row, row.address);
    for (const row of (await askJson(sandbox, `/walletStates?${listOf(accounts)}`)).wallets)
      checker.check('WalletState', row, row.address);
    for (const row of await askJson(sandbox, '/topAccountsByBalance?limit=1000'))
      checker.check('AccountBalance', row, row.account);
    for (const address of accounts.slice(0, 20)) {
      checker.check('V2AddressInformation', await askJson(sandbox, `/addressInformation?address=${address}`), address);
      const wallet = await ask(sandbox, `/walletInformation?address=${address}`);
      if (wallet.status === 200) checker.check('V2WalletInformation', JSON.parse(wallet.body), address);
    }
    for (const [key, row] of Object.entries(await askJson(sandbox, `/addressBook?${listOf(accounts)}`)))
      checker.check('AddressBookRow', row, key);
    for (const [key, row] of Object.entries(await askJson(sandbox, `/metadata?${listOf(accounts)}`)))
      checker.check('AddressMetadata', row, key);
    expect(checker.problems.slice(0, 5)).toEqual([]);
    expect(Object.keys(states)).toEqual(['accounts', 'address_book', 'metadata']);
  });
});
