import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { run } from '../../src/export/run.ts';
import { buildMarts, type MartBuild } from '../../src/marts/build-marts.ts';
import { runChecks } from '../../src/marts/run-checks.ts';
import { startSandbox } from '../../src/sandbox/index.ts';
import { forgetRange } from '../../src/verify/forget.ts';
import { freshFolder } from '../scratch.ts';
import { copyOf, sqlFolder, texts } from './support.ts';

const PIPELINES = ['transactions', 'actions', 'jetton_transfers'];
/** Midnights stand between blocks 9 and 10, and between 441 and 442. */
const BLOCKS = '7:12,439:444';
/** Marts by the day, and one without days. */
const names = ['transactions_daily', 'jetton_transfers_daily', 'latest_balances'];
const DAYS = ['2026-05-01', '2026-05-02', '2026-05-03'];

const sandbox = await startSandbox({ blocks: 460, blockTimeMs: 200_000 });

afterAll(() => sandbox.close());

const bring = (warehouse: string, range: string, pipelines = PIPELINES) =>
  run({ pipelines, network: sandbox.url, range, warehouse });
const buildOf = (builds: readonly MartBuild[], name: string) => builds.find((each) => each.name === name);
const rowsOf = (path: string, mart: string) => texts(path, `select * from ${mart} order by all`);

describe.each(['w', 'w.duckdb'])('when the rows of a day are forgotten in %s', (name) => {
  let source: string;
  let before: readonly (readonly string[])[];
  let gone: string;

  beforeAll(async () => {
    source = join(freshFolder(), name);
    await bring(source, BLOCKS);
    await buildMarts(source, { names });
    before = await rowsOf(source, 'transactions_daily');
    gone = await copyOf(source);
    await forgetRange({ warehouse: gone, pipelines: ['transactions', 'blocks', 'actions'], range: '7:9' });
  });

  test('marts by the day keep its rows, and tell that', async () => {
    const path = await copyOf(gone);
    const builds = await buildMarts(path, { names });
    // The entry of the second day was cut, too: its files stay, but the rows of a DuckDB file are others.
    const days = name === 'w' ? [] : [DAYS[1]];
    expect(buildOf(builds, 'transactions_daily')).toMatchObject({ kept: [DAYS[0]], days });
    expect(buildOf(builds, 'jetton_transfers_daily')).toMatchObject({ kept: [] });
    expect(await rowsOf(path, 'transactions_daily')).toEqual(before);
    const again = await buildMarts(path, { names });
    expect(buildOf(again, 'transactions_daily')).toMatchObject({ status: 'unchanged', kept: [DAYS[0]] });
  });

  // What follows is the same code, whatever the store.
  if (name !== 'w') return;

  test('neither a full build nor another select of the mart builds the day from nothing', async () => {
    const path = await copyOf(gone);
    const builds = await buildMarts(path, { names: ['transactions_daily'], full: true });
    expect(buildOf(builds, 'transactions_daily')).toMatchObject({ days: DAYS.slice(1), kept: [DAYS[0]] });
    expect(await rowsOf(path, 'transactions_daily')).toEqual(before);

    const sql = (column: string) =>
      `-- Transactions.\n-- question: How many?\n-- grain: one UTC day\n-- key: block_date\n-- inputs: transactions\n-- incremental: block_date\n-- units: counts\n-- columns:\n--   block_date: day\n--   tx_count: transactions\nSELECT block_date, count(*) AS tx_count${column} FROM transactions GROUP BY ALL\n`;
    const own = await copyOf(source);
    await buildMarts(own, { names: ['counts'], folder: await sqlFolder({ 'counts.sql': sql('') }) });
    const counted = await texts(own, 'select block_date, tx_count from counts order by all');
    await forgetRange({ warehouse: own, pipelines: ['transactions', 'blocks'], range: '7:9' });
    const changed = await sqlFolder({ 'counts.sql': sql(', sum(total_fees)::DECIMAL(38, 0) AS fees') });
    const [build] = await buildMarts(own, { names: ['counts'], folder: changed });
    expect(build).toMatchObject({ days: DAYS.slice(1), kept: [DAYS[0]] });
    expect(await texts(own, 'select block_date, tx_count from counts order by all')).toEqual(counted);
    expect(await texts(own, 'select block_date from counts where fees is null')).toEqual([[DAYS[0]]]);
  });

  test('a mart without days is built without forgotten rows, and says so', async () => {
    const path = await copyOf(gone);
    const builds = await buildMarts(path, { names: ['accounts', 'latest_balances'] });
    expect(buildOf(builds, 'accounts')?.reason).toMatch(/^transactions forgotten 7:9; built without them$/);
    expect(await texts(path, 'select sum(tx_count) from accounts')).toEqual(
      await texts(path, 'select count(*) from transactions'),
    );
    // It is made from a mart that kept its days.
    expect(buildOf(builds, 'latest_balances')?.reason).toBeUndefined();
    expect(await texts(path, 'select count(*) from latest_balances')).toEqual(
      await texts(source, 'select count(*) from latest_balances'),
    );
  });

  test('checks pass, and what they found of a day goes with its rows', async () => {
    const folder = await sqlFolder({
      'few.sql':
        '-- Few.\n-- rule: a day has few blocks\n-- incremental: block_date\n-- inputs: blocks\nSELECT count(*) AS n FROM blocks HAVING count(*) > 1\n',
    });
    const path = await copyOf(source);
    const offenders = async () => (await runChecks(path, { names: ['few'], folder })).checks[0]?.offenders;
    expect(await offenders()).toBe(DAYS.length);
    await forgetRange({ warehouse: path, pipelines: ['transactions', 'blocks', 'actions'], range: '7:9' });
    expect(await offenders()).toBe(DAYS.length - 1);
    expect(await texts(path, 'select day from check_failures order by all')).toEqual(DAYS.slice(1).map((day) => [day]));
    const { checks } = await runChecks(path);
    expect(checks.filter(({ status }) => status === 'failed')).toEqual([]);
  });

  test('a day that is exported again is built again', async () => {
    const path = await copyOf(gone);
    await bring(path, '7:9');
    const builds = await buildMarts(path, { names });
    expect(buildOf(builds, 'transactions_daily')).toMatchObject({ days: [DAYS[0]], kept: [] });
    expect(await rowsOf(path, 'transactions_daily')).toEqual(before);
  });

  test('days stay when nothing is left to build from', async () => {
    const path = await copyOf(gone);
    await forgetRange({ warehouse: path, pipelines: ['transactions', 'blocks'], range: '1:460' });
    const builds = await buildMarts(path, { names });
    const build = buildOf(builds, 'transactions_daily');
    expect(build).toMatchObject({ status: 'empty', kept: DAYS, rows: 3 });
    expect(build?.reason).toMatch(/^transactions forgotten 7:12,439:444$/);
    expect(await rowsOf(path, 'transactions_daily')).toEqual(before);
  });
});
