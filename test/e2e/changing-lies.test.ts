import { join } from 'node:path';
import { beforeAll, describe, expect, test } from 'vitest';
import { type RunOptions, run } from '../../src/export/run.ts';
import type { WalkMode } from '../../src/export/walk-context.ts';
import { NO_FAULTS } from '../faults/faults.ts';
import type { LieKind } from '../faults/lie-kinds.ts';
import { startTestSandbox } from '../faults/test-sandbox.ts';
import { hurriedEffects } from '../rate-limit/clock.ts';
import { freshFolder } from '../scratch.ts';
import { contentOf, verify } from '../verify/support.ts';
import { countedIn } from './export.ts';

const sandbox = await startTestSandbox({ blocks: 200 });

const RANGE = '60:86';
/** Each lies about a block of its own, and then about the next but one. */
const KINDS: readonly LieKind[] = [
  'mc-count-zero',
  'shard-count-zero',
  'shard-count-down',
  'shard-count-up',
  'end-lt-early',
];
const FIRST = 64;
const DISTANCE = 4;

const liesFrom = (first: number) => KINDS.map((kind, at) => ({ seqno: first + at * DISTANCE, kind }));

async function runInto(warehouse: string, walk: WalkMode, more: Partial<RunOptions> = {}) {
  const options = { pipelines: ['transactions'], network: sandbox.url, range: RANGE, warehouse, walk };
  return run({ ...options, effects: hurriedEffects(), waitMs: 2000, ...more });
}

describe.each(['masterchain', 'window'] as const)(
  'a source that changes its mind about headers, walked by %s',
  (walk) => {
    let truth: unknown;
    beforeAll(async () => {
      const warehouse = join(freshFolder(), 'w');
      await runInto(warehouse, walk);
      truth = await contentOf(warehouse);
    });

    test('has those read again that it changes, and keeps those of blocks between them that it lies about now', async () => {
      const warehouse = join(freshFolder(), 'w');
      sandbox.setFaults({ lies: liesFrom(FIRST) });
      const { complete } = await runInto(warehouse, walk, {
        onEvent: (event) => {
          if (event.event === 'start' && event.pipeline === 'transactions')
            sandbox.setFaults({ lies: liesFrom(FIRST + 2) });
        },
      });
      sandbox.setFaults(NO_FAULTS);
      expect((await verify(warehouse)).findings).toEqual([]);
      expect(complete).toBe(true);
      expect(await countedIn(warehouse)).toEqual([{ from: 60, to: 86 }]);
      expect(await contentOf(warehouse)).toEqual(truth);
    });

    test('gets no header in that the committed transactions contradict', async () => {
      const warehouse = join(freshFolder(), 'w');
      await runInto(warehouse, walk, { withoutColumns: ['blocks.rand_seed'] });
      // All headers are read again, for the column.
      sandbox.setFaults({ lies: liesFrom(FIRST) });
      const problems: unknown[] = [];
      const onEvent: RunOptions['onEvent'] = (event) => event.event === 'problem' && problems.push(event.code);
      await runInto(warehouse, walk, { onEvent });
      sandbox.setFaults(NO_FAULTS);
      expect(problems).toContain('incomplete');
      expect((await verify(warehouse)).findings).toEqual([]);
      expect(await countedIn(warehouse)).toEqual([{ from: 60, to: 86 }]);
      expect((await runInto(warehouse, walk)).complete).toBe(true);
      expect(await contentOf(warehouse)).toEqual(truth);
    });
  },
);
