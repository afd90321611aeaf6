import { afterAll, describe, expect, it } from 'vitest';
import { startSandbox } from '../../src/sandbox/index.ts';
import { Checker } from './checker.ts';
import { type Answer, ask, askJson } from './support.ts';

let now = 0;
const sandbox = await startSandbox({ blocks: 300, blockMs: 400, nowMs: () => now });
const future = await startSandbox({ blocks: 320 });
const { transactions } = await askJson(future, '/transactions?limit=1000');
await future.close();
/** Traces under way at a head where there are some, and the accounts in them. */
const accounts = [...new Set<string>(transactions.map((row: Answer) => row.account))];
const traces: Answer[] = [];
for (const account of accounts)
  traces.push(...((await askJson(sandbox, `/pendingTraces?account=${account}`)).traces ?? []));
afterAll(() => sandbox.close());

describe('pending traces', () => {
  it('are under way, foreseen, confirmed or finalized', () => {
    expect(traces.length).toBeGreaterThan(3);
    const finalities = new Set<string>();
    for (const trace of traces) {
      expect(trace.trace_info).toMatchObject({ trace_state: 'pending', classification_state: 'ok' });
      const rows: Answer[] = Object.values(trace.transactions);
      for (const row of rows) {
        finalities.add(row.finality);
        expect([row.emulated, row.trace_external_hash]).toEqual([row.finality === 'pending', trace.external_hash]);
        expect(row.account_state_after.balance).toBeNull();
        expect(row.description).toMatchObject({ is_tock: false, installed: false });
        if (row.finality === 'pending') expect(row.mc_block_seqno).toBe(sandbox.head());
      }
      expect(rows.some((row) => row.finality !== 'finalized')).toBe(true);
      expect(Object.keys(trace.transactions).sort()).toEqual([...trace.transactions_order].sort());
    }
    expect(finalities).toContain('pending');
  });

  it('are found by the plain and the normalized hash of their message', async () => {
    const [trace] = traces;
    const { traces: found } = await askJson(
      sandbox,
      `/pendingTraces?ext_msg_hash=${encodeURIComponent(trace.external_hash)}`,
    );
    expect(found).toEqual([trace]);
    const action = traces.flatMap((one) => one.actions).find((one) => one.trace_external_hash_norm !== undefined);
    const norm = await askJson(
      sandbox,
      `/pendingActions?ext_msg_hash=${encodeURIComponent(action.trace_external_hash_norm)}`,
    );
    expect(norm.actions).toContainEqual(action);
  });

  it('come on chain as the head grows; what was foreseen has the same message and may have another hash', async () => {
    const before = traces;
    now = 400 * 30;
    let same = 0;
    for (const trace of before) {
      const { traces: found } = await askJson(sandbox, `/traces?msg_hash=${encodeURIComponent(trace.external_hash)}`);
      expect(found).toHaveLength(1);
      expect(found[0].external_hash).toBe(trace.external_hash);
      if (found[0].trace_info.transactions === trace.trace_info.transactions) same += 1;
      const gone = await askJson(sandbox, `/pendingTraces?ext_msg_hash=${encodeURIComponent(trace.external_hash)}`);
      expect(gone).toEqual({ traces: null, address_book: {}, metadata: {} });
    }
    expect(same).toBe(before.length);
    now = 0;
  });
});

describe('pending transactions and actions', () => {
  it('are those of the traces', async () => {
    const foreseen = traces
      .flatMap((trace) => Object.values<Answer>(trace.transactions))
      .filter((row) => row.finality === 'pending');
    const [account] = foreseen.map((row) => row.account);
    const { transactions } = await askJson(sandbox, `/pendingTransactions?account=${account}`);
    const mine = new Set(foreseen.filter((row) => row.account === account).map((row) => row.hash));
    expect(new Set(transactions.map((row: Answer) => row.hash))).toEqual(mine);
    const { actions } = await askJson(sandbox, `/pendingActions?account=${account}`);
    expect(actions.length).toBeGreaterThan(0);
    expect(actions.every((row: Answer) => row.accounts.length > 0 && row.finality === 'pending')).toBe(true);
  });

  it('are missing, refused or empty where there is nothing', async () => {
    const nobody = `0:${'1'.repeat(64)}`;
    const none = await ask(sandbox, `/pendingTransactions?account=${nobody}`);
    expect([none.status, none.body]).toEqual([404, '{"error":"emulated traces not found"}']);
    expect((await askJson(sandbox, `/pendingTraces?account=${nobody}`)).traces).toBeNull();
    expect((await askJson(sandbox, `/pendingActions?account=${nobody}`)).actions).toEqual([]);
    for (const path of ['/pendingTransactions', '/pendingTraces', '/pendingActions'])
      expect((await ask(sandbox, path)).status).toBe(422);
  });

  it('are what records.json says', async () => {
    const checker = new Checker();
    for (const trace of traces) {
      checker.check('Trace', trace, trace.external_hash);
      for (const action of trace.actions) checker.action(action, action.action_id);
    }
    expect(checker.problems.slice(0, 5)).toEqual([]);
  });
});
