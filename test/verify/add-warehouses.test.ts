import { expect, test } from 'vitest';
import { realEffects } from '../../src/core/effects.ts';
import { loadRegistry } from '../../src/declare/registry.ts';
import { addWarehouses } from '../../src/verify/add-warehouses.ts';
import type { CommitDraft } from '../../src/warehouse/store.ts';
import { draftOf, freshPath, openTestStore } from '../warehouse/warehouses.ts';

test('blocks between those that are added keep the records that could not be decoded', async () => {
  const { tables, pipelines } = await loadRegistry();
  const [from, to] = [freshPath('parquet'), freshPath('parquet')];
  const add = async (path: string, ...drafts: readonly Partial<CommitDraft>[]) => {
    const store = await openTestStore(path, { tables, pipelines });
    for (const draft of drafts) {
      const whole = draftOf({ from: 1000, to: 1010 }, { pipeline: 'transactions', ...draft });
      await store.commit({ id: realEffects.freshId(), tables: {} }, whole);
    }
    const spans = store.ledger().map((entry) => `${entry.verdict} ${entry.span.from}-${entry.span.to}`);
    await store.close();
    return spans;
  };
  const apart = [
    { from: 1000, to: 1005 },
    { from: 1008, to: 1010 },
  ];
  await add(from, { spans: apart });
  await add(to, ...[1003, 1007].map((at) => ({ span: { from: at, to: at }, verdict: 'quarantined' }) as const));
  expect(await addWarehouses({ from: [from], to, effects: realEffects })).toMatchObject({ added: 1, left: 0 });
  expect(await add(to)).toEqual(['quarantined 1007-1007', 'accepted 1000-1010']);
});
