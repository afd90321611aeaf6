import { test } from 'vitest';
import { exportUndisturbed, killAndRerun } from '../crash/scenario.ts';

/** At each step of a commit, the first and later ones; `npm run test:crash` has each step of all commits. */
test('kill -9 at each step of a commit leaves the same rows and no leftovers after a rerun', async () => {
  const hashes = await exportUndisturbed();
  const ofFolder = ['staged 1', 'rows 1', 'entry 2'] as const;
  const ofFile = ['rows 2', 'entry 1'] as const;
  await killAndRerun('w', ofFolder, hashes);
  await killAndRerun('w.duckdb', ofFile, hashes);
});
