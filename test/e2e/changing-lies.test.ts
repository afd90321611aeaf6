import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { subtractSpans } from '../../src/core/span.ts';
import { type RunEvent, run } from '../../src/export/run.ts';
import type { WalkMode } from '../../src/export/walk-context.ts';
import { readStatus } from '../../src/warehouse/query/status.ts';
import { NO_FAULTS } from '../faults/faults.ts';
import type { LieKind } from '../faults/lie-kinds.ts';
import { startTestSandbox, type TestSandbox } from '../faults/test-sandbox.ts';
import { hurriedEffects } from '../rate-limit/clock.ts';
import { freshFolder } from '../scratch.ts';
import { contentOf, verify } from '../verify/support.ts';

let sandbox: TestSandbox;
beforeAll(async () => {
  sandbox = await startTestSandbox({ blocks: 200 });
});
afterAll(() => sandbox.close());

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

async function runInto(warehouse: string, walk: WalkMode, onEvent: (event: RunEvent) => void = () => {}) {
  const options = { pipelines: ['transactions'], network: sandbox.url, range: RANGE, warehouse, walk, onEvent };
  return run({ ...options, effects: hurriedEffects(), waitMs: 2000 });
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

    test('gets no header in that the committed transactions contradict', async () => {
      const warehouse = join(freshFolder(), 'w');
      sandbox.setFaults({ lies: liesFrom(FIRST) });
      // The headers of these blocks are read again, and with them, in the same spans, those of blocks whose rows are committed.
      const { complete } = await runInto(warehouse, walk, (event) => {
        if (event.event === 'start' && event.pipeline === 'transactions')
          sandbox.setFaults({ lies: liesFrom(FIRST + 2) });
      });
      sandbox.setFaults(NO_FAULTS);
      expect((await verify(warehouse)).findings).toEqual([]);
      expect(complete).toBe(false);
      const { pipelines } = await readStatus(warehouse);
      const proven = pipelines.find(({ pipeline }) => pipeline === 'transactions')?.proven;
      expect(proven).toEqual(
        subtractSpans(
          [{ from: 60, to: 86 }],
          liesFrom(FIRST).map(({ seqno }) => ({ from: seqno, to: seqno })),
        ),
      );
      expect((await runInto(warehouse, walk)).complete).toBe(true);
      expect(await contentOf(warehouse)).toEqual(truth);
    });
  },
);
