import { readdir, readFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { describe, expect, test } from 'vitest';
import { formatError } from '../../src/core/errors.ts';
import { buildMarts } from '../../src/marts/build-marts.ts';
import { loadChecks } from '../../src/marts/load-checks.ts';
import { loadMarts, type MartDef, martOf } from '../../src/marts/load-marts.ts';
import { hashSelect, stampOf } from '../../src/marts/mart-inputs.ts';
import { exportSandbox, marts, registry, sqlFolder, texts } from './support.ts';

const header = (inputs: string, more = ''): string =>
  `-- A test.\n-- question: How many?\n-- grain: one row\n-- key: n\n-- inputs: ${inputs}\n-- units: none\n${more}`;

async function faultOf(files: Readonly<Record<string, string>>): Promise<string> {
  const folder = await sqlFolder(files);
  const error: unknown = await loadMarts(registry, folder).catch((thrown: unknown) => thrown);
  return formatError(error).replaceAll(folder, '');
}

describe('a fault of a mart is one line with file and line', () => {
  test.each([
    [
      'a relation that is not there',
      { 'm.sql': `${header('transaction')}SELECT count(*) AS n\nFROM transaction\n` },
      'mart: expected a table or a mart, got transaction (/m.sql:8); hint: did you mean transactions?',
    ],
    [
      'marts that read each other',
      { 'm.sql': `${header('o')}SELECT n FROM o\n`, 'o.sql': `${header('m')}SELECT n\nFROM m\n` },
      'mart: expected marts that do not read each other, got m -> o -> m (/o.sql:8)',
    ],
    [
      'a mart that reads itself',
      { 'm.sql': `${header('m')}SELECT n FROM m\n` },
      'mart: expected marts that do not read each other, got m -> m (/m.sql:7)',
    ],
    [
      'SQL that is none',
      { 'm.sql': `${header('blocks')}SELECT 1 AS n\nFRO blocks WHERE\n` },
      'mart: syntax error at or near "FRO" (/m.sql:8)',
    ],
    [
      'a column that is not there',
      { 'm.sql': `${header('blocks')}SELECT seqno AS n,\n  sequno\nFROM blocks\n` },
      /^mart: Binder Error: Referenced column "sequno" not found .* \(\/m\.sql:8\); hint: tonlake show/,
    ],
    [
      'a number that went through a float',
      { 'm.sql': `${header('blocks')}SELECT avg(tx_count) AS n FROM blocks\n` },
      /^mart: expected a supported type for n, got DOUBLE \(\/m\.sql\); hint: cast it/,
    ],
    [
      'a statement that is no select',
      { 'm.sql': `${header('blocks')}DROP TABLE blocks\n` },
      /^mart: Only SELECT statements can be serialized to json! \(\/m\.sql:1\)$/,
    ],
    [
      'two statements',
      { 'm.sql': `${header('blocks')}SELECT 1 AS n; SELECT 2 AS n\n` },
      'mart: expected one select, got 2 (/m.sql)',
    ],
    [
      'a header that says otherwise',
      { 'm.sql': `${header('transactions')}SELECT seqno AS n FROM blocks\n` },
      'mart: expected the inputs of the select (blocks) in its header, got transactions (/m.sql)',
    ],
    [
      'a key of the header that is not known',
      { 'm.sql': `${header('blocks', '-- grian: x\n')}SELECT seqno AS n FROM blocks\n` },
      /^mart: expected one of question, .*, got grian \(\/m\.sql:7\)/,
    ],
    [
      'a header without a question',
      { 'm.sql': 'SELECT 1 AS n\n' },
      /^mart: expected a line -- question: \.\.\. above the query, got none \(\/m\.sql:1\)/,
    ],
    [
      'a key that is no column',
      { 'm.sql': `${header('blocks')}SELECT seqno FROM blocks\n` },
      'mart: expected the key of m among its columns, got n (/m.sql)',
    ],
    [
      'a day that is no column',
      { 'm.sql': `${header('blocks', '-- incremental: block_date\n')}SELECT seqno AS n FROM blocks\n` },
      /^mart: expected incremental: block_date and a DATE of that name/,
    ],
    [
      'the name of a table',
      { 'blocks.sql': `${header('transactions')}SELECT lt AS n FROM transactions\n` },
      'mart: expected an unused table name, got blocks (/blocks.sql)',
    ],
    ['a name that is no name', { 'My Mart.sql': '' }, /^mart: expected a file name of lower-case letters/],
  ] as const)('%s', async (_, files, expected) => {
    const fault = await faultOf(files);
    if (typeof expected === 'string') expect(fault).toBe(expected);
    else expect(fault).toMatch(expected);
  });

  test('a folder that is not there', async () => {
    await expect(loadMarts(registry, '/nowhere/marts')).rejects.toThrow(
      'mart: expected a folder of .sql files, got /nowhere/marts',
    );
  });

  test('a check that reads what is not there', async () => {
    const folder = await sqlFolder({ 'c.sql': '-- A.\n-- rule: b\n-- inputs: blokcs\nSELECT * FROM blokcs\n' });
    await expect(loadChecks(registry, { folder })).rejects.toThrow(
      /expected a table or a mart, got blokcs \(.*c\.sql:4\)/,
    );
  });
});

test('shipped marts are read once for a registry, those of a folder each time', async () => {
  const other = registry.with([{ ...registry.pipeline('blocks'), name: 'more', tables: [] }]);
  expect(await loadMarts(registry)).toBe(await loadMarts(registry));
  expect(await loadMarts(other)).not.toBe(await loadMarts(registry));
  const folder = await sqlFolder({});
  expect(await loadMarts(registry, folder)).not.toBe(await loadMarts(registry, folder));
  expect((await loadMarts(registry, folder)).map(({ name }) => name)).toEqual(marts.map(({ name }) => name));
});

test('gas and names of opcodes are made by macros alone, in marts, reports, questions and show', async () => {
  const root = resolve(import.meta.dirname, '../../sql');
  const files = (await readdir(root, { recursive: true })).filter((path) =>
    /^(marts|reports|questions|show)\/.*\.(sql|md)$/.test(path),
  );
  expect(files.length).toBeGreaterThan(40);
  for (const path of files) {
    const text = (await readFile(join(root, path), 'utf8')).replace(
      /gas_(units|cost)\(compute_gas_used, compute_gas_fees\)/g,
      '',
    );
    expect(text, path).not.toMatch(/compute_gas_(used|fees)|printf|to_hex|WHEN 0x|'text_comment'/);
  }
});

test('marts come after those that they read', () => {
  const names = marts.map(({ name }) => name);
  for (const { name, inputs } of marts) {
    for (const input of inputs.filter((each) => names.includes(each))) {
      expect(names.indexOf(input), `${input} before ${name}`).toBeLessThan(names.indexOf(name));
    }
  }
});

test('a mart is stale once a macro that it calls says something else, such as a new name of an opcode', async () => {
  const stampWith = (mart: MartDef, macros = mart.macros) =>
    stampOf(hashSelect(mart.file.sql, macros), { parts: new Map(), days: undefined }, 'proven');
  const byOpcode = martOf(marts, 'messages_by_opcode_daily');
  const [definition = ''] = byOpcode.macros;
  expect(definition).toMatch(/^opcode_name\(opcode\) AS .*'text_comment'/s);
  const renamed = [definition.replace("'text_comment'", "'comment'")];
  expect(stampWith(byOpcode, renamed)).not.toBe(stampWith(byOpcode));
  // An inner macro counts as well.
  const swaps = marts.find(({ file }) => file.sql.includes('try_exact_sum('));
  expect(swaps?.macros.map((text) => text.slice(0, text.indexOf('(')))).toEqual(
    expect.arrayContaining(['_high_sum', '_low_sum', 'try_exact_sum']),
  );
  expect(martOf(marts, 'active_accounts_daily').macros).toEqual([]);
});

test("a user's own mart is built over tables and shipped marts; an SQL that changes is built anew, one that fails leaves its rows", async () => {
  const path = await exportSandbox('4998:5003', ['transactions']);
  const build = async (select: string) =>
    buildMarts(path, {
      names: ['m'],
      folder: await sqlFolder({ 'm.sql': `${header('transactions_daily')}${select}` }),
    });
  const [, mine] = await build('SELECT sum(tx_count)::BIGINT AS n FROM transactions_daily\n');
  expect(mine).toMatchObject({ name: 'm', status: 'built', rows: 1 });
  const [[count = ''] = []] = await texts(path, 'select count(*) from transactions');
  expect(await texts(path, 'select n from m')).toEqual([[count]]);
  await build("SELECT sum(tx_count)::VARCHAR AS n, 'new' AS kind FROM transactions_daily\n");
  expect(await texts(path, 'select n, kind from m')).toEqual([[count, 'new']]);
  await expect(build("SELECT 'x'::VARCHAR::BIGINT AS n FROM transactions_daily\n")).rejects.toThrow(
    /^mart: Conversion Error: Could not convert string 'x' to INT64 \(.*m\.sql\)$/,
  );
  expect(await texts(path, 'select n, kind from m')).toEqual([[count, 'new']]);
});
