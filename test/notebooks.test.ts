import { spawnSync } from 'node:child_process';
import { mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { beforeAll, describe, expect, test } from 'vitest';
import { tonlake } from './cli.ts';
import { hasModules, PYTHON } from './programs.ts';
import { freshFolder } from './scratch.ts';

const root = fileURLToPath(new URL('..', import.meta.url));
const page = readFileSync(join(root, 'docs/notebooks.md'), 'utf8');

interface Block {
  readonly place: string;
  readonly code: string;
}

function blocksOf(language: string): readonly Block[] {
  return [...page.matchAll(new RegExp(`^\`\`\`${language}\\n([\\s\\S]*?)^\`\`\`$`, 'gm'))].map((match) => ({
    place: `docs/notebooks.md:${page.slice(0, match.index).split('\n').length}`,
    code: match[1] ?? '',
  }));
}

let folder: string;
beforeAll(async () => {
  folder = freshFolder();
  // As `npm install tonlake apache-arrow` leaves them.
  mkdirSync(join(folder, 'node_modules'));
  symlinkSync(root, join(folder, 'node_modules/tonlake'));
  symlinkSync(join(root, 'node_modules/apache-arrow'), join(folder, 'node_modules/apache-arrow'));
  const [export_] = blocksOf('sh');
  const [, ...args] = (export_?.code ?? '').trim().split(' ');
  const { code, stderr } = await tonlake(args, { cwd: folder });
  expect(code, stderr).toBe(0);
});

/** The range ends within days, so queries warn about gaps. */
const env = { ...process.env, NODE_NO_WARNINGS: '1' };

/** Runs a block in the folder of the warehouse, in a process of its own. */
function run(program: string, name: string, code: string) {
  writeFileSync(join(folder, name), code);
  const { status, stdout, stderr } = spawnSync(program, [name], { cwd: folder, env, encoding: 'utf8' });
  return { status, stdout, stderr };
}

const MODULES = ['duckdb', 'pandas', 'polars', 'pyarrow'];

describe('the Python of docs/notebooks.md', () => {
  test('uses every module that the page names', () => {
    const imported = blocksOf('python').flatMap(({ code }) =>
      MODULES.filter((name) => code.includes(`import ${name}`)),
    );
    expect([...new Set(imported)].sort()).toEqual(MODULES);
  });

  for (const { place, code } of blocksOf('python')) {
    // Data frames of DuckDB are those of pandas.
    const needed = MODULES.filter((name) => code.includes(name) || (name === 'pandas' && code.includes('.df()')));
    test.skipIf(!hasModules(needed))(`${place} runs in Python`, () => {
      const { status, stdout, stderr } = run(PYTHON, 'block.py', code);
      expect([status, stderr]).toEqual([0, '']);
      expect(stdout).not.toBe('');
    });
  }
});

test.skipIf(!hasModules(['duckdb']))('the line of docs/notebooks.md that refuses gaps names them', () => {
  const refusing = blocksOf('python').find(({ code }) => code.includes('assert not (gaps'));
  // All of the range is there and proven.
  const { status, stderr } = run(PYTHON, 'block.py', (refusing?.code ?? '').replace("'missing'", "'proven'"));
  expect([status, stderr.trim().split('\n').at(-1)]).toEqual([
    1,
    "AssertionError: [('transactions', 'transactions', 'proven', None, 4990, 5009, 20)]",
  ]);
});

describe('the JavaScript of docs/notebooks.md', () => {
  test.each(blocksOf('js'))('$place runs in Node', ({ code }) => {
    const { status, stdout, stderr } = run(process.execPath, 'block.mjs', code);
    expect([status, stderr]).toEqual([0, '']);
    expect(stdout).not.toBe('');
  });
});
