import { execFile, spawnSync } from 'node:child_process';
import { mkdir, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { beforeAll, describe, expect, test } from 'vitest';
import { CLI, tonlake } from '../cli.ts';
import { freshFolder } from '../scratch.ts';

async function completions(...words: readonly string[]): Promise<readonly string[]> {
  const { code, stdout, stderr } = await tonlake(['complete', '--', ...words]);
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
  return stdout.split('\n').flatMap((line) => (line === '' ? [] : [line.split('\t')[0] ?? '']));
}

describe('tonlake complete', () => {
  test.each([
    [['ve'], ['verify']],
    [
      ['publish', ''],
      ['iceberg', 'duckdb'],
    ],
    [['run', 'jetton_m'], ['jetton_masters']],
    [['run', 'blocks', 'jetton_m'], ['jetton_masters']],
    [['run', '--range', '1:2', 'jetton_m'], ['jetton_masters']],
    [['run', '--complet'], []],
    [
      ['run', '--walk', ''],
      ['auto', 'window', 'masterchain'],
    ],
    [['run', '--walk', '=', 'w'], ['window']],
    [['run', '--walk=w'], ['--walk=window']],
    [['run', '-n', 's'], ['sandbox']],
    [['run', '--all', '--network', 'm'], ['mainnet']],
    [['sql', '--format', 'p'], ['parquet']],
    [['show', 'actions_call'], ['actions_call_contract']],
    [['show', '_cov'], ['_coverage']],
    [['export', 'top_c'], ['top_contracts_daily']],
    [['build', 'top_'], ['top_contracts_daily']],
    [['test', 'unique'], ['unique_keys']],
    [['report', 'net'], ['network-daily']],
    [['api', 'jetton/m'], ['jetton/masters']],
    [['completion', 'f'], ['fish']],
    [['run', '--dry-run', '--without-c'], ['--without-column']],
    // Paths are for the shell.
    [['run', '--warehouse', ''], []],
    [['job', 'run', ''], []],
    [['sql', 'select 1', ''], []],
    [['no-such-command', ''], expect.arrayContaining(['run', 'sql'])],
  ])('after %j', async (words, expected) => {
    expect(await completions(...words)).toEqual(expected);
  });

  test('tells what commands and options do, one line each', async () => {
    const { stdout } = await tonlake(['complete', '--', 'sql', '--st']);
    expect(stdout).toBe('--strict\tfail if a table in the query has missing or quarantined blocks\n');
  });
});

const has = (program: string): boolean => spawnSync(program, ['--version']).status === 0;

describe('in a real shell', () => {
  const folder = freshFolder();
  const run = (program: string, args: readonly string[]): Promise<{ stdout: string; stderr: string }> => {
    const env = { ...process.env, PATH: `${folder}:${process.env['PATH']}`, HOME: folder };
    return promisify(execFile)(program, args, { env, cwd: folder });
  };
  const script = async (shell: string): Promise<string> => (await tonlake(['completion', shell])).stdout;

  beforeAll(async () => {
    await symlink(CLI, join(folder, 'tonlake'));
    await mkdir(join(folder, 'warehouses'));
  });

  test.skipIf(!has('bash'))('bash completes names, and evaluates nothing', async () => {
    await writeFile(join(folder, 'tonlake.bash'), await script('bash'));
    const lines = [
      'source ./tonlake.bash',
      // biome-ignore lint/suspicious/noTemplateCurlyInString: this is bash
      'reply() { COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _tonlake; echo "${COMPREPLY[@]}"; }',
      'reply tonlake run jetton_m',
      'reply tonlake report ""',
      `reply tonlake sql '$(touch evaluated)' --format c`,
      'reply tonlake run --warehouse ware',
      'ls evaluated 2> /dev/null',
      'complete -p tonlake',
    ];
    const { stdout } = await run('bash', ['--norc', '-c', lines.join('\n')]);
    expect(stdout.split('\n').slice(0, 4)).toEqual([
      'jetton_masters',
      'account export-health jetton network-daily',
      'csv',
      '',
    ]);
    // Where nothing is known, bash completes paths.
    expect(stdout.split('\n')[4]).toBe('complete -o default -F _tonlake tonlake');
  });

  test.skipIf(!has('fish'))('fish completes names with their docs, and paths', async () => {
    await writeFile(join(folder, 'tonlake.fish'), await script('fish'));
    const ask = (line: string) => run('fish', ['-N', '-c', `source tonlake.fish; complete -C '${line}'`]);
    expect((await ask('tonlake run jetton_m')).stdout).toBe('jetton_masters\n');
    expect((await ask('tonlake sql --st')).stdout).toMatch(/^--strict\tfail if a table/);
    expect((await ask('tonlake run --warehouse ware')).stdout).toBe('warehouses/\n');
  });

  test.skipIf(!has('zsh'))('zsh completes names', async () => {
    await writeFile(join(folder, 'tonlake.zsh'), await script('zsh'));
    // What compadd and _describe get stands for what is shown.
    const lines = [
      'compdef() { :; }',
      // biome-ignore lint/suspicious/noTemplateCurlyInString: this is zsh
      '_describe() { print -l -- "${(@P)2}"; }',
      '_files() { print files; }',
      'source ./tonlake.zsh',
      'words=(tonlake run jetton_m); CURRENT=3; _tonlake',
      'words=(tonlake sql --st); CURRENT=3; _tonlake',
      'words=(tonlake run --warehouse ware); CURRENT=4; _tonlake',
    ];
    const { stdout } = await run('zsh', ['-f', '-c', lines.join('\n')]);
    expect(stdout).toMatch(/^jetton_masters:?\n--strict:fail if a table [^\n]*\nfiles\n$/);
  });
});
