import { cpSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeAll, describe, expect, test, vi } from 'vitest';
import { enterFolder, invocationOf, rememberFlags, rememberInvocation } from '../../src/cli/invocation.ts';
import { createProgram } from '../../src/cli/program.ts';
import { beginSuggestions, suggest } from '../../src/core/suggest.ts';
import { startSandbox } from '../../src/sandbox/index.ts';
import { CLI, type Finished, startNode, tonlake, wordsOf } from '../cli.ts';
import { afterFile, freshFolder } from '../scratch.ts';
import { ELSEWHERE, SUGGESTIONS } from './suggestions.ts';

test.each([
  { script: '/usr/bin/tonlake', root: '/usr/lib/node_modules/tonlake/', is: 'tonlake' },
  { script: '/p/node_modules/.bin/tonlake', root: '/p/node_modules/tonlake/', npm: 'exec', is: 'npx tonlake' },
  { script: '/p/node_modules/tonlake/dist/src/cli.js', root: '/p/node_modules/tonlake/', is: 'tonlake' },
  { script: '/c/dist/src/cli.js', root: '/c/', folder: '/c', npm: 'run-script', is: 'npm run -s tonlake --' },
  { script: '/c/dist/src/cli.js', root: '/c/', folder: '/d', is: 'node ../c/dist/src/cli.js' },
  { script: '/usr/bin/tonlake', root: '/c/', folder: '/d', is: 'tonlake' },
])('started as $script of $root, commands begin with $is', ({ script, root, folder = '/p', npm, is }) => {
  expect(invocationOf(script, root, npm === undefined ? {} : { npm_command: npm }, folder)).toBe(is);
});

afterEach(() => beginSuggestions());

describe('a suggested command', () => {
  interface Given {
    readonly flags: readonly string[];
    readonly of: Parameters<typeof suggest>;
    readonly is: string;
  }

  test.each<Given>([
    { flags: [], of: ['status'], is: 'tonlake status' },
    { flags: ['-w', 'a b'], of: ['status'], is: "tonlake status --warehouse 'a b'" },
    { flags: ['-n', 'testnet'], of: ['sql', '"x"'], is: 'tonlake sql --network testnet "x"' },
    {
      flags: ['-n', 'testnet', '-w', 'w'],
      of: ['run', 'blocks', { range: '5' }],
      is: 'tonlake run --warehouse w --network testnet blocks --range 5',
    },
    { flags: ['-n', 'testnet', '-w', 'w'], of: ['verify', '--repair'], is: 'tonlake verify --warehouse w --repair' },
    { flags: ['-w', 'w'], of: ['build', 'a'], is: 'tonlake build --warehouse w a' },
    {
      flags: ['-w', 'w', '--store', 'duckdb'],
      of: ['run', 'blocks', { warehouse: 'v x' }],
      is: "tonlake run --store duckdb blocks --warehouse 'v x'",
    },
    { flags: ['-w', 'w'], of: ['sandbox'], is: 'tonlake sandbox' },
  ])('$of with $flags is $is', ({ flags, of, is }) => {
    vi.stubEnv('npm_command', undefined);
    rememberInvocation('/usr/bin/tonlake');
    const program = createProgram();
    const run = program.commands.find((each) => each.name() === 'run');
    if (run === undefined) throw new Error('expected the command run');
    run.parseOptions([...flags]);
    rememberFlags(program, run);
    expect(suggest(...of)).toBe(is);
    vi.unstubAllEnvs();
  });
});

/** Starts a sandbox, which ends with the file's tests. @returns its address */
async function startNetwork(blocks?: number): Promise<string> {
  const sandbox = await startSandbox(blocks === undefined ? {} : { blocks });
  afterFile(() => sandbox.close());
  return sandbox.url;
}

/** Runs what a text suggests, as a shell would. */
async function paste(command: string, cwd: string): Promise<Finished> {
  const [program, ...words] = wordsOf(command);
  expect(program).toBe('tonlake');
  return tonlake(words, { cwd });
}

test('what a run and a missing file suggest can be pasted, and is about the same warehouse', async () => {
  const cwd = freshFolder();
  const network = await startNetwork();
  const run = ['run', 'transactions', '--range', '1000:1001', '--network', network, '--warehouse', 'a b'];
  const done = await tonlake(run, { cwd });
  const suggested = done.stdout.split('\n').filter((line) => line.startsWith('  tonlake '));
  expect(suggested.length).toBe(3);
  for (const command of suggested) expect(await paste(command, cwd)).toMatchObject({ code: 0 });

  const files = readdirSync(join(cwd, 'a b'), { recursive: true, encoding: 'utf8' });
  for (const file of files.filter((name) => /\btransactions\b.*\.parquet$/.test(name))) rmSync(join(cwd, 'a b', file));
  const { code, stderr } = await tonlake(['sql', 'select sum(lt) from transactions', '-w', 'a b'], { cwd });
  const [, hint = ''] = /a data file is missing or damaged .*; hint: (.*)\n$/.exec(stderr) ?? [];
  expect({ code, hint }).toEqual({
    code: 1,
    hint: expect.stringMatching(/^tonlake verify --warehouse 'a b' --repair$/),
  });
  expect(await paste(hint, cwd)).toMatchObject({ code: 0 });
  expect(await tonlake(['sql', 'select sum(lt) from transactions', '-w', 'a b'], { cwd })).toMatchObject({ code: 0 });
});

test('what a query and a mart lack is exported by the command that they suggest', async () => {
  const cwd = freshFolder();
  const network = await startNetwork();
  const place = ['--warehouse', 'w'];
  await tonlake(['run', 'blocks', '--range', '1000:1001', '--network', network, ...place], { cwd });

  const strict = await tonlake(['sql', 'select count(*) from transactions', '--strict', ...place], { cwd });
  const [, ran = ''] = /never exported here: (tonlake run [^;]*);/.exec(strict.stderr) ?? [];
  // The warehouse says what network it holds.
  expect(await paste(ran, cwd)).toMatchObject({ code: 0 });
  expect(await tonlake(['sql', 'select count(*) from transactions', '--strict', ...place], { cwd })).toMatchObject({
    code: 0,
    stderr: '',
  });

  const mart = await tonlake(['build', 'dex_swaps', ...place], { cwd });
  const [, lacking = ''] = /never exported: (tonlake run .*)\n/.exec(mart.stderr) ?? [];
  expect(await paste(lacking, cwd)).toMatchObject({ code: 0 });
  expect(await tonlake(['build', 'dex_swaps', ...place], { cwd })).toMatchObject({ code: 0 });
});

describe('what an error suggests runs as it stands', () => {
  let cwd: string;
  let network: string;
  beforeAll(async () => {
    cwd = freshFolder();
    network = await startNetwork(1100);
    const range = ['--range', '1000:1001', '--network', network, '--warehouse', 'w'];
    expect(await tonlake(['run', 'transactions', ...range], { cwd })).toMatchObject({ code: 0 });
  });

  const all = Object.entries(SUGGESTIONS).flatMap(([of, commands]) =>
    Object.entries(commands).map(([command, what]) => ({
      ...(typeof what === 'string' ? { suggests: what } : what),
      command,
      of,
    })),
  );

  test.each(all)('$of: $command', async ({ command, suggests, given, code = 0 }) => {
    const own = freshFolder();
    cpSync(join(cwd, 'w'), join(own, 'w'), { recursive: true });
    await given?.(own);
    const withNetwork = (text: string): string => text.replace('NETWORK', network).replace('FOLDER', own);
    const first = await tonlake(withNetwork(command), { cwd: own });
    expect(first.stdout + first.stderr).toContain(withNetwork(suggests));
    expect(await paste(withNetwork(suggests).replace(/^.*(?=tonlake )/, ''), own)).toMatchObject({ code });
  });

  test('from each source that suggests one', () => {
    const root = join(import.meta.dirname, '../../src');
    const suggesting = readdirSync(root, { recursive: true, encoding: 'utf8' }).filter(
      (file) =>
        file.endsWith('.ts') && /^import \{ suggest(Run)? \} from/m.test(readFileSync(join(root, file), 'utf8')),
    );
    const covered = new Set([...Object.keys(SUGGESTIONS), ...Object.keys(ELSEWHERE)]);
    expect(suggesting.filter((file) => !covered.has(file)).sort()).toEqual([]);
    expect([...covered].filter((file) => !suggesting.includes(file))).toEqual([]);
  });

  test.each([
    [['run', 'pending_transactions', '--range', '1000', '-w', 'w'], /; hint: (tonlake follow [^;]*);/],
    [['sql', 'from pending_actions', '--strict', '-w', 'w'], /never watched here: (tonlake follow [^;]*);/],
    [['follow', 'blocks', '--marts', 'gas_fees_daily', '-w', 'w'], /; hint: (tonlake follow .*)\n/],
  ])('%j: a command that follows until it is interrupted', async (words, suggests) => {
    const own = freshFolder();
    cpSync(join(cwd, 'w'), join(own, 'w'), { recursive: true });
    const failed = await tonlake([...words], { cwd: own });
    const [, command = ''] = suggests.exec(failed.stderr) ?? [];
    const [first, ...rest] = command.split(' ');
    expect(first).toBe('tonlake');
    const running = startNode([CLI, ...rest, '--json'], { cwd: own });
    await running.until('stdout', /"polls":1|"event":"(poll|span)"/);
    running.kill('SIGINT');
    expect(await running.finished).toMatchObject({ code: 130 });
  });
});

test('without a network, a warehouse says which one it holds, and the default is named', async () => {
  const cwd = freshFolder();
  const network = await startNetwork();
  await tonlake(['run', 'blocks', '--range', '1000:1001', '--network', network, '--warehouse', 'w'], { cwd });
  const more = await tonlake(['run', 'blocks', '--range', '1002', '--warehouse', 'w'], {
    cwd,
    env: { TONLAKE_NETWORK: 'testnet' },
  });
  expect(more).toMatchObject({
    code: 0,
    stdout: expect.stringContaining(`complete: blocks 1002 on ${network}`),
  });
  const none = await tonlake(['run', '--range', '1:5'], { cwd, env: { HTTPS_PROXY: 'http://127.0.0.1:1' } });
  expect(none.code).toBe(1);
  expect(none.stderr).toMatch(/^network mainnet \(the default\), warehouse data\/mainnet\n[\s\S]*error: source /);
  const help = (await tonlake(['run', '--help'])).stdout.replace(/\s+/g, ' ');
  expect(help).toContain('(default: that of the warehouse, or mainnet; env: TONLAKE_NETWORK)');
  const readme = readFileSync(join(import.meta.dirname, '../../README.md'), 'utf8').replace(/\s+/g, ' ');
  expect(readme).toContain(
    'The default network is mainnet, which the first line of output says; a warehouse that exists',
  );
});

test('a summary calls rows unproven that nothing counts', async () => {
  const cwd = freshFolder();
  const place = ['--network', 'sandbox', '--range', '1000:1001', '--warehouse', 'w'];
  expect((await tonlake(['run', 'actions', ...place], { cwd })).stdout).toMatch(
    /^exported, unproven: actions 1000:1001 on sandbox: /,
  );
  expect((await tonlake(['run', 'actions', 'transactions', ...place], { cwd })).stdout).toMatch(
    /^exported, partly unproven: actions transactions /,
  );
  expect((await tonlake(['run', 'transactions', ...place], { cwd })).stdout).toMatch(/^complete: transactions /);
});

test('commands to be typed in another folder begin as they must there', () => {
  rememberInvocation(join(process.cwd(), 'dist/src/cli.js'));
  const program = createProgram();
  rememberFlags(program, program);
  expect(suggest('status')).toBe('npm run -s tonlake -- status');
  enterFolder('test');
  expect(suggest('status')).toBe('node ../dist/src/cli.js status');
});
