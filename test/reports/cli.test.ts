import { spawnSync } from 'node:child_process';
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, test } from 'vitest';
import { CLI, tonlake } from '../cli.ts';
import { freshFolder } from '../scratch.ts';
import { tableReport, warehouseWithHole } from './support.ts';

let warehouse: string;

beforeAll(async () => {
  warehouse = await warehouseWithHole();
});

const report = (...args: readonly string[]) => tonlake(['report', ...args, '--warehouse', warehouse]);

test('a report goes to standard output, and gaps to stderr', async () => {
  const { code, stdout, stderr } = await report('network-daily', '--format', 'csv');
  expect(code).toBe(0);
  expect(stderr).toMatch(
    /^warning: transactions: missing part of 2026-05-01 \(only [^\n]+\), 1010:1019 \(not exported\)\n/,
  );
  expect(stdout).toMatch(/^# totals\ntransactions,active_accounts,/);
});

const hasScript = spawnSync('script', ['-qec', 'true', '/dev/null'], { stdio: 'ignore' }).status === 0;

test.skipIf(!hasScript)('on a terminal a report is text, and says how to make the page', () => {
  const command = `'${process.execPath}' '${CLI}' report network-daily --warehouse '${warehouse}'`;
  const { stdout, status } = spawnSync('script', ['-qec', command, '/dev/null'], { encoding: 'utf8', input: '' });
  expect(status).toBe(0);
  const lines = stdout.replaceAll('\r\n', '\n');
  expect(lines).not.toMatch(/<[a-z!]/);
  expect(lines).toMatch(/^The network, day by day\n-{23}\n/m);
  expect(lines).toMatch(
    /^time {17}transactions {2}lacks blocks\n-{19} {2}-{12} {2}-{12}\n2026-05-01 \S+ {2}[ \d,]+ {2}\w+ +█+$/m,
  );
  expect(lines).toMatch(/\nhint: --output network-daily\.html writes the page with its charts\n$/);
});

test('what is not a terminal gets the page', async () => {
  expect((await report(tableReport('select 1 as n'))).stdout).toMatch(/^<!doctype html>/);
});

test('the name of the output tells the format, and nothing else is left in its folder', async () => {
  const folder = join(freshFolder(), 'new');
  for (const name of ['a.html', 'a.md', 'a.csv', 'a.json', 'a.txt']) {
    expect(await report(tableReport('select count(*) as n from blocks'), '-o', join(folder, name))).toMatchObject({
      ...{ code: 0, stdout: expect.stringMatching(/\/a\.\w+: A report \(\S+ k?B\)\n$/), stderr: '' },
    });
  }
  const read = (name: string) => readFileSync(join(folder, name), 'utf8');
  expect(readdirSync(folder).sort()).toEqual(['a.csv', 'a.html', 'a.json', 'a.md', 'a.txt']);
  expect(read('a.txt')).toMatch(/^A report\n--------\n/);
  expect(read('a.html')).toMatch(/^<!doctype html>/);
  expect(read('a.md')).toMatch(/^# A report/);
  expect(read('a.csv')).toMatch(/^n\n\d+\n$/);
  expect(JSON.parse(read('a.json'))).toMatchObject({ report: 'mine' });
});

test('a report in CSV calculates nothing in a spreadsheet, and sql in a pipe changes nothing', async () => {
  const file = join(freshFolder(), 'a.csv');
  await report(tableReport(`select '=cmd|x' as "=said", 1 as n`), '-o', file);
  expect(readFileSync(file, 'utf8')).toBe("'=said,n\n'=cmd|x,1\n");
  const { stdout } = await tonlake(['sql', "select '=1+1' as a", '--warehouse', warehouse]);
  expect(stdout).toBe('a\n=1+1\n');
});

describe('yesterday’s file stays where today’s report', () => {
  test.each([
    {
      why: 'finds no data',
      args: ['account', '--param', `account=0:${'0'.repeat(64)}`],
      code: 1,
      says: /^error: report: expected data for account, found no rows; hint: [^\n]+\n$/,
    },
    { why: 'has a wrong select', args: [], code: 1, says: /^error: report: [^\n]*report\.md:\d+\); hint: [^\n]+\n$/ },
    {
      why: 'is given a wrong parameter',
      args: ['account', '--param', 'account=x; drop table blocks'],
      code: 2,
      says: /^error: usage: expected an address[^\n]*\n$/,
    },
  ])('$why', async ({ args, code, says }) => {
    const output = join(freshFolder(), 'out.html');
    writeFileSync(output, 'yesterday');
    const all = args.length === 0 ? [tableReport('select wrong from blocks')] : args;
    const finished = await report(...all, '--output', output);
    expect(finished).toMatchObject({ code, stdout: '' });
    expect(finished.stderr).toMatch(says);
    expect(readFileSync(output, 'utf8')).toBe('yesterday');
    expect(readdirSync(join(output, '..'))).toEqual(['out.html']);
  });
});

test('--list shows the reports and their parameters', async () => {
  const { code, stdout } = await tonlake(['report', '--list']);
  expect(code).toBe(0);
  expect(stdout).toMatch(/^account: One account\n {2}.+\n {2}--param account=<address> {2}.+\(required\)\n/);
  for (const name of ['export-health', 'jetton', 'network-daily']) expect(stdout).toContain(`\n${name}: `);
});

test.each([
  { args: [], says: 'expected a report, got none' },
  { args: ['network'], says: 'did you mean network-daily?' },
  { args: ['account'], says: 'expected the parameter account of account, got none' },
  { args: ['account', '--param', 'account'], says: 'expected name=value' },
  { args: ['account', '-p', 'account=a', '-p', 'account=b'], says: 'given twice' },
  { args: ['network-daily', '--format', 'pdf'], says: 'html, md, csv, json, text' },
  {
    args: ['network-daily', '-o', 'n.xlsx'],
    says: 'expected a path that ends in .html, .md, .csv, .json, .txt, got n.xlsx; hint: choose another path',
  },
  { args: ['network-daily', '-o', 'n.html', '--format', 'md'], says: 'a path that fits the format md, got n.html' },
  { args: ['network-daily', '--timezone', 'Mars'], says: 'expected a time zone such as' },
  { args: ['network-daily', '--network', 'testnet'], says: 'holds sandbox, not testnet' },
])('wrong usage is one line: $args', async ({ args, says }) => {
  const { code, stdout, stderr } = await report(...args);
  expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
  expect(stderr).toMatch(/^error: [^\n]*; hint: [^\n]+\n$/);
  expect(stderr).toContain(says);
});

test('a warehouse that is not there is no usage of the report, and nothing is made', async () => {
  const output = join(freshFolder(), 'out.html');
  const { code, stderr } = await tonlake(['report', 'network-daily', '--warehouse', '/nowhere/w', '-o', output]);
  expect(code).toBe(1);
  expect(stderr).toMatch(/^error: store: no warehouse at \/nowhere\/w; hint: [^\n]+\n$/);
  expect(existsSync(output)).toBe(false);
});
