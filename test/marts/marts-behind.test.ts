import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { run } from '../../src/export/run.ts';
import { open } from '../../src/library/open.ts';
import { buildMarts } from '../../src/marts/build-marts.ts';
import { startSandbox } from '../../src/sandbox/index.ts';
import { freshFolder } from '../scratch.ts';
import { sqlFolder, texts } from './support.ts';

/** Midnights stand between blocks 44 and 45, and between 87 and 88. */
const sandbox = await startSandbox({ blocks: 200, blockTimeMs: 2_000_000 });
afterAll(() => sandbox.close());

const martOf = (inputs: string, more: string, select: string): string =>
  `-- Transactions.\n-- question: How many?\n-- grain: one UTC day\n-- key: block_date\n-- inputs: ${inputs}\n${more}-- units: counts\n-- columns:\n--   block_date: day\n--   n: transactions\n${select}\n`;
const BY_DAY = '-- incremental: block_date\n';
const COUNT = 'SELECT block_date, count(*) AS n FROM transactions';
const folder = await sqlFolder({
  'counts.sql': martOf('transactions', `${BY_DAY}-- before: 5\n`, `${COUNT} GROUP BY ALL`),
  'daily_sums.sql': martOf('counts', BY_DAY, 'SELECT block_date, n FROM counts'),
  'all_sums.sql': martOf('counts', '', 'SELECT block_date, n FROM counts'),
  'late.sql': martOf('transactions', BY_DAY, `${COUNT} WHERE block_date > '2026-05-03' GROUP BY ALL`),
  'late_sums.sql': martOf('late', BY_DAY, 'SELECT block_date, n FROM late'),
});

let warehouse: string;

async function bring(range: string): Promise<void> {
  await run({ pipelines: ['transactions'], network: sandbox.url, range, warehouse });
  await buildMarts(warehouse, { folder, names: ['daily_sums', 'all_sums', 'late_sums'] });
}

beforeAll(async () => {
  warehouse = join(freshFolder(), 'w');
  await bring('43:100');
});

async function warningsOf(sql: string): Promise<readonly string[]> {
  const heard: string[] = [];
  const lake = await open({ warehouse, onWarning: (warning) => void heard.push(warning) });
  await lake.query(sql).finally(() => lake.close());
  return heard;
}

const lacking = async (mart: string) =>
  (await texts(warehouse, `select block_date from ${mart} where _coverage = 'missing' order by all`)).flat();

test('a day of a mart lacks what the same day of a mart that it reads lacks', async () => {
  for (const mart of ['counts', 'daily_sums'])
    expect(await lacking(mart)).toEqual(['2026-05-02', '2026-05-03', '2026-05-04']);
});

test.each([
  ["daily_sums where block_date = '2026-05-03'", ['missing part of 2026-05-03']],
  ['daily_sums', ['missing part of 2026-05-02, 2026-05-03, 2026-05-04']],
  ["daily_sums where block_date = '2026-05-06'", ['missing 2026-05-06 (not built)']],
  // Built in full: of all blocks between the first and the last one nothing is missing.
  ['all_sums', []],
  ["all_sums where block_date = '2026-05-03'", ['missing part of 2026-05-03']],
  ["all_sums where block_date >= '2026-05-04'", ['missing part of 2026-05-04']],
  ["all_sums where block_date >= '2026-05-05'", ['missing all since 2026-05-05 (not built)']],
  // Days without rows.
  ["late_sums where block_date = '2026-05-02'", ['missing part of 2026-05-02']],
  ["late_sums where block_date = '2026-05-03'", []],
])('queries say it: from %s', async (from, says) => {
  const mart = from.split(' ')[0];
  expect(await warningsOf(`from ${from}`)).toEqual(says.map((text) => `${mart}: ${text}`));
});

test('when its blocks are there, no mart lacks it any more', async () => {
  await bring('38:42');
  for (const mart of ['counts', 'daily_sums']) expect(await lacking(mart)).toEqual(['2026-05-02', '2026-05-04']);
  for (const mart of ['daily_sums', 'all_sums'])
    expect(await warningsOf(`from ${mart} where block_date = '2026-05-03'`)).toEqual([]);
});
