import { join } from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import { type RunReport, run } from '../../src/export/run.ts';
import { query } from '../e2e/export.ts';
import { startTestSandbox } from '../faults/test-sandbox.ts';
import { hurriedEffects } from '../rate-limit/clock.ts';
import { freshFolder } from '../scratch.ts';
import { dropFile, entriesOf, fileOf, repair } from '../verify/support.ts';

const HEAD = 3000;
/** Within 2,000 blocks of the head: rows of these blocks are not final. */
const NEAR = '1900:1910';
/** Far from it: they are. */
const FAR = '900:910';

const sandbox = await startTestSandbox({ blocks: HEAD });
afterAll(() => sandbox.close());

async function bring(warehouse: string, pipelines: readonly string[], range: string): Promise<RunReport> {
  sandbox.requests.reset();
  return run({ pipelines, network: sandbox.url, range, warehouse, effects: hurriedEffects() });
}

interface Block {
  readonly seqno: number;
  readonly root_hash: string;
}

/** Has the index call another block its last one. */
function callHead(change: (last: Block) => Partial<Block>): void {
  sandbox.changeAnswers(({ path }, answer) => {
    if (path !== '/masterchainInfo') return undefined;
    const { last, ...others }: { readonly last: Block } = JSON.parse(answer.body);
    return { ...answer, body: JSON.stringify({ ...others, last: { ...last, ...change(last) } }) };
  });
}

const headAsked = (): number => sandbox.requests.targets.filter((target) => target.includes(`seqno=${HEAD}&`)).length;

describe('links and actions are called final by their distance to the head', () => {
  const lists = ['message_links', 'actions'];

  test.each([
    ['above the last block', () => ({ seqno: HEAD + 5000 }), 'short-list'],
    ['with the hash of another', () => ({ root_hash: `${'A'.repeat(43)}=` }), 'other-head'],
  ] as const)('but not to one %s, which the source does not show', async (_, change, code) => {
    const warehouse = join(freshFolder(), 'w');
    await bring(warehouse, ['transactions'], FAR);
    callHead(change);
    await expect(bring(warehouse, lists, FAR)).rejects.toMatchObject({ code, retryable: true });
    expect((await entriesOf(warehouse)).filter(({ pipeline }) => lists.includes(pipeline))).toEqual([]);
    expect(await query(warehouse, 'SELECT count(*) > 0 FROM transactions')).toEqual([['true']]);
  });

  test('and its header is asked for once, only where rows would be final', async () => {
    const warehouse = join(freshFolder(), 'w');
    for (const [pipelines, range, times] of [
      [['transactions', 'traces', 'jetton_transfers'], FAR, 0],
      [lists, NEAR, 0],
      [lists, FAR, 1],
    ] as const) {
      expect((await bring(warehouse, pipelines, range)).complete).toBe(true);
      expect([pipelines, range, headAsked()]).toEqual([pipelines, range, times]);
    }
  });

  test('and it is not asked for if the warehouse has a header that is as far', async () => {
    const warehouse = join(freshFolder(), 'w');
    await bring(warehouse, ['blocks'], '900:910,2910');
    expect((await bring(warehouse, lists, FAR)).complete).toBe(true);
    expect(headAsked()).toBe(0);
  });

  test('a repair trusts no other head than a run', async () => {
    const warehouse = join(freshFolder(), 'w');
    await bring(warehouse, ['transactions', 'message_links'], FAR);
    dropFile(warehouse, fileOf(warehouse, 'message_links', 905));
    callHead(() => ({ seqno: HEAD + 5000 }));
    await expect(repair(sandbox, warehouse, { effects: hurriedEffects() })).rejects.toMatchObject({
      code: 'short-list',
    });
    const [links] = (await entriesOf(warehouse)).filter(({ pipeline }) => pipeline === 'message_links');
    expect(links?.asOf).toEqual({ from: HEAD, to: HEAD });
  });
});
