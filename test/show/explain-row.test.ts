import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, test } from 'vitest';
import { loadRegistry } from '../../src/declare/registry.ts';
import { explainRow } from '../../src/show/explain-row.ts';
import { Database } from '../../src/sql/database.ts';
import { tonlake } from '../cli.ts';
import { copyOf, damage, exportSandbox, texts } from '../marts/support.ts';
import { EXTENSIONS, HAS_BUCKETS, startS3 } from '../objects/s3-server.ts';
import { freshFolder } from '../scratch.ts';

const registry = await loadRegistry();
const PIPELINES = ['transactions', 'traces', 'actions', 'jetton_transfers', 'jetton_masters', 'account_latest'];

let folder: string;
let file: string;
beforeAll(async () => {
  folder = await exportSandbox('1000:1009', PIPELINES);
  file = await exportSandbox('1000:1009', ['transactions', 'jetton_masters'], join(freshFolder(), 'w.duckdb'));
});

const explain = (path: string, ...args: readonly string[]) => tonlake(['show', ...args, '--warehouse', path]);

/** The key of a row in the middle of a table, as words: what belongs to one at an end may lie outside of the range. */
async function keyOf(path: string, table: string): Promise<readonly string[]> {
  const { key, sort } = registry.table(table);
  const columns = key.filter((name) => name !== '_read_at');
  const [row = []] = await texts(
    path,
    `SELECT ${columns.join(', ')} FROM ${table} QUALIFY row_number() OVER (ORDER BY ${sort.join(', ')}) = count(*) OVER () // 2`,
  );
  return columns.map((name, at) => `${name}=${row[at]}`);
}

describe('in a folder of Parquet files', () => {
  test.each([
    ['blocks', 'links', true],
    ['transactions', 'counts', true],
    ['messages', 'counts', true],
    ['account_states', 'counts', true],
    ['traces', 'compared', true],
    ['jetton_transfers', 'compared', true],
    ['actions', 'read', undefined],
    ['jetton_masters', 'read', undefined],
    ['account_latest', 'read', undefined],
  ] as const)('a row of %s is where it is said to be', async (table, kind, holds) => {
    const key = await keyOf(folder, table);
    const { rows } = await explainRow(folder, table, key);
    const [row] = rows;
    expect(row?.entry.pipeline).toBe(
      registry.pipelines.find(({ tables }) => tables.some(({ name }) => name === table))?.name,
    );
    expect([row?.proof.kind, row?.proof.evidence?.holds, row?.file?.checksum]).toEqual([kind, holds, 'matches']);
    const stored = key.map((word) => word.split('=')[0]).join(', ');
    const database = await Database.open();
    const found = await database.query(
      `SELECT ${stored} FROM read_parquet('${folder}/${row?.file?.path}', file_row_number = true, hive_partitioning = false)
       WHERE file_row_number = ${row?.file?.row}`,
    );
    database.close();
    expect(found.rows[0]?.map(String)).toEqual(key.map((word) => word.replace(/^\w+=/, '')));
  });

  test('a file that was changed afterwards is told', async () => {
    const path = await copyOf(folder);
    const key = await keyOf(path, 'transactions');
    const { rows } = await explainRow(path, 'transactions', key);
    const data = join(path, rows[0]?.file?.path ?? '');
    const bytes = readFileSync(data);
    // The name of the writer, in the footer: every value can still be read.
    bytes[bytes.lastIndexOf('tonlake')] = 'T'.charCodeAt(0);
    writeFileSync(data, bytes);
    const damaged = await explain(path, 'transactions', ...key, '--json');
    expect(damaged.code).toBe(1);
    expect(JSON.parse(damaged.stdout).rows[0].file.checksum).toBe('differs');
  });

  test('merged rows name their first commits', async () => {
    const path = await exportSandbox('1000:1002', ['blocks']);
    await exportSandbox('1003:1005', ['blocks'], path);
    const key = await keyOf(path, 'blocks');
    const [before] = (await explainRow(path, 'blocks', key)).rows;
    expect((await tonlake(['compact', '--warehouse', path])).code).toBe(0);
    const [after] = (await explainRow(path, 'blocks', key)).rows;
    expect(after?.entry.number).toBeGreaterThan(before?.entry.number ?? 99);
    const { number, committedAt } = before?.entry ?? {};
    expect(after?.past).toEqual({ mergedFrom: [{ number, committedAt }], replaced: [] });
    expect(after?.proof.evidence?.holds).toBe(true);
  });
});

describe('in a DuckDB file', () => {
  test('a row names its entry and proof, and has no file', async () => {
    const { stdout, code } = await explain(file, 'transactions', ...(await keyOf(file, 'transactions')));
    expect(code).toBe(0);
    expect(stdout).toMatch(/ {2}entry {6}2 of transactions, blocks 1000:1009\n {2}block {6}masterchain block 100\d\n/);
    expect(stdout).toMatch(
      / {2}evidence {3}the header of its block says (\d+) transactions, and the warehouse has \1\n/,
    );
    expect(stdout).not.toContain('  file ');
  });

  test('a transaction that is missing beside the row is told', async () => {
    const path = await copyOf(file);
    const [[hash = '', seqno] = []] = await texts(
      path,
      'SELECT hash, block_seqno FROM transactions ORDER BY lt, hash LIMIT 1',
    );
    await damage(path, `DELETE FROM _rows.transactions WHERE block_seqno = ${seqno} AND hash <> '${hash}'`);
    const { code, stdout } = await explain(path, 'transactions', hash);
    expect(code).toBe(1);
    expect(stdout).toMatch(/DOES NOT HOLD: the header of its block says \d+ transactions, and the warehouse has 1\n/);
  });

  test('a newer reading supersedes an older one', async () => {
    const path = await copyOf(file);
    const args = [
      'run',
      'jetton_masters',
      '--network',
      'sandbox',
      '--range',
      '1010:1011',
      '--history',
      '--warehouse',
      path,
    ];
    expect((await tonlake(args)).code).toBe(0);
    const { rows } = await explainRow(path, 'jetton_masters', await keyOf(path, 'jetton_masters'));
    expect(rows.map(({ entry }) => entry.number)).toEqual([4, 3]);
    expect(rows.map(({ newerReading }) => newerReading)).toEqual([
      undefined,
      { readAt: rows[0]?.values['_read_at'], entry: 4 },
    ]);
  });
});

describe('a key', () => {
  test('can be written in every usual form', async () => {
    const [[hash = '', account = '', shard = ''] = []] = await texts(
      folder,
      'SELECT hash, account, block_shard FROM transactions WHERE block_shard < 0 ORDER BY lt, hash LIMIT 1',
    );
    const bytes = Buffer.from(hash, 'base64');
    const [[friendly = ''] = []] = await texts(folder, `SELECT friendly_address('${account}')`);
    const hex = BigInt.asUintN(64, BigInt(shard)).toString(16);
    for (const form of [
      hash,
      bytes.toString('hex'),
      bytes.toString('hex').toUpperCase(),
      bytes.toString('base64url'),
    ]) {
      const { rows } = await explainRow(folder, 'transactions', [form, `account=${friendly}`, `block_shard=${hex}`]);
      expect(rows.map(({ values }) => values['hash'])).toEqual([hash]);
    }
  });

  test.each([
    [['transactionz', 'x'], 2, /did you mean transactions\?/],
    [['jetton_masters_now', 'x'], 2, /a view of jetton_masters; hint: tonlake show .*jetton_masters lists its columns/],
    [['transactions', 'a', 'b'], 2, /at most the key of transactions \(hash\), got "b" as well/],
    [['blocks', 'lots', '1', '1'], 2, /a whole number for workchain, got "lots"/],
  ] as const)('%j ends with %i', async (args, code, message) => {
    const result = await explain(folder, ...args);
    expect(result.code).toBe(code);
    expect(result.stderr).toMatch(message);
  });

  test('that no row has is told with what the table lacks', async () => {
    const { code, stdout, stderr } = await explain(
      folder,
      'nft_items',
      'address=EQCxE6mUtQJKFnGfaROTKOt1lZbDiiX1kCixRv7Nw2Id_sDs',
    );
    expect([code, stdout, stderr]).toEqual([
      1,
      '',
      expect.stringMatching(
        /^error: store: nft_items: expected a row with the key .*, got none; hint: nft_items was never.*\n$/,
      ),
    ]);
  });
});

test('a row of a mart names the tables and marts that it is derived from', async () => {
  const copy = await copyOf(folder);
  expect((await tonlake(['build', 'transactions_daily', '--warehouse', copy])).code).toBe(0);
  const { code, stdout } = await explain(copy, 'transactions_daily', 'block_date=2026-05-01');
  expect([code, stdout]).toEqual([
    0,
    expect.stringMatching(/\n {2}proof {6}derived by its select from the rows of 2026-05-01 of transactions: /),
  ]);
});

test.skipIf(!HAS_BUCKETS)(
  'a row of a warehouse in an object store is explained as in a folder (skipped without versitygw or extensions)',
  async () => {
    const { env: s3 } = await startS3();
    const env = { ...s3, TONLAKE_DUCKDB_EXTENSIONS: EXTENSIONS ?? '' };
    expect((await tonlake(['copy', folder, 's3://lake/w'], { env })).code).toBe(0);
    const args = ['show', 'messages', ...(await keyOf(folder, 'messages')), '--json', '--warehouse'];
    const [here, there] = [await tonlake([...args, folder]), await tonlake([...args, 's3://lake/w'], { env })];
    expect([there.code, there.stderr]).toEqual([0, '']);
    const [one, other] = [here, there].map(({ stdout }) => JSON.parse(stdout).rows[0]);
    expect(other.file.checksum).toBe('matches');
    expect(other).toEqual(one);
  },
);

test('a key may begin with a hyphen, as masterchain blocks and addresses do; an unknown option is still refused', async () => {
  const found = await explain(folder, 'blocks', '-1', '8000000000000000', '1005');
  expect([found.code, found.stderr]).toEqual([0, '']);
  const elector = `-1:${'3'.repeat(64)}`;
  const [[hash = ''] = []] = await texts(folder, `SELECT hash FROM transactions WHERE account = '${elector}' LIMIT 1`);
  expect((await explain(folder, 'account_states', elector, hash)).stderr).not.toContain('unknown option');
  expect(await explain(folder, 'transactions', hash, '--rwa')).toMatchObject({
    ...{ code: 2, stderr: "error: usage: unknown option '--rwa'; hint: see --help\n" },
  });
  expect(await explain(folder, 'transactions', '')).toMatchObject({
    ...{ code: 2, stderr: expect.stringContaining('expected the key of a row of transactions, got none') },
  });
  expect(await explain(folder, 'transactions', `hsh=${hash}`)).toMatchObject({
    ...{
      code: 2,
      stderr: expect.stringContaining('expected a column of transactions, got "hsh"; hint: did you mean hash?'),
    },
  });
});
