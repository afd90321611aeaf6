import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { realEffects } from '../../src/core/effects.ts';
import { run } from '../../src/export/run.ts';
import { buildMarts, type MartBuild } from '../../src/marts/build-marts.ts';
import { loadMarts } from '../../src/marts/load-marts.ts';
import { runChecks } from '../../src/marts/run-checks.ts';
import { startSandbox } from '../../src/sandbox/index.ts';
import { forgetRange } from '../../src/verify/forget.ts';
import { repairWarehouse } from '../../src/verify/repair.ts';
import { compactWarehouse } from '../../src/warehouse/index.ts';
import { readStatus } from '../../src/warehouse/query/status.ts';
import { freshFolder } from '../scratch.ts';
import { copyOf, hashMarts, registry, sqlFolder, texts } from './support.ts';

const MARTS = ['accounts', 'latest_balances'];

const sandbox = await startSandbox({ blocks: 460, blockTimeMs: 200_000 });

afterAll(() => sandbox.close());

const bring = (warehouse: string, range: string, pipelines = ['transactions']) =>
  run({ pipelines, network: sandbox.url, range, warehouse });
const merged = (builds: readonly MartBuild[]) =>
  builds.filter((each) => each.isMerged === true).map(({ name }) => name);

/** Builds, and requires what a full build gives. */
async function build(path: string): Promise<readonly MartBuild[]> {
  const full = await copyOf(path);
  await buildMarts(full, { names: MARTS, full: true });
  const builds = await buildMarts(path, { names: MARTS });
  expect(await hashMarts(path, MARTS)).toEqual(await hashMarts(full, MARTS));
  return builds;
}

describe.each(['w', 'w.duckdb'])('marts over all rows of %s', (name) => {
  let source: string;

  beforeAll(async () => {
    source = join(freshFolder(), name);
    await bring(source, '20:39');
    expect(merged(await build(source))).toEqual([]);
  });

  test('are merged with new blocks, and with blocks that come late, each night', async () => {
    const path = await copyOf(source);
    for (const range of ['40:59', '5:19', '60:60']) {
      await bring(path, range);
      expect(merged(await build(path)), range).toEqual(MARTS);
    }
    expect(await texts(path, 'select sum(tx_count) from accounts')).toEqual(
      await texts(path, 'select count(*) from transactions'),
    );
    expect((await buildMarts(path, { names: MARTS })).map(({ status }) => status)).not.toContain('built');
  });

  // What follows is the same code, whatever the store.
  if (name !== 'w') return;

  test('are merged after their inputs were', async () => {
    const path = await copyOf(source);
    await bring(path, '40:45');
    await bring(path, '46:50');
    await compactWarehouse({ warehouse: path, tables: registry.tables, pipelines: [], effects: realEffects });
    expect(merged(await build(path))).toEqual(MARTS);
  });

  test('are left alone, as are days and checks of them, when what they read is merged', async () => {
    const path = await copyOf(source);
    // Blocks of more than one day, in entries that share a day.
    for (const range of ['40:250', '251:455']) await bring(path, range);
    const names = [...MARTS, 'balances_history', 'block_times', 'shard_state'];
    await buildMarts(path, { names });
    await runChecks(path);
    const { merged } = await compactWarehouse({
      ...{ warehouse: path, tables: registry.tables, pipelines: [], effects: realEffects },
    });
    expect(merged).toBeGreaterThan(0);
    const { marts } = await readStatus(path);
    expect(marts.filter(({ behind }) => behind !== undefined)).toEqual([]);
    const before = await hashMarts(path, names);
    expect((await buildMarts(path, { names })).filter(({ status }) => status === 'built')).toEqual([]);
    expect((await runChecks(path)).checks.flatMap(({ read }) => read)).toEqual([]);
    await buildMarts(path, { names, full: true });
    expect(await hashMarts(path, names)).toEqual(before);
  });

  test('are built anew when blocks are forgotten, and merged again from then on', async () => {
    const path = await copyOf(source);
    await forgetRange({ warehouse: path, pipelines: ['transactions', 'blocks'], range: '20:29' });
    const builds = await build(path);
    expect(merged(builds)).not.toContain('accounts');
    await bring(path, '20:29');
    expect(merged(await build(path))).toEqual(MARTS);
  });

  test('are built anew when their select is another one', async () => {
    const own = (more: string) => ({
      'counts.sql': `-- Counts.\n-- question: How many?\n-- grain: one account\n-- key: account\n-- inputs: transactions\n-- units: counts\n-- merge:\n--   sum: n\n-- columns:\n--   account: account\n--   n: transactions\nSELECT account, count(*) ${more} AS n FROM transactions GROUP BY account\n`,
    });
    const path = await copyOf(source);
    const sumBy = async (more: string) => {
      const [made] = await buildMarts(path, { names: ['counts'], folder: await sqlFolder(own(more)) });
      return [made?.isMerged === true, Number((await texts(path, 'select sum(n) from counts'))[0]?.[0])] as const;
    };
    const [, first] = await sumBy('');
    await bring(path, '40:45');
    const [isMerged, second] = await sumBy('');
    expect(isMerged).toBe(true);
    expect(second).toBeGreaterThan(first);
    await bring(path, '46:50');
    const count = Number((await texts(path, 'select count(*) from transactions'))[0]?.[0]);
    expect(await sumBy('* 2')).toEqual([false, 2 * count]);
  });
});

test('rows that a repair replaced are not merged twice', async () => {
  const path = join(freshFolder(), 'w');
  await bring(path, '20:39');
  await build(path);
  const files = await texts(
    path,
    "select filename from (select distinct filename from read_parquet('" +
      path +
      "/tables/transactions/**/*.parquet', filename = true))",
  );
  const { rmSync } = await import('node:fs');
  rmSync(files[0]?.[0] ?? '');
  await repairWarehouse({ warehouse: path, network: sandbox.url });
  expect(merged(await build(path))).not.toContain('accounts');
});

test('a rule for each column is required', async () => {
  const folder = await sqlFolder({
    'counts.sql':
      '-- Counts.\n-- question: How many?\n-- grain: one account\n-- key: account\n-- inputs: transactions\n-- units: counts\n-- merge:\n--   latest lt: n\nSELECT account, count(*) AS n FROM transactions GROUP BY account\n',
  });
  await expect(loadMarts(registry, folder)).rejects.toThrow(
    /expected each column beside the key once in merge \(n\), got lt, n/,
  );
});
