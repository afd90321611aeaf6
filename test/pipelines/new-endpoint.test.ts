import { cpSync, existsSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { expect, test } from 'vitest';
import { startNode } from '../cli.ts';
import { freshFolder } from '../scratch.ts';

const root = join(import.meta.dirname, '..', '..');
const SOURCES = [
  'api',
  'src',
  'pipelines',
  'tools',
  'sql',
  'wasm',
  'ui',
  'package.json',
  'package-lock.json',
  'tsconfig.json',
];
/** Outputs that the build makes again only if their inputs have changed. */
const BUILT = ['dist/ui', 'dist/wasm'];

interface Piece {
  readonly file: string;
  readonly language: string;
  readonly code: string;
}

/** The pieces of a new endpoint in docs/pipelines.md, each with the file that the sentence before it names. */
function pieces(): readonly Piece[] {
  const page = readFileSync(join(root, 'docs/pipelines.md'), 'utf8');
  const section = /\n## A new endpoint\n([\s\S]*?)(?=\n## |$)/.exec(page)?.[1] ?? '';
  return [...section.matchAll(/`([^`\n]+\.(?:json|ts))`(?:(?!```)[\s\S])*?\n```(\w+)\n([\s\S]*?)```/g)].flatMap(
    ([, file = '', language = '', code = '']) => (language === 'sh' ? [] : [{ file, language, code }]),
  );
}

/** Adds a piece to a file: to its list, to its records, at the end of its only object, or as the file. */
function apply(folder: string, { file, language, code }: Piece): void {
  const path = join(folder, file);
  if (!existsSync(path)) return writeFileSync(path, code);
  const text = readFileSync(path, 'utf8');
  if (language !== 'json') return writeFileSync(path, text.replace(/\};\n$/, `${code}};\n`));
  const facts = JSON.parse(text);
  if (Array.isArray(facts)) facts.push(JSON.parse(code));
  else Object.assign(facts.records, JSON.parse(code));
  writeFileSync(path, JSON.stringify(facts));
}

/** A copy of the sources, with the packages and the outputs that a new endpoint does not change. */
function copyOfSources(): string {
  const folder = freshFolder();
  for (const name of [...SOURCES, ...BUILT]) {
    mkdirSync(dirname(join(folder, name)), { recursive: true });
    cpSync(join(root, name), join(folder, name), { recursive: true });
  }
  symlinkSync(join(root, 'node_modules'), join(folder, 'node_modules'));
  return folder;
}

test('docs/pipelines.md adds an endpoint in five pieces, and the table has what the sandbox answers', async () => {
  const folder = copyOfSources();
  const found = pieces();
  expect(found.map(({ file }) => file)).toEqual([
    'api/endpoints.json',
    'api/records.json',
    'src/api/endpoints/token-endpoints.ts',
    'src/sandbox/api/token-lists.ts',
    'pipelines/jetton_statistics.ts',
  ]);
  for (const piece of found) apply(folder, piece);

  const node = async (...args: readonly string[]): Promise<string> => {
    const { code, stdout, stderr } = await startNode(args, { cwd: folder, input: '' }).finished;
    expect({ args, code, stderr: code === 0 ? '' : stdout + stderr }).toEqual({ args, code: 0, stderr: '' });
    return stdout;
  };
  const tonlake = (...words: readonly string[]) => node('dist/src/cli.js', ...words, '--network', 'sandbox');
  await node('tools/build.mjs');

  await tonlake('run', 'jetton_statistics');
  const columns = 'jetton, wallets, CAST(last_transaction_lt AS VARCHAR) AS last_transaction_lt';
  const query = `SELECT ${columns} FROM jetton_statistics ORDER BY jetton`;
  const rows = JSON.parse(await tonlake('sql', query, '--format', 'json'));
  const answer = JSON.parse(await tonlake('api', 'jetton/statistics', 'limit=1000'));
  expect(rows.length).toBeGreaterThan(5);
  expect(rows).toEqual(sorted(answer.jetton_statistics));

  const [first] = rows;
  const one = JSON.parse(await tonlake('api', 'jetton/statistics', `jetton=${first.jetton}`));
  expect(one.jetton_statistics).toEqual([first]);
});

function sorted<T extends { readonly jetton: string }>(rows: readonly T[]): readonly T[] {
  return [...rows].sort((a, b) => (a.jetton < b.jetton ? -1 : 1));
}
