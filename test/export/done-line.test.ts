import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { realEffects } from '../../src/core/effects.ts';
import { type RunEvent, run } from '../../src/export/run.ts';
import { query } from '../e2e/export.ts';
import { startTestSandbox } from '../faults/test-sandbox.ts';
import { freshFolder } from '../scratch.ts';

const sandbox = await startTestSandbox();
afterAll(() => sandbox.close());

async function go(pipeline: string, warehouse: string) {
  const problems: RunEvent[] = [];
  const report = await run({
    ...{ pipelines: [pipeline], range: '1000:1019', network: sandbox.url, warehouse },
    effects: { ...realEffects, sleep: async () => undefined },
    onEvent: (event) => event.event === 'problem' && problems.push(event),
  });
  return { report, problems };
}

interface Header {
  readonly workchain: number;
  readonly tx_count: number;
  readonly masterchain_block_ref: { readonly seqno: number };
}

test('rows that a run commits again are counted once in its last line', async () => {
  sandbox.answer = async ({ path, query: asked, forward }) => {
    const answer = await forward();
    if (path !== '/blocks' || !asked.has('start_lt')) return answer;
    const { blocks } = JSON.parse(answer.body) as { readonly blocks: readonly Header[] };
    const wrong = blocks.map((header) => {
      const isMeant = header.workchain === -1 && header.masterchain_block_ref.seqno === 1010;
      return isMeant ? { ...header, tx_count: header.tx_count + 1 } : header;
    });
    return { status: 200, body: JSON.stringify({ blocks: wrong }) };
  };
  const warehouse = join(freshFolder(), 'w');
  const commits: Record<string, number> = {};
  const report = await run({
    ...{ pipelines: ['transactions'], range: '1000:1019', network: sandbox.url, warehouse },
    onEvent: (event) => {
      if (event.event === 'span')
        commits[event.pipeline] = (commits[event.pipeline] ?? 0) + (event.rows['blocks'] ?? 0);
      // From here on the headers are what they are: those that were committed are read again.
      if (event.event === 'span' && event.pipeline === 'blocks') sandbox.answer = undefined;
    },
  });
  expect(report.complete).toBe(true);
  const held = Number((await query(warehouse, 'SELECT count(*) FROM blocks'))[0]?.[0]);
  expect(commits['blocks']).toBeGreaterThan(held);
  expect(report.rows['blocks']).toBe(held);
});

test('a range beyond the head leaves no warehouse, which would refuse another network', async () => {
  sandbox.answer = undefined;
  const warehouse = join(freshFolder(), 'w');
  const problems: RunEvent[] = [];
  const onEvent = (event: RunEvent) => event.event === 'problem' && problems.push(event);
  const beyond = { pipelines: ['transactions'], range: '99000000:99000001', network: sandbox.url, warehouse, onEvent };
  expect(await run({ ...beyond, waitMs: 0 })).toMatchObject({ complete: false, rows: { transactions: 0 } });
  expect(problems).toMatchObject([{ code: 'above-head' }, { code: 'above-head' }]);
  expect(existsSync(warehouse)).toBe(false);
  expect(await run({ ...beyond, range: '1000:1001', network: sandbox.url })).toMatchObject({ complete: true });
});

test('a pipeline whose need is not done is skipped with a line', async () => {
  sandbox.answer = async ({ path, forward }) => {
    const answer = await forward();
    if (path !== '/jetton/masters') return answer;
    const parsed = JSON.parse(answer.body) as { readonly jetton_masters: readonly object[] };
    const changed = parsed.jetton_masters.map((master, at) => (at > 0 ? master : { ...master, total_supply: {} }));
    return { status: 200, body: JSON.stringify({ jetton_masters: changed }) };
  };
  const warehouse = join(freshFolder(), 'w');
  const { report, problems } = await go('jetton_wallets', warehouse);
  expect([report.complete, report.quarantined]).toEqual([false, 1]);
  expect(problems).toEqual([
    {
      ...{ event: 'problem', pipeline: 'jetton_wallets', from: 1000, to: 1019, code: 'need-not-done' },
      message: 'walk jetton_wallets 1000:1019: skipped, because jetton_masters is not done there',
    },
  ]);
  sandbox.answer = undefined;
  expect(await go('jetton_wallets', warehouse)).toMatchObject({ report: { complete: true }, problems: [] });
});
