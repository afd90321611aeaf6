import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { run } from '../../src/export/run.ts';
import { hashTables } from '../e2e/export.ts';
import { freshFolder } from '../scratch.ts';
import { followUntil, HEAD, reaches, startGrowing } from './support.ts';

describe('following the head', () => {
  test('keeps up within the promised lag, with the rows of one run, and goes on where it was stopped', async () => {
    const { effects, sandbox } = await startGrowing(140);
    const warehouse = join(freshFolder(), 'w');
    const options = { pipelines: ['transactions'], network: sandbox.url, warehouse, effects, lagMs: 10_000 };
    const first = await followUntil(reaches(HEAD + 70), { ...options, from: '-100:' });
    expect(first.report).toMatchObject({ from: HEAD - 99, complete: true });
    const second = await followUntil(reaches(HEAD + 140), options);
    expect(second.report).toMatchObject({ from: HEAD - 99, to: HEAD + 140, complete: true });
    expect([...first.lags.slice(1), ...second.lags.slice(1)].filter(({ longest }) => longest > 10)).toEqual([]);
    const once = join(freshFolder(), 'once');
    await run({ ...options, warehouse: once, range: `${HEAD - 99}:${HEAD + 140}` });
    expect(await hashTables(warehouse)).toEqual(await hashTables(once));
  });
});
