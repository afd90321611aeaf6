import { cpSync, mkdirSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { sha256Of } from '../../src/core/sha256.ts';
import { type Sandbox, startSandbox } from '../../src/sandbox/index.ts';
import { type Finished, startNode, tonlake } from '../cli.ts';
import { EXTENSIONS, HAS_BUCKETS, startS3 } from '../objects/s3-server.ts';
import { freshFolder } from '../scratch.ts';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));

const OWN: string = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')).version;

/** What the older build says of anything that would write. */
const refused = (unknown: string): RegExp =>
  new RegExp(
    `store: warehouse .* was made by a newer tonlake \\(${OWN}\\): it holds ${unknown}, which tonlake 0.0.9 does not know; hint: upgrade`,
  );

let sandbox: Sandbox;
/** Builds to which a column is unknown, and a table and a pipeline. */
let withoutColumn: string;
let withoutTable: string;

beforeAll(async () => {
  sandbox = await startSandbox({ blocks: 3000 });
  withoutColumn = olderBuild({ 'tables/transactions.js': (text) => text.replace(/^ *finality: field.*$/m, '') });
  withoutTable = olderBuild({
    'transactions.js': (text) => text.replace(/^ {8}table\('account_states'[\s\S]*?^ {8}\}\),$/m, ''),
    'top_accounts.js': undefined,
  });
});

afterAll(() => sandbox.close());

/**
 * Builds version 0.0.9 of this program, a package of its own: the same code, whose declarations lack something.
 * @param edits of compiled files, by their path in `dist/pipelines`; undefined for a file that is not there
 * @returns the folder of its compiled sources
 */
function olderBuild(edits: Readonly<Record<string, ((text: string) => string) | undefined>>): string {
  const folder = freshFolder();
  for (const name of ['sql', 'templates', 'data']) symlinkSync(join(ROOT, name), join(folder, name));
  mkdirSync(join(folder, 'node_modules'));
  for (const name of readdirSync(join(ROOT, 'node_modules'))) {
    const [from, to] = [join(ROOT, 'node_modules', name), join(folder, 'node_modules', name)];
    // Two builds in one process need a compressor each, with a memory of its own.
    if (name === '@bokuweb') cpSync(from, to, { recursive: true });
    else symlinkSync(from, to);
  }
  for (const name of ['api', 'src', 'pipelines', 'wasm', 'empty-files']) {
    cpSync(join(ROOT, 'dist', name), join(folder, 'dist', name), { recursive: true });
  }
  const own = readFileSync(join(ROOT, 'package.json'), 'utf8');
  writeFileSync(join(folder, 'package.json'), own.replace(`"version": "${OWN}"`, '"version": "0.0.9"'));
  for (const [name, edit] of Object.entries(edits)) {
    const path = join(folder, 'dist/pipelines', name);
    const text = readFileSync(path, 'utf8');
    if (edit === undefined) rmSync(path);
    else {
      expect(edit(text)).not.toBe(text);
      writeFileSync(path, edit(text));
    }
  }
  return join(folder, 'dist/src');
}

const range = (blocks: string) => ['--range', blocks, '--network', sandbox.url];

/** A warehouse that the older build has begun, and commands of both over it. */
async function takeTurns(kind: 'parquet' | 'duckdb', older: string) {
  const place = ['--warehouse', join(freshFolder(), kind === 'duckdb' ? 'w.duckdb' : 'w')];
  const { runCommandLine } = await import(join(older, 'cli/command-line.js'));
  const old = (...args: readonly string[]) => tonlake([...args, ...place], {}, runCommandLine);
  const now = (...args: readonly string[]) => tonlake([...args, ...place]);
  const succeeds = async (running: Promise<Finished>) => {
    const { code, stdout, stderr } = await running;
    expect({ code, stderr }).toMatchObject({ code: 0 });
    return stdout;
  };
  const asked = async (build: typeof old, select: string) =>
    JSON.parse(await succeeds(build('sql', select, '--format', 'json')));
  await succeeds(old('run', 'transactions', ...range('101:110'), '--store', kind));
  return { old, now, succeeds, asked };
}

describe.each(['parquet', 'duckdb'] as const)('two builds in turns over a warehouse of the store %s', (kind) => {
  test('the older one reads beside a column that it does not know, and writes nothing', async () => {
    const { old, now, succeeds, asked } = await takeTurns(kind, withoutColumn);
    await succeeds(now('run', 'transactions', ...range('111:120')));
    const keys = 'select count(*) n, count(distinct hash) hashes, sum(total_fees)::varchar fees from transactions';
    const before = await asked(now, keys);
    for (const select of [keys, 'select count(*) n from blocks']) {
      expect(await asked(old, select)).toEqual(await asked(now, select));
    }
    for (const command of ['status', 'verify']) await succeeds(old(command));
    const writes = [
      ['run', 'transactions', ...range('121:130')],
      ['build', 'transactions_daily'],
      ['forget', 'transactions', '--range', '111:115', '--yes'],
      ...(kind === 'parquet' ? [['compact'], ['publish', 'iceberg']] : []),
    ];
    for (const command of writes) {
      const { code, stderr } = await old(...command);
      expect({ command, code, stderr }).toMatchObject({
        ...{ command, code: 1 },
        stderr: expect.stringMatching(refused('column transactions\\.finality')),
      });
    }
    expect(await asked(now, keys)).toEqual(before);
    await succeeds(now('run', 'transactions', ...range('101:130')));
    // Null in the rows of the older build.
    const finality =
      'select mc_block_seqno > 110 as is_new, count(finality) = count(*) as has from transactions group by 1';
    expect(await asked(now, `${finality} order by 1`)).toEqual([
      { is_new: false, has: false },
      { is_new: true, has: true },
    ]);
    await succeeds(now('verify'));
    await succeeds(now('compact'));
    await succeeds(now('verify'));
    expect(await asked(old, keys)).toEqual(await asked(now, keys));
  });

  test('the older one refuses to write beside a table that it does not know, but not beside a pipeline', async () => {
    const { old, now, succeeds, asked } = await takeTurns(kind, withoutTable);
    await succeeds(now('run', 'top_accounts', ...range('111:120')));
    const accounts = 'select count(*) n, sum(balance)::varchar sum from top_accounts';
    const before = await asked(now, accounts);
    await succeeds(old('run', 'transactions', ...range('111:120')));
    await succeeds(old('compact'));
    for (const build of [old, now]) expect(await asked(build, accounts)).toEqual(before);

    await succeeds(now('run', 'transactions', ...range('121:130')));
    const blocks = 'select count(distinct mc_block_seqno)::int n from transactions';
    expect(await asked(old, blocks)).toEqual([{ n: 30 }]);
    const { code, stderr } = await old('build', 'transactions_daily');
    expect({ code, stderr }).toMatchObject({ code: 1, stderr: expect.stringMatching(refused('table account_states')) });
    const states = 'select count(*) > 0 has, min(mc_block_seqno)::int least from account_states';
    expect(await asked(now, states)).toEqual([{ has: true, least: 121 }]);
  });
});

test.skipIf(!HAS_BUCKETS)(
  'a run that meets a newer build in a bucket commits what it has, and ends with the reason (skipped without versitygw and TONLAKE_DUCKDB_EXTENSIONS)',
  async () => {
    const { env: access } = await startS3();
    const env = { ...access, TONLAKE_DUCKDB_EXTENSIONS: EXTENSIONS ?? '', TONLAKE_STATE_DIR: freshFolder() };
    const warehouse = ['--warehouse', 's3://lake/met'];
    const options = { env };
    const count = async (): Promise<readonly { readonly n: number; readonly newest: number }[]> => {
      const sql = 'select count(distinct mc_block_seqno)::int n, max(mc_block_seqno) newest from transactions';
      return JSON.parse((await tonlake(['sql', sql, '--format', 'json', ...warehouse], options)).stdout);
    };
    const own = ['run', 'transactions', 'jetton_transfers', ...range('1:60'), '--walk', 'masterchain'];
    const run = startNode([join(withoutColumn, 'cli.js'), ...own, ...warehouse, '--json'], options);
    await run.until('stdout', /"event":"start","pipeline":"transactions"/);
    run.kill('SIGSTOP');
    const other = ['run', 'transactions', ...range('2001:2010'), ...warehouse];
    expect(await tonlake(other, options)).toMatchObject({ code: 0 });
    run.kill('SIGCONT');
    const { code, stderr } = await run.finished;
    expect({ code, stderr }).toMatchObject({
      code: 1,
      stderr: expect.stringMatching(refused('column transactions\\.finality')),
    });
    expect(await count()).toEqual([{ n: 70, newest: 2010 }]);
    expect(await tonlake([...own, ...warehouse], options)).toMatchObject({ code: 0 });
    expect(await tonlake(['verify', ...warehouse], options)).toMatchObject({ code: 0 });
  },
);

test('a pipeline whose declaration only a newer version understands is left out, and is no damage', async () => {
  const warehouse = join(freshFolder(), 'w');
  const place = ['--warehouse', warehouse];
  expect(await tonlake(['run', 'blocks', ...range('101:102'), ...place])).toMatchObject({ code: 0 });
  const walk = { kind: 'spiral' };
  const declared = { name: 'later', endpoint: 'GET /transactions', parameters: {}, walk, tables: [], needs: [] };
  const text = JSON.stringify(declared);
  const name = `later-00000002-${sha256Of(text, 16)}.json`;
  writeFileSync(join(warehouse, '_declarations', name), text);
  for (const command of [['status'], ['sql', 'select count(*) from blocks'], ['verify'], ['compact']]) {
    expect(await tonlake([...command, ...place])).toMatchObject({ code: 0, stderr: '' });
  }
});
