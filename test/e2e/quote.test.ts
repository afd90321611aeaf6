import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { planRun } from '../../src/export/plan.ts';
import { run } from '../../src/export/run.ts';
import type { WalkMode } from '../../src/export/walk-context.ts';
import { type SandboxOptions, startSandbox } from '../../src/sandbox/index.ts';
import { freshFolder } from '../scratch.ts';

/** Ranges of which `plan` reads a sample only; each has splits and merges inside. Giant blocks are 777, 5777, and so on. */
interface Case {
  readonly name: string;
  readonly network: SandboxOptions;
  readonly range: string;
  readonly walk?: WalkMode;
}

const CASES: readonly Case[] = [
  { name: 'the usual', network: {}, range: '1000:3499' },
  { name: 'other accounts, shards and bursts', network: { seed: 7, activity: 0.5 }, range: '1200:3800' },
  { name: 'from the first block on', network: { seed: 3, activity: 0.3 }, range: '1:2500' },
  { name: 'up to the head', network: { activity: 0.2 }, range: '-2600:' },
  { name: 'a giant block', network: { activity: 0.3 }, range: '700:3200' },
  { name: 'two giant blocks among quiet ones', network: { activity: 0.1 }, range: '700:6000' },
  { name: 'sparse', network: { activity: 0.1 }, range: '1010:4999' },
  { name: 'nothing but ticks, tocks and one airdrop', network: { activity: 0 }, range: '1000:3500' },
  { name: 'dense', network: { activity: 2 }, range: '1000:3420' },
  { name: 'block by block', network: { activity: 0.1 }, range: '1000:3450', walk: 'masterchain' },
];

/** Leaves the requests as they are, and takes less time. */
const FEW_ROWS = { without: ['account_states', 'messages'] };

describe('a quote from a sample is within 15 % of what the run asks for', () => {
  test.each(CASES)('$name', async ({ name, network, range, walk }) => {
    const sandbox = await startSandbox({ blocks: 12_000, ...network });
    const options = {
      pipelines: ['transactions'],
      network: sandbox.url,
      range,
      walk,
      warehouse: join(freshFolder(), 'w'),
      rps: 1_000_000,
      workers: 0,
    };
    try {
      const plan = await planRun(options);
      const asked = sandbox.requests.stats().requests;
      const report = await run({ ...options, ...(name === 'the usual' ? {} : FEW_ROWS) });
      expect(plan.basis).toBe('sample');
      expect(asked).toBeLessThanOrEqual(25);
      expect(report.complete).toBe(true);
      expect(report.requests).toBe(sandbox.requests.stats().requests - asked);
      const ratio = plan.requests / report.requests;
      expect(ratio).toBeGreaterThan(0.85);
      expect(ratio).toBeLessThan(1.15);
      expect(Math.abs(plan.requests - report.requests)).toBeLessThanOrEqual(plan.band);
      const quoted = plan.pipelines.find(({ pipeline }) => pipeline === 'transactions')?.rows ?? 0;
      expect(Math.abs(quoted / (report.rows['transactions'] ?? 0) - 1)).toBeLessThan(0.15);
    } finally {
      await sandbox.close();
    }
  });
});
