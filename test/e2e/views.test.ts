import { join } from 'node:path';
import { DuckDBInstance } from '@duckdb/node-api';
import { afterAll, describe, expect, test } from 'vitest';
import { run } from '../../src/export/run.ts';
import { startSandbox } from '../../src/sandbox/index.ts';
import { tonlake } from '../cli.ts';
import { freshFolder } from '../scratch.ts';

const folder = freshFolder();
const places = { folder: join(folder, 'w'), file: join(folder, 'w.duckdb') };

let nowMs = 0;
const sandbox = await startSandbox({ blocks: 1045, blockMs: 1000, actionLag: 10, nowMs: () => nowMs });
const options = { network: sandbox.url, range: '1030:1033' };
for (const reading of [0, 1, 2]) {
  nowMs = 60_000 * reading;
  for (const warehouse of Object.values(places)) {
    await run({ ...options, warehouse, pipelines: ['actions', 'top_accounts'], history: true });
  }
}
afterAll(() => sandbox.close());

describe.each(Object.entries(places))('views of a %s', (_, warehouse) => {
  const sql = async (query: string): Promise<readonly string[]> => {
    const { stdout, stderr } = await tonlake(['sql', query, '--warehouse', warehouse, '--format', 'csv']);
    expect(stderr).toBe('');
    return stdout.trimEnd().split('\n').slice(1);
  };

  test('give the actions of one type', async () => {
    expect(
      await sql(`SELECT (SELECT count(*) FROM actions_ton_transfer) = (SELECT count(*) FROM actions WHERE type = 'ton_transfer'),
        (SELECT count(*) FROM actions_ton_transfer) > 0, (SELECT bool_and(type = 'ton_transfer') FROM actions_ton_transfer)`),
    ).toEqual(['true,true,true']);
  });

  test('tell the newest reading of a list, and from when to when each was the newest', async () => {
    const reading = `SELECT account, balance FROM top_accounts WHERE _read_at = (SELECT max(_read_at) FROM top_accounts)`;
    const now = 'SELECT account, balance FROM top_accounts_now';
    expect(
      await sql(
        `SELECT count(*) > 0, count(*) = (SELECT count(*) FROM (${now} INTERSECT ${reading})) FROM top_accounts_now`,
      ),
    ).toEqual(['true,true']);
    const steps = await sql('SELECT DISTINCT valid_from, valid_to FROM top_accounts_history ORDER BY ALL');
    const joined = await sql('SELECT count(*) = (SELECT count(*) FROM top_accounts) FROM top_accounts_history');
    const open = await sql(
      'SELECT count(*) = (SELECT count(*) FROM top_accounts_now) FROM top_accounts_history WHERE valid_to IS NULL',
    );
    const ends = steps.map((line) => line.split(','));
    expect(ends).toHaveLength(3);
    expect(ends.map(([, to]) => to)).toEqual([ends[1]?.[0], ends[2]?.[0], '']);
    expect([joined, open]).toEqual([['true'], ['true']]);
  });

  test('are listed with the tables', async () => {
    expect(
      await sql(`SELECT count(*) FROM duckdb_views() WHERE view_name IN ('top_accounts_now', 'actions_renew_dns')`),
    ).toEqual(['2']);
  });
});

test('views stand in the catalog, for other programs', async () => {
  const instance = await DuckDBInstance.create(join(places.folder, 'warehouse.duckdb'), { access_mode: 'READ_ONLY' });
  const connection = await instance.connect();
  const reader = await connection.runAndReadAll(
    `SELECT count(*) > 0 AND count(*) = (SELECT count(*) FROM actions WHERE type = 'ton_transfer') FROM actions_ton_transfer`,
  );
  expect(reader.getRows()).toEqual([[true]]);
  connection.closeSync();
  instance.closeSync();
});

test('a query over a view warns as one over its table does', async () => {
  const more = { network: sandbox.url, warehouse: places.folder };
  await run({ ...more, range: '1030:1036', pipelines: ['blocks'] });
  const { stderr } = await tonlake(['sql', 'select count(*) from actions_renew_dns', '--warehouse', places.folder]);
  expect(stderr).toBe('warning: actions: missing 1034:1036 (not exported)\n');
});

test('tonlake show tells of views', async () => {
  const { stdout } = await tonlake(['show', 'top_accounts_history']);
  expect(stdout).toContain('top_accounts_history: rows of all stored readings of top_accounts');
  expect(stdout).toContain('valid_to  UTC time of the next reading; null for the latest');
  expect((await tonlake(['show', 'actions'])).stdout).toMatch(/\nactions_renew_dns +actions of type renew_dns\n/);
  const { code, stderr } = await tonlake(['show', 'actions_renw_dns']);
  expect(code).toBe(2);
  expect(stderr).toContain('did you mean actions_renew_dns?');
});
