import { join } from 'node:path';
import { expect, test } from 'vitest';
import { subtractSpans } from '../../src/core/span.ts';
import { type RunEvent, run } from '../../src/export/run.ts';
import { startTestSandbox } from '../faults/test-sandbox.ts';
import { freshFolder } from '../scratch.ts';
import { verify } from '../verify/support.ts';
import { query } from './export.ts';

interface State {
  readonly hash: string;
}

interface Wire {
  readonly hash: string;
  readonly account_state_after: State;
}

const sandbox = await startTestSandbox();

const STUB = {
  ...{
    balance: null,
    extra_currencies: null,
    account_status: null,
    frozen_hash: null,
    data_hash: null,
    code_hash: null,
  },
};

/** A source that has lost the state after a transaction. */
function drop(transaction: string): void {
  sandbox.answer = async (passing) => {
    const answer = await passing.forward();
    if (!passing.path.startsWith('/transactions')) return answer;
    const parsed = JSON.parse(answer.body) as { readonly transactions: readonly Wire[] };
    const transactions = parsed.transactions.map((each) =>
      each.hash === transaction
        ? { ...each, account_state_after: { hash: each.account_state_after.hash, ...STUB } }
        : each,
    );
    return { status: 200, body: JSON.stringify({ ...parsed, transactions }) };
  };
}

async function bring(range: string, warehouse = join(freshFolder(), 'w')) {
  const problems: string[] = [];
  const report = await run({
    ...{ pipelines: ['transactions'], range, network: sandbox.url, warehouse },
    onEvent: (event: RunEvent) => event.event === 'problem' && problems.push(event.message),
  });
  return { warehouse, report, problems };
}

test('a state that is dropped from one transaction, while the next one has it, is found by a run and by verify --deep', async () => {
  const { warehouse: honest } = await bring('1000:1019');
  expect(await verify(honest, { deep: true })).toMatchObject({ kinds: [] });
  const [[hash, block]] = (await query(
    honest,
    `SELECT a.hash, a.mc_block_seqno FROM transactions a JOIN transactions b ON b.prev_trans_hash = a.hash
     WHERE a.mc_block_seqno < 1010 AND b.mc_block_seqno > 1010 AND a.account_state_status_after IS NOT NULL ORDER BY a.lt, a.hash LIMIT 1`,
  )) as [[string, string]];
  drop(hash);
  const told = await bring('1000:1019');
  expect(told.problems).toEqual([
    expect.stringMatching(`^audit transactions ${block}: expected the account state .*, got its hash alone$`),
  ]);
  const span = { from: Number(block), to: Number(block) };
  expect(told.report.unproven).toEqual({
    transactions: [
      { why: 'content contradicts hashes', spans: [span] },
      { why: 'made-up hashes', spans: subtractSpans([{ from: 1000, to: 1019 }], [span]) },
    ],
  });
  // Nothing in the first part shows it.
  const parts = await bring('1000:1009');
  expect(parts.problems).toEqual([]);
  sandbox.answer = undefined;
  await bring('1010:1019', parts.warehouse);
  expect(await verify(parts.warehouse)).toMatchObject({ kinds: [] });
  expect((await verify(parts.warehouse, { deep: true })).kinds).toEqual(['account-chain']);
});
