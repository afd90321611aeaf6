import { test } from 'vitest';
import { killAndRerun, measureRun } from '../crash/scenario.ts';

/** Three moments of the many that `npm run test:crash` tries. */
test('kill -9 of a run leaves the same rows and no leftovers after a rerun', async () => {
  const { hashes, ms } = await measureRun();
  await killAndRerun('w', [0.4 * ms, 0.6 * ms], hashes);
  await killAndRerun('w.duckdb', [0.7 * ms], hashes);
});
