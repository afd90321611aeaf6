import { execFile, execFileSync } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { beforeAll, expect, test } from 'vitest';
import { CLI, startNode, tonlake } from './cli.ts';
import { freshFolder } from './scratch.ts';

const root = join(import.meta.dirname, '..');
const execute = promisify(execFile);

let readme: string;
let folder: string;

beforeAll(async () => {
  readme = await readFile(join(root, 'README.md'), 'utf8');
  folder = freshFolder();
});

/** The code of the README in one language, with a warehouse of our own. */
function blocks(language: string): readonly string[] {
  const fence = new RegExp(`\`\`\`${language}\\n([\\s\\S]*?)\`\`\``, 'g');
  return [...readme.matchAll(fence)].map(([, code = '']) => code.replaceAll('data/sandbox', join(folder, 'sandbox')));
}

test('the example of the library runs as it stands', async () => {
  const [example = ''] = blocks('ts');
  const { stdout } = await execute(process.execPath, ['--input-type=module', '--eval', example], { cwd: root });
  expect(stdout).toMatch(/^2026-05-01 \d+n$/m);
});

/** The words of a command line, as a shell reads it. */
function wordsOf(line: string): readonly string[] {
  const text = execFileSync('sh', ['-c', `printf '%s\\0' ${line}`], { encoding: 'utf8' });
  return text.split('\0').slice(0, -1);
}

/** Other tests start these as processes, too. */
const STARTED_ELSEWHERE = ['run', 'sql', 'status', 'build', 'report'];
const isStarted = (line: string): boolean => !STARTED_ELSEWHERE.some((name) => line.startsWith(`${name} `));

test('every command for the sandbox runs as it stands', async () => {
  const warehouse = join(freshFolder(), 'sandbox');
  const commands = blocks('sh')
    .flatMap((code) => code.split('\n'))
    .filter((line) => line.startsWith('tonlake ') && line.includes('--network sandbox'))
    .map((line) => line.replace(/^tonlake /, ''))
    .map((line) =>
      // A single call needs no warehouse.
      line.startsWith('api ') ? line : line.replace('--network sandbox', `--network sandbox --warehouse ${warehouse}`),
    )
    .map((line) => line.replace(/ +#.*$/, ''));
  expect(commands.length).toBeGreaterThan(3);
  const [, promised] = /1,000 masterchain\s+blocks of the sandbox takes (\d+) requests/.exec(readme) ?? [];
  for (const command of commands) {
    const { stdout, code } = await (isStarted(command)
      ? startNode([CLI, ...wordsOf(command)], { cwd: root }).finished
      : tonlake(wordsOf(command), { cwd: root }));
    expect(code, command).toBe(0);
    expect(stdout, command).not.toBe('');
    // The first one exports those blocks. A slow machine commits more than once, and each commit compares the chain.
    if (command === commands[0]) {
      const [, requests] = / \((\d+) requests, /.exec(stdout) ?? [];
      expect(Number(requests)).toBeGreaterThanOrEqual(Number(promised));
      expect(Number(requests)).toBeLessThan(1.5 * Number(promised));
    }
  }
});
