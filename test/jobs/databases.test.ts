import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { strFromU8, unzipSync } from 'fflate';
import sqlite from 'node-sqlite3-wasm';
import { expect, test } from 'vitest';
import { tonlake } from '../cli.ts';
import { freshFolder } from '../scratch.ts';

const job = (exports: string): string => {
  const folder = freshFolder();
  mkdirSync(join(folder, 'jobs'));
  const head = 'network: sandbox\nwarehouse: w\npipelines: [transactions]\nrange: "4999:5000"\nexports:\n';
  writeFileSync(join(folder, 'jobs/hand-on.yaml'), head + exports);
  return folder;
};

test('a job writes the days of its range to a database, besides its files, and can be repeated', async () => {
  const folder = job(`  - { table: transactions, to: 'lake-{job}.sqlite' }
  - { query: select count(*) as n from transactions where mc_block_seqno >= $from, to: lake-hand-on.sqlite, as: counts }
  - { table: blocks, output: 'blocks-{date}.xlsx' }
`);
  const run = () => tonlake(['job', 'run', 'jobs/hand-on.yaml', '--json'], { cwd: folder });
  for (let time = 0; time < 2; time++) {
    const { code, stdout, stderr } = await run();
    expect(code, stderr + stdout).toBe(0);
  }
  const again = await tonlake(['job', 'run', 'jobs/hand-on.yaml'], { cwd: folder });
  expect(again.stdout).toBe('done: hand-on (4999:5000) on sandbox\n  blocks-2026-05-02.xlsx\n  lake-hand-on.sqlite\n');
  const list = await tonlake(['job', 'list', 'jobs/hand-on.yaml'], { cwd: folder });
  expect(list.stdout).toMatch(/ outputs +│/);
  expect(list.stdout).toMatch(/│ 2 +│ [\d.]+ +│/);
  const database = new sqlite.Database(join(folder, 'lake-hand-on.sqlite'), { readOnly: true });
  const days = database.all('SELECT block_date AS day, count(*) AS n FROM transactions GROUP BY 1 ORDER BY 1');
  const [counts] = database.all('SELECT n FROM counts');
  database.close();
  expect(days.map(({ day }) => day)).toEqual(['2026-05-01', '2026-05-02']);
  expect(days.reduce((sum, { n }) => sum + Number(n), 0)).toBe(Number(counts?.['n']));
});

test('a workbook has a sheet of the name that is given, or of the table', async () => {
  const folder = job(`  - { query: select 1 as n, output: named.xlsx, as: counts }
  - { table: blocks, output: unnamed, format: xlsx }
  - { query: select 1 as n, output: rows.xlsx }
`);
  const { code, stdout, stderr } = await tonlake(['job', 'run', 'jobs/hand-on.yaml', '--json'], { cwd: folder });
  expect(code, stderr + stdout).toBe(0);
  const sheets = ['named.xlsx', 'unnamed', 'rows.xlsx'].map((name) => {
    const parts = unzipSync(readFileSync(join(folder, name)));
    return /<sheet name="([^"]*)"/.exec(strFromU8(parts['xl/workbook.xml'] ?? new Uint8Array()))?.[1];
  });
  expect(sheets).toEqual(['counts', 'blocks', 'rows']);
});

test.each([
  ['{ table: transactions, to: x.csv }', /expected a database: postgres:/],
  ['{ query: select 1, to: x.sqlite }', /expected a name for the rows of a query/],
  ['{ table: transactions, to: x.sqlite, output: x.csv }', /expected one of output, to, got output and to/],
  [
    '{ table: transactions, output: x.csv, as: y }',
    /expected a database, \.sqlite or \.xlsx with as, got y .*hand-on.yaml:6.*leave it out/,
  ],
  ['{ table: transactions, output: x, format: csv, as: y }', /or \.xlsx with as, got y/],
  ['{ table: transactions }', /expected one of output, to, got none/],
  ["{ table: transactions, to: 'postgres://lake:geheim@127.0.0.1/x' }", /a URL without a password/],
  [
    '{ query: select nothing from transactions, to: x.sqlite, as: y }',
    /Referenced column "nothing" not found.*hand-on.yaml:6/,
  ],
] as const)('%s is refused before anything is done', async (line, message) => {
  const { code, stderr } = await tonlake(['job', 'list', 'jobs/hand-on.yaml'], { cwd: job(`  - ${line}\n`) });
  expect([code, stderr]).toEqual([2, expect.stringMatching(message)]);
  expect(stderr).not.toContain('geheim');
});
