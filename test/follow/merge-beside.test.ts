import { join } from 'node:path';
import { expect, test } from 'vitest';
import { realEffects } from '../../src/core/effects.ts';
import { unionSpans } from '../../src/core/span.ts';
import { isFinal } from '../../src/declare/pipeline.ts';
import { loadRegistry, Registry } from '../../src/declare/registry.ts';
import { mergeGroup } from '../../src/warehouse/compaction/compact.ts';
import { stageMerge } from '../../src/warehouse/compaction/stage-merge.ts';
import type { Store } from '../../src/warehouse/index.ts';
import { query } from '../e2e/export.ts';
import { freshFolder } from '../scratch.ts';
import { followUntil, HEAD, reaches, startGrowing } from './support.ts';

const LOOK_BACK = 30;
const LIST = 'message_links';

test('rows that are merged while they are read again are read once more, and following goes on', async () => {
  const shipped = await loadRegistry('');
  const registry = new Registry(
    shipped.pipelines.map((pipeline) =>
      pipeline.name === LIST ? { ...pipeline, walk: { ...pipeline.walk, lookBack: LOOK_BACK } as never } : pipeline,
    ),
  );
  const { walk } = registry.pipeline(LIST);
  const { effects, sandbox } = await startGrowing(1_000, { activity: 0.1 });
  let store: Store | undefined;
  let merged = 0;
  sandbox.answer = async (passing) => {
    const own = store?.ledger().filter(({ pipeline }) => pipeline === LIST) ?? [];
    const [due, next] = own.filter((entry) => !isFinal(walk, entry));
    const isDue = due !== undefined && due.span.to <= sandbox.head() - LOOK_BACK;
    if (passing.path === '/messages' && merged === 0 && store !== undefined && isDue && next !== undefined) {
      const spans = unionSpans([due.span, next.span]);
      const { tables } = registry;
      const group = { pipeline: LIST, spans, entries: [due, next] as const, isReadAgain: true };
      await mergeGroup(store, group, { tables, effects: realEffects, stage: stageMerge });
      merged++;
    }
    return passing.forward();
  };
  const warehouse = join(freshFolder(), 'w');
  const { report, events } = await followUntil((event) => merged > 0 && reaches(HEAD + 60)(event), {
    ...{
      pipelines: ['transactions', LIST],
      network: sandbox.url,
      warehouse,
      effects,
      registry,
      lagMs: 10_000,
      from: '-2:',
    },
    steps: [
      {
        committed: (written: Store) => {
          store = written;
        },
        end: async () => undefined,
      },
    ],
  });
  expect({ merged, complete: report.complete }).toEqual({ merged: 1, complete: true });
  expect(events.filter(({ event }) => event === 'waiting' || event === 'problem')).toEqual([]);
  const [[rows, hashes] = []] = await query(warehouse, `select count(*), count(distinct msg_hash) from ${LIST}`);
  expect(rows).toBe(hashes);
});
