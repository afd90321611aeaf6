import { describe, test } from 'vitest';
import { chanceOf, killAndRerun, measureRun } from './scenario.ts';

const KILLS = Number(process.env['TONLAKE_CRASH_KILLS'] ?? 30);
const SEED = Number(process.env['TONLAKE_CRASH_SEED'] ?? Date.now() % 1_000_000);

describe.each(['w', 'w.duckdb'] as const)('kill -9 of a run into %s', (name) => {
  test(`leaves the same rows and no leftovers after ${KILLS} kills, each followed by a rerun (TONLAKE_CRASH_SEED=${SEED})`, async () => {
    const { hashes, ms } = await measureRun();
    const chance = chanceOf(SEED);
    for (let kill = 1; kill <= KILLS; kill++) {
      const moment = Math.round(chance() * ms);
      // Now and then the rerun is killed as well.
      const moments = chance() < 0.3 ? [moment, Math.round(chance() * ms)] : [moment];
      process.stdout.write(`${name}: kill ${kill} of ${KILLS} at ${moments.join(' and ')} of ${Math.round(ms)} ms\n`);
      await killAndRerun(name, moments, hashes);
    }
  });
});
