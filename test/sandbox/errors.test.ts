import { afterAll, describe, expect, it } from 'vitest';
import { startSandbox } from '../../src/sandbox/index.ts';
import { ask, HAS_SHARED, readShared, type Transaction } from './support.ts';

const sandbox = await startSandbox({ blocks: 90 });
afterAll(() => sandbox.close());

describe.skipIf(!HAS_SHARED)('errors compared with ../shared (skipped where it is missing)', () => {
  it('have the status and the body of the genuine server', async () => {
    const recorded: { request: string; status: number; body: string; case?: string }[] =
      readShared('fixtures/server_errors.json');
    // The recording server had no store of pending traces.
    const mine = recorded.filter((one) => one.case === undefined && one.request !== 'pendingActions');
    const { transactions } = JSON.parse((await ask(sandbox, '/transactions?sort=asc&limit=1000')).body);
    const wallet: string = transactions.find((row: Transaction) => row.in_msg?.source === null).account;
    for (const { request, status, body } of mine) {
      // The genuine server holds seqnos from 61,000,000, the sandbox from 1.
      const path = request
        .replace('seqno=5', 'seqno=500')
        .replace('mc_seqno=61000500', 'mc_seqno=50')
        .replace('blocks?seqno=1', 'blocks?seqno=10001')
        .replace('seqno=99', 'seqno=999')
        .replace(/0%3A62056B\w+/, request.startsWith('adjacent') ? '0%3A62056B' : wallet);
      const given = await ask(sandbox, `/${path}`);
      expect([request, given.status]).toEqual([request, status]);
      if (status !== 200) expect([request, given.body]).toEqual([request, body.replace('block 99 ', 'block 999 ')]);
    }
    expect(mine.length).toBeGreaterThanOrEqual(40);
  });
});

describe('errors', () => {
  const cases: readonly [string, number, string][] = [
    ['/transactionsByMasterchainBlock?seqno=91', 404, 'masterchain block 91 not found'],
    ['/transactionsByMasterchainBlock?seqno=x', 404, 'masterchain block 0 not found'],
    ['/transactionsByMasterchainBlock?seqno=-3', 404, 'masterchain block -3 not found'],
    ['/transactions?mc_seqno=0', 404, 'masterchain block 0 not found'],
    ['/transactions?mc_seqno=1.5', 422, 'failed to decode: schema: error converting value for "mc_seqno"'],
    ['/transactions?hash=AAAA', 422, 'failed to decode: schema: error converting value for index 0 of "hash"'],
    [
      `/transactions?hash=${'A'.repeat(43)}`,
      422,
      'failed to decode: schema: error converting value for index 0 of "hash"',
    ],
    [
      `/transactions?account=0:${'1'.repeat(64)}&account=q`,
      422,
      'failed to decode: schema: error converting value for index 1 of "account"',
    ],
    ['/transactions?start_utime=-1', 422, 'failed to decode: schema: error converting value for "start_utime"'],
    ['/blocks?limit=1001', 500, 'limit is not allowed: 1001 > 1000'],
    ['/blocks?sort=up', 500, 'wrong value for sort parameter'],
    ['/blocks?shard=xyz', 422, 'failed to decode: schema: error converting value for "shard"'],
    ['/messages?source=nobody', 422, 'failed to decode: schema: error converting value for "source"'],
    [
      '/messages?exclude_externals=maybe',
      422,
      'failed to decode: schema: error converting value for "exclude_externals"',
    ],
    ['/masterchainBlockShardState', 404, 'blocks not found'],
    ['/masterchainBlockShards?seqno=91&sort=asc', 404, 'blocks not found'],
    ['/jetton/nosuch', 500, 'internal server error: Cannot GET jetton/nosuch'],
  ];
  it.each(cases)('%s is answered %i', async (path, status, error) => {
    const given = await ask(sandbox, path);
    expect(given.status).toBe(status);
    expect(JSON.parse(given.body)).toEqual({ error });
    expect(given.headers.get('x-api-version')).toBe('1.2.10');
    expect(given.headers.get('server-timing')).toMatch(/^app;dur=/);
  });

  it('a direction that is none is refused with 422, a wrong method with 500', async () => {
    expect((await ask(sandbox, '/messages?direction=both')).status).toBe(422);
    const posted = await fetch(`${sandbox.url}/blocks`, { method: 'POST' });
    expect([posted.status, await posted.text()]).toEqual([
      500,
      '{"error":"internal server error: Method Not Allowed"}',
    ]);
  });
});

describe('parameters', () => {
  const count = async (path: string, key: string): Promise<number> =>
    JSON.parse((await ask(sandbox, path)).body)[key].length;

  it('that are empty are no filter, or 0, or a limit of 1', async () => {
    expect(await count('/transactions?account=&limit=7', 'transactions')).toBe(7);
    expect(await count('/transactions?hash=&limit=7', 'transactions')).toBe(7);
    expect(await count('/transactions?limit=', 'transactions')).toBe(1);
    expect(await count('/transactions?lt=&limit=7', 'transactions')).toBe(0);
  });

  it('that are repeated count by their last value, lists by all of them', async () => {
    expect(await count('/transactions?limit=3&limit=4', 'transactions')).toBe(4);
    const system = [`-1:${'3'.repeat(64)}`, `-1:${'5'.repeat(64)}`];
    const both = await count(`/transactions?mc_seqno=2&account=${system[0]}&account=${system[1]}`, 'transactions');
    expect(await count(`/transactions?mc_seqno=2&account=${system.join(',')}`, 'transactions')).toBe(both);
    expect(both).toBeGreaterThan(2);
  });

  it('that are unknown are ignored, as is exclude_account', async () => {
    expect(await count('/transactions?acount=zz&limit=5', 'transactions')).toBe(5);
    expect(
      await count(`/transactions?exclude_account=-1:${'3'.repeat(64)}&mc_seqno=2`, 'transactions'),
    ).toBeGreaterThan(2);
  });

  it('take addresses in user-friendly form', async () => {
    const { body } = await ask(sandbox, '/transactions?mc_seqno=5');
    const book: Record<string, { user_friendly: string }> = JSON.parse(body).address_book;
    for (const [raw, { user_friendly: friendly }] of Object.entries(book).slice(0, 5)) {
      const byRaw = await ask(sandbox, `/transactions?mc_seqno=5&account=${raw}`);
      expect((await ask(sandbox, `/transactions?mc_seqno=5&account=${friendly}`)).body).toBe(byRaw.body);
    }
  });

  it('switch off the address book by header or by query', async () => {
    const full = JSON.parse((await ask(sandbox, '/transactions?limit=1')).body);
    expect(Object.keys(full.address_book).length).toBeGreaterThan(0);
    expect(JSON.parse((await ask(sandbox, '/transactions?limit=1&x_no_address_book=true')).body).address_book).toEqual(
      {},
    );
    expect(JSON.parse((await ask(sandbox, '/messages?limit=9', { 'X-No-Metadata': '1' })).body).metadata).toEqual({});
  });
});
