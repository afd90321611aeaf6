import { join } from 'node:path';
import { expect, test } from 'vitest';
import { realEffects } from '../../src/core/effects.ts';
import { type RunEvent, run } from '../../src/export/run.ts';
import { query } from '../e2e/export.ts';
import { startTestSandbox } from '../faults/test-sandbox.ts';
import { freshFolder } from '../scratch.ts';

test('a list that is read while the chain grows tells how many rows are newer than where the reading began', async () => {
  // The head moves with every request.
  let nowMs = 0;
  const sandbox = await startTestSandbox({ blocks: 1100, blockMs: 100, nowMs: () => nowMs });
  sandbox.answer = (passing) => {
    nowMs += 500;
    return passing.forward();
  };
  const warehouse = join(freshFolder(), 'w');
  try {
    const events: RunEvent[] = [];
    const { complete } = await run({
      ...{ network: sandbox.url, range: '1000:1009', pipelines: ['jetton_wallets'], warehouse },
      effects: realEffects,
      onEvent: (event) => events.push(event),
    });
    expect(complete).toBe(true);
    const skew = events.find((event) => event.event === 'skew' && event.pipeline === 'jetton_wallets');
    if (skew?.event !== 'skew') throw new Error('no skew was told');
    expect(skew.to).toBeGreaterThan(skew.from);
    const held = await query(
      warehouse,
      'SELECT count(*), count(DISTINCT address), max(_as_of_seqno), count(DISTINCT _read_at) FROM jetton_wallets',
    );
    const [rows, keys, asOf, readings] = (held[0] ?? []).map(Number);
    expect([keys, asOf, readings]).toEqual([rows, skew.from, 1]);
    expect(skew.rows).toBeGreaterThan(0);
    expect(skew.rows).toBeLessThan(rows ?? 0);
  } finally {
    await sandbox.close();
  }
});
