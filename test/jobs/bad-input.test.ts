import { describe, expect, test } from 'vitest';
import { formatError, UsageError } from '../../src/core/errors.ts';
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

describe('a job file that is wrong is refused in one line, with its place and what would be right', () => {
  test.each([
    {
      name: 'a key',
      text: `${HEAD}pipline: [blocks]`,
      says: 'expected a known key of a job, got "pipline" (jobs/nightly.yaml:4:1); hint: did you mean pipelines?',
    },
    {
      name: 'a key of a report',
      text: `${HEAD}reports:\n  - report: account\n    ouput: a.html`,
      says: 'got "ouput" (jobs/nightly.yaml:6:5); hint: did you mean output?',
    },
    {
      name: 'a key of the schedule',
      text: `${HEAD}schedule:\n  cron: 15 3 * * *\n  timezone: UTC`,
      says: 'got "timezone" (jobs/nightly.yaml:6:3); hint: there are: cron, zone, catch_up',
    },
    {
      name: 'no network',
      text: 'pipelines: [blocks]\nrange: yesterday',
      says: 'expected the key network, got nothing (jobs/nightly.yaml:1:1)',
    },
    {
      name: 'an unknown network',
      text: HEAD.replace('sandbox', 'sandbx'),
      says: 'expected a network (mainnet, testnet, sandbox or a base URL such as http://127.0.0.1:8081/api/v3), got "sandbx" (jobs/nightly.yaml:1:10); hint: --network sandbox',
    },
    {
      name: 'an unknown pipeline',
      text: HEAD.replace('[transactions]', '[blocks, transaction]'),
      says: 'expected a pipeline, got "transaction" (jobs/nightly.yaml:2:21); hint: did you mean transactions?',
    },
    {
      name: 'an unknown table of a selection',
      text: `${HEAD}without: [account_state]`,
      says: 'expected an exported table, got "account_state" (jobs/nightly.yaml:4:11); hint: did you mean account_states?',
    },
    {
      name: 'an unknown column of a selection',
      text: `${HEAD}columns:\n  transactions: [hash, acount]`,
      says: 'expected a column of transactions, got "acount" (jobs/nightly.yaml:5:24); hint: did you mean account?',
    },
    {
      name: 'columns of a table that is not exported',
      text: `${HEAD}columns:\n  traces: [trace_id]`,
      says: 'expected an exported table, got "traces" (jobs/nightly.yaml:5:3)',
    },
    {
      name: 'a column that proves the rows',
      text: `${HEAD}without_columns: [messages.body_boc, transactions.lt]`,
      says: 'expected an optional column, got transactions.lt (jobs/nightly.yaml:4:38)',
    },
    {
      name: 'an unknown mart',
      text: `${HEAD}marts:\n  - gas_fees_dayly`,
      says: 'expected a mart, got "gas_fees_dayly" (jobs/nightly.yaml:5:5); hint: did you mean gas_fees_daily?',
    },
    {
      name: 'an unknown check',
      text: `${HEAD}checks: [unique]`,
      says: 'expected a check, got "unique" (jobs/nightly.yaml:4:10); hint: did you mean unique_keys?',
    },
    {
      name: 'an unknown report',
      text: `${HEAD}reports: [{report: network-dayly, output: a.html}]`,
      says: 'expected a report, got "network-dayly" (jobs/nightly.yaml:4:20); hint: did you mean network-daily?',
    },
    {
      name: 'a report file that is not there',
      text: `${HEAD}reports: [{report: ./mine.md, output: a.html}]`,
      says: 'expected a report, got ./mine.md, which cannot be read (jobs/nightly.yaml:4:20)',
    },
    {
      name: 'an unknown table',
      text: `${HEAD}exports: [{table: blcks, output: a.csv}]`,
      says: 'expected a table or mart, got "blcks" (jobs/nightly.yaml:4:19); hint: did you mean blocks?',
    },
    {
      name: 'a range that is none',
      text: HEAD.replace('yesterday', 'last week'),
      says: 'expected a range such as yesterday, last 7 days, since last run, 2026-05-01 or 47670000:47671000, got "last week" (jobs/nightly.yaml:3:8)',
    },
    {
      name: 'a range that shrinks',
      text: HEAD.replace('yesterday', '"5:1"'),
      says: 'range start 5 is after its end 1 (jobs/nightly.yaml:3:8); hint: did you mean 1:5?',
    },
    {
      name: 'a warehouse in a store that is not S3',
      text: `${HEAD}warehouse: gs://lake/w`,
      says: 'expected a local path, got the URL gs:... (jobs/nightly.yaml:4:12); hint: use s3://bucket/prefix for an object store that speaks S3, or a local path',
    },
    {
      name: 'a bucket whose name cannot be',
      text: `${HEAD}warehouse: s3://My_Lake/w`,
      says: 'expected s3://bucket/prefix, got s3://My_Lake/w (jobs/nightly.yaml:4:12); hint: bucket names have',
    },
    {
      name: 'an address of a catalog that cannot be one',
      text: `${HEAD}iceberg: {catalog: thrift://host}`,
      says: 'expected an http or https address for --catalog, got thrift://host (jobs/nightly.yaml:4:20)',
    },
    {
      name: 'a password in the address of a catalog',
      text: `${HEAD}iceberg:\n  catalog: http://me:sesame@host/`,
      says: 'expected an address without a password for --catalog, got //...@host (jobs/nightly.yaml:5:12)',
    },
    {
      name: 'a namespace with an empty part',
      text: `${HEAD}iceberg: {catalog: "http://host", namespace: a..b}`,
      says: 'expected a name or names with dots between them, got a..b (jobs/nightly.yaml:4:46)',
    },
    {
      name: 'a namespace without a catalog',
      text: `${HEAD}iceberg: {namespace: ton}`,
      says: 'expected a namespace or a warehouse of a catalog only with its address, got ton (jobs/nightly.yaml:4:22)',
    },
    {
      name: 'a network without a name, and no namespace',
      text: `${HEAD.replace('sandbox', 'http://127.0.0.1:1/api/v3')}iceberg: {catalog: "http://host"}`,
      says: 'expected a namespace, got none for the network http://127.0.0.1:1/api/v3 (jobs/nightly.yaml:4:20)',
    },
    {
      name: 'a key of iceberg',
      text: `${HEAD}iceberg: {catalogue: "http://host"}`,
      says: 'got "catalogue" (jobs/nightly.yaml:4:11); hint: did you mean catalog?',
    },
    { name: 'a day that is none', text: HEAD.replace('yesterday', '2026-02-30'), says: 'got "2026-02-30"' },
    {
      name: 'zero days',
      text: HEAD.replace('yesterday', 'last 0 days'),
      says: 'got "last 0 days" (jobs/nightly.yaml:3:8)',
    },
    {
      name: 'since without a start',
      text: HEAD.replace('yesterday', 'since last run'),
      says: 'expected start with the range since last run, got nothing (jobs/nightly.yaml:3:8); hint: set start: 2026-05-01',
    },
    {
      name: 'a start that is a range',
      text: `${HEAD.replace('yesterday', 'since last run')}start: "1:5"`,
      says: 'expected a day or a masterchain seqno, got "1:5"',
    },
    {
      name: 'a start beside another range',
      text: `${HEAD}start: 1`,
      says: 'expected start only with the range since last run, got 1 (jobs/nightly.yaml:4:8)',
    },
    {
      name: 'pipelines without a range',
      text: 'network: sandbox\npipelines: [blocks]',
      says: 'expected range with pipelines, got nothing (jobs/nightly.yaml:2:1)',
    },
    {
      name: 'a zone',
      text: `${HEAD}zone: Europe/Berln`,
      says: 'expected a time zone such as Europe/Zurich, got "Europe/Berln" (jobs/nightly.yaml:4:7); hint: did you mean Europe/Berlin?',
    },
    {
      name: 'an offset for a zone',
      text: `${HEAD}zone: "+02:00"`,
      says: 'expected a time zone such as Europe/Zurich, got "+02:00" (jobs/nightly.yaml:4:7)',
    },
    {
      name: 'a zone of the schedule',
      text: `${HEAD}schedule: {cron: 15 3 * * *, zone: Mars}`,
      says: 'expected a time zone such as Europe/Zurich, got "Mars" (jobs/nightly.yaml:4:36)',
    },
    {
      name: 'cron with an hour too many',
      text: `${HEAD}schedule:\n  cron: 15 24 * * *`,
      says: 'expected a cron expression of five fields, got "15 24 * * *"',
    },
    {
      name: 'cron with six fields',
      text: `${HEAD}schedule:\n  cron: 0 15 3 * * *`,
      says: '(jobs/nightly.yaml:5:9); hint: 15 3 * * * is every night at 03:15',
    },
    {
      name: 'cron that never comes',
      text: `${HEAD}schedule:\n  cron: 0 0 30 2 *`,
      says: 'it is never due (jobs/nightly.yaml:5:9)',
    },
    {
      name: 'a schedule that is out of step with the days',
      text: `${HEAD}schedule: {cron: 30 1 * * *, zone: Europe/Berlin}`,
      says: 'expected a time of day that fits the days of UTC, got 30 1 * * * (jobs/nightly.yaml:4:18); hint: zone: Europe/Berlin counts days',
    },
    {
      name: 'a catch-up below zero',
      text: `${HEAD}schedule: {cron: 15 3 * * *, catch_up: -1}`,
      says: 'expected at least 0, got -1 (jobs/nightly.yaml:4:40)',
    },
    {
      name: 'marts that are no list',
      text: `${HEAD}marts: accounts`,
      says: 'expected all, or a list, got accounts (jobs/nightly.yaml:4:8); hint: marts: names of marts to build, or `all`',
    },
    {
      name: 'a step that is neither on nor off',
      text: `${HEAD}verify: deep`,
      says: 'expected a boolean, or a mapping, got deep (jobs/nightly.yaml:4:9)',
    },
    {
      name: 'a number of days without its unit',
      text: `${HEAD}retention: {keep: 90}`,
      says: 'expected a number of days such as 90d, got 90 (jobs/nightly.yaml:4:19)',
    },
    {
      name: 'no day at all',
      text: `${HEAD}retention: {keep: 0d}`,
      says: 'expected a number of days such as 90d, got 0d (jobs/nightly.yaml:4:19)',
    },
    {
      name: 'a time of day that is none',
      text: `${HEAD}schedule: {cron: 15 3 * * *, expected_by: 6am}`,
      says: 'expected a time of day such as 06:00, or 06:00 UTC, got 6am (jobs/nightly.yaml:4:43)',
    },
    {
      name: 'no mapping',
      text: 'hello',
      says: 'expected a mapping, got hello (jobs/nightly.yaml:1:1); hint: a job: what to export, build, check and publish',
    },
    {
      name: 'an ending',
      text: `${HEAD}reports: [{report: account, output: a.pdf}]`,
      says: 'expected a path that ends in .html, .md, .csv, .json, .txt, got a.pdf (jobs/nightly.yaml:4:37); hint: choose another path, or set the format as well',
    },
    {
      name: 'an ending of another format',
      text: `${HEAD}exports: [{table: blocks, format: csv, output: a.parquet}]`,
      says: 'expected a path that fits the format csv, got a.parquet (jobs/nightly.yaml:4:48); hint: leave the format out, or choose another path',
    },
    {
      name: 'an object store without a bucket',
      text: `${HEAD}exports: [{table: blocks, output: "s3://B/a-{date}.csv"}]`,
      says: 'expected s3://bucket/path of a file, got s3://B/a-{date}.csv (jobs/nightly.yaml:4:35); hint: bucket names have 3 to 63',
    },
    {
      name: 'an output of another kind of URL',
      text: `${HEAD}exports: [{table: blocks, output: "https://x/a.csv"}]`,
      says: 'expected a local path, or s3://bucket/path, got https://x/a.csv (jobs/nightly.yaml:4:35)',
    },
    {
      name: 'a placeholder',
      text: `${HEAD}reports: [{report: account, output: "a-{day}.html"}]`,
      says: 'expected {date}, {first_date} or {job} in braces, got a-{day}.html (jobs/nightly.yaml:4:37)',
    },
    {
      name: 'one file twice',
      text: `${HEAD}exports:\n  - {table: blocks, output: a.csv}\n  - {table: messages, output: ./a.csv}`,
      says: 'expected a different path for every output, got ./a.csv (jobs/nightly.yaml:6:31)',
    },
    {
      name: 'an export of nothing',
      text: `${HEAD}exports: [{output: a.csv}]`,
      says: 'expected one of table, query, file, got none (jobs/nightly.yaml:4:11)',
    },
    {
      name: 'an export of two things',
      text: `${HEAD}exports: [{table: blocks, query: select 1, output: a.csv}]`,
      says: 'expected one of table, query, file, got table and query',
    },
    {
      name: 'a query file that is not there',
      text: `${HEAD}exports: [{file: nowhere.sql, output: a.csv}]`,
      says: 'expected a file with a query, got nowhere.sql (jobs/nightly.yaml:4:18)',
    },
    {
      name: 'a webhook',
      text: `${HEAD}notify: [{webhook: ftp://example.org}]`,
      says: 'expected an address such as https://example.org/hook',
    },
    {
      name: 'when to tell',
      text: `${HEAD}notify: [{command: [cat], on: failures}]`,
      says: 'expected one of failure, success, always, got failures (jobs/nightly.yaml:4:31)',
    },
    {
      name: 'a list that is a word',
      text: HEAD.replace('[transactions]', 'transactions'),
      says: 'expected a list, got transactions (jobs/nightly.yaml:2:12)',
    },
    {
      name: 'a mapping that is a word',
      text: `${HEAD}schedule: nightly`,
      says: 'expected a mapping, got nightly (jobs/nightly.yaml:4:11)',
    },
    { name: 'a key twice', text: `${HEAD}range: yesterday`, says: /expected YAML.*unique.*\(jobs\/nightly.yaml:4:1\)/ },
    {
      name: 'a range that YAML reads as a mapping',
      text: HEAD.replace('yesterday', '-1000:'),
      says: /expected YAML.*hint: quote values with a colon/,
    },
    { name: 'text that is no YAML', text: 'network: [sandbox', says: /expected YAML.*\(jobs\/nightly.yaml:1:/ },
    { name: 'nothing', text: '', says: 'expected the key network, got nothing (jobs/nightly.yaml:1:1)' },
    { name: 'a list of jobs', text: '- network: sandbox', says: 'expected a mapping, got' },
  ])('$name', async ({ text, says }) => {
    const line = await faultOf(text);
    expect(line).toMatch(
      /^usage: (expected [^\n]*, got [^\n]*|range start \S+ is after its end \S+ [^\n]*); hint: [^\n]+$/,
    );
    if (typeof says === 'string') expect(line).toContain(says);
    else expect(line).toMatch(says);
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
