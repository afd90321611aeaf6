import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { planRun, type RunPlan } from '../../src/export/plan.ts';
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
  /** Runs in full. The requests of the others are planned from all headers of the range, which is exact wherever a run is compared. */
  readonly runs?: 'in full';
}

const CASES: readonly Case[] = [
  { name: 'the usual', network: {}, range: '1000:3499', runs: 'in full' },
  { name: 'other accounts, shards and bursts', network: { seed: 7, activity: 0.5 }, range: '1200:3800' },
  { name: 'from the first block on', network: { seed: 3, activity: 0.3 }, range: '1:2500' },
  { name: 'up to the head', network: { activity: 0.2 }, range: '-2600:' },
  { name: 'a giant block', network: { activity: 0.3 }, range: '700:3200', runs: 'in full' },
  { name: 'two giant blocks among quiet ones', network: { activity: 0.1 }, range: '700:6000' },
  { name: 'sparse', network: { activity: 0.1 }, range: '1010:4999' },
  { name: 'nothing but ticks, tocks and one airdrop', network: { activity: 0 }, range: '1000:3500' },
  { name: 'dense', network: { activity: 2 }, range: '1000:3420' },
  { name: 'block by block', network: { activity: 0.1 }, range: '1000:3450', walk: 'masterchain', runs: 'in full' },
];

describe('a quote from a sample is within 15 % of what the run asks for', () => {
  test.each(CASES)('$name', async ({ name, network, range, walk, runs }) => {
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
      expect(plan.basis).toBe('sample');
      expect(asked).toBeLessThanOrEqual(25);
      const headers = await run({ ...options, pipelines: ['blocks'] });
      expect(headers.complete).toBe(true);
      expect(headers.requests).toBe(sandbox.requests.stats().requests - asked);
      const exact = await planRun(options);
      expect(exact.basis).toBe('headers');
      const rows = rowsOf(exact);
      if (runs === 'in full') {
        // What is left out changes no request.
        const report = await run({ ...options, without: name === 'the usual' ? [] : ['account_states', 'messages'] });
        expect(report).toMatchObject({ complete: true, requests: exact.requests });
        expect(report.rows['transactions']).toBe(rows);
      }
      const requests = headers.requests + exact.requests;
      const ratio = plan.requests / requests;
      expect(ratio).toBeGreaterThan(0.85);
      expect(ratio).toBeLessThan(1.15);
      expect(Math.abs(plan.requests - requests)).toBeLessThanOrEqual(plan.band);
      expect(Math.abs(rowsOf(plan) / rows - 1)).toBeLessThan(0.15);
    } finally {
      await sandbox.close();
    }
  });
});

function rowsOf(plan: RunPlan): number {
  return plan.pipelines.find(({ pipeline }) => pipeline === 'transactions')?.rows ?? 0;
}
