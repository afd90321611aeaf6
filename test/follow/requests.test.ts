import { join } from 'node:path';
import { expect, test } from 'vitest';
import { freshFolder } from '../scratch.ts';
import { followUntil, HEAD, reaches, startGrowing } from './support.ts';

test('a round asks for each shard state once, for all pipelines, and not for that of the last round', async () => {
  const { effects, sandbox } = await startGrowing(90, { activity: 0.1 });
  const pipelines = ['transactions', 'jetton_transfers', 'jetton_burns'];
  const options = { pipelines, network: sandbox.url, warehouse: join(freshFolder(), 'w'), effects };
  const { lags, report } = await followUntil(reaches(HEAD + 90), { ...options, lagMs: 10_000, from: '-2:' });
  expect(report.complete).toBe(true);
  const states = sandbox.requests.targets.filter((each) => each.startsWith('/masterchainBlockShardState'));
  expect(new Set(states).size).toBe(states.length);
  // The state before the first block, and that of the last block of each round.
  expect(states.length).toBe(1 + lags.length);
  expect(lags.length).toBeGreaterThan(3);
});

test('lists that do not read each other share the comparisons of the chain in a round', async () => {
  const { effects, sandbox } = await startGrowing(1_000, { activity: 0.1 });
  const pipelines = ['transactions', 'jetton_transfers', 'jetton_burns', 'nft_transfers', 'traces'];
  const options = { pipelines, network: sandbox.url, warehouse: join(freshFolder(), 'w'), effects };
  const counted: number[] = [];
  const { report } = await followUntil(
    (event) => {
      if (event.event === 'lag')
        counted.push(sandbox.requests.targets.filter((each) => /^\/blocks\?.*limit=1$/.test(each)).length);
      return reaches(HEAD + 50)(event);
    },
    { ...options, lagMs: 10_000, from: '-2:' },
  );
  expect(report.complete).toBe(true);
  // For the headers, for the transactions, and for the lists.
  expect(counted.slice(1).map((count, at) => count - (counted[at] ?? 0))).toEqual(counted.slice(1).map(() => 3));
});

test('a shard state that does not agree with the headers is asked for again, and the blocks are proven', async () => {
  const { effects, sandbox } = await startGrowing(90, { activity: 0.1 });
  let lies = 1;
  sandbox.answer = async (passing) => {
    const { status, body } = await passing.forward();
    const seqno = Number(passing.query.get('seqno') ?? 0);
    if (passing.path !== '/masterchainBlockShardState' || seqno <= HEAD || lies === 0) return { status, body };
    lies--;
    const older = await fetch(`${sandbox.url}/masterchainBlockShardState?seqno=${seqno - 6}`);
    const { blocks } = JSON.parse(body);
    const wrong = ((await older.json()) as { blocks: typeof blocks }).blocks;
    // Its own block, with shards of an older one.
    const own = blocks.filter((each: { workchain: number }) => each.workchain === -1);
    const others = wrong.filter((each: { workchain: number }) => each.workchain !== -1);
    return { status, body: JSON.stringify({ blocks: [...own, ...others] }) };
  };
  const options = { pipelines: ['transactions', 'jetton_transfers'], network: sandbox.url, effects };
  const warehouse = join(freshFolder(), 'w');
  const { report } = await followUntil(
    (event) => event.event === 'lag' && event.block >= HEAD + 80 && event.holes === 0,
    { ...options, warehouse, lagMs: 10_000, from: '-2:' },
  );
  expect({ lies, complete: report.complete }).toEqual({ lies: 0, complete: true });
});
