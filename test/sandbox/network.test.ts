import { afterEach, describe, expect, it } from 'vitest';
import { startSandbox } from '../../src/sandbox/index.ts';
import { NO_FAULTS } from '../faults/faults.ts';
import { startTestSandbox, type TestSandbox, type TestSandboxOptions } from '../faults/test-sandbox.ts';
import { ask, askBlocks, askTransactions, transactionsOf } from './support.ts';

const running: TestSandbox[] = [];
async function start(options: TestSandboxOptions = {}): Promise<TestSandbox> {
  const sandbox = await startTestSandbox(options);
  running.push(sandbox);
  return sandbox;
}
/** Sandboxes of one seed share what was generated; after four other seeds it is generated again. */
async function startAnew(options: TestSandboxOptions): Promise<TestSandbox> {
  for (const seed of [101, 102, 103, 104]) await start({ seed });
  return start(options);
}
afterEach(async () => {
  await Promise.all(running.splice(0).map((sandbox) => sandbox.close()));
});

describe('a sandbox network', () => {
  it('has seqnos 1 to 10,000, 400 ms apart, with a midnight in the middle', async () => {
    const sandbox = await start();
    const { last, first } = JSON.parse((await ask(sandbox, '/masterchainInfo')).body);
    expect([first.seqno, last.seqno]).toEqual([1, 10_000]);
    expect(Number(last.gen_utime) - Number(first.gen_utime)).toBe(4000);
    const midnight = Date.UTC(2026, 4, 2) / 1000;
    expect(Number(first.gen_utime)).toBeLessThan(midnight);
    expect(Number(last.gen_utime)).toBeGreaterThan(midnight);
  });

  it('has as many blocks a day as its block time says, with the same transactions', async () => {
    const [slow, usual] = await Promise.all([start({ blocks: 450, blockTimeMs: 200_000 }), start({ blocks: 450 })]);
    const dayOf = async (seqno: number): Promise<string> => {
      const [block] = await askBlocks(slow, `workchain=-1&seqno=${seqno}`);
      return new Date(Number(block?.gen_utime) * 1000).toISOString().slice(0, 10);
    };
    expect(await Promise.all([9, 10, 441, 442].map(dayOf))).toEqual([
      '2026-05-01',
      '2026-05-02',
      '2026-05-02',
      '2026-05-03',
    ]);
    const midnight = Date.UTC(2026, 4, 3) / 1000;
    const rows = await askTransactions(slow, `start_utime=${midnight}&end_utime=${midnight}&sort=asc`);
    expect(rows.map(({ now }) => now)).toEqual(rows.map(() => midnight));
    const lts = async (sandbox: TestSandbox) =>
      (await transactionsOf(sandbox, 442)).map(({ account, lt }) => [account, lt]);
    expect(await lts(slow)).toEqual(await lts(usual));
    expect(rows.length).toBeGreaterThan(0);
    await expect(startSandbox({ blockTimeMs: 0.5 })).rejects.toThrow('expected a block time in whole milliseconds');
  });

  it('gives the same bytes for the same seed, and others for another', async () => {
    // Each hash of a chain takes those before it.
    const seeds = [7, 7, 8].map((seed) => start({ seed, blocks: 500 }));
    const [one, shared, other] = (await Promise.all(seeds)) as [TestSandbox, TestSandbox, TestSandbox];
    const same = await startAnew({ seed: 7, blocks: 500 });
    for (const path of [
      '/transactionsByMasterchainBlock?seqno=432&limit=1000',
      '/masterchainBlockShardState?seqno=9',
      '/messages?limit=50&start_lt=1',
    ]) {
      const body = (await ask(one, path)).body;
      expect((await ask(shared, path)).body).toBe(body);
      expect((await ask(same, path)).body).toBe(body);
      expect((await ask(other, path)).body).not.toBe(body);
    }
  });

  it('has its own head, holes and lies, also if another sandbox has the same seed', async () => {
    const lies = [{ kind: 'transactions-empty', seqno: 300 } as const];
    const [honest, liar, short] = await Promise.all([start(), start({ faults: { lies } }), start({ blocks: 299 })]);
    const path = '/transactions?mc_seqno=300&limit=1000';
    const count = async (sandbox: TestSandbox): Promise<number> =>
      JSON.parse((await ask(sandbox, path)).body).transactions?.length ?? 0;
    expect([await count(liar), await count(short)]).toEqual([0, 0]);
    expect(await count(honest)).toBeGreaterThan(0);
    honest.setFaults({ lies });
    liar.setFaults(NO_FAULTS);
    expect(await count(honest)).toBe(0);
    expect(await count(liar)).toBeGreaterThan(0);
  });

  it('answers any seqno at once, whatever was asked before', async () => {
    const forward = await start({ blocks: 5_000_000 });
    const backward = await startAnew({ blocks: 5_000_000 });
    const seqnos = [4_999_999, 12, 2_500_777];
    const bodies = await Promise.all(
      seqnos.map(async (seqno) => (await ask(forward, `/transactions?mc_seqno=${seqno}`)).body),
    );
    const again = await Promise.all(
      [...seqnos].reverse().map(async (seqno) => (await ask(backward, `/transactions?mc_seqno=${seqno}`)).body),
    );
    expect(again.reverse()).toEqual(bodies);
  });

  it('has a head that grows, and 404 above it', async () => {
    let now = 0;
    const sandbox = await start({ blocks: 10, blockMs: 400, nowMs: () => now });
    expect(sandbox.head()).toBe(10);
    expect((await ask(sandbox, '/transactionsByMasterchainBlock?seqno=12')).status).toBe(404);
    const newest = (await askTransactions(sandbox, 'limit=1'))[0];
    now = 900;
    expect(sandbox.head()).toBe(12);
    expect(JSON.parse((await ask(sandbox, '/masterchainInfo')).body).last.seqno).toBe(12);
    expect((await transactionsOf(sandbox, 12)).length).toBeGreaterThan(0);
    expect(Number((await askTransactions(sandbox, 'limit=1'))[0]?.lt)).toBeGreaterThan(Number(newest?.lt));
  });

  it('shows the receiver of a message only once its block is there', async () => {
    let now = 0;
    const sandbox = await start({ blocks: 100, blockMs: 1, nowMs: () => now });
    const path = '/messages?limit=1000&exclude_externals=1&start_lt=66000190000000&end_lt=66000200000000&destination=';
    const unconsumed = async (): Promise<number> => {
      const rows: { in_msg_tx_hash?: string; destination: string | null }[] = JSON.parse(
        (await ask(sandbox, path)).body,
      ).messages;
      return rows.filter((row) => row.in_msg_tx_hash === undefined && row.destination !== null).length;
    };
    expect(await unconsumed()).toBeGreaterThan(0);
    now = 50;
    expect(await unconsumed()).toBe(0);
  });

  it('refuses requests beyond its rate with the body of the gateway', async () => {
    let now = 0;
    const sandbox = await start({ rps: 3, nowMs: () => now });
    const statuses = async (): Promise<number[]> => {
      const given: number[] = [];
      for (let count = 0; count < 5; count += 1) given.push((await ask(sandbox, '/masterchainInfo')).status);
      return given;
    };
    expect(await statuses()).toEqual([200, 200, 200, 429, 429]);
    now = 400;
    expect((await statuses()).filter((status) => status === 200)).toHaveLength(1);
    const refused = await ask(sandbox, '/masterchainInfo');
    expect(JSON.parse(refused.body)).toEqual({ ok: false, result: 'Ratelimit exceed', code: 429 });
  });

  it('wants its key in the header or in the query', async () => {
    const sandbox = await start({ apiKey: 'k' });
    expect((await ask(sandbox, '/masterchainInfo')).status).toBe(401);
    expect((await ask(sandbox, '/masterchainInfo', { 'X-Api-Key': 'wrong' })).status).toBe(401);
    expect((await ask(sandbox, '/masterchainInfo', { 'x-api-key': 'k' })).status).toBe(200);
    expect((await ask(sandbox, '/masterchainInfo?api_key=k')).status).toBe(200);
  });

  it('compresses for clients that ask for it', async () => {
    const sandbox = await startSandbox({ gzip: true });
    const path = '/transactionsByMasterchainBlock?seqno=60&limit=1000';
    const plain = await ask(sandbox, path, { 'accept-encoding': 'identity' });
    expect(plain.headers.get('content-encoding')).toBeNull();
    for (const encoding of ['gzip', 'br']) {
      const given = await ask(sandbox, path, { 'accept-encoding': encoding });
      expect(given.headers.get('content-encoding')).toBe(encoding);
      expect(given.body).toBe(plain.body);
    }
    await sandbox.close();
  });

  it('counts what was asked, by path and status, and how fast', async () => {
    const sandbox = await start();
    await Promise.all([1, 2, 3].map((seqno) => ask(sandbox, `/blocks?mc_seqno=${seqno}`)));
    await ask(sandbox, '/nosuch');
    expect(sandbox.requests.stats()).toMatchObject({
      requests: 4,
      paths: { blocks: { 200: 3 }, nosuch: { 500: 1 } },
      maxPerSecond: 4,
    });
    expect(sandbox.requests.entries().at(-1)).toEqual({ method: 'GET', path: 'nosuch', query: '', status: 500 });
    sandbox.requests.reset();
    expect(sandbox.requests.stats()).toMatchObject({ requests: 0, paths: {} });
  });

  it('refuses a number of blocks that its arithmetic does not hold, and a port that is taken', async () => {
    await expect(startTestSandbox({ blocks: 0 })).rejects.toThrow('expected 1 to 10000000 blocks, got 0');
    const { port } = await start();
    await expect(startTestSandbox({ port })).rejects.toThrow(`cannot listen on 127.0.0.1:${port}`);
  });
});
