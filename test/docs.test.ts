import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Lake, open } from '../src/library/open.ts';
import { buildMarts } from '../src/marts/build-marts.ts';
import { runChecks } from '../src/marts/run-checks.ts';
import { exportSandbox } from './marts/support.ts';

const root = join(import.meta.dirname, '..');
const pages = [
  'README.md',
  ...readdirSync(join(root, 'docs')).flatMap((name) => (name.endsWith('.md') ? [`docs/${name}`] : [])),
];

interface Documented {
  readonly place: string;
  readonly sql: string;
}

/** Blocks of SQL, and queries of `tonlake sql` lines. Blocks with a name belong to a report, which has tests of its own. */
function queriesOf(page: string): readonly Documented[] {
  const text = readFileSync(join(root, page), 'utf8');
  const found = [
    ...text.matchAll(/^```sql\n([\s\S]*?)^```$/gm),
    ...text.matchAll(/tonlake sql (?:"([^"]+)"|'([^']+)')/g),
  ];
  return found.map((match) => ({
    place: `${page}:${text.slice(0, match.index).split('\n').length}`,
    sql: match[1] ?? match[2] ?? '',
  }));
}

const queries = pages.flatMap(queriesOf);
let warehouse: Lake;

beforeAll(async () => {
  const path = await exportSandbox('5000:5019');
  await buildMarts(path);
  await runChecks(path, { names: ['unique_keys'] });
  warehouse = await open({ warehouse: path, onWarning: () => undefined });
});
afterAll(() => warehouse.close());

test('the documentation has queries', () => {
  expect(pages.length).toBeGreaterThan(5);
  expect(queries.length).toBeGreaterThan(8);
});

/** Values for the parameters that examples name. */
const examples: Readonly<Record<string, string>> = {
  account: 'EQCxE6mUtQJKFnGfaROTKOt1lZbDiiX1kCixRv7Nw2Id_sDs',
  date: '2026-05-02',
};

test.each(queries)('$place runs as it stands', async ({ sql }) => {
  const names = [...sql.matchAll(/\$([a-z]\w*)/g)].map(([, name = '']) => name);
  const parameters = Object.fromEntries(names.map((name) => [name, examples[name]]));
  const columns = await warehouse.columns(sql, names.length === 0 ? undefined : parameters);
  expect(columns.length).toBeGreaterThan(0);
});

test('the codes of errors are those of docs/library.md', () => {
  const sources = readdirSync(join(root, 'src'), { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.ts') && !name.startsWith('sandbox'))
    .map((name) => readFileSync(join(root, 'src', name), 'utf8'))
    .join('\n');
  const constantOf = (name: string): string => new RegExp(`const ${name} = '([a-z-]+)'`).exec(sources)?.[1] ?? name;
  const written = [...sources.matchAll(/\bcode: ([^,}\n]*)/g)].flatMap(([, value = '']) => [
    ...[...value.matchAll(/'([a-z][a-z\d-]*)'/g)].map(([, code = '']) => code),
    ...[...value.matchAll(/^[A-Z_]+\b/g)].map(([name]) => constantOf(name)),
  ]);
  const [, errors = ''] = readFileSync(join(root, 'docs/library.md'), 'utf8').split('\n| What happened | `code` |\n');
  const listed = [...errors.matchAll(/^\|.*\| (.*) \|$/gm)].flatMap(([, codes = '']) =>
    [...codes.matchAll(/`([a-z\d-]+)`/g)].map(([, code = '']) => code),
  );
  // Records of jobs say `unexpected` for errors of others.
  expect([...new Set(written)].filter((code) => !['unexpected', ...listed].includes(code))).toEqual([]);
  expect(listed.filter((code) => !sources.includes(`'${code}'`))).toEqual([]);
  expect(new Set(listed).size).toBe(listed.length);
});
