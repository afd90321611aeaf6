import { describe, test } from 'vitest';
import { startSandbox } from '../../src/sandbox/index.ts';
import { killJobAndRerun, measureJob } from './job-scenario.ts';
import { chanceOf } from './scenario.ts';

const KILLS = Number(process.env['TONLAKE_CRASH_KILLS'] ?? 20);
const SEED = Number(process.env['TONLAKE_CRASH_SEED'] ?? Date.now() % 1_000_000);

describe('kill -9 of a job', () => {
  test(`leaves the same tables, marts and outputs after ${KILLS} kills, each followed by a rerun (TONLAKE_CRASH_SEED=${SEED})`, async () => {
    const sandbox = await startSandbox({ blocks: 2000, faults: { slow: 1, slowMs: 25 } });
    try {
      const { result, ms } = await measureJob(sandbox.url);
      const chance = chanceOf(SEED);
      for (let kill = 1; kill <= KILLS; kill++) {
        const moment = Math.round(chance() * ms);
        // Now and then the rerun is killed as well.
        const moments = chance() < 0.3 ? [moment, Math.round(chance() * ms)] : [moment];
        process.stdout.write(`job: kill ${kill} of ${KILLS} at ${moments.join(' and ')} of ${Math.round(ms)} ms\n`);
        await killJobAndRerun(sandbox.url, moments, result);
      }
    } finally {
      await sandbox.close();
    }
  });
});
