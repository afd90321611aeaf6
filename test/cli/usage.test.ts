import { readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { fitColumns, fitParagraphs } from '../../src/cli/fit-terminal.ts';
import { splitNames } from '../../src/cli/pipeline-names.ts';
import { startTonlake, tonlake } from '../cli.ts';
import { freshFolder } from '../scratch.ts';

/** More than one job. */
const JOBS = join(import.meta.dirname, '../../pipelines/jobs');

/** A command is wrong usage, and says so. */
async function refuses(command: string, says: RegExp): Promise<void> {
  const { code, stdout, stderr } = await tonlake(command, { cwd: freshFolder() });
  expect(stderr).toMatch(/^error: usage[^\n]*\n$/);
  // A wrong range carries the right forms in its message.
  expect(stderr).toMatch(/; hint: \S|expected a range such as/);
  expect(stderr).toMatch(says);
  expect(stderr).not.toContain('secret');
  expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
}

describe('wrong usage ends with one line, a hint and exit code 2', () => {
  test.each(
    Object.entries({
      '--foo': /unknown option '--foo'/,
      rnu: /unknown command 'rnu'; hint: did you mean run\?/,
      'run --network sandbox': /expected --range for transactions; hint: --range/,
      'run jetton_wallets --network sandbox': /--range for jetton_wallets, which is listed for/,
      'run -n sandbox -r 1000:1009 --warehouse ""': /expected a path/i,
      'run --rnage 1': /unknown option '--rnage'; hint: did you mean --range\?/,
      'run -n sandbox -r 1000:1009 --history blocks transactions':
        /expected a changing list with --history, got blocks, transactions; hint: remove --history; .*jetton_masters/,
      'run -n sandbox -r 1000:1009 --store csv': /expected one of parquet, duckdb, got csv \(--store\)/,
      'run -n sandbox -r 1000:1009 --priority first':
        /expected one of interactive, tail, backfill, got first \(--priority\)/,
      'run -n sandbox -r 1000:1009 --rps 0': /above 0/,
      'run -n sandbox -r 1000:1009 --rps fast': /above 0/,
      'run -n sandbox -r 1000:1009 --concurrency 1.5': /whole number/,
      'run -n sandbox -r 1000:1009 --wait -1': /at least 0/,
      'run transaktions -n sandbox -r 1000:1009': /expected a pipeline.*did you mean transactions\?/,
      'run 1000:1005 --network sandbox':
        /got "1000:1005", which is a range; hint: ranges need -r: tonlake run .*-r 1000:1005\n/,
      'run --dry-run blocks yesterday -n sandbox':
        /got "yesterday", which is a range; hint: ranges need -r: tonlake run .*blocks -r yesterday\n/,
      'run messages -n sandbox -r 1000:1009':
        /got the table messages; hint: did you mean transactions\? It writes messages\n/,
      'run transactions_daily -n sandbox':
        /got the mart transactions_daily; hint: tonlake build .*transactions_daily builds it/,
      'run -n sandbox -r 1,000:2,000':
        /expected digits without commas, got "1,000:2,000"; hint: did you mean 1000:2000\? commas separate/,
      'run --network testnett --range 1': /expected a network .*"testnett"; hint: --network testnet/,
      'run --network http://u:secret@x/api/v3 --range 1': /plain base URL/,
      'run --network sandbox --range 5:1': /range start 5 is after its end 1; hint: did you mean 1:5\?/,
      'run --network sandbox --range 2026-02-30': /expected a day of the calendar, got "2026-02-30"; hint: /,
      'run --network sandbox --range 20000:': /range with blocks.*hint: the head is 10000/,
      'run --network sandbox --range "last week"': /expected a range such as/,
      job: /expected a command of tonlake job, got none; hint: there are: run, list, log, schedule/,
      publish: /expected a command of tonlake publish, got none; hint: there are: iceberg, duckdb/,
      'publish duckbd': /unknown command 'duckbd'; hint: did you mean duckdb\?/,
      biuld: /unknown command 'biuld'; hint: did you mean build\?/,
      'run -n sandbox -r 1000:1009 -w gs://bucket/lake':
        /expected a local path, got the URL gs:\.\.\. \(--warehouse\); hint: use s3:\/\/bucket\/prefix/,
      'run -n sandbox -r 1000:1009 -w s3://Bucket/lake':
        /expected s3:\/\/bucket\/prefix, got s3:\/\/Bucket\/lake; hint: bucket names/,
      'status -w s3://bucket/a?b=c': /expected s3:\/\/bucket\/prefix/,
      'status -w s3://bucket/lake --s3-endpoint localhost:9000':
        /expected http:\/\/host:port or https:\/\/host, got localhost:9000 \(--s3-endpoint\)/,
      'run -n sandbox -r 1000:1009 -w file:///tmp/x':
        /got the URL file:\.\.\. \(--warehouse\); hint: use the path without file:\/\//,
      'run -n sandbox -r 1000:1009 --log s3://bucket/log': /got the URL s3:\.\.\. \(--log\)/,
      'sql "select 1" -w postgres://u:secret@h/db': /got the URL postgres:\.\.\. \(--warehouse\); hint/,
      'sql "select 1" -o s3://b/x.csv': /got the URL s3:\.\.\. \(--output\)/,
      'report network-daily -o gs://b/x.html': /got the URL gs:\.\.\. \(--output\)/,
      'api blocks -o https://h/x.json': /got the URL https:\.\.\. \(--output\)/,
      'status -w md:db': /got the URL md:\.\.\. \(--warehouse\)/,
      'sql "select 1" --file q.sql': /expected either a query or --file, got both/,
      'sql --output x.csv': /expected a query with --output; hint: statements can be mixed with commands for it: .mode/,
      'sql "select opcode_of(body_boc) from messages" --layouts own.yaml':
        /expected parse_boc or decode_body with --layouts; hint: remove --layouts/,
      'sql " "': /expected a query, got nothing/,
      'sql --file /nowhere/q.sql': /cannot read \/nowhere\/q\.sql/,
      'sql "select 1" --format xml': /box, csv, json/,
      'show mesages': /expected a table, got "mesages"; hint: did you mean messages\?/,
      'show nopipe': /got "nopipe"; hint: there are: /,
      'help rnu': /expected a command, got "rnu"; hint: did you mean run\?\n/,
      'help job shcedule': /got "shcedule"; hint: did you mean schedule\?/,
      'show --files': /expected a table alone with --files/,
      'show blocks --live': /expected an address, hash, seqno or @name with --live; hint: .* api asks/,
      'show blocks --why': /expected an address, hash, seqno or @name with --why; hint: a row/,
      'show 1000 --live --why': /--live cannot be combined with --why; hint: the source/,
      'export blocks --to b.csv --as headers': /expected a database, \.sqlite or \.xlsx with --as; hint: remove --as/,
      'export blocks --to b.xlsx --keep-formulas':
        /expected a CSV file with --keep-formulas; hint: remove --keep-formulas/,
      'api --output x.json': /expected an endpoint with --output; hint: tonlake api.* lists them/,
      'api blocks --parameters --wait 1': /--parameters cannot be combined with --wait/,
      'api blocks --parameters limit=1': /--parameters cannot be combined with limit=1/,
      'api blocks --yes-send': /expected message with --yes-send; hint: remove --yes-send/,
      'build --list --full': /--list cannot be combined with --full; hint: remove --full, or --list/,
      'build accounts --list': /--list cannot be combined with accounts/,
      'report --list -p a=b': /--list cannot be combined with --param/,
      'report account --list': /--list cannot be combined with account;/,
      'status --budget --range 1:2': /--budget cannot be combined with --range/,
      'status blocks --budget': /--budget cannot be combined with blocks/,
      'status --range 1:2 --long': /--range cannot be combined with --long/,
      'verify --keep-readable': /expected --repair with --keep-readable; hint: add --repair, or/,
      'verify --rps 1': /expected --repair with --rps/,
      [`job list ${JOBS} --limit 3`]: /expected a job file with --limit; hint: name the file, or/,
      'job log x.yaml 1 --since 24h': /--since cannot be combined with 1/,
      'job schedule --metrics-public': /expected --metrics with --metrics-public/,
      'follow --every 1s': /expected --pending with --every; hint: add --pending, or remove/,
      'follow --max-lag 1m': /expected --metrics with --max-lag/,
      'follow --drain 1': /expected --jobs with --drain/,
      'build --list --json accounts': /--list cannot be combined with accounts/,
      'run --all blocks --range 1:2': /with blocks; hint: remove blocks: --all includes it/,
      'run --all --from "select 1"': /with --from; hint: name the lookup that --from applies to/,
      'run -n sandbox -r 1000:1009 --namespace x':
        /expected --publish with --namespace; hint: add --publish iceberg, or/,
      'show blcks --files': /did you mean blocks\?/,
      'publish duckdb extra': /too many arguments/,
      'sandbox --port x': /expected a port/i,
      'sandbox --port 0 --seed x': /whole number/,
      'sandbox --port 0 --blocks 0': /whole number/,
    }),
  )('tonlake %s', refuses);

  test.each(['--concurrency=1', '--log=x', '--without=messages', '--max-lag=1m', '--drain=1', '--publish=iceberg'])(
    'tonlake follow --pending %s',
    (option) =>
      refuses(
        `follow --pending 0:${'0'.repeat(64)} ${option}`,
        new RegExp(`--pending cannot be combined with ${option.replace(/=.*/, '')}; hint: follow pending transactions`),
      ),
  );

  test('an unusable key is refused without being told', async () => {
    const env = { TONLAKE_API_KEY: 'a key with blanks' };
    const { code, stderr } = await tonlake(['run', '--range', '1'], { env, cwd: freshFolder() });
    expect(code).toBe(2);
    expect(stderr).toMatch(/^error: usage: expected a key in TONLAKE_API_KEY.*; hint: [^\n]*\n$/);
    expect(stderr).not.toContain('a key with');
  });
});

test.each(['run', 'status', 'sql', 'show', 'sandbox'])('tonlake %s --help shows examples', async (name) => {
  const { code, stdout, stderr } = await tonlake([name, '--help']);
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
  expect(stdout).toMatch(new RegExp(`Examples:\\n  tonlake ${name}`));
  if (name !== 'sandbox') {
    expect(stdout).toContain('--network');
    expect(stdout).toContain('--warehouse');
  }
});

test.each([
  { args: ['--foo'], code: 2 },
  { args: ['show', 'mesages'], code: 2 },
  { args: ['sql', 'select 1', '-w', 'nowhere'], code: 1 },
  { args: ['run', '-n', 'sandbox', '-r', '20000:'], code: 2 },
  { args: ['show', 'blocks'], code: 0 },
  { args: ['run', '--help'], code: 0 },
])('the program itself says and ends as its command does: tonlake $args', async ({ args, code }) => {
  const cwd = freshFolder();
  const program = await startTonlake(args, { cwd }).finished;
  expect(program).toEqual({ ...(await tonlake(args, { cwd })), code });
  expect(readdirSync(cwd)).toEqual([]);
});

test.each([{ args: ['--range', '-3:'] }, { args: ['--range=-3:'] }, { args: ['-r', '-3:'] }])(
  'a range that begins with a minus is taken as $args',
  async ({ args }) => {
    const folder = freshFolder();
    const path = join(folder, 'w');
    const { code, stdout, stderr } = await tonlake([
      'run',
      '--network',
      'sandbox',
      '--warehouse',
      path,
      '--dry-run',
      ...args,
    ]);
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    expect(stdout).toContain('9998:10000 on sandbox');
  },
);

test('network and warehouse are also taken from the environment', async () => {
  const path = join(freshFolder(), 'w');
  const env = { TONLAKE_NETWORK: 'sandbox', TONLAKE_WAREHOUSE: path };
  expect(await tonlake(['run', 'blocks', '--range', '1000:1001'], { env })).toMatchObject({ code: 0 });
  const { stdout } = await tonlake(['status'], { env });
  expect(stdout).toContain(`sandbox in ${path} (parquet)`);
});

test('a variable that is empty is none', async () => {
  const cwd = freshFolder();
  const env = { TONLAKE_NETWORK: '', TONLAKE_WAREHOUSE: '' };
  const run = await tonlake(['run', 'blocks', '--network', 'sandbox', '--range', '1000:1001'], { cwd, env });
  expect(run).toMatchObject({ code: 0 });
  expect(readdirSync(cwd)).toEqual(['data']);
});

test('a network of the environment says nothing about a warehouse that is named', async () => {
  const [cwd, path] = [freshFolder(), join(freshFolder(), 'w')];
  const run = ['run', 'transactions', '--network', 'sandbox', '--range', '1000:1001', '--warehouse', path];
  expect(await tonlake(run)).toMatchObject({ code: 0 });
  const env = { TONLAKE_NETWORK: 'testnet' };
  const commands = [
    ...[['sql', 'select 1'], ['status'], ['verify'], ['build', 'gas_fees_daily'], ['test', 'not_null']],
    ...[
      ['show', 'transactions', '--files'],
      ['publish', 'duckdb'],
      ['compact'],
      ['show', 'transactions'],
      ['report', 'network-daily'],
    ],
  ];
  for (const args of commands) {
    const { stderr } = await tonlake([...args, '-w', path], { cwd, env });
    expect(stderr, args[0]).not.toMatch(/error: .*(holds|network)/);
    const { code, stderr: refusal } = await tonlake([...args, '-w', path, '-n', 'testnet'], { cwd });
    if (args[0] === 'show') continue;
    expect({ code, refusal }, args[0]).toEqual({ code: 2, refusal: expect.stringContaining('holds sandbox, not') });
  }
}, 120_000);

test('the only warehouse in data is found without flags, and one of several is named', async () => {
  const cwd = freshFolder();
  const make = (...flags: readonly string[]) =>
    tonlake(['run', 'blocks', '--network', 'sandbox', '--range', '1000:1001', ...flags], { cwd });
  const [sql, status] = [
    ['sql', 'select count(*) as n from blocks', '--format', 'json'],
    ['status', '--json'],
  ];
  expect(await tonlake(sql, { cwd })).toMatchObject({ code: 1, stderr: expect.stringContaining('or create one with') });
  expect(await make()).toMatchObject({ code: 0 });
  writeFileSync(join(cwd, 'data/notes.txt'), 'no warehouse');
  for (const args of [sql, status]) {
    const found = await tonlake(args, { cwd });
    expect(found).toMatchObject({ code: 0, stderr: 'warehouse data/sandbox: the only one in data\n' });
    expect(found.stdout).toBe((await tonlake([...args, '-w', 'data/sandbox'], { cwd })).stdout);
  }
  const none = 'no warehouse at data/testnet; hint: use one of these: --warehouse data/sandbox\n';
  for (const env of [{ TONLAKE_NETWORK: 'testnet' }, {}]) {
    const named = 'TONLAKE_NETWORK' in env ? [] : ['-n', 'testnet'];
    expect(await tonlake([...sql, ...named], { cwd, env })).toMatchObject({ code: 1, stderr: `error: store: ${none}` });
  }
  expect(await make('--warehouse', 'data/b.duckdb')).toMatchObject({ code: 0 });
  const { code, stderr } = await tonlake(sql, { cwd });
  expect({ code, stderr }).toEqual({
    code: 1,
    stderr: expect.stringContaining('use one of these: --warehouse data/b.duckdb, --warehouse data/sandbox\n'),
  });
});

test('a plan tells what the index does not hold, and counts only the rest', async () => {
  const args = [
    'run',
    '--dry-run',
    '--network',
    'sandbox',
    '--range',
    '9990:10010',
    '--warehouse',
    join(freshFolder(), 'w'),
  ];
  const { stdout } = await tonlake(args);
  expect(stdout).toContain('not in the index: 10001:10010; the index has 1:10000\n');
  expect(stdout.match(/\(11 masterchain blocks/g)).toHaveLength(2);
});

test('a plan of one block counts one block', async () => {
  const words = ['run', '--dry-run', '-n', 'sandbox', '-r', '1000', '-w', join(freshFolder(), 'w')];
  expect((await tonlake(words)).stdout).toMatch(/\(1 masterchain block[,)]/);
});

test('a reader that goes early, as head does, ends the program without a word', async () => {
  const path = join(freshFolder(), 'w');
  await tonlake(['run', '--network', 'sandbox', '--range', '1000:1000', '--warehouse', path]);
  const run = startTonlake(['sql', 'select * from range(500000)', '--format', 'csv', '--warehouse', path]);
  run.closeOutput();
  expect(await run.finished).toMatchObject({ code: 0, stderr: '' });
  const json = startTonlake(['run', '--network', 'sandbox', '--range', '2000:2100', '--warehouse', path, '--json']);
  json.closeOutput();
  // What it was asked for is not done.
  expect(await json.finished).toMatchObject({ code: 1, stderr: '' });
});

test('pipelines may be separated by blanks or by commas', () => {
  expect(splitNames(['transactions,traces', 'actions'])).toEqual(['transactions', 'traces', 'actions']);
  // A range in place of a pipeline is named whole by the error.
  expect(splitNames(['1:2,5:6'])).toEqual(['1:2,5:6']);
});

test('tonlake help shows the same as --help', async () => {
  expect(await tonlake(['help', 'job', 'run'])).toEqual(await tonlake(['job', 'run', '--help']));
  expect(await tonlake(['help'])).toEqual(await tonlake(['--help']));
});

test('commands with many options have each of them in a group', async () => {
  for (const name of ['run', 'follow']) {
    const { stdout } = await tonlake([name, '--help', '--all']);
    expect(stdout).not.toMatch(/^Options:/m);
    expect(stdout).toMatch(/^What to export:$[\s\S]*^Source and warehouse:$[\s\S]*^Speed:$[\s\S]*^Output:$/m);
  }
});

test('the help of commands with many options shows the ten that matter, and where the others are', async () => {
  for (const name of ['run', 'follow']) {
    const [short, whole] = [await tonlake([name, '--help']), await tonlake([name, '--help', '--all'])];
    const count = (text: string): number => (text.match(/^ {2}(-\w, )?--/gm) ?? []).length;
    expect(count(short.stdout)).toBe(10);
    const more = count(whole.stdout) - 10;
    expect(more).toBeGreaterThan(10);
    expect(short.stdout).toContain(`tonlake ${name} --help --all shows ${more} more options.`);
    expect(await tonlake(['help', name, '--all'])).toEqual(whole);
  }
});

test('no option shows an empty default', async () => {
  for (const name of ['sql', 'report', 'export', 'follow']) {
    expect((await tonlake([name, '--help'])).stdout).not.toMatch(/\(default: [[{]/);
  }
});

test('paragraphs of the help fit the terminal, and examples stay as they are', () => {
  const long = '  tonlake sql "select count(*) from transactions where mc_block_seqno > 5"';
  expect(
    fitParagraphs(`\nOne two three four\nfive six.\n\nExamples:\n${long}\n${long}\n\nThe end is here.\n`, 10),
  ).toBe(`\nOne two\nthree four\nfive six.\n\nExamples:\n${long}\n${long}\n\nThe end is\nhere.\n`);
});

test('the last of aligned columns is wrapped below itself, unless it would be narrow', () => {
  const lines = [
    'lt        BIGINT   logical time of the transaction',
    '  a note that is too long for its line',
    'short  x',
  ];
  expect(fitColumns(`${lines.join('\n')}\n`, 44)).toBe(
    'lt        BIGINT   logical time of the\n                   transaction\n  a note that is too long for its line\nshort  x\n',
  );
  expect(fitColumns(lines[1] ?? '', 30)).toBe('  a note that is too long for\n  its line');
  expect(fitColumns('no-blank-to-break-this-line-at', 26)).toBe('no-blank-to-break-this-line-at');
  expect(fitColumns(lines[0] ?? '', 40)).toBe(lines[0]);
});
