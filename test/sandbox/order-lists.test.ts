import { afterAll, describe, expect, it } from 'vitest';
import { startSandbox } from '../../src/sandbox/index.ts';
import { Checker } from './checker.ts';
import { type Answer, ask, askJson, readRange, type Transaction } from './support.ts';

const LISTS = [
  { path: '/jetton/transfers', key: 'jetton_transfers', record: 'JettonTransfer', opcode: '0x0f8a7ea5' },
  { path: '/jetton/burns', key: 'jetton_burns', record: 'JettonBurn', opcode: '0x595f07bc' },
  { path: '/nft/transfers', key: 'nft_transfers', record: 'NFTTransfer', opcode: '0x5fcc3d14' },
] as const;
const WINDOW = 'start_lt=66000200000000&end_lt=66000399999999';

const sandbox = await startSandbox({ blocks: 600, tieSeqno: 333 });
const { transactions } = await readRange(sandbox, 100, 202);
afterAll(() => sandbox.close());

describe.each(LISTS)('$path', ({ path, key, record, opcode }) => {
  it('lists exactly the orders that transactions in blocks carry', async () => {
    const rows: Answer[] = (await askJson(sandbox, `${path}?${WINDOW}&limit=1000&sort=asc`))[key];
    const aborted = key !== 'jetton_transfers';
    const expected = transactions.filter((row) => {
      const lt = Number(row.lt);
      const told = row.in_msg?.opcode === opcode && row.in_msg.bounced === false;
      return told && lt >= 66000200000000 && lt <= 66000399999999 && (aborted || !row.description.aborted);
    });
    expect(rows.map((row) => row.transaction_hash).sort()).toEqual(expected.map((row) => row.hash).sort());
    const known = new Map(expected.map((row) => [row.hash, row]));
    for (const row of rows) {
      const transaction = known.get(row.transaction_hash);
      expect(row).toMatchObject({
        transaction_lt: transaction?.lt,
        transaction_now: transaction?.now,
        transaction_aborted: transaction?.description.aborted,
        trace_id: transaction?.trace_id,
      });
      expect(row.source_wallet ?? row.jetton_wallet ?? row.nft_address).toBe(transaction?.account);
      expect(row.source ?? row.owner ?? row.old_owner).toBe(transaction?.in_msg?.source);
    }
    expect(rows.length).toBeGreaterThan(3);
  });

  it('orders by lt both ways, by whole seconds when a time bounds it, with ties in any order', async () => {
    const asc: Answer[] = (await askJson(sandbox, `${path}?${WINDOW}&limit=1000&sort=asc`))[key];
    const lts = asc.map((row) => Number(row.transaction_lt));
    expect(lts).toEqual([...lts].sort((a, b) => a - b));
    const desc: Answer[] = (await askJson(sandbox, `${path}?${WINDOW}&limit=1000`))[key];
    expect(desc.map((row) => Number(row.transaction_lt))).toEqual([...lts].reverse());
    const [from, to] = [asc[0].transaction_now, asc.at(-1).transaction_now];
    const timed: Answer[] = (await askJson(sandbox, `${path}?start_utime=${from}&end_utime=${to}&limit=1000&sort=asc`))[
      key
    ];
    const times = timed.map((row) => row.transaction_now);
    expect(times).toEqual([...times].sort((a, b) => a - b));
    expect(timed.length).toBeGreaterThanOrEqual(asc.length);
  });

  it('filters by owner, wallet or item, and parent', async () => {
    const rows: Answer[] = (await askJson(sandbox, `${path}?${WINDOW}&limit=1000`))[key];
    const row = rows[0];
    const owner = row.source ?? row.owner ?? row.old_owner;
    const wallet = row.source_wallet ?? row.jetton_wallet ?? row.nft_address;
    const parent = row.jetton_master ?? row.nft_collection;
    const names = key === 'nft_transfers' ? ['item_address', 'collection_address'] : ['jetton_wallet', 'jetton_master'];
    const count = async (query: string): Promise<number> =>
      (await askJson(sandbox, `${path}?${WINDOW}&limit=1000&${query}`))[key].length;
    const parties = (one: Answer): string[] => [
      one.source ?? one.owner ?? one.old_owner,
      one.destination ?? one.new_owner,
    ];
    expect(await count(`${names[0]}=${wallet}`)).toBe(
      rows.filter((one) => (one.source_wallet ?? one.jetton_wallet ?? one.nft_address) === wallet).length,
    );
    expect(await count(`${names[1]}=${parent}`)).toBe(
      rows.filter((one) => (one.jetton_master ?? one.nft_collection) === parent).length,
    );
    expect(await count(`owner_address=${owner}`)).toBe(rows.filter((one) => parties(one).includes(owner)).length);
    expect(await count(`address=${owner}`)).toBe(await count(`owner_address=${owner}`));
    if (key === 'jetton_burns') return;
    expect(await count(`owner_address=${owner}&direction=out`)).toBe(
      rows.filter((one) => parties(one)[0] === owner).length,
    );
    expect(await count(`owner_address=${owner}&direction=in`)).toBe(
      rows.filter((one) => parties(one)[1] === owner).length,
    );
    expect(await count('direction=in')).toBe(rows.length);
  });

  it('answers the same mistakes with the same errors as the other listings', async () => {
    expect((await ask(sandbox, `${path}?limit=1001`)).status).toBe(500);
    expect((await ask(sandbox, `${path}?sort=up`)).body).toBe('{"error":"wrong value for sort parameter"}');
    expect((await ask(sandbox, `${path}?owner_address=zz`)).status).toBe(422);
    expect((await askJson(sandbox, `${path}?start_utime=99999999999`))[key]).toEqual([]);
    expect((await askJson(sandbox, `${path}?seqno=5&lt=7&limit=3`))[key]).toHaveLength(3);
  });

  it('is what records.json says', async () => {
    const answer = await askJson(sandbox, `${path}?${WINDOW}&limit=1000`);
    const checker = new Checker();
    for (const row of answer[key]) checker.check(record, row, row.transaction_hash);
    for (const [address, row] of Object.entries(answer.address_book)) checker.check('AddressBookRow', row, address);
    for (const [address, row] of Object.entries(answer.metadata)) checker.check('AddressMetadata', row, address);
    expect(checker.problems.slice(0, 5)).toEqual([]);
    expect(Object.keys(answer)).toEqual([key, 'address_book', 'metadata']);
  });
});

describe('more than 3,000 jetton transfers at one lt', () => {
  it('fill windows of a single lt, with another page each time, and are found by wallet', async () => {
    const { transactions: page } = await askJson(
      sandbox,
      '/transactionsByMasterchainBlock?seqno=333&limit=1000&offset=4500',
    );
    const lt = page[0].lt;
    const ask1000 = async (): Promise<Answer[]> =>
      (await askJson(sandbox, `/jetton/transfers?start_lt=${lt}&end_lt=${lt}&limit=1000&sort=asc`)).jetton_transfers;
    const [one, two] = [await ask1000(), await ask1000()];
    expect(one).toHaveLength(1000);
    expect(new Set(one.map((row) => row.transaction_lt))).toEqual(new Set([lt]));
    expect(one.map((row) => row.transaction_hash)).not.toEqual(two.map((row) => row.transaction_hash));
    const wallets = new Set<string>();
    for (let offset = 0; ; offset += 1000) {
      const rows: Transaction[] = (await askJson(sandbox, `/transactions?lt=${lt}&limit=1000&offset=${offset}`))
        .transactions;
      for (const row of rows) if (row.in_msg?.opcode === '0x0f8a7ea5') wallets.add(row.account);
      if (rows.length < 1000) break;
    }
    expect(wallets.size).toBeGreaterThanOrEqual(3000);
    const some = [...wallets].slice(0, 50);
    const found = await askJson(
      sandbox,
      `/jetton/transfers?start_lt=${lt}&end_lt=${lt}&jetton_wallet=${some.join(',')}`,
    );
    expect(found.jetton_transfers.map((row: Answer) => row.source_wallet).sort()).toEqual([...some].sort());
  });
});
