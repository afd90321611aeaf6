import { afterAll, describe, expect, it } from 'vitest';
import { startSandbox } from '../../src/sandbox/index.ts';
import { Checker } from './checker.ts';
import { type Answer, ask, askJson, readRange, type Transaction } from './support.ts';

const FROM = 300;
const TO = 420;
const sandbox = await startSandbox({ blocks: 700 });
const { transactions } = await readRange(sandbox, FROM, TO);
const traces: Answer[] = [];
for (let seqno = FROM; seqno <= TO; seqno += 1) {
  traces.push(...(await askJson(sandbox, `/traces?mc_seqno=${seqno}&limit=1000&sort=asc`)).traces);
}
afterAll(() => sandbox.close());

describe('traces', () => {
  it('hold the transactions of the blocks as they are, each in one trace', () => {
    const known = new Map(transactions.map((row) => [row.hash, row]));
    const seen = new Set<string>();
    for (const trace of traces) {
      for (const [hash, row] of Object.entries<Transaction>(trace.transactions)) {
        expect(seen.has(hash)).toBe(false);
        seen.add(hash);
        expect(row.trace_id).toBe(trace.trace_id);
        if (known.has(hash)) expect(row).toEqual(known.get(hash));
      }
    }
    const missing = transactions.filter(
      (row) => row.mc_block_seqno < TO - 30 && row.mc_block_seqno > FROM + 30 && !seen.has(row.hash),
    );
    expect(missing).toEqual([]);
  });

  it('end where their last transaction is, and say so in every way', () => {
    for (const trace of traces) {
      const rows: Transaction[] = Object.values(trace.transactions);
      const lts = rows.map((row) => Number(row.lt));
      expect(trace.end_lt).toBe(String(Math.max(...lts)));
      expect(trace.mc_seqno_end).toBe(String(Math.max(...rows.map((row) => row.mc_block_seqno))));
      const root = trace.transactions[trace.trace_id];
      expect([trace.start_lt, trace.start_utime]).toEqual([root.lt, root.now]);
      expect(trace.external_hash).toBe(root.in_msg?.hash ?? null);
      expect(trace.trace_info.transactions).toBe(rows.length);
      const order = [...rows].sort((a, b) => Number(a.lt) - Number(b.lt) || (a.account < b.account ? -1 : 1));
      expect(trace.transactions_order).toEqual(order.map((row) => row.hash));
      expect(Object.keys(trace.transactions)).toEqual(Object.keys(trace.transactions).sort());
    }
  });

  it('are trees along the messages', () => {
    const visit = (node: Answer, trace: Answer): number => {
      const row: Transaction = trace.transactions[node.tx_hash];
      expect(node.in_msg_hash).toBe(row.in_msg?.hash);
      if (node.children === null) expect(row.out_msgs.length).toBeGreaterThan(0);
      const sent = new Set(row.out_msgs.map((message) => message.hash));
      let count = 1;
      for (const child of node.children ?? []) {
        expect(sent.has(child.in_msg_hash)).toBe(true);
        count += visit(child, trace);
      }
      return count;
    };
    for (const trace of traces) expect(visit(trace.trace, trace)).toBe(trace.trace_info.transactions);
  });

  it('of a window are those of the blocks that end in it, by end and id', async () => {
    const sorted = [...traces].sort(
      (a, b) => Number(a.end_lt) - Number(b.end_lt) || (a.trace_id < b.trace_id ? -1 : 1),
    );
    const inner = sorted.filter(
      (trace) => Number(trace.end_lt) > 66000640000000 && Number(trace.end_lt) < 66000700000000,
    );
    const window = 'start_lt=66000640000000&end_lt=66000700000000';
    const asc: Answer[] = (await askJson(sandbox, `/traces?${window}&limit=1000&sort=asc`)).traces;
    expect(asc.map((trace) => trace.trace_id)).toEqual(inner.map((trace) => trace.trace_id));
    const page: Answer[] = (await askJson(sandbox, `/traces?${window}&limit=20&offset=10&sort=desc`)).traces;
    expect(page.map((trace) => trace.trace_id)).toEqual(
      [...inner]
        .reverse()
        .slice(10, 30)
        .map((trace) => trace.trace_id),
    );
  });

  it('are found by id, transaction, message and account, one of them at a time', async () => {
    const trace = traces.find((one) => one.trace_info.transactions > 3);
    const hashOf = (hash: string): string => encodeURIComponent(hash);
    const last: Transaction = Object.values<Transaction>(trace.transactions).at(-1) ?? trace;
    for (const query of [
      `trace_id=${hashOf(trace.trace_id)}`,
      `tx_hash=${hashOf(last.hash)}`,
      `msg_hash=${hashOf(last.in_msg?.hash ?? '')}`,
    ]) {
      const found: Answer[] = (await askJson(sandbox, `/traces?${query}`)).traces;
      expect(found).toEqual([trace]);
    }
    const mine: Answer[] = (await askJson(sandbox, `/traces?account=${last.account}&limit=1000`)).traces;
    expect(mine.map((one) => one.trace_id)).toContain(trace.trace_id);
    expect(
      mine.every((one) => Object.values<Transaction>(one.transactions).some((row) => row.account === last.account)),
    ).toBe(true);
    expect((await ask(sandbox, `/traces?account=${last.account}&tx_hash=${hashOf(last.hash)}`)).status).toBe(422);
  });

  it('that began before the first block are in no list', async () => {
    const first: Answer[] = (await askJson(sandbox, '/traces?mc_seqno=1&limit=1000')).traces;
    const { transactions: rows } = await askJson(sandbox, '/transactionsByMasterchainBlock?seqno=1&limit=1000');
    expect(first.flatMap((trace) => Object.keys(trace.transactions)).length).toBeLessThanOrEqual(rows.length);
    expect((await ask(sandbox, '/traces?mc_seqno=701')).body).toBe('{"error":"masterchain block 701 not found"}');
    expect((await ask(sandbox, '/traces?limit=5&sort=x')).body).toBe('{"error":"wrong value for sort parameter"}');
  });

  it('are what records.json says', async () => {
    const checker = new Checker();
    for (const trace of traces.slice(0, 300)) checker.check('Trace', trace, trace.trace_id);
    const listed: Answer[] = (await askJson(sandbox, '/traces?mc_seqno=310&include_actions=true')).traces;
    for (const trace of listed) {
      checker.check('Trace', trace, trace.trace_id);
      for (const action of trace.actions) checker.action(action, action.action_id);
    }
    expect(listed.flatMap((trace) => trace.actions).length).toBeGreaterThan(0);
    expect(checker.problems.slice(0, 5)).toEqual([]);
  });
});
