import { spawnSync } from 'node:child_process';
import { mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { freshFolder } from './scratch.ts';

const root = join(import.meta.dirname, '..');
const pages = ['README.md', ...readdirSync(join(root, 'docs')).map((name) => `docs/${name}`)];

interface Example {
  readonly place: string;
  readonly code: string;
}

function examplesOf(page: string): readonly Example[] {
  if (!page.endsWith('.md')) return [];
  const text = readFileSync(join(root, page), 'utf8');
  return [...text.matchAll(/^```ts\n([\s\S]*?)^```$/gm)].map((match) => ({
    place: `${page}:${text.slice(0, match.index).split('\n').length}`,
    code: match[1] ?? '',
  }));
}

const STRICT = ['--strict', '--noUncheckedIndexedAccess', '--exactOptionalPropertyTypes'];
const TARGET = ['--target', 'es2023', '--lib', 'es2023', '--module', 'nodenext', '--types', 'node', '--skipLibCheck'];

/** What the compiler says of a file in a project that depends on the package; nothing if it compiles. */
function compile(code: string): string {
  const folder = freshFolder();
  const modules = join(folder, 'node_modules');
  mkdirSync(modules);
  symlinkSync(root, join(modules, 'tonlake'));
  for (const name of ['@duckdb', '@types']) symlinkSync(join(root, 'node_modules', name), join(modules, name));
  writeFileSync(join(folder, 'package.json'), '{"type":"module"}');
  writeFileSync(join(folder, 'example.ts'), code);
  const compiler = join(root, 'node_modules/typescript/bin/tsc');
  const flags = ['--ignoreConfig', '--noEmit', '--pretty', 'false', ...STRICT, ...TARGET];
  const { stdout, status } = spawnSync(process.execPath, [compiler, ...flags, 'example.ts'], {
    cwd: folder,
    encoding: 'utf8',
  });
  return status === 0 ? '' : stdout;
}

const examples = pages.flatMap(examplesOf);

test.each(examples)('$place compiles under strict TypeScript', ({ code }) => {
  expect(compile(code)).toBe('');
});

test('each page about the library has an example, and a wrong one does not compile', () => {
  const named = new Set(examples.map(({ place }) => place.split(':')[0]));
  expect([...named].sort()).toEqual(['README.md', 'docs/consumers.md', 'docs/library.md', 'docs/reports.md']);
  const wrong = "import { consume } from 'tonlake';\nconsume({ warehouse: 'w', tables: ['blocks'], cursor: null });\n";
  expect(compile(wrong)).toMatch(/example\.ts\(2,\d+\): error TS2322/);
});

test('the key, sort and time of a pipeline of your own are names of its columns for the compiler', () => {
  const declare = (key: string, sort: string, time: string): string => `
    import { field, table } from 'tonlake/pipeline';
    table('burns', {
      grain: 'one burn', key: ['${key}'], sort: ['${sort}'], time: '${time}',
      columns: {
        tx_hash: field('/transaction_hash', 'transaction'), tx_lt: field('/transaction_lt', 'time'),
        tx_now: field('/transaction_now', 'time'),
      },
    });`;
  expect(compile(declare('tx_hash', 'tx_lt', 'tx_now'))).toBe('');
  const wrong = [
    ['tx_hashh', 'tx_lt', 'tx_now'],
    ['tx_hash', 'lt', 'tx_now'],
    ['tx_hash', 'tx_lt', 'now'],
  ] as const;
  for (const words of wrong) expect(compile(declare(words[0], words[1], words[2]))).toMatch(/error TS(2322|2820)/);
});
