import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, test } from 'vitest';
import { Database } from '../../src/sql/database.ts';
import { RESULT_TABLE } from '../../src/sql/result-table.ts';
import { openQueries } from '../../src/warehouse/query/query.ts';
import { tonlake } from '../cli.ts';
import { freshFolder } from '../scratch.ts';

const TON = `0:${'0'.repeat(64)}`;
const folder = freshFolder();
const write = (name: string, text: string): void => writeFileSync(join(folder, name), text);

/** The first value of a query, its notes, and how it ended. */
async function ask(sql: string, ...words: string[]) {
  const { stdout, stderr, code } = await tonlake(['sql', sql, '--format', 'csv', ...words], { cwd: folder });
  return { code, rows: stdout.trim().split('\n').slice(1), told: stderr.trim() };
}

beforeAll(async () => {
  const run = ['run', 'blocks', '--network', 'sandbox', '--range', '1000:1001'];
  for (const path of ['w', 'w.duckdb']) {
    expect((await tonlake([...run, '--warehouse', path], { cwd: folder })).code).toBe(0);
  }
});

const project = (text: string): void => write('tonlake.yaml', `network: sandbox\nwarehouse: w\n${text}`);

describe('prices and labels', () => {
  test('are read by a mart, which is built again when the file changes, and by a report', async () => {
    write('labels.csv', `address,label\n${TON},Zero\n`);
    project('labels: labels.csv\nmarts: marts\n');
    mkdirSync(join(folder, 'marts'));
    const header = '-- Labels.\n-- question: q\n-- grain: a label\n-- key: label\n-- inputs: blocks\n-- units: none\n';
    const select = 'SELECT label, count(*) AS blocks FROM ton.labels, blocks GROUP BY label\n';
    write('marts/labelled.sql', `${header}${select}`);
    const labels = async () => {
      const { code, stderr } = await tonlake(['build', 'labelled'], { cwd: folder });
      expect(code, stderr).toBe(0);
      return (await ask('SELECT label FROM labelled')).rows;
    };
    expect(await labels()).toEqual(['Zero']);
    write('labels.csv', `address,label\n${TON},Nobody\n`);
    expect(await labels()).toEqual(['Nobody']);
    const front = '---\ntitle: Names\ndoc: Names of accounts.\n---\n\n';
    write(
      'r.md',
      `${front}\`\`\`sql names\nselect label from ton.labels\n\`\`\`\n\n\`\`\`table names\ntitle: Names\n\`\`\`\n`,
    );
    const report = await tonlake(['report', 'r.md', '--format', 'csv'], { cwd: folder });
    expect([report.code, report.stdout]).toEqual([0, expect.stringContaining('Nobody')]);
  });

  test('are read by a confined query, as the page runs it, as layouts of the project are', async () => {
    write('labels.csv', `address,label\n${TON},Zero\n`);
    const before = process.cwd();
    process.chdir(folder);
    try {
      write('layouts.yaml', 'mine:\n  fields: a uint8\n');
      project('labels: labels.csv\nlayouts: layouts.yaml\n');
      const confinement = { memoryMb: 256, temporaryMb: 256, scratch: freshFolder() };
      const queries = await openQueries('w', { confinement });
      try {
        const { columns, source } = await queries.materialize(
          "SELECT label, typeof(parse_boc('x'::BLOB, 'mine')) AS mine FROM ton.labels",
          10,
        );
        expect(columns.map(({ name }) => name)).toEqual(['label', 'mine']);
        expect((await source.query(`SELECT * FROM ${RESULT_TABLE}`)).rows).toEqual([['Zero', 'STRUCT(a BIGINT)']]);
      } finally {
        await queries.close();
      }
    } finally {
      process.chdir(before);
    }
  });

  test('are empty without a file, and a query that reads them says so', async () => {
    project('');
    const none = await ask('SELECT count(*) FROM ton.labels');
    expect(none).toEqual({
      ...{ code: 0, rows: ['0'] },
      told: expect.stringContaining('ton.labels is empty: tonlake.yaml names no file of labels'),
    });
    expect((await ask('SELECT volume_usd FROM ton.dex_trades')).told).toContain('ton.prices_daily is empty');
    expect((await ask('SELECT count(*) FROM ton.blocks')).told).not.toContain('is empty');
  });

  test.each(['w', 'w.duckdb'])('are the rows of a CSV file, in %s', async (path) => {
    write('prices.csv', `timestamp,token_address,price_usd\n2026-05-01,${TON},0.0000000025\n2026-05-02,${TON},\n`);
    project('prices: prices.csv\n');
    const sql = 'SELECT timestamp, token_address, price_usd * 1e9, price_ton FROM ton.prices_daily ORDER BY 1';
    expect(await ask(sql, '--warehouse', path)).toEqual({
      ...{ code: 0, told: '' },
      rows: [`2026-05-01,${TON},2.5,`, `2026-05-02,${TON},,`],
    });
  });

  test('are the rows of a Parquet file', async () => {
    const database = await Database.open();
    await database.run(
      `COPY (SELECT '${TON}' AS address, 'Elector' AS label, 'system' AS category) TO '${join(folder, 'labels.parquet')}'`,
    );
    database.close();
    project('labels: labels.parquet\n');
    const { rows } = await ask('SELECT label, category, organization FROM ton.labels');
    expect(rows).toEqual(['Elector,system,']);
  });

  test.each([
    ['a price that is no number', `2026-05-01,${TON},cheap`, 'DOUBLE in price_usd in prices.csv, got cheap'],
    ['an address of another form', '2026-05-01,EQabc,1', 'a raw address in token_address in prices.csv, got EQabc'],
    ['a day that is none', `2026-02-30,${TON},1`, 'DATE in timestamp in prices.csv, got 2026-02-30'],
  ])('are refused with %s', async (_what, lines, message) => {
    write('prices.csv', `timestamp,token_address,price_usd\n${lines}\n`);
    project('prices: prices.csv\n');
    const { code, told } = await ask('SELECT * FROM ton.prices_daily');
    expect([code, told]).toEqual([2, expect.stringMatching(/^error: usage: [^\n]*$/)]);
    expect(told).toContain(`usage: expected ${message}; hint: tonlake.yaml names it as prices`);
    // Other queries go on.
    expect((await ask('SELECT count(*) FROM blocks')).code).toBe(0);
  });

  test.each([
    ['a wrong column', 'day,token_address,price_usd\n', /expected columns timestamp, .* in prices.csv, got day;/],
    ['no column of a key', 'timestamp,price_usd\n', /expected a column token_address in prices.csv, got timestamp/],
    ['no file', undefined, /expected a CSV or Parquet file in missing.csv, got none;/],
  ])('are refused with %s', async (_what, text, message) => {
    if (text !== undefined) write('prices.csv', text);
    project(`prices: ${text === undefined ? 'missing' : 'prices'}.csv\n`);
    const { code, told } = await ask('SELECT count(*) FROM ton.prices_daily');
    expect([code, told]).toEqual([2, expect.stringMatching(message)]);
    expect(told.split('\n')).toHaveLength(1);
  });
});
