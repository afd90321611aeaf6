import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { formatError } from '../../src/core/errors.ts';
import { tonlake } from '../cli.ts';
import { freshFolder } from '../scratch.ts';
import { jobOf } from './support.ts';

const HEAD = 'network: sandbox\npipelines: [transactions]\nrange: "1000:1009"\n';
const RUN = ['run', '-n', 'sandbox', '-r', '1000:1009'];

/** What was expected, and what came instead. */
function wordsOf(line: string): string {
  const [, words = line] = /usage: (.*?)(?: \((?:--[\w-]+|jobs\/nightly\.yaml:\d+:\d+)\))?; hint: /.exec(line) ?? [];
  return words;
}

describe('a wrong option of a step is told in the words of the same flag, with its place', () => {
  test.each([
    { flag: [...RUN, '--rps', '0'], key: 'rps: 0', says: 'expected a number above 0, or auto, got 0' },
    { flag: [...RUN, '--rps', 'fast'], key: 'rps: fast', says: 'expected a number above 0, or auto, got fast' },
    {
      flag: [...RUN, '--priority', 'first'],
      key: 'priority: first',
      says: 'expected one of interactive, tail, backfill, got first',
    },
    { flag: [...RUN, '-w', 'gs://lake/w'], key: 'warehouse: gs://lake/w', says: 'expected a local path' },
    { flag: [...RUN, '-w', 's3://My_L/w'], key: 'warehouse: s3://My_L/w', says: 'expected s3://bucket/prefix' },
    {
      flag: [...RUN, '--without', 'acount_states'],
      key: 'without: [acount_states]',
      says: 'expected an exported table',
    },
    {
      flag: [...RUN, '--columns', 'transactions=acount'],
      key: 'columns: {transactions: [acount]}',
      says: 'expected a column of transactions, got "acount"',
    },
    {
      flag: ['run', 'transaction', ...RUN.slice(1)],
      job: HEAD.replace('[transactions]', '[transaction]'),
      says: 'expected a pipeline, got "transaction"',
    },
    {
      flag: ['run', '-n', 'sandbx', '-r', '1'],
      job: HEAD.replace('sandbox', 'sandbx'),
      says: 'expected a network (mainnet, testnet',
    },
    {
      flag: ['run', '-n', 'sandbox', '-r', '5:1'],
      job: HEAD.replace('1000:1009', '5:1'),
      says: 'range start 5 is after its end 1',
    },
    {
      flag: ['publish', 'iceberg', '-n', 'sandbox', '--namespace', 'ton'],
      key: 'iceberg: {namespace: ton}',
      says: 'expected a namespace or a warehouse of a catalog only with its address, got ton',
    },
    {
      flag: ['report', 'network-dayly', '-n', 'sandbox'],
      key: 'reports: [{report: network-dayly, output: a.html}]',
      says: 'expected a report, got "network-dayly"',
    },
    {
      flag: ['report', './mine.md', '-n', 'sandbox'],
      key: 'reports: [{report: ./mine.md, output: a.html}]',
      says: 'expected a report, got ./mine.md, which cannot be read',
    },
    {
      flag: ['report', 'account', '-n', 'sandbox'],
      key: 'reports: [{report: account, output: a.html}]',
      says: 'expected the parameter account of account, got none',
    },
    {
      flag: ['report', 'account', '-n', 'sandbox', '-p', 'acount=x'],
      key: 'reports: [{report: account, params: {acount: x}, output: a.html}]',
      says: 'expected a parameter of account, got "acount"',
    },
    {
      flag: ['report', 'network-daily', '-n', 'sandbox', '-o', 'a.pdf'],
      key: 'reports: [{report: network-daily, output: a.pdf}]',
      says: 'expected a path that ends in .html, .md, .csv, .json, .txt, got a.pdf',
    },
    {
      flag: ['report', 'network-daily', '-n', 'sandbox', '--format', 'pdf'],
      key: 'reports: [{report: network-daily, format: pdf, output: a}]',
      says: 'expected one of html, md, csv, json, text, got pdf',
    },
    {
      flag: ['report', 'network-daily', '-n', 'sandbox', '--timezone', 'Mars'],
      key: 'zone: Mars',
      says: 'expected a time zone such as Europe/Zurich, got "Mars"',
    },
    {
      flag: ['export', 'blocks', '-n', 'sandbox', '--to', 'ftp://host/lake'],
      key: 'exports: [{table: blocks, to: "ftp://host/lake"}]',
      says: 'expected a target of rows, got "ftp://host/lake"',
    },
    {
      flag: ['export', 'blocks', '-n', 'sandbox', '--to', 'postgres://me:sesame@host/lake'],
      key: 'exports: [{table: blocks, to: "postgres://me:sesame@host/lake"}]',
      says: 'expected a URL without a password',
    },
  ])('$says', async ({ flag, key, job = `${HEAD}${key}\n`, says }) => {
    const { stderr } = await tonlake(flag, { cwd: freshFolder() });
    const told = formatError(await jobOf(job).catch((error: unknown) => error));
    expect(wordsOf(stderr)).toContain(says);
    expect(wordsOf(told)).toBe(wordsOf(stderr));
    expect(told).toMatch(/ \(jobs\/nightly\.yaml:\d+:\d+\); hint: \S/);
  });
});

test('a step that builds a mart tells of it what `build` tells', async () => {
  const cwd = freshFolder();
  const without = ['--without-column', 'transactions.total_fees'];
  await tonlake(['run', 'transactions', '-n', 'sandbox', '-r', '5000:5002', '-w', 'w'], { cwd });
  await tonlake(['run', 'transactions', '-n', 'sandbox', '-r', '5003:5004', '-w', 'w', ...without], { cwd });
  writeFileSync(join(cwd, 'fees.yaml'), 'network: sandbox\nwarehouse: w\nmarts: [gas_fees_daily]\n');
  await tonlake(['job', 'run', 'fees.yaml'], { cwd });
  const job = await tonlake(['job', 'run', 'fees.yaml'], { cwd });
  const build = await tonlake(['build', 'gas_fees_daily', '-w', 'w'], { cwd });
  const [, notes] = /^gas_fees_daily: unchanged, \d rows; (.*)$/m.exec(build.stdout) ?? [];
  expect(notes).toMatch(/^missing part of 2026-05-01, 2026-05-02; transactions.*total_fees/);
  expect(`${job.stdout}${job.stderr}`).toContain(`unchanged; ${notes} (`);
});
