import { test } from 'vitest';
import { startSandbox } from '../../src/sandbox/index.ts';
import { killJobAndRerun, runUndisturbed } from '../crash/job-scenario.ts';

/** Two moments of the many that `npm run test:crash` tries: marts, and then the outputs, are being made. */
test('kill -9 of a job leaves the same tables, marts and outputs after a rerun', async () => {
  const sandbox = await startSandbox({ blocks: 2000 });
  try {
    const result = await runUndisturbed(sandbox.url);
    await killJobAndRerun(sandbox.url, [{ after: 'export' }, { after: 'rows' }], result);
  } finally {
    await sandbox.close();
  }
});
