import { readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { realEffects } from '../../src/core/effects.ts';
import { type PipelinePlan, planRun } from '../../src/export/plan.ts';
import { run } from '../../src/export/run.ts';
import { type SandboxOptions, startSandbox } from '../../src/sandbox/index.ts';
import { freshFolder } from '../scratch.ts';

interface Case {
  readonly network: SandboxOptions;
  readonly pipelines: readonly string[];
  readonly range: string;
  /** Most requests of the quote itself. */
  readonly most: number;
}

const CASES: readonly Case[] = [
  { network: { activity: 0.3 }, pipelines: ['blocks'], range: '1000:3999', most: 16 },
  { network: { activity: 0.3 }, pipelines: ['blocks'], range: '1:6000', most: 16 },
  { network: {}, pipelines: ['blocks'], range: '-200:', most: 5 },
  { network: { activity: 0.3 }, pipelines: ['transactions'], range: '1000:2499', most: 17 },
  { network: {}, pipelines: ['transactions'], range: '1000:1300', most: 8 },
  { network: {}, pipelines: ['message_links'], range: '1000:1399', most: 10 },
  { network: { seed: 5 }, pipelines: ['jetton_transfers', 'jetton_burns'], range: '1:600', most: 20 },
  { network: {}, pipelines: ['nft_items', 'jetton_wallets'], range: '1000:1019', most: 12 },
  { network: {}, pipelines: ['traces', 'actions', 'shard_state'], range: '1000:1099', most: 20 },
  { network: {}, pipelines: ['top_accounts', 'jetton_masters'], range: '1000:1001', most: 12 },
];

function bytesIn(warehouse: string): number {
  return readdirSync(join(warehouse, 'tables'), { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .reduce((sum, { parentPath, name }) => sum + statSync(join(parentPath, name)).size, 0);
}

test.each(CASES)(
  'the quote of $pipelines $range holds within its bands',
  async ({ network, pipelines, range, most }) => {
    const sandbox = await startSandbox({ blocks: 12_000, ...network });
    const warehouse = join(freshFolder(), 'w');
    const options = { pipelines, network: sandbox.url, range, warehouse, rps: 1_000_000, workers: 0 };
    try {
      const plan = await planRun(options);
      const asked = sandbox.requests.stats().requests;
      expect(asked).toBeLessThanOrEqual(most);
      const report = await run(options);
      expect(report.complete).toBe(true);
      expect(Math.abs(plan.requests - report.requests)).toBeLessThanOrEqual(plan.band);
      expect(plan.band).toBeLessThanOrEqual(Math.max(10, plan.requests / 3));
      expect(Math.abs(plan.bytes - bytesIn(warehouse))).toBeLessThanOrEqual(plan.bytesBand);
      expect(plan.unknown).toEqual([]);
    } finally {
      await sandbox.close();
    }
  },
);

test('a quote tells of the warehouse where it holds rows, and never takes less time than this machine needs', async () => {
  const sandbox = await startSandbox();
  const warehouse = join(freshFolder(), 'w');
  const options = { network: sandbox.url, warehouse, rps: 1_000_000 };
  // A clock that goes on by a second whenever it is looked at: whatever is measured takes a second.
  let now = 0;
  const effects = { ...realEffects, monotonic: () => (now += 1000) };
  try {
    const plan = await planRun({ ...options, pipelines: ['transactions'], range: '1000:1299', effects });
    expect(plan.machineMinutes).toBeGreaterThan(0);
    for (const minutes of Object.values(plan.minutes)) expect(minutes).toBeGreaterThanOrEqual(plan.machineMinutes);
    await run({ ...options, workers: 0, pipelines: ['jetton_masters', 'nft_items'], range: '1000:1009' });
    sandbox.requests.reset();
    const next = await planRun({ ...options, pipelines: ['nft_items'], range: '1010:1019' });
    const basis = (name: string) => next.pipelines.find(({ pipeline }: PipelinePlan) => pipeline === name)?.basis;
    expect([basis('nft_collections'), basis('nft_items')]).toEqual(['history', 'history']);
    expect(sandbox.requests.entries().filter(({ path }) => path.startsWith('nft/'))).toEqual([]);
  } finally {
    await sandbox.close();
  }
});
