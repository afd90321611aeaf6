import { afterAll, describe, expect, it } from 'vitest';
import { startSandbox } from '../../src/sandbox/index.ts';
import { readFacts } from '../facts.ts';
import { Checker } from './checker.ts';
import { type Answer, ask, askJson } from './support.ts';

const repeated = (name: string, values: readonly string[]): string =>
  values.map((value) => `${name}=${value}`).join('&');

const sandbox = await startSandbox({ blocks: 300 });
const wallets: string[] = [];
for (let offset = 0; offset < 4000; offset += 1000) {
  const top: Answer[] = await askJson(sandbox, `/topAccountsByBalance?limit=1000&offset=${offset}`);
  if (top.length === 0) break;
  const { wallets: rows } = await askJson(
    sandbox,
    `/walletStates?${repeated(
      'address',
      top.map((row) => row.account),
    )}`,
  );
  wallets.push(...rows.filter((row: Answer) => row.is_wallet).map((row: Answer) => row.address));
}
afterAll(() => sandbox.close());

async function post(
  path: string,
  body: unknown,
  type = 'application/json',
): Promise<{ status: number; answer: Answer }> {
  const response = await fetch(sandbox.url + path, {
    method: 'POST',
    body: JSON.stringify(body),
    headers: { 'content-type': type },
  });
  return { status: response.status, answer: await response.json() };
}

describe('DNS records', () => {
  it('are found by wallet and by domain, shortest first, and agree with items and the address book', async () => {
    const book = await askJson(sandbox, `/addressBook?${repeated('address', wallets)}`);
    const named = wallets.filter((wallet) => book[wallet].domain !== null);
    expect(named.length).toBeGreaterThan(2);
    for (const wallet of named) {
      const { records } = await askJson(sandbox, `/dns/records?wallet=${wallet}`);
      const domains = records.map((row: Answer) => row.domain);
      expect(domains).toContain(book[wallet].domain);
      expect(domains).toEqual([...domains].sort((a, b) => a.length - b.length || (a < b ? -1 : 1)));
      const [record] = (await askJson(sandbox, `/dns/records?domain=${book[wallet].domain}`)).records;
      expect([record.dns_wallet, record.nft_item_owner]).toEqual([wallet, wallet]);
      const [item] = (await askJson(sandbox, `/nft/items?address=${record.nft_item_address}`)).nft_items;
      expect([item.content.domain, item.owner_address]).toEqual([record.domain, wallet]);
    }
    expect((await askJson(sandbox, '/dns/records?domain=nosuch.ton')).records).toEqual([]);
    expect((await ask(sandbox, `/dns/records?domain=a.ton&wallet=${wallets[0]}`)).status).toBe(422);
    expect((await ask(sandbox, '/dns/records?domain=a.ton&limit=1001')).status).toBe(422);
  });
});

describe('multisigs and vesting', () => {
  it('are found by contract and by people, in the order of their rows', async () => {
    const people = repeated('wallet_address', wallets);
    const rows: Answer[] = (await askJson(sandbox, `/multisig/wallets?${people}&sort=asc`)).multisigs;
    expect(rows).toHaveLength(6);
    const desc: Answer[] = (await askJson(sandbox, `/multisig/wallets?${people}`)).multisigs;
    expect(desc).toEqual([...rows].reverse());
    expect(rows.map((row) => row.orders?.length)).toEqual([undefined, 1, 2, 3, 4, 5]);
    const bare: Answer[] = (await askJson(sandbox, `/multisig/wallets?address=${rows[5].address}&include_orders=false`))
      .multisigs;
    expect(bare[0].orders).toEqual([]);
    const { orders } = await askJson(sandbox, `/multisig/orders?multisig_address=${rows[5].address}&sort=asc`);
    expect(orders).toEqual(rows[5].orders);
    const [parsed] = (await askJson(sandbox, `/multisig/orders?address=${orders[0].address}&parse_actions=1`)).orders;
    expect(parsed.actions).toHaveLength(1);
  });

  it('vesting is asked by one of two filters, whitelists on demand', async () => {
    const rows: Answer[] = (await askJson(sandbox, `/vesting?${repeated('wallet_address', wallets)}`))
      .vesting_contracts;
    expect(rows).toHaveLength(6);
    const listed = rows.find((row) => row.whitelist.length > 0);
    const query = `/vesting?wallet_address=${listed.whitelist[0]}`;
    expect((await askJson(sandbox, query)).vesting_contracts).toEqual([]);
    expect((await askJson(sandbox, `${query}&check_whitelist=true`)).vesting_contracts).toContainEqual(listed);
    expect((await askJson(sandbox, `/vesting?contract_address=${listed.address}`)).vesting_contracts).toEqual([listed]);
    expect((await ask(sandbox, `${query}&contract_address=${listed.address}`)).status).toBe(422);
  });
});

describe('calls', () => {
  it('decode names operations and the bodies that occur', async () => {
    const { transactions } = await askJson(sandbox, '/transactions?mc_seqno=60&limit=300');
    const message = transactions
      .map((row: Answer) => row.in_msg)
      .find((one: Answer) => one?.message_content.decoded?.comment !== undefined);
    const body = message.message_content.body;
    const path = `/decode?opcodes=0xf8a7ea5&opcodes=${0x0f8a7ea5}&opcodes=1&bodies=${encodeURIComponent(body)}&bodies=te6`;
    const decoded = await askJson(sandbox, path);
    expect(decoded.opcodes).toEqual(['jetton_transfer', expect.any(String), 'unknown']);
    expect(decoded.bodies[0]).toEqual(message.message_content.decoded);
    expect(decoded.bodies[1].error).toMatch(/^unknown/);
    expect((await post('/decode', { opcodes: ['0x0'], bodies: [body] })).answer).toEqual({
      opcodes: ['text_comment'],
      bodies: [decoded.bodies[0]],
    });
    expect((await ask(sandbox, '/decode?opcodes=zz')).body).toBe('{"error":"invalid opcode format at index 0: zz"}');
  });

  it('run get-methods on the latest states', async () => {
    const [wallet] = (await askJson(sandbox, `/walletStates?address=${wallets[0]}`)).wallets;
    const seqno = await post('/runGetMethod', { address: wallet.address, method: 'seqno', stack: [] });
    expect([seqno.status, seqno.answer.exit_code, Number(seqno.answer.stack[0].value)]).toEqual([200, 0, wallet.seqno]);
    const [jetton] = (await askJson(sandbox, '/jetton/wallets?limit=1')).jetton_wallets;
    const data = await post('/runGetMethod', { address: jetton.address, method: 'get_wallet_data', stack: [] });
    expect(BigInt(data.answer.stack[0].value)).toBe(BigInt(jetton.balance));
    expect(
      (await post('/runGetMethod', { address: wallet.address, method: 'nosuch', stack: [] })).answer.exit_code,
    ).toBe(11);
    expect((await post('/runGetMethod', { method: 'seqno' })).status).toBe(401);
    expect((await post('/runGetMethod', { address: wallet.address, method: 'seqno' }, 'text/plain')).status).toBe(422);
  });

  it('estimate fees and take messages without sending them', async () => {
    const fees = await post('/estimateFee', {
      address: wallets[0],
      body: 'te6cckEBAQEAAgAAAEysuc0=',
      ignore_chksig: true,
    });
    expect([fees.status, fees.answer.destination_fees]).toEqual([200, []]);
    const sent = await post('/message', { boc: 'te6cckEBAQEAAgAAAEysuc0=' });
    expect(sent.answer.message_hash).toMatch(/^[A-Za-z0-9+/]{43}=$/);
    expect((await post('/message', {})).status).toBe(401);
  });
});

describe('records', () => {
  it('of all these contracts are what records.json says', async () => {
    const checker = new Checker();
    const rowsOf = async (path: string, key: string, record: string): Promise<void> => {
      const answer = await askJson(sandbox, path);
      for (const row of answer[key]) checker.check(record, row, `${path.slice(0, 20)} ${row.address}`);
      expect(answer[key].length).toBeGreaterThan(0);
    };
    for (const wallet of wallets) {
      for (const row of (await askJson(sandbox, `/dns/records?wallet=${wallet}`)).records)
        checker.check('DNSRecord', row, row.domain);
    }
    const people = repeated('wallet_address', wallets);
    await rowsOf(`/multisig/wallets?${people}`, 'multisigs', 'Multisig');
    const { multisigs } = await askJson(sandbox, `/multisig/wallets?${people}`);
    const parents = repeated(
      'multisig_address',
      multisigs.map((row: Answer) => row.address),
    );
    await rowsOf(`/multisig/orders?${parents}&parse_actions=true`, 'orders', 'MultisigOrder');
    await rowsOf(`/vesting?${people}`, 'vesting_contracts', 'VestingInfo');
    const items: Answer[] = [];
    for (const offset of [0, 1000])
      items.push(...(await askJson(sandbox, `/nft/items?limit=1000&offset=${offset}`)).nft_items);
    const sold = items.flatMap((row) => row.sale_contract_address ?? row.auction_contract_address ?? row.address);
    const { nft_sales: sales } = await askJson(sandbox, `/nft/sales?${repeated('address', sold.slice(0, 900))}`);
    const details = readFacts<Answer>('records').nft_sale_details_by_type;
    for (const row of sales) {
      checker.check('NFTSale', row.type === 'telemint' ? { ...row, nft_item: undefined } : row, row.address);
      checker.check(details[row.type], row.details, `${row.address}.details`);
    }
    expect(new Set(sales.map((row: Answer) => row.type)).size).toBe(3);
    expect(checker.problems.filter((one) => !/nft_item/.test(one)).slice(0, 5)).toEqual([]);
  });
});
