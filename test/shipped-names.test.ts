import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { parseAst } from 'vitest/node';
import { loadRegistry } from '../src/declare/registry.ts';

const root = join(import.meta.dirname, '../src');
const { pipelines } = await loadRegistry('');
const names = [
  ...new Set(
    pipelines.flatMap(({ name, tables }) => [
      name,
      ...tables.flatMap((table) => [table.name, ...table.views.map((view) => view.name)]),
    ]),
  ),
];
/** `jetton_wallets` is never prose; `blocks` is a name as a whole, before a column, or where SQL names a relation. */
const [distinct, words] = [names.filter((name) => name.includes('_')), names.filter((name) => !name.includes('_'))];
const NAMED = [
  new RegExp(`\\b(${distinct.join('|')})\\b`),
  new RegExp(`^(${words.join('|')})$`),
  new RegExp(`\\b(${words.join('|')})\\.[a-z_]`),
  new RegExp(`\\b(from|join|into|update|table|describe|using)\\s+"?(${words.join('|')})\\b`, 'i'),
];

/** Folders that speak of the wire, whose routes and records have the same names. */
const WIRE = ['api/', 'sandbox/'];

/** Literals that name a table all the same: a part of the text, and why. */
const ALLOWED: readonly { readonly file: RegExp; readonly text: RegExp; readonly why: string }[] = [
  { file: /^cli\/commands\//, text: /tonlake |such as \w+/, why: 'examples of the help' },
  { file: /^declare\/selection\.ts$/, text: /^for example messages\.body_boc$/, why: 'an example in a hint' },
  { file: /^jobs\/step-options\.ts$/, text: /such as/, why: 'an example in the options of commands and jobs' },
  { file: /^warehouse\/(store|ledger\/entries)\.ts$/, text: /^transactions$/, why: 'a proof, as ledgers have it' },
  { file: /^export\/walks\//, text: /^transactions$/, why: 'a proof, as ledgers have it' },
  { file: /^verify\//, text: /^messages$/, why: 'a kind of finding' },
  {
    file: /^(declare\/(roles|cross-check)|show\/row-proof)\.ts$/,
    text: /^transactions$/,
    why: 'a column: how many a trace has',
  },
  { file: /^warehouse\/query\/state-relations\.ts$/, text: /^blocks$/, why: 'a column: how many a span has' },
  {
    file: /^(chain\/index-head|export\/quote\/dry-walk|watch\/.*)\.ts$/,
    text: /^(blocks|traces|transactions|actions)$/,
    why: 'a part of an answer',
  },
];

interface Node {
  readonly type: string;
  readonly start: number;
}

function isNode(value: unknown): value is Node {
  return typeof value === 'object' && value !== null && 'type' in value && typeof value.type === 'string';
}

/** The literals of a source, and the names of properties that hold data by name. */
function literalsIn(source: string): readonly string[] {
  const found: string[] = [];
  const walk = (node: unknown): void => {
    if (Array.isArray(node)) for (const each of node) walk(each);
    if (!isNode(node)) return;
    const parts: Readonly<Record<string, unknown>> = { ...node };
    // The path of an import, and the name of a property of a type, are no values.
    if (/^(Import|Export)\w*$/.test(node.type) && isNode(parts['source'])) return;
    if (node.type === 'TSIndexedAccessType') return walk(parts['objectType']);
    if (node.type === 'Literal' && typeof parts['value'] === 'string') found.push(parts['value']);
    if (node.type === 'TemplateElement') found.push(String((parts['value'] as { readonly cooked: string }).cooked));
    const { key, value } = parts;
    if (node.type === 'Property' && isNode(key) && key.type === 'Identifier' && isNode(value)) {
      const name = String((key as unknown as { readonly name: string }).name);
      const isData = /^(Array|Object|TSAs)Expression$/.test(value.type);
      if (isData || name.includes('_')) found.push(name);
    }
    for (const [name, part] of Object.entries(parts)) if (name !== 'type') walk(part);
  };
  walk(parseAst(source, { lang: 'ts' }));
  return found;
}

function namedIn(source: string): readonly string[] {
  return literalsIn(source).filter((text) => NAMED.some((pattern) => pattern.test(text)));
}

describe('names of pipelines and tables that come with tonlake', () => {
  const files = readdirSync(root, { recursive: true, encoding: 'utf8' })
    .filter((file) => file.endsWith('.ts') && !WIRE.some((folder) => file.startsWith(folder)))
    .sort();
  const named = files.flatMap((file) =>
    namedIn(readFileSync(join(root, file), 'utf8')).map((text) => ({ file, text: text.replace(/\s+/g, ' ').trim() })),
  );
  const isAllowedBy =
    ({ file, text }: (typeof ALLOWED)[number]) =>
    (found: (typeof named)[number]) =>
      file.test(found.file) && text.test(found.text);

  test('stand in no source: code asks for the table that plays a role', () => {
    expect(files.length).toBeGreaterThan(300);
    expect(named.filter((found) => !ALLOWED.some((allowed) => isAllowedBy(allowed)(found)))).toEqual([]);
  });

  test('no exception is left that nothing needs', () => {
    expect(ALLOWED.filter((allowed) => !named.some(isAllowedBy(allowed)))).toEqual([]);
  });

  test.each([
    ["const headers = 'blocks';", 'blocks'],
    [
      'const sql = `SELECT count(*) FROM blocks WHERE workchain = -1`;',
      'SELECT count(*) FROM blocks WHERE workchain = -1',
    ],
    ["const proofs = { transactions: ['hash'] };", 'transactions'],
    ["const known = { 'message_links': 1 };", 'message_links'],
    ['const known = { jetton_burns: 1 };', 'jetton_burns'],
    ["const hint = 'such as messages.body_boc';", 'such as messages.body_boc'],
  ])('are found in %s', (source, text) => {
    expect(namedIn(source)).toEqual([text]);
  });

  test.each([
    "import { blocks } from './blocks';",
    "const text = 'expected transactions in a block';",
    'const { blocks } = proven; const one = proven.blocks;',
    'const sql = `SELECT count(*) FROM _headers`;',
    "type Blocks = Proven['blocks'];",
  ])('are not found in %s', (source) => {
    expect(namedIn(source)).toEqual([]);
  });
});
