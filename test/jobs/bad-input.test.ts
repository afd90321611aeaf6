import { describe, expect, test } from 'vitest';
import { formatError, UsageError } from '../../src/core/errors.ts';
import { tonlake } from '../cli.ts';
import { freshFolder } from '../scratch.ts';
import { jobOf } from './support.ts';

const HEAD = 'network: sandbox\npipelines: [transactions]\nrange: yesterday\n';

/** What is said of a job file that is wrong. */
async function faultOf(text: string): Promise<string> {
  const error = await jobOf(text).then(
    () => new Error('the job was taken'),
    (thrown: unknown) => thrown,
  );
  expect(error, formatError(error)).toBeInstanceOf(UsageError);
  return formatError(error);
}

/** Wrong lines, which a job has besides those of HEAD, or in place of those with the same key. */
const LINES: Readonly<Record<string, string | RegExp>> = {
  'pipline: [blocks]':
    'expected a known key of a job, got "pipline" (jobs/nightly.yaml:4:1); hint: did you mean pipelines?',
  'reports:\n  - report: account\n    ouput: a.html': 'got "ouput" (jobs/nightly.yaml:6:5); hint: did you mean output?',
  'schedule:\n  cron: 15 3 * * *\n  timezone: UTC':
    'got "timezone" (jobs/nightly.yaml:6:3); hint: there are: cron, zone, catch_up',
  'network: sandbx':
    'expected a network (mainnet, testnet, sandbox or a base URL such as http://127.0.0.1:8081/api/v3), got "sandbx" (jobs/nightly.yaml:1:10); hint: --network sandbox',
  'pipelines: [blocks, transaction]':
    'expected a pipeline, got "transaction" (jobs/nightly.yaml:2:21); hint: did you mean transactions?',
  'without: [account_state]':
    'expected an exported table, got "account_state" (jobs/nightly.yaml:4:11); hint: did you mean account_states?',
  'columns:\n  transactions: [hash, acount]':
    'expected a column of transactions, got "acount" (jobs/nightly.yaml:5:24); hint: did you mean account?',
  'columns:\n  traces: [trace_id]': 'expected an exported table, got "traces" (jobs/nightly.yaml:5:3)',
  'without_columns: [messages.body_boc, transactions.lt]':
    'expected an optional column, got transactions.lt (jobs/nightly.yaml:4:38)',
  'marts:\n  - gas_fees_dayly':
    'expected a mart, got "gas_fees_dayly" (jobs/nightly.yaml:5:5); hint: did you mean gas_fees_daily?',
  'checks: [unique]': 'expected a check, got "unique" (jobs/nightly.yaml:4:10); hint: did you mean unique_keys?',
  'reports: [{report: network-dayly, output: a.html}]':
    'expected a report, got "network-dayly" (jobs/nightly.yaml:4:20); hint: did you mean network-daily?',
  'reports: [{report: ./mine.md, output: a.html}]':
    'expected a report, got ./mine.md, which cannot be read (jobs/nightly.yaml:4:20)',
  'exports: [{table: blcks, output: a.csv}]':
    'expected a table or mart, got "blcks" (jobs/nightly.yaml:4:19); hint: did you mean blocks?',
  'range: last week':
    'expected a range such as yesterday, last 7 days, since last run, 2026-05-01 or 47670000:47671000, got "last week" (jobs/nightly.yaml:3:8)',
  'range: "5:1"': 'range start 5 is after its end 1 (jobs/nightly.yaml:3:8); hint: did you mean 1:5?',
  'warehouse: gs://lake/w':
    'expected a local path, got the URL gs:... (jobs/nightly.yaml:4:12); hint: use s3://bucket/prefix for an object store that speaks S3, or a local path',
  'warehouse: s3://My_Lake/w':
    'expected s3://bucket/prefix, got s3://My_Lake/w (jobs/nightly.yaml:4:12); hint: bucket names have',
  'iceberg: {catalog: thrift://host}':
    'expected an http or https address for --catalog, got thrift://host (jobs/nightly.yaml:4:20)',
  'iceberg:\n  catalog: http://me:sesame@host/':
    'expected an address without a password for --catalog, got //...@host (jobs/nightly.yaml:5:12)',
  'iceberg: {catalog: "http://host", namespace: a..b}':
    'expected a name or names with dots between them, got a..b (jobs/nightly.yaml:4:46)',
  'iceberg: {namespace: ton}':
    'expected a namespace or a warehouse of a catalog only with its address, got ton (jobs/nightly.yaml:4:22)',
  'network: http://127.0.0.1:1/api/v3\niceberg: {catalog: "http://host"}':
    'expected a namespace, got none for the network http://127.0.0.1:1/api/v3 (jobs/nightly.yaml:2:20)',
  'iceberg: {catalogue: "http://host"}': 'got "catalogue" (jobs/nightly.yaml:4:11); hint: did you mean catalog?',
  'range: 2026-02-30': 'got "2026-02-30"',
  'range: last 0 days': 'got "last 0 days" (jobs/nightly.yaml:3:8)',
  'range: "-5m:"': 'expected blocks, days or hours before the end, got "-5m"',
  'range: since last run':
    'expected start with the range since last run, got nothing (jobs/nightly.yaml:3:8); hint: set start: 2026-05-01',
  'range: since last run\nstart: "1:5"': 'expected a day or a masterchain seqno, got "1:5"',
  'start: 1': 'expected start only with the range since last run, got 1 (jobs/nightly.yaml:4:8)',
  'zone: Europe/Berln':
    'expected a time zone such as Europe/Zurich, got "Europe/Berln" (jobs/nightly.yaml:4:7); hint: did you mean Europe/Berlin?',
  'zone: "+02:00"': 'expected a time zone such as Europe/Zurich, got "+02:00" (jobs/nightly.yaml:4:7)',
  'schedule: {cron: 15 3 * * *, zone: Mars}':
    'expected a time zone such as Europe/Zurich, got "Mars" (jobs/nightly.yaml:4:36)',
  'schedule:\n  cron: 15 24 * * *': 'expected a cron expression of five fields, got "15 24 * * *"',
  'schedule:\n  cron: 0 15 3 * * *': '(jobs/nightly.yaml:5:9); hint: 15 3 * * * is every night at 03:15',
  'schedule:\n  cron: 0 0 30 2 *': 'it is never due (jobs/nightly.yaml:5:9)',
  'schedule: {cron: 30 1 * * *, zone: Europe/Berlin}':
    'expected a time of day that fits the days of UTC, got 30 1 * * * (jobs/nightly.yaml:4:18); hint: zone: Europe/Berlin counts days',
  'schedule: {cron: 15 3 * * *, catch_up: -1}': 'expected at least 0, got -1 (jobs/nightly.yaml:4:40)',
  'marts: accounts':
    'expected all, or a list, got accounts (jobs/nightly.yaml:4:8); hint: marts: names of marts to build, or `all`',
  'verify: deep': 'expected a boolean, or a mapping, got deep (jobs/nightly.yaml:4:9)',
  'retention: {keep: 90}': 'expected a number of days such as 90d, got 90 (jobs/nightly.yaml:4:19)',
  'retention: {keep: 0d}': 'expected a number of days such as 90d, got 0d (jobs/nightly.yaml:4:19)',
  'schedule: {cron: 15 3 * * *, expected_by: 6am}':
    'expected a time of day such as 06:00, or 06:00 UTC, got 6am (jobs/nightly.yaml:4:43)',
  'reports: [{report: account, output: a.pdf}]':
    'expected a path that ends in .html, .md, .csv, .json, .txt, got a.pdf (jobs/nightly.yaml:4:37); hint: choose another path, or set the format as well',
  'exports: [{table: blocks, format: csv, output: a.parquet}]':
    'expected a path that fits the format csv, got a.parquet (jobs/nightly.yaml:4:48); hint: leave the format out, or choose another path',
  'exports: [{table: blocks, output: "s3://B/a-{date}.csv"}]':
    'expected s3://bucket/path of a file, got s3://B/a-{date}.csv (jobs/nightly.yaml:4:35); hint: bucket names have 3 to 63',
  'exports: [{table: blocks, output: "https://x/a.csv"}]':
    'expected a local path, or s3://bucket/path, got https://x/a.csv (jobs/nightly.yaml:4:35)',
  'reports: [{report: account, output: "a-{day}.html"}]':
    'expected {date}, {first_date} or {job} in braces, got a-{day}.html (jobs/nightly.yaml:4:37)',
  'exports:\n  - {table: blocks, output: a.csv}\n  - {table: messages, output: ./a.csv}':
    'expected a different path for every output, got ./a.csv (jobs/nightly.yaml:6:31)',
  'exports: [{output: a.csv}]': 'expected one of table, query, file, got none (jobs/nightly.yaml:4:11)',
  'exports: [{table: blocks, query: select 1, output: a.csv}]':
    'expected one of table, query, file, got table and query',
  'exports: [{file: nowhere.sql, output: a.csv}]':
    'expected a file with a query, got nowhere.sql (jobs/nightly.yaml:4:18)',
  'notify: [{webhook: ftp://example.org}]': 'expected an address such as https://example.org/hook',
  'notify: [{command: [cat], on: failures}]':
    'expected one of failure, success, always, got failures (jobs/nightly.yaml:4:31)',
  'pipelines: transactions': 'expected a list, got transactions (jobs/nightly.yaml:2:12)',
  'schedule: nightly': 'expected a mapping, got nightly (jobs/nightly.yaml:4:11)',
  'range: -1000:': /expected YAML.*hint: quote values with a colon/,
  'rps: 0': 'expected a number above 0, or auto, got 0',
  'rps: fast': 'expected a number above 0, or auto, got fast',
  'priority: first': 'expected one of interactive, tail, backfill, got first',
  'reports: [{report: account, output: a.html}]': 'expected the parameter account of account, got none',
  'reports: [{report: account, params: {acount: x}, output: a.html}]': 'expected a parameter of account, got "acount"',
  'reports: [{report: network-daily, format: pdf, output: a}]': 'expected one of html, md, csv, json, text, got pdf',
  'exports: [{table: blocks, to: "ftp://host/lake"}]': 'expected a target of rows, got "ftp://host/lake"',
  'exports: [{table: blocks, to: "postgres://me:sesame@host/lake"}]': 'expected a URL without a password',
};

/** Wrong files. */
const FILES: Readonly<Record<string, string | RegExp>> = {
  'pipelines: [blocks]\nrange: yesterday': 'expected the key network, got nothing (jobs/nightly.yaml:1:1)',
  'network: sandbox\npipelines: [blocks]': 'expected range with pipelines, got nothing (jobs/nightly.yaml:2:1)',
  hello: 'expected a mapping, got hello (jobs/nightly.yaml:1:1); hint: a job: what to export, build, check and publish',
  [`${HEAD}range: yesterday`]: /expected YAML.*unique.*\(jobs\/nightly.yaml:4:1\)/,
  'network: [sandbox': /expected YAML.*\(jobs\/nightly.yaml:1:/,
  '': 'expected the key network, got nothing (jobs/nightly.yaml:1:1)',
  '- network: sandbox': 'expected a mapping, got',
};

/** Commands that refuse a wrong option in the words of the same step of a job. */
const COMMANDS: Readonly<Record<string, string>> = {
  'rps: 0': 'run -n sandbox -r 1000:1009 --rps 0',
  'rps: fast': 'run -n sandbox -r 1000:1009 --rps fast',
  'priority: first': 'run -n sandbox -r 1000:1009 --priority first',
  'warehouse: gs://lake/w': 'run -n sandbox -r 1000:1009 -w gs://lake/w',
  'warehouse: s3://My_Lake/w': 'run -n sandbox -r 1000:1009 -w s3://My_Lake/w',
  'without: [account_state]': 'run -n sandbox -r 1000:1009 --without account_state',
  'columns:\n  transactions: [hash, acount]': 'run -n sandbox -r 1000:1009 --columns transactions=hash,acount',
  'pipelines: [blocks, transaction]': 'run blocks transaction -n sandbox -r 1000:1009',
  'network: sandbx': 'run -n sandbx -r 1',
  'range: "5:1"': 'run -n sandbox -r 5:1',
  'iceberg: {namespace: ton}': 'publish iceberg -n sandbox --namespace ton',
  'reports: [{report: network-dayly, output: a.html}]': 'report network-dayly -n sandbox',
  'reports: [{report: ./mine.md, output: a.html}]': 'report ./mine.md -n sandbox',
  'reports: [{report: account, output: a.html}]': 'report account -n sandbox',
  'reports: [{report: account, params: {acount: x}, output: a.html}]': 'report account -n sandbox -p acount=x',
  'reports: [{report: account, output: a.pdf}]': 'report account -n sandbox -o a.pdf',
  'reports: [{report: network-daily, format: pdf, output: a}]': 'report network-daily -n sandbox --format pdf',
  'zone: Europe/Berln': 'report network-daily -n sandbox --timezone Europe/Berln',
  'exports: [{table: blocks, to: "ftp://host/lake"}]': 'export blocks -n sandbox --to ftp://host/lake',
  'exports: [{table: blocks, to: "postgres://me:sesame@host/lake"}]':
    'export blocks -n sandbox --to postgres://me:sesame@host/lake',
};

function jobWith(lines: string): string {
  const own = new RegExp(`^${/^\w+:/.exec(lines)?.[0]}.*`, 'm');
  return own.test(HEAD) ? HEAD.replace(own, lines) : HEAD + lines;
}

/** What was expected, and what came instead. */
function wordsOf(line: string): string {
  const [, words = ''] = /usage: (.*?)(?: \((?:--[\w-]+|jobs\/nightly\.yaml:\d+:\d+)\))?; hint: /.exec(line) ?? [];
  return words;
}

describe('a job file that is wrong is refused in one line, with its place and what would be right', () => {
  test.each([
    ...Object.entries(LINES).map(([lines, says]) => [jobWith(lines), says] as const),
    ...Object.entries(FILES),
  ])('%j', async (text, says) => {
    const line = await faultOf(text);
    expect(line).toMatch(
      /^usage: (expected [^\n]*, (got|which) [^\n]*|range start \S+ is after its end \S+ [^\n]*); hint: [^\n]+$/,
    );
    if (typeof says === 'string') expect(line).toContain(says);
    else expect(line).toMatch(says);
  });

  test.each(Object.entries(COMMANDS))('%j, in the words of tonlake %s', async (lines, command) => {
    expect(LINES).toHaveProperty([lines]);
    const { stderr } = await tonlake(command, { cwd: freshFolder() });
    const told = await faultOf(jobWith(lines));
    expect(wordsOf(told)).toBe(wordsOf(stderr));
    expect(told).toMatch(/ \(jobs\/nightly\.yaml:\d+:\d+\); hint: \S/);
  });
});

test('a schedule in its own zone is taken where days of UTC change evenly all the same', async () => {
  const job = await jobOf(`${HEAD}schedule: {cron: 30 4 * * *, zone: Europe/Berlin}`);
  expect(job.schedule).toMatchObject({ cron: '30 4 * * *', zone: 'Europe/Berlin', catchUp: 7 });
});

test('a job takes the defaults that the documentation names', async () => {
  const job = await jobOf(`${HEAD}marts: all\n`);
  expect(job).toMatchObject({
    ...{
      name: 'nightly',
      network: 'sandbox',
      warehouse: 'data/sandbox',
      zone: 'UTC',
      clock: 'chain',
      priority: 'backfill',
    },
    ...{ marts: undefined, checks: [], outputs: [], notify: [], schedule: undefined },
    range: { kind: 'days', count: 1 },
  });
  expect((await jobOf(HEAD.replace('sandbox', 'mainnet'))).clock).toBe('wall');
});

test('priority of a job is that of its requests', async () => {
  expect((await jobOf(`${HEAD}priority: tail\n`)).priority).toBe('tail');
});

test('a selection goes to the export as it stands', async () => {
  const { selection } = await jobOf(
    `${HEAD}without: [account_states]\ncolumns: { transactions: [hash] }\nwithout_columns: [messages.body_boc]`,
  );
  expect(selection).toEqual({
    without: ['account_states'],
    columns: { transactions: ['hash'] },
    withoutColumns: ['messages.body_boc'],
  });
});
