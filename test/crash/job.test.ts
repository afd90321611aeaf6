import { describe, test } from 'vitest';
import { startTestSandbox } from '../faults/test-sandbox.ts';
import { type JobKill, KINDS, killJobAndRerun, runUndisturbed } from './job-scenario.ts';
import { chanceOf } from './scenario.ts';

const KILLS = Number(process.env['TONLAKE_CRASH_KILLS'] ?? 20);
const SEED = Number(process.env['TONLAKE_CRASH_SEED'] ?? Date.now() % 1_000_000);

describe('kill -9 of a job', () => {
  test(`leaves the same tables, marts and outputs after ${KILLS} kills, each followed by a rerun (TONLAKE_CRASH_SEED=${SEED})`, async () => {
    const sandbox = await startTestSandbox({ blocks: 2000, faults: { slow: 1, slowMs: 25 } });
    try {
      const result = await runUndisturbed(sandbox.url);
      const chance = chanceOf(SEED);
      for (let kill = 1; kill <= KILLS; kill++) {
        const after = KINDS[kill % KINDS.length] ?? 'rows';
        const first: JobKill = { after, ms: Math.round(chance() * 300) };
        // Now and then the rerun is killed as well, where it always has something to do.
        const kills: JobKill[] = chance() < 0.3 && after !== 'rows' ? [{ after }, { after: 'rows' }] : [first];
        process.stdout.write(`job: kill ${kill} of ${KILLS}: ${JSON.stringify(kills)}\n`);
        await killJobAndRerun(sandbox.url, kills, result);
      }
    } finally {
      await sandbox.close();
    }
  });
});
