import { join } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import { run } from '../../src/export/run.ts';
import { startTestSandbox, type TestSandbox } from '../faults/test-sandbox.ts';
import { freshFolder } from '../scratch.ts';
import { entriesOf } from '../verify/support.ts';
import { followUntil, HEAD, reaches, startGrowing } from './support.ts';

/** A network that can be replaced by another one under the same address, as a testnet is that starts anew. */
async function startReplaceable() {
  const { effects, sandbox } = await startGrowing(1_000);
  const other = await startTestSandbox({ seed: 2, blocks: HEAD + 500 });
  onTestFinished(() => other.close());
  const replace = (): void => {
    sandbox.answer = async ({ path, query }) => {
      const answer = await fetch(`${other.url}${path}?${query}`);
      return { status: answer.status, body: await answer.text() };
    };
  };
  const warehouse = join(freshFolder(), 'w');
  const options = { pipelines: ['transactions'], network: sandbox.url, warehouse, effects, lagMs: 10_000 };
  return { sandbox, replace, options };
}

/** Other hashes for masterchain blocks from one on: the chains part there. */
function forkFrom(sandbox: TestSandbox, seqno: number): void {
  sandbox.answer = async (passing) => {
    const { status, body } = await passing.forward();
    const asked = Number(passing.query.get('seqno') ?? 0);
    const isForked = passing.path === '/blocks' && asked >= seqno;
    return { status, body: isForked ? body.replace(/"root_hash":"...../, '"root_hash":"AAAAA') : body };
  };
}

describe('another chain under the same address', () => {
  test('is refused at the start, with the first block that differs, and nothing is written', async () => {
    const { replace, sandbox, options } = await startReplaceable();
    await run({ ...options, range: `${HEAD - 40}:${HEAD - 20}` });
    await run({ ...options, range: `${HEAD - 10}:${HEAD}` });
    const commits = (await entriesOf(options.warehouse)).length;
    forkFrom(sandbox, HEAD - 25);
    const following = followUntil(() => false, options);
    await expect(following).rejects.toMatchObject({
      code: 'other-chain',
      message: expect.stringMatching(
        `^walk blocks ${HEAD - 25}: expected the proven block ${HEAD - 25} with hash .*nothing was written`,
      ),
    });
    replace();
    await expect(followUntil(() => false, options)).rejects.toMatchObject({
      code: 'other-chain',
      message: expect.stringMatching(`^walk blocks ${HEAD - 40}: `),
    });
    expect((await entriesOf(options.warehouse)).length).toBe(commits);
  });

  test('is refused when it comes between the headers and the rows of a round', async () => {
    const { replace, sandbox, options } = await startReplaceable();
    let commits = 0;
    const following = followUntil(
      (event) => {
        if (event.event === 'span') commits++;
        if (event.event === 'lag' && event.block > HEAD) {
          sandbox.answer = (passing) => {
            if (passing.path !== '/transactions') return passing.forward();
            replace();
            return passing.forward();
          };
        }
        return event.event === 'waiting';
      },
      { ...options, from: '-5:' },
    );
    await expect(following).rejects.toMatchObject({ code: 'other-chain' });
    expect((await entriesOf(options.warehouse)).length).toBe(commits);
  });

  test('is refused when it comes between the rows of two lists, of which neither is written', async () => {
    const { replace, sandbox, options } = await startReplaceable();
    const spans: string[] = [];
    let before = 0;
    const following = followUntil(
      (event) => {
        if (event.event === 'span') spans.push(event.pipeline);
        if (event.event === 'lag' && event.block > HEAD && before === 0) {
          before = spans.length;
          sandbox.answer = (passing) => {
            if (passing.path === '/nft/transfers') replace();
            return passing.forward();
          };
        }
        return event.event === 'waiting';
      },
      { ...options, pipelines: ['transactions', 'jetton_transfers', 'nft_transfers'], from: '-5:' },
    );
    await expect(following).rejects.toMatchObject({ code: 'other-chain' });
    expect(spans.slice(before)).toEqual(['blocks', 'transactions']);
  });

  test('with a lower head writes nothing: until the head passes what is proven, the chains cannot be told apart', async () => {
    const { sandbox, options } = await startReplaceable();
    await run({ ...options, range: `${HEAD - 5}:${HEAD}` });
    const commits = (await entriesOf(options.warehouse)).length;
    const low = await startTestSandbox({ seed: 2, blocks: 50 });
    onTestFinished(() => low.close());
    sandbox.answer = async ({ path, query }) => {
      const answer = await fetch(`${low.url}${path}?${query}`);
      return { status: answer.status, body: await answer.text() };
    };
    const { events, report } = await followUntil(({ event }) => event === 'waiting', { ...options, from: '10:' });
    expect(events).toContainEqual(expect.objectContaining({ event: 'waiting', code: 'head-back' }));
    expect(report.complete).toBe(false);
    expect((await entriesOf(options.warehouse)).length).toBe(commits);
  });

  test('is the same chain again after a restored index has caught up', async () => {
    const { sandbox, options } = await startReplaceable();
    const isBack = { now: false };
    sandbox.answer = async (passing) => {
      const { status, body } = await passing.forward();
      if (!isBack.now || passing.path !== '/masterchainInfo') return { status, body };
      const old = await fetch(`${options.network}/blocks?workchain=-1&seqno=${HEAD - 60}`);
      const [block] = ((await old.json()) as { readonly blocks: readonly unknown[] }).blocks;
      return { status, body: JSON.stringify({ ...JSON.parse(body), last: block }) };
    };
    const { events, report } = await followUntil(
      (event) => {
        if (event.event === 'lag' && event.block > HEAD && event.block < HEAD + 30) isBack.now = true;
        if (event.event === 'waiting') isBack.now = false;
        return reaches(HEAD + 60)(event);
      },
      { ...options, from: '-100:' },
    );
    const told = events.filter(({ event }) => event === 'waiting' || event === 'resumed');
    expect(told).toMatchObject([
      { event: 'waiting', code: 'head-back' },
      { event: 'resumed', code: 'head-back' },
    ]);
    expect(report.complete).toBe(true);
  });
});

test('a run that continues a warehouse compares one proven block with the source, and refuses another chain', async () => {
  const { replace, sandbox, options } = await startReplaceable();
  const comparisons = () => sandbox.requests.targets.filter((each) => /^\/blocks\?.*limit=1$/.test(each)).length;
  const runOver = (range: string, pipelines = options.pipelines) => run({ ...options, pipelines, range });
  await runOver(`${HEAD - 40}:${HEAD - 30}`);
  expect(comparisons()).toBe(0);
  await runOver(`${HEAD - 40}:${HEAD - 25}`);
  expect(comparisons()).toBe(1);
  const before = sandbox.requests.targets.length;
  await runOver(`${HEAD - 40}:${HEAD - 25}`);
  expect(sandbox.requests.targets.slice(before).filter((each) => each.startsWith('/blocks'))).toEqual([]);
  const commits = (await entriesOf(options.warehouse)).length;
  replace();
  for (const [range, pipeline] of [
    [`${HEAD - 24}:${HEAD}`, 'transactions'],
    ['1:9', 'blocks'],
    [`${HEAD - 40}:${HEAD - 25}`, 'jetton_transfers'],
    [`${HEAD - 40}:${HEAD - 25}`, 'jetton_masters'],
  ] as const) {
    await expect(runOver(range, [pipeline]), pipeline).rejects.toMatchObject({
      code: 'other-chain',
      message: expect.stringMatching(`^walk blocks ${HEAD - 40}: expected the proven block ${HEAD - 40} with hash`),
    });
  }
  expect((await entriesOf(options.warehouse)).length).toBe(commits);
});
