import { afterAll, describe, expect, it } from 'vitest';
import { startSandbox } from '../../src/sandbox/index.ts';
import { Checker } from './checker.ts';
import { type Answer, ask, askJson } from './support.ts';

const LISTS = [
  { path: '/jetton/masters', key: 'jetton_masters', record: 'JettonMaster', least: 30 },
  { path: '/jetton/wallets', key: 'jetton_wallets', record: 'JettonWallet', least: 1200 },
  { path: '/nft/collections', key: 'nft_collections', record: 'NFTCollection', least: 6 },
  { path: '/nft/items', key: 'nft_items', record: 'NFTItem', least: 1100 },
] as const;

const sandbox = await startSandbox({ blocks: 600 });
afterAll(() => sandbox.close());

async function all(path: string, key: string): Promise<Answer[]> {
  const rows: Answer[] = [];
  for (let offset = 0; rows.length === offset; offset += 1000) {
    const sign = path.includes('?') ? '&' : '?';
    rows.push(...(await askJson(sandbox, `${path}${sign}limit=1000&offset=${offset}`))[key]);
  }
  return rows;
}

describe.each(LISTS)('$path', ({ path, key, record, least }) => {
  it('is read whole by offset, in one order, whatever sort says', async () => {
    const rows = await all(path, key);
    expect(rows.length).toBeGreaterThanOrEqual(least);
    expect(new Set(rows.map((row) => row.address)).size).toBe(rows.length);
    expect(await all(path, key)).toEqual(rows);
    if (key !== 'jetton_wallets')
      expect((await askJson(sandbox, `${path}?sort=up&limit=3`))[key]).toEqual(rows.slice(0, 3));
    expect((await ask(sandbox, `${path}?limit=1001`)).status).toBe(500);
  });

  it('names the latest state of each contract', async () => {
    const rows = (await all(path, key)).filter((_, index) => index % 97 === 0);
    const query = rows.map((row) => `address=${row.address}`).join('&');
    const states: Answer[] = (await askJson(sandbox, `/accountStates?${query}`)).accounts;
    for (const row of rows) {
      const state = states.find((one) => one.address === row.address);
      expect([row.last_transaction_lt, row.code_hash, row.data_hash]).toEqual([
        state.last_transaction_lt,
        state.code_hash,
        state.data_hash,
      ]);
    }
  });

  it('is what records.json says', async () => {
    const checker = new Checker();
    for (const row of await all(path, key)) checker.check(record, row, row.address);
    expect(checker.problems.slice(0, 5)).toEqual([]);
    const answer = await askJson(sandbox, `${path}?limit=5`);
    expect(Object.keys(answer)).toEqual([key, 'address_book', 'metadata']);
  });
});

describe('jetton wallets', () => {
  it('are ordered by address, owner or jetton as they are asked for', async () => {
    const rows = await all('/jetton/wallets', 'jetton_wallets');
    const some = rows.slice(100, 130);
    const addresses: Answer[] = (
      await askJson(sandbox, `/jetton/wallets?address=${some.map((row) => row.address).join(',')}`)
    ).jetton_wallets;
    expect(addresses.map((row) => row.address)).toEqual(some.map((row) => row.address).sort());
    const [owner, jetton] = [some[0].owner, some[0].jetton];
    expect(await all(`/jetton/wallets?owner_address=${owner}`, 'jetton_wallets')).toEqual(
      rows.filter((row) => row.owner === owner),
    );
    expect(await all(`/jetton/wallets?jetton_address=${jetton}`, 'jetton_wallets')).toEqual(
      rows.filter((row) => row.jetton === jetton),
    );
    expect((await ask(sandbox, `/jetton/wallets?jetton_address=${jetton},${rows.at(-1).jetton}`)).status).toBe(422);
    const both = `/jetton/wallets?jetton_address=${jetton},${rows.at(-1).jetton}&owner_address=${owner}`;
    expect((await ask(sandbox, both)).status).toBe(200);
  });

  it('by balance have no tie-breaker; those without anything can be left out', async () => {
    const first: Answer[] = (await askJson(sandbox, '/jetton/wallets?sort=asc&limit=1000')).jetton_wallets;
    const second: Answer[] = (await askJson(sandbox, '/jetton/wallets?sort=asc&limit=1000')).jetton_wallets;
    const values = first.map((row) => BigInt(row.balance));
    expect(values).toEqual([...values].sort((a, b) => (a < b ? -1 : a > b ? 1 : 0)));
    expect(first.map((row) => row.address)).not.toEqual(second.map((row) => row.address));
    expect(first[0].balance.startsWith('-')).toBe(true);
    const rows = await all('/jetton/wallets?exclude_zero_balance=true', 'jetton_wallets');
    expect(rows.filter((row) => row.balance === '0').every((row) => row.mintless_info !== undefined)).toBe(true);
    expect(rows.some((row) => row.mintless_info !== undefined)).toBe(true);
  });

  it('hold what they got less what they gave', async () => {
    let now = 0;
    const growing = await startSandbox({ blocks: 300, blockMs: 400, nowMs: () => now });
    const read = async (): Promise<Map<string, bigint>> =>
      new Map(
        (await askJson(growing, '/jetton/wallets?limit=40')).jetton_wallets.map((row: Answer) => [
          row.address,
          BigInt(row.balance),
        ]),
      );
    const before = await read();
    now = 400 * 40;
    const after = await read();
    const moved = new Map<string, bigint>();
    for (let seqno = 301; seqno <= 340; seqno += 1) {
      const { transactions } = await askJson(growing, `/transactions?mc_seqno=${seqno}&limit=1000`);
      for (const row of transactions) {
        const body = row.in_msg?.message_content.decoded;
        if (row.description.aborted || row.in_msg?.bounced || body?.amount === undefined || !before.has(row.account))
          continue;
        const sign =
          { jetton_transfer: -1n, jetton_burn: -1n, jetton_internal_transfer: 1n }[String(body['@type'])] ?? 0n;
        moved.set(row.account, (moved.get(row.account) ?? 0n) + sign * BigInt(body.amount.value));
      }
    }
    expect(moved.size).toBeGreaterThan(5);
    for (const [address, was] of before)
      expect([address, after.get(address)]).toEqual([address, was + (moved.get(address) ?? 0n)]);
    await growing.close();
  });
});

describe('NFT items', () => {
  it('belong to whom the last transfer named, and every transfer comes from the owner', async () => {
    const rows: Answer[] = (await askJson(sandbox, '/nft/transfers?limit=1000&sort=asc')).nft_transfers;
    const owners = new Map<string, string>();
    for (const row of rows) {
      const known = owners.get(row.nft_address);
      if (known !== undefined) expect(row.old_owner).toBe(known);
      owners.set(row.nft_address, row.transaction_aborted ? row.old_owner : row.new_owner);
    }
    const items = await askJson(sandbox, `/nft/items?address=${[...owners.keys()].join(',')}`);
    expect(owners.size).toBeGreaterThan(10);
    for (const item of items.nft_items)
      expect([item.address, item.owner_address]).toEqual([item.address, owners.get(item.address)]);
  });

  it('of a collection come by index, of an owner by collection and index', async () => {
    const collections = await all('/nft/collections', 'nft_collections');
    const collection = collections.at(-1).address;
    const rows = await all(`/nft/items?collection_address=${collection}`, 'nft_items');
    const indexes = rows.map((row) => BigInt(row.index));
    expect(indexes).toEqual([...indexes].sort((a, b) => (a < b ? -1 : 1)));
    expect(rows.length).toBe(220);
    const [one] = (await askJson(sandbox, `/nft/items?collection_address=${collection}&index=${rows[7].index}`))
      .nft_items;
    expect(one).toEqual(rows[7]);
    expect((await ask(sandbox, '/nft/items?index=5')).status).toBe(500);
    expect((await ask(sandbox, `/nft/items?index=5x&collection_address=${collection}`)).status).toBe(422);
    expect((await ask(sandbox, `/nft/items?collection_address=${collection},${collections[0].address}`)).status).toBe(
      422,
    );
    const lts: number[] = (await askJson(sandbox, '/nft/items?sort_by_last_transaction_lt=1&limit=50')).nft_items.map(
      (row: Answer) => Number(row.last_transaction_lt),
    );
    expect(lts).toEqual([...lts].sort((a, b) => b - a));
  });

  it('on sale are owned by the sale contract, and really by the seller', async () => {
    const rows = (await all('/nft/items', 'nft_items')).filter((row) => row.on_sale);
    expect(rows.length).toBeGreaterThan(10);
    const addresses = rows.map((row) => row.sale_contract_address ?? row.auction_contract_address);
    const { nft_sales: sales } = await askJson(
      sandbox,
      `/nft/sales?${addresses.map((one) => `address=${one}`).join('&')}`,
    );
    expect(
      sales.map((sale: Answer) => sale.nft_item).sort((a: Answer, b: Answer) => (a.address < b.address ? -1 : 1)),
    ).toEqual([...rows].sort((a, b) => (a.address < b.address ? -1 : 1)));
    const [row] = rows;
    const ofSeller = async (query: string): Promise<string[]> =>
      (await all(`/nft/items?owner_address=${row.real_owner}${query}`, 'nft_items')).map((one) => one.address);
    expect(await ofSeller('')).not.toContain(row.address);
    expect(await ofSeller('&include_on_sale=true')).toContain(row.address);
  });
});
