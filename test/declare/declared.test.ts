import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { expect, test } from 'vitest';
import { formatError, UsageError } from '../../src/core/errors.ts';
import { loadRegistry, type Registry } from '../../src/declare/registry.ts';
import { DECLARE } from '../own-pipeline.ts';
import { freshFolder } from '../scratch.ts';

const WHOLE = `import { field, fromRequest, lookup, pipeline, reading, table, text } from '${DECLARE}';
export default pipeline({
  name: 'own',
  doc: 'Something of my own.',
  endpoint: 'GET /dns/records',
  walk: lookup({ keys: ['wallet'], columns: [], query: 'SELECT address AS wallet FROM account_latest' }),
  tables: [
    table('own', {
      grain: 'one domain at one reading',
      key: ['domain', '_read_at'],
      sort: ['domain'],
      columns: { domain: text('/domain', 'name'), wallet: fromRequest('raw-address', 'wallet', 'account'), ...reading() },
    }),
  ],
});
`;

/** Loads a folder with some pipeline files. */
async function load(...files: readonly string[]): Promise<Registry> {
  const folder = freshFolder();
  for (const [at, text] of files.entries()) writeFileSync(join(folder, `own_${'abc'[at]}.js`), text);
  return loadRegistry(pathToFileURL(`${folder}/`));
}

test('a folder with one file adds its pipeline, with its views, to those that come with tonlake', async () => {
  const registry = await load(WHOLE);
  const shipped = await loadRegistry('');
  expect(registry.lasting.filter((name) => !shipped.lasting.includes(name))).toEqual(['own']);
  expect([...registry.own]).toEqual(['own']);
  expect(registry.pipeline('blocks')).toBe(shipped.pipeline('blocks'));
  expect(registry.tableOf('own_now')).toBe(registry.table('own'));
});

test('a pipeline may lie in a file of any name, but not in one of types, tests or settings', async () => {
  const folder = freshFolder();
  writeFileSync(join(folder, 'Own-Domains.mjs'), WHOLE);
  for (const file of ['own.d.ts', 'own.test.js', 'own.config.js', '.own.js', 'README.md'])
    writeFileSync(join(folder, file), '{');
  expect([...(await loadRegistry(folder)).own]).toEqual(['own']);
});

test.each([
  [
    'another kind of walk',
    'walk: lookup({',
    "walk: { ...lookup({ keys: [], columns: [], query: '' }), kind: 'lokup' }, was: ({",
    'expected a kind of walk, got "lokup"; hint: did you mean lookup?',
  ],
  [
    'an unknown kind of column',
    "fromRequest('raw-address'",
    "fromRequest('raw-adress'",
    'expected a kind for own.wallet, got "raw-adress"; hint: did you mean raw-address?',
  ],
  ['two columns of one name', "sort: ['domain'],", "sort: ['domain'], time: 'now',", undefined],
  [
    'an unknown endpoint',
    'GET /dns/records',
    'GET /dns/record',
    'expected an endpoint, got "GET /dns/record"; hint: did you mean dns/records?',
  ],
  ['the other method', 'GET /dns/records', 'POST /dns/records', 'expected an endpoint, got "POST /dns/records"'],
  [
    'an endpoint that sends',
    'GET /dns/records',
    'POST /message',
    'expected an endpoint that a pipeline can use, got POST /message; hint: it sends to the network',
  ],
  [
    'an unknown key',
    "keys: ['wallet']",
    "keys: ['walet']",
    'expected a parameter of GET /dns/records, got "walet"; hint: did you mean wallet?',
  ],
  [
    'an unknown parameter',
    "doc: 'Some",
    "parameters: { limmit: '5' }, doc: 'Some",
    'got "limmit"; hint: did you mean limit?',
  ],
  [
    'a key that is no column',
    "key: ['domain'",
    "key: ['domian'",
    'expected a column of own, got "domian"; hint: did you mean domain?',
  ],
  [
    'no columns that show a row’s key',
    'columns: [], ',
    '',
    'usage own_a.js: expected walk.columns, the columns with the key of a row, got undefined; hint: [] if no column shows it',
  ],
  ['an order by no column', "sort: ['domain']", "sort: ['name']", 'expected a column of own, got "name"'],
  [
    'a need that is not there',
    "doc: 'Some",
    "needs: ['owm'], doc: 'Some",
    'expected a pipeline that it needs, got "owm"; hint: did you mean own?',
  ],
  [
    'code in it',
    "doc: 'Some",
    "later: { ask: () => 1 }, doc: 'Some",
    'usage own_a.js: expected a declaration of data alone, got a function at later.ask',
  ],
  [
    'an unknown role',
    "grain: 'one",
    "plays: 'header', grain: 'one",
    'expected a role for own, got "header"; hint: did you mean headers?',
  ],
  [
    'a role whose columns it lacks',
    "grain: 'one",
    "plays: 'wholeTraces', grain: 'one",
    'usage own_a.js: expected column trace_id of own as VARCHAR as wholeTraces, got none',
  ],
  [
    'the name of one that comes with tonlake',
    "name: 'own'",
    "name: 'blocks'",
    'expected a name that no built-in pipeline has, got blocks; hint: rename it and its tables',
  ],
  [
    'the name of a table that comes with tonlake',
    "table('own'",
    "table('messages'",
    'expected each table or view once, got messages twice',
  ],
  [
    'an import that is not there',
    'import {',
    "import 'tonlake/nothing'; import {",
    'usage own_a.js: expected a pipeline, got Error [ERR_MODULE_NOT_FOUND]',
  ],
  [
    'a record that the API does not have',
    "grain: 'one",
    "record: 'DNSRecrd', grain: 'one",
    'usage own_a.js: expected a record of the API, got "DNSRecrd"; hint: did you mean DNSRecord?',
  ],
  [
    'a field that the record does not have',
    "domain: text('/domain', 'name')",
    "domain: field('/domian', 'name')",
    "usage own_a.js: expected a field of the table's record for column domain, got /domian; hint: declare it",
  ],
  [
    'the record of another endpoint',
    "grain: 'one",
    "record: 'JettonTransfer', grain: 'one",
    'usage own_a.js: expected DNSRecord, the record of GET /dns/records, for own, got JettonTransfer; hint: leave out record',
  ],
  [
    'rows that its endpoint does not send',
    "grain: 'one",
    "rows: { kind: 'records', path: '/domains' }, grain: 'one",
    'usage own_a.js: expected /records, the rows of GET /dns/records, for own, got /domains; hint: leave out rows',
  ],
  [
    'rows of another shape than its endpoint sends',
    "grain: 'one",
    "rows: { kind: 'records', path: '/records', shape: 'list' }, grain: 'one",
    'for own, got /records with shape list; hint: leave out rows',
  ],
  [
    'both rows and their record',
    "grain: 'one",
    "rows: { kind: 'records', path: '/records' }, record: 'DNSRecord', grain: 'one",
    'usage own_a.js: expected rows or their record for own, got both; hint: leave out both',
  ],
  [
    'no pipeline',
    'export default pipeline(',
    'export const mine = pipeline(',
    'expected a pipeline as its default export, got undefined',
  ],
  [
    'tables that no pipeline completes',
    'export default pipeline({',
    'export default ({ parameters: {}, needs: [], provenBy: [], ignore: [], version: 1,',
    'expected a pipeline as its default export, got object; hint: export default pipeline({ name: ... })',
  ],
])('a file with %s is refused', async (what, from, to, says) => {
  const columns = what === 'two columns of one name';
  const changed = columns
    ? WHOLE.replace(from, to).replace(
        'columns: {',
        "columns: { now: text('/now', 'time'), block_time: text('/time', 'time'),",
      )
    : WHOLE.replace(from, to);
  expect(changed).not.toBe(WHOLE);
  const error = await load(changed).catch((caught: unknown) => caught);
  expect(error).toBeInstanceOf(UsageError);
  expect(formatError(error)).toContain(
    says ?? 'usage own_a.js: expected each column of own once, got block_time twice',
  );
});

test.each([
  ['GET /jetton/burns', "rows: { kind: 'records', path: '/jetton_burns' }", '/jetton_burns', undefined],
  ['GET /topAccountsByBalance', "rows: { kind: 'records', path: '/rows', shape: 'list' }", '/rows', 'list'],
  ['GET /addressBook', "rows: { kind: 'records', path: '/rows', shape: 'map' }", '/rows', 'map'],
  ['GET /walletInformation', "rows: { kind: 'records', path: '/rows', shape: 'one' }", '/rows', 'one'],
  ['POST /decode', "record: 'DecodeResponse'", '/rows', 'one'],
  ['POST /decode', "rows: { kind: 'records', path: '/rows', shape: 'bodies' }", '/rows', 'bodies'],
])('the rows of a table of %s may be said as %s, or left out', async (endpoint, said, path, shape) => {
  const text = WHOLE.replace('GET /dns/records', endpoint).replace("keys: ['wallet']", 'keys: []');
  const rows = shape === undefined ? { kind: 'records', path } : { kind: 'records', path, shape };
  const written = await load(text.replace("grain: 'one", `${said}, grain: 'one`));
  expect(written.table('own').rows).toEqual(rows);
  if (shape !== 'bodies') expect((await load(text)).table('own')).toEqual(written.table('own'));
});

test('a module in a folder of CommonJS is refused with what to do about it', async () => {
  const folder = freshFolder();
  writeFileSync(join(folder, 'package.json'), '{"type": "commonjs"}');
  writeFileSync(join(folder, 'own.js'), WHOLE);
  const error = await loadRegistry(folder).catch((caught: unknown) => caught);
  expect(formatError(error)).toContain('hint: rename it to own.mjs, or set "type": "module" in package.json');
});

test.each([
  ['jeton', 'expected column jeton of own as VARCHAR to compare it with the request, got none'],
  ['last_transaction_lt', 'as VARCHAR to compare it with the request, got '],
])('a list by parents whose column is %s is refused', async (column, says) => {
  const text = `import { field, pipeline, reading, snapshot, table } from '${DECLARE}';
export default pipeline({
  name: 'own',
  doc: 'Wallets of my own.',
  endpoint: 'GET /jetton/wallets',
  walk: snapshot({ parents: { parameter: 'jetton_address', column: '${column}', query: 'SELECT 1' } }),
  tables: [
    table('own', {
      grain: 'one wallet at one reading',
      key: ['jetton', '_read_at'],
      columns: {
        jetton: field('/jetton', 'jetton'),
        last_transaction_lt: field('/last_transaction_lt', 'logical time'),
        ...reading(),
      },
    }),
  ],
});
`;
  await expect(load(text)).rejects.toThrow(says);
  const right = await load(text.replace(`column: '${column}'`, "column: 'jetton'"));
  expect([...right.own]).toEqual(['own']);
});

const LONG = 'x'.repeat(101);

test.each([
  ...['../evil', 'Own', 'größe', '_own', '', 'constructor', LONG].map(
    (name) => ["name: 'own'", `name: '${name}'`, name] as const,
  ),
  ...['../evil', 'a*', 'a[b]', '.own', '_commits', '', '__proto__', 'constructor', LONG].map(
    (name) => ["table('own'", `table('${name}'`, name] as const,
  ),
  ...['', 'constructor', LONG].map(
    (name) => ['{ domain: text(', `{ domain: text('/domain', 'a'), '${name}': text(`, name] as const,
  ),
])('a name that no folder or query can have is refused: %s, %s', async (from, to, name) => {
  const changed = WHOLE.replace(from, to);
  expect(changed).not.toBe(WHOLE);
  await expect(load(changed)).rejects.toThrow(`got ${JSON.stringify(name.slice(0, 100))}`);
});

test.each([
  ['domain: text(', "domain: text('/domain', 'a'), Domain: text(", 'each column of own once, got domain and Domain'],
  ['domain: text(', "domain: text('/domain', 'a'), filename: text(", 'each column of own once, got filename twice'],
  ["table('own'", "table('Blocks'", 'each table or view once, got blocks and Blocks'],
  [
    "table('own'",
    "table('Account_Latest_NOW'",
    'each table or view once, got account_latest_now and Account_Latest_NOW',
  ],
])('a name that differs from another in its case only is refused: %s, %s', async (from, to, says) => {
  await expect(load(WHOLE.replace(from, to))).rejects.toThrow(says);
});

test.each(['order', 'we"ird', "it's", 'a b%#c', 'größe'])('a table may be named %s', async (name) => {
  const registry = await load(WHOLE.replace("table('own'", `table(${JSON.stringify(name)}`));
  expect(registry.table(name).name).toBe(name);
});

test('two pipelines, or two tables, of one name are refused', async () => {
  await expect(load(WHOLE, WHOLE)).rejects.toThrow('expected each pipeline once, got own twice');
  const other = WHOLE.replace("name: 'own'", "name: 'other'");
  await expect(load(WHOLE, other)).rejects.toThrow('expected each table or view once, got own twice');
});

test('two tables cannot play one role', async () => {
  const text = WHOLE.replace("grain: 'one", "plays: 'pendingTraces', grain: 'one");
  await expect(load(text)).rejects.toThrow('expected each role once, got pendingTraces twice');
});

test('a folder that is not there is named', async () => {
  await expect(loadRegistry('/nowhere/at/all')).rejects.toThrow('expected a folder of pipelines, got /nowhere/at/all');
});
