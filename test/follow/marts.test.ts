import { join } from 'node:path';
import { expect, test } from 'vitest';
import { run } from '../../src/export/run.ts';
import { buildMarts } from '../../src/marts/build-marts.ts';
import { hashMarts } from '../marts/support.ts';
import { freshFolder } from '../scratch.ts';
import { followUntil, HEAD, reaches, startGrowing } from './support.ts';

test.each([
  ['w', 'all'],
  ['w.duckdb', ['accounts', 'transactions_daily']],
] as const)('marts are kept current beside the rounds, in %s', async (name, marts) => {
  const { effects, sandbox } = await startGrowing(200, { activity: 0.1 });
  const folder = freshFolder();
  const options = { pipelines: ['transactions'], network: sandbox.url, warehouse: join(folder, name), effects };
  const built = new Map<string, number>();
  const { report, lags } = await followUntil(
    (event) => {
      if (event.event === 'mart') built.set(event.name, (built.get(event.name) ?? 0) + 1);
      return reaches(HEAD + 200)(event);
    },
    { ...options, lagMs: 10_000, from: '-2:', marts },
  );
  expect(report.complete).toBe(true);
  expect([...built.keys()]).toContain('accounts');
  expect(lags.at(-1)?.martsBehind).toEqual(expect.any(Number));
  // Once a minute, not with each of the rounds.
  expect(lags.length).toBeGreaterThan(12);
  expect(Math.max(...built.values())).toBeLessThanOrEqual(2 + effects.elapsed() / 60_000);
  await buildMarts(options.warehouse);
  const once = { ...options, warehouse: join(folder, 'once') };
  await run({ ...once, range: `${HEAD - 1}:${HEAD + 200}` });
  await buildMarts(once.warehouse);
  expect(await hashMarts(options.warehouse, [...built.keys()])).toEqual(
    await hashMarts(once.warehouse, [...built.keys()]),
  );
});

test('a mart whose rows are not followed is refused, with the command that follows them', async () => {
  const options = { pipelines: ['transactions'], network: 'sandbox', warehouse: join(freshFolder(), 'w') };
  const following = followUntil(() => false, { ...options, marts: ['accounts', 'dex_swaps'] });
  await expect(following).rejects.toMatchObject({
    message: 'usage: expected actions among the followed pipelines for the mart dex_swaps',
    hint: 'tonlake follow blocks transactions actions --marts accounts,dex_swaps',
  });
});
