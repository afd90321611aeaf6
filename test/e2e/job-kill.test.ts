import { test } from 'vitest';
import { startSandbox } from '../../src/sandbox/index.ts';
import { killJobAndRerun, measureJob } from '../crash/job-scenario.ts';

/** Two moments of the many that `npm run test:crash` tries. */
test('kill -9 of a job leaves the same tables, marts and outputs after a rerun', async () => {
  const sandbox = await startSandbox({ blocks: 2000 });
  try {
    const { result, ms } = await measureJob(sandbox.url);
    await killJobAndRerun(sandbox.url, [0.45 * ms, 0.8 * ms], result);
  } finally {
    await sandbox.close();
  }
});
