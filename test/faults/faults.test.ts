import { afterEach, describe, expect, it } from 'vitest';
import { ask, askBlocks, transactionsOf } from '../sandbox/support.ts';
import { ALL_FAULTS, NO_FAULTS } from './faults.ts';
import { startTestSandbox } from './test-sandbox.ts';

const sandbox = await startTestSandbox({ blocks: 1200 });
afterEach(() => sandbox.setFaults(NO_FAULTS));

const PAGE = '/transactionsByMasterchainBlock?seqno=60&limit=1000&sort=asc';

/** What became of asking: a status, or the word error when the body could not be read. */
async function outcome(path: string, headers: Record<string, string> = {}): Promise<string> {
  try {
    const { status, body } = await ask(sandbox, path, headers);
    if (status !== 200) return String(status);
    JSON.parse(body);
    return '200';
  } catch (error) {
    return error instanceof SyntaxError ? 'not json' : 'error';
  }
}

describe('a fault', () => {
  const cases: readonly [Partial<typeof NO_FAULTS>, string][] = [
    [{ http429: 1 }, '429'],
    [{ http500Timeout: 1 }, '500'],
    [{ http502Html: 1 }, '502'],
    [{ dropConnection: 1 }, 'error'],
    [{ cutBody: 1 }, 'error'],
    [{ truncatedJson: 1 }, 'not json'],
  ];
  it.each(cases)('%o spoils the same request twice at most', async (faults, expected) => {
    sandbox.setFaults(faults);
    const given: string[] = [];
    for (let count = 0; count < 6; count += 1) given.push(await outcome(`${PAGE}&n=${JSON.stringify(faults)}`));
    expect(given).toEqual([expected, expected, '200', expected, expected, '200']);
  });

  it('http500Timeout is 422 where the server answers every failure so', async () => {
    sandbox.setFaults({ http500Timeout: 1 });
    expect(await outcome('/accountStates?address=x')).toBe('422');
    expect(await outcome('/dns/records?domain=x')).toBe('422');
    expect(await outcome('/jetton/masters')).toBe('500');
  });

  it('brokenGzip damages what is compressed, and only that', async () => {
    sandbox.setFaults({ gzip: true, brokenGzip: 1 });
    expect(await outcome(PAGE)).not.toBe('200');
    expect(await outcome(`${PAGE}&plain`, { 'accept-encoding': 'identity' })).toBe('200');
  });

  it('429 can name a time to wait, 502 is a page of HTML', async () => {
    sandbox.setFaults({ http429: 1, retryAfter: 2 });
    expect((await ask(sandbox, '/masterchainInfo')).headers.get('retry-after')).toBe('2');
    sandbox.setFaults({ http429: 0, http502Html: 1 });
    const given = await ask(sandbox, '/blocks?mc_seqno=1');
    expect(given.headers.get('content-type')).toBe('text/html');
    expect(given.body).toContain('502 Bad Gateway');
  });

  it('comes at the same requests when everything is asked again in the same order', async () => {
    const statuses = async (): Promise<number[]> => {
      const twin = await startTestSandbox({ seed: 5, faults: { http500Timeout: 0.3 } });
      const given: number[] = [];
      for (let seqno = 1; seqno <= 40; seqno += 1) given.push((await ask(twin, `/blocks?mc_seqno=${seqno}`)).status);
      await twin.close();
      return given;
    };
    const first = await statuses();
    expect(first.filter((status) => status === 500).length).toBeGreaterThan(4);
    expect(await statuses()).toEqual(first);
  });

  it('slow makes an answer late', async () => {
    sandbox.setFaults({ slow: 1, slowMs: 40 });
    const before = performance.now();
    await ask(sandbox, '/masterchainInfo');
    expect(performance.now() - before).toBeGreaterThan(35);
  });

  it('shortBlocks gives status 200 and a list that is short or empty', async () => {
    const whole = await askBlocks(sandbox, 'mc_seqno=60');
    sandbox.setFaults({ shortBlocks: 1 });
    expect((await askBlocks(sandbox, 'mc_seqno=60')).length).toBeLessThan(whole.length);
  });

  it('headLags lets the head go back a little', async () => {
    sandbox.setFaults({ headLags: 1 });
    const { last } = JSON.parse((await ask(sandbox, '/masterchainInfo')).body);
    expect(last.seqno).toBeLessThan(1200);
    expect(last.seqno).toBeGreaterThan(1190);
  });

  it('holes are 404, or an empty list, until they were asked for often enough', async () => {
    sandbox.setFaults({ holes: [500], holeAsks: 3, holeMs: 60_000 });
    expect((await ask(sandbox, '/masterchainBlockShards?seqno=500')).body).toBe('{"error":"blocks not found"}');
    expect((await ask(sandbox, '/transactionsByMasterchainBlock?seqno=500')).body).toBe(
      '{"error":"masterchain block 500 not found"}',
    );
    expect((await ask(sandbox, '/transactionsByMasterchainBlock?seqno=501')).status).toBe(200);
    expect(await askBlocks(sandbox, 'mc_seqno=500')).not.toHaveLength(0);
  });

  it('holes close after a while', async () => {
    let now = 0;
    const other = await startTestSandbox({
      blocks: 100,
      nowMs: () => now,
      faults: { holes: [50], holeAsks: 99, holeMs: 1000 },
    });
    expect((await ask(other, '/transactions?mc_seqno=50')).status).toBe(404);
    now = 1001;
    expect((await ask(other, '/transactions?mc_seqno=50')).status).toBe(200);
    await other.close();
  });

  it('late blocks, rows and shards come a while after their block, which a growing head has named before', async () => {
    let now = 0;
    const other = await startTestSandbox({
      ...{ blocks: 60, blockMs: 400, nowMs: () => now },
      faults: { lateMs: 3000 },
    });
    now = 400;
    const countOf = async (seqno: number) => (await transactionsOf(other, seqno)).length;
    const headersOf = async (seqno: number) => (await askBlocks(other, `mc_seqno=${seqno}`)).length;
    const [headers, rows] = [await headersOf(61), await countOf(61)];
    other.setFaults({ lateBlocks: 1 });
    expect({ last: other.head(), headers: await headersOf(61) }).toEqual({ last: 61, headers: 0 });
    // An older one.
    expect(await headersOf(52)).toBeGreaterThan(0);
    other.setFaults({ lateBlocks: 0, lateRows: 1 });
    expect(await headersOf(61)).toBe(headers);
    expect((await ask(other, '/transactions?mc_seqno=61')).status).toBe(404);
    expect((await ask(other, '/traces?mc_seqno=61')).status).toBe(404);
    other.setFaults({ lateRows: 0, lateShards: 1 });
    const early = await countOf(61);
    expect(early).toBeGreaterThan(0);
    expect(early).toBeLessThan(rows);
    now = 3400;
    other.setFaults({ lateBlocks: 1, lateRows: 1 });
    expect({ headers: await headersOf(61), rows: await countOf(61) }).toEqual({ headers, rows });
    await other.close();
  });

  it('rawControls changes bytes and nothing else', async () => {
    const seqnos = Array.from({ length: 60 }, (_, index) => index + 20);
    let changed = 0;
    for (const seqno of seqnos) {
      const path = `/transactionsByMasterchainBlock?seqno=${seqno}&limit=1000`;
      sandbox.setFaults({ rawControls: 0 });
      const clean = (await ask(sandbox, path)).body;
      sandbox.setFaults({ rawControls: 1 });
      const raw = (await ask(sandbox, path)).body;
      if (raw === clean) continue;
      changed += 1;
      expect(() => JSON.parse(raw)).toThrow();
      const escaped = [...raw]
        .map((char) => (char < ' ' ? `\\u${char.charCodeAt(0).toString(16).padStart(4, '0')}` : char))
        .join('');
      expect(JSON.parse(escaped)).toEqual(JSON.parse(clean));
    }
    expect(changed).toBeGreaterThan(5);
  });

  it('extraField puts undeclared fields into every record', async () => {
    sandbox.setFaults({ extraField: 1 });
    const rows = await transactionsOf(sandbox, 60);
    const messages = rows.flatMap((row) => [...row.out_msgs, ...(row.in_msg === null ? [] : [row.in_msg])]);
    for (const record of [...rows, ...messages, ...(await askBlocks(sandbox, 'mc_seqno=60'))]) {
      expect(record).toMatchObject({ suspended: false, new_in_2027: { a: [1, 2] } });
    }
  });

  it('broken makes one record unreadable in the way it is told', async () => {
    const clean = await transactionsOf(sandbox, 60);
    sandbox.setFaults({
      broken: [
        { seqno: 60, index: 1, kind: 'lt' },
        { seqno: 60, index: 2, kind: 'now' },
        { seqno: 60, index: 3, kind: 'overflow' },
      ],
    });
    const rows = await transactionsOf(sandbox, 60);
    expect(rows[1]?.lt).toBe('12x');
    expect(rows[2]?.now).toBe(String(clean[2]?.now));
    expect(rows[3]?.total_fees).toBe('9223372036854775808');
    expect(rows.filter((row, index) => JSON.stringify(row) !== JSON.stringify(clean[index]))).toHaveLength(3);
  });
});

describe('all faults together', () => {
  it('let a client that asks again read every block as it is', async () => {
    const clean = new Map<number, string>();
    for (let seqno = 1; seqno <= 60; seqno += 1) clean.set(seqno, JSON.stringify(await transactionsOf(sandbox, seqno)));
    sandbox.setFaults({ ...ALL_FAULTS, rawControls: 0, slowMs: 1 });
    let failures = 0;
    for (const [seqno, rows] of clean) {
      for (let attempt = 0; ; attempt += 1) {
        expect(attempt).toBeLessThan(8);
        try {
          if (JSON.stringify(await transactionsOf(sandbox, seqno)) === rows) break;
        } catch {
          failures += 1;
        }
      }
    }
    expect(failures).toBeGreaterThan(2);
  });
});
