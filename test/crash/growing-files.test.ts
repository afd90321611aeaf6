import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { startTonlake } from '../cli.ts';
import { exportRange, hashTables } from '../e2e/export.ts';
import { startTestSandbox } from '../faults/test-sandbox.ts';
import { openWarehouse } from '../open-warehouse.ts';
import { freshFolder } from '../scratch.ts';
import { chanceOf, expectNoLeftovers } from './scenario.ts';

const KILLS = Number(process.env['TONLAKE_CRASH_KILLS'] ?? 30);
const SEED = Number(process.env['TONLAKE_CRASH_SEED'] ?? Date.now() % 1_000_000);

/** Some seven parts of about 10,000 transactions, and commits of two or more. */
const RANGE = '1000:4999';
const COMMIT_EVERY_SECONDS = 2;
const PACE = ['--commit-every', `${COMMIT_EVERY_SECONDS}s`];
const SLOW = { slow: 1, slowMs: 100 };
/** What starting, the last part and the commit itself may take on a busy machine, beyond `--commit-every`. */
const SLACK_SECONDS = 8;

describe.each(['w', 'w.duckdb'] as const)('kill -9 while files of several parts grow in %s', (name) => {
  test(`leaves the same rows and no leftovers after ${KILLS} kills, each followed by a rerun (TONLAKE_CRASH_SEED=${SEED})`, async () => {
    const sandbox = await startTestSandbox({ faults: SLOW });
    const undisturbed = join(freshFolder(), name);
    const startedAt = performance.now();
    const { code, stderr, report } = await exportRange(sandbox.url, RANGE, undisturbed, PACE);
    const ms = performance.now() - startedAt;
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    const wanted = await hashTables(undisturbed);
    const chance = chanceOf(SEED);
    const lost: number[] = [];
    let afterCommits = 0;
    for (let kill = 1; kill <= KILLS; kill++) {
      const path = join(freshFolder(), name);
      const moment = Math.round(chance() * ms);
      const began = Date.now();
      const run = startTonlake([
        'run',
        'transactions',
        '--network',
        sandbox.url,
        '--range',
        RANGE,
        '-w',
        path,
        ...PACE,
      ]);
      const timer = setTimeout(() => run.kill('SIGKILL'), moment);
      const { signal } = await run.finished;
      const killedAt = Date.now();
      clearTimeout(timer);
      const commits = await commitTimes(path);
      if (signal === 'SIGKILL') lost.push((killedAt - Math.max(began, ...commits)) / 1000);
      if (commits.length > 0) afterCommits++;
      process.stdout.write(
        `${name}: kill ${kill} of ${KILLS} at ${moment} of ${Math.round(ms)} ms, ${commits.length} commits, lost ${lost.at(-1)} s\n`,
      );
      const last = await exportRange(sandbox.url, RANGE, path, PACE);
      expect({ code: last.code, stderr: last.stderr, complete: last.report.complete }).toEqual({
        code: 0,
        stderr: '',
        complete: true,
      });
      // What is committed is not fetched again.
      if (commits.length > 0) expect(last.report.requests).toBeLessThan(report.requests);
      expect(await hashTables(path)).toEqual(wanted);
      await expectNoLeftovers(path);
    }
    await sandbox.close();
    const ascending = lost.toSorted((a, b) => a - b);
    process.stdout.write(
      `${name}: lost at most ${ascending.at(-1)} s, median ${ascending[ascending.length >> 1]} s, of runs of ${Math.round(ms / 1000)} s; ${afterCommits} kills after a commit\n`,
    );
    expect(afterCommits).toBeGreaterThan(0);
    expect(ascending.at(-1)).toBeLessThan(COMMIT_EVERY_SECONDS + SLACK_SECONDS);
  });
});

/** When the entries of a warehouse were committed, in milliseconds; none if it is not there yet. */
async function commitTimes(path: string): Promise<readonly number[]> {
  try {
    const warehouse = await openWarehouse(path);
    const ledger = await warehouse.ledger();
    await warehouse.close();
    return ledger.map(({ committedAt }) => Date.parse(committedAt));
  } catch (error) {
    expect(String(error)).toMatch(/no warehouse|is not a warehouse/);
    return [];
  }
}
