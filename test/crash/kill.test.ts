import { describe, expect, test } from 'vitest';
import { COMMITS, chanceOf, exportUndisturbed, type Kill, killAndRerun, STEPS } from './scenario.ts';

const KILLS = Number(process.env['TONLAKE_CRASH_KILLS'] ?? 30);
const SEED = Number(process.env['TONLAKE_CRASH_SEED'] ?? Date.now() % 1_000_000);

describe.each(['w', 'w.duckdb'] as const)('kill -9 of a run into %s', (name) => {
  test(`leaves the same rows and no leftovers after ${KILLS} kills, each followed by a rerun (TONLAKE_CRASH_SEED=${SEED})`, async () => {
    const hashes = await exportUndisturbed();
    const chance = chanceOf(SEED);
    const killed = new Set<string>();
    for (let kill = 1; kill <= KILLS; kill++) {
      const first = `${STEPS[kill % STEPS.length] ?? 'entry'} ${1 + Math.floor(chance() * COMMITS)}` as const;
      // Now and then the rerun is killed as well, if it has something to commit.
      const kills: Kill[] = chance() < 0.3 && !first.endsWith(`${COMMITS}`) ? [first, 'rows 1'] : [first];
      process.stdout.write(`${name}: kill ${kill} of ${KILLS} at ${kills.join(' and ')}\n`);
      await killAndRerun(name, kills, hashes);
      killed.add(first);
    }
    expect(killed.size).toBeGreaterThan(Math.min(KILLS, STEPS.length * COMMITS) / 3);
  });
});
