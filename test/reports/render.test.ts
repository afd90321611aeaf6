import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, test } from 'vitest';
import { loadRegistry } from '../../src/declare/registry.ts';
import { run } from '../../src/export/run.ts';
import { buildMarts } from '../../src/marts/build-marts.ts';
import { renderReport } from '../../src/reports/render-report.ts';
import { shippedFolder, shippedNames } from '../../src/sql/shipped-queries.ts';
import { openReader } from '../../src/warehouse/open-store.ts';
import { query } from '../e2e/export.ts';
import { goldenWarehouse } from '../golden-warehouse.ts';
import { openWarehouse } from '../open-warehouse.ts';
import { freshFolder } from '../scratch.ts';
import { withRandomTies } from '../sql/random-ties.ts';
import { FRONT, tableReport, warehouseWithHole, writeReport } from './support.ts';

let warehouse: string;
const GAP = 'transactions: missing 1010:1019 (not exported)';
const now = new Date('2026-05-02T03:15:00Z');

beforeAll(async () => {
  warehouse = await warehouseWithHole();
});

describe('values of the chain', () => {
  const hostile = `select '<script>alert(1)</script>' as "<b>head</b>", '[x](javascript:alert(1)) | a' as link, 5 as "n&m"`;

  test('are text in HTML, wherever they stand', async () => {
    const report = writeReport(
      `${FRONT}\n\`\`\`sql shown\n${hostile}\n\`\`\`\n\`\`\`table shown\ntitle: <i>T</i>\n\`\`\`\n` +
        '```chart shown\nmark: barX\nx: n&m\ny: <b>head</b>\ncolor: <b>head</b>\ntitle: A < B\n```\n```figures shown\ntitle: F\n```\n',
    );
    const { content } = await renderReport(warehouse, report);
    const scripts = [...content.matchAll(/<script/g)];
    expect(scripts).toHaveLength(1);
    expect(content).not.toMatch(/<\/?(b|i)>/);
    expect(content).toContain('&lt;script&gt;alert(1)&lt;/script&gt;');
    expect(content).toContain('A &lt; B');
  });

  test('make no markup, link or cell in Markdown', async () => {
    const { content } = await renderReport(warehouse, tableReport(hostile), { format: 'md' });
    expect(content).toContain('| &lt;b&gt;head&lt;/b&gt; | link | n&amp;m |');
    expect(content).toContain('\\[x\\](javascript:alert(1)) \\| a');
  });

  test('cannot hide behind control characters', async () => {
    const { content } = await renderReport(
      warehouse,
      tableReport(`select 'a' || chr(8238) || 'b' || chr(27) as comment`),
    );
    expect(content).toContain('a\\u202eb\\u001b');
  });

  test('HTML in the prose of a report stays text, and images are not asked for', async () => {
    const prose = '<img src=x onerror=alert(1)>\n\n![a](https://example.org/a.png)\n\n[l](javascript:alert(1))\n';
    const report = writeReport(
      `${FRONT}${prose}\n\`\`\`sql shown\nselect 1 as a\n\`\`\`\n\`\`\`table shown\ntitle: T\n\`\`\`\n`,
    );
    const { content } = await renderReport(warehouse, report);
    expect(content).not.toContain('<img');
    expect(content).not.toContain('href="javascript');
  });
});

describe('numbers', () => {
  const sql =
    'select 9223372036854775807 as big, 12345678901234567890123456789012345678::DECIMAL(38, 0) as units, 0.000000001::DECIMAL(38, 9) as small';

  test('keep all their digits in every form', async () => {
    const report = tableReport(sql);
    const of = async (format: 'html' | 'md' | 'csv' | 'json') =>
      (await renderReport(warehouse, report, { format })).content;
    for (const format of ['html', 'md'] as const) {
      const content = await of(format);
      expect(content).toContain('9,223,372,036,854,775,807');
      expect(content).toContain('12,345,678,901,234,567,890,123,456,789,012,345,678');
      expect(content).toContain('0.000000001');
    }
    expect(await of('csv')).toBe(
      'big,units,small\n9223372036854775807,12345678901234567890123456789012345678,0.000000001\n',
    );
    expect(await of('json')).toContain(
      '"rows":[{"big":9223372036854775807,"units":12345678901234567890123456789012345678,"small":0.000000001}]',
    );
  });

  test('of several blocks stand below one another in CSV', async () => {
    const report = writeReport(
      `${FRONT}\n\`\`\`sql one\nselect 1 as a\n\`\`\`\n\`\`\`sql two\nselect a + 1 as b from one\n\`\`\`\n` +
        '```table one\ntitle: A\n```\n```table two\ntitle: B\n```\n',
    );
    expect((await renderReport(warehouse, report, { format: 'csv' })).content).toBe('# one\na\n1\n\n# two\nb\n2\n');
  });
});

describe('parameters', () => {
  const front = `---
title: A report
doc: For a test.
params:
  who: { type: text, doc: a name, default: nobody }
  day: { type: date, doc: a day }
  account: { type: address, doc: an account }
  most: { type: integer, doc: a number, default: 3 }
---
`;
  const report = () => tableReport('select $who as who, $day as day, $account as account, $most + 1 as more', front);

  test('are bound: SQL in a value is a value', async () => {
    const params = { who: `x'; drop table transactions; --`, day: '2026-05-01', most: '41' };
    const { content } = await renderReport(warehouse, report(), { format: 'csv', params });
    expect(content).toBe(`who,day,account,more\nx'; drop table transactions; --,2026-05-01,,42\n`);
  });

  test('that are addresses become raw', async () => {
    const raw = `0:${'AB'.repeat(32)}`;
    const { rows } = await openAndQuery(`select friendly_address('${raw}')`);
    for (const account of [String(rows[0]?.[0]), raw.toLowerCase()]) {
      const { content } = await renderReport(warehouse, report(), { format: 'csv', params: { account } });
      expect(content).toContain(`nobody,,${raw},4`);
    }
  });

  test.each([
    { params: { whom: 'a' }, says: 'did you mean who?' },
    { params: { day: '2026-02-30' }, says: 'a date such as' },
    { params: { most: '1.5' }, says: 'a whole number' },
    { params: { account: `0:${'A'.repeat(63)}` }, says: 'an address' },
  ])('$params is refused', async ({ params, says }) => {
    const error: unknown = await renderReport(warehouse, report(), { params }).catch((thrown: unknown) => thrown);
    expect(error).toMatchObject({ name: 'UsageError' });
    expect(String(error) + JSON.stringify(error)).toContain(says);
  });
});

describe('a wrong select is told with the file and the line', () => {
  test.each([
    { sql: 'select 1,\n  nothere from transactions', says: /"nothere" not found.*report\.md:8\)$/ },
    { sql: 'select 1\nfrom nowhere', says: /nowhere does not exist.*report\.md:8\)$/ },
    { sql: 'select 1\n\nfrom from x', says: /syntax error.*report\.md:9\)$/ },
    { sql: `select 'a'::INTEGER as b`, says: /Could not convert string 'a'.*report\.md:(6|7)\)$/ },
    { sql: 'select 1; select 2', says: /one select, got several statements .*report\.md:6\)$/ },
    { sql: `copy (select 1) to '/tmp/x.csv'`, says: /Only SELECT statements.*report\.md:7\)$/ },
    {
      sql: 'select 1 as a\n-- $whom\nwhere $Now is null or $whom = 1',
      says: /expected a declared parameter, got \$whom \(.*report\.md:9\)$/,
    },
  ])('$sql', async ({ sql, says }) => {
    await expect(renderReport(warehouse, tableReport(sql))).rejects.toThrow(says);
  });

  test('also a column that a chart names and the select does not give', async () => {
    const report = writeReport(
      `${FRONT}\n\`\`\`sql shown\nselect 1 as ones\n\`\`\`\n\`\`\`chart shown\nmark: bar\nx: ones\ny: once\ntitle: T\n\`\`\`\n`,
    );
    await expect(renderReport(warehouse, report)).rejects.toMatchObject({
      message: expect.stringMatching(/expected a column of shown, got once \(.*report\.md:9\)/),
      hint: expect.stringContaining('did you mean ones?'),
    });
  });

  test('and an id that would hide a table', async () => {
    const report = writeReport(
      `${FRONT}\`\`\`sql transactions\nselect 1 as a\n\`\`\`\n\`\`\`table transactions\ntitle: T\n\`\`\`\n`,
    );
    await expect(renderReport(warehouse, report)).rejects.toThrow(
      /expected an id that is not a table name, got transactions/,
    );
  });
});

describe('what the data lacks', () => {
  test('is told where the report reads it', async () => {
    const report = tableReport('select count(*) as n from transactions');
    const { content, gaps } = await renderReport(warehouse, report);
    expect(gaps).toEqual([GAP]);
    expect(content).toMatch(/<section class="gaps" role="alert">.*transactions: missing 1010:1019/);
    expect((await renderReport(warehouse, report, { format: 'md' })).content).toContain(`> - ${GAP}`);
    expect(JSON.parse((await renderReport(warehouse, report, { format: 'json' })).content)).toMatchObject({
      gaps: [GAP],
    });
  });

  test('is not told where it reads other tables', async () => {
    const { content, gaps } = await renderReport(warehouse, tableReport('select count(*) as n from blocks'));
    expect(gaps).toEqual([]);
    expect(content).not.toContain('class="gaps"');
  });

  test('is also a table that was never exported, unless the report can do without', async () => {
    const sql = 'select count(*) as n from jetton_transfers';
    expect((await renderReport(warehouse, tableReport(sql))).gaps).toEqual([
      'jetton_transfers was never exported here: tonlake run jetton_transfers --range 1000:1029',
    ]);
    const front = '---\ntitle: A\ndoc: b\noptional: [jetton_transfers]\n---\n';
    expect((await renderReport(warehouse, tableReport(sql, front))).gaps).toEqual([]);
  });

  test('is also a hole in a history that the report could do without', async () => {
    const front = '---\ntitle: A\ndoc: b\noptional: [transactions]\n---\n';
    const { gaps } = await renderReport(warehouse, tableReport('select count(*) as n from transactions', front));
    expect(gaps).toEqual([GAP]);
  });

  test('is said in the place of the rows of an optional mart that was never built, and of what is made of them', async () => {
    const front = '---\ntitle: A\ndoc: b\noptional: [jetton_holders_daily]\n---\n';
    const text = `${front}\n\`\`\`sql days\nselect * from jetton_holders_daily\n\`\`\`
\`\`\`sql shown\nselect block_date, holder_count from days where getvariable('x') is null\n\`\`\`
\`\`\`chart shown\ntitle: C\nmark: bar\nx: block_date\ny: holder_count\n\`\`\`
\`\`\`figures shown\ntitle: F\ncolumns: [holder_count]\n\`\`\`
\`\`\`table shown\ntitle: T\nempty: Nobody.\n\`\`\`
\`\`\`sql other\nselect 1 as one\n\`\`\`\n\`\`\`table other\ntitle: O\n\`\`\`\n`;
    const report = writeReport(text);
    const line = 'jetton_holders_daily was never built here: tonlake build jetton_holders_daily';
    for (const format of ['html', 'md', 'text'] as const) {
      const { content, gaps, isEmpty } = await renderReport(warehouse, report, { format });
      expect([content.split(line).length - 1, gaps, isEmpty]).toEqual([3, [], false]);
    }
    const { content } = await renderReport(warehouse, report, { format: 'json' });
    expect(JSON.parse(content).blocks).toMatchObject({ shown: { rows: [] }, other: { rows: [{ one: 1 }] } });
    // A mart that the report needs is an error, as before.
    await expect(renderReport(warehouse, writeReport(text.replace(/optional.*\n/, '')))).rejects.toThrow(
      /^report: .*Table with name jetton_holders_daily does not exist!.*report\.md:7\)$/,
    );
  });

  test('is told of an optional mart that is built: parts of days, and that it is stale', async () => {
    const own = await goldenWarehouse(['transactions', '1000:1009'], ['blocks', '1010:1019']);
    await buildMarts(own, { names: ['transactions_daily'] });
    const front = '---\ntitle: A\ndoc: b\noptional: [transactions_daily]\n---\n';
    const report = tableReport('select count(*) as n from transactions_daily', front);
    expect((await renderReport(own, report)).gaps).toEqual(['transactions_daily: missing part of 2026-05-01']);
    await run({ pipelines: ['transactions'], network: 'sandbox', range: '1010:1012', warehouse: own });
    expect((await renderReport(own, report)).gaps).toEqual([
      'transactions_daily: missing part of 2026-05-01',
      'transactions_daily: stale, built 1 commit ago: tonlake build transactions_daily',
    ]);
  });

  test('counts whole blocks of the ledger in export-health', async () => {
    const { content, gaps } = await renderReport(warehouse, 'export-health', { format: 'json', now });
    expect(gaps).toEqual([GAP]);
    expect(JSON.parse(content).blocks.holes.rows).toEqual([
      { pipeline: 'transactions', state: 'missing', reason: 'not exported', from: 1010, to: 1019, blocks: 10 },
    ]);
  });
});

test('the foot tells coverage, hashes, head, zone and time', async () => {
  const report = tableReport('select count(*) as n from transactions');
  const { content } = await renderReport(warehouse, report, { format: 'json', now, timezone: 'Asia/Tokyo' });
  const { rows } = await openAndQuery('select count(*) from transactions');
  expect(JSON.parse(content)).toMatchObject({
    network: 'sandbox',
    madeAt: '2026-05-02T03:15:00.000Z',
    timezone: 'Asia/Tokyo',
    head: { seqno: 1029, time: '2026-05-02 08:33:31' },
    coverage: [
      {
        ...{ pipeline: 'transactions', proven: '1000:1009,1020:1029', unproven: 'nothing' },
        ...{ missing: '1010:1019 (not exported)', proof: 'block headers' },
      },
    ],
    tables: [
      { table: 'transactions', rows: Number(rows[0]?.[0]), contentHash: expect.stringMatching(/^[0-9a-f]{32}$/) },
    ],
  });
  const html = (await renderReport(warehouse, report, { now, timezone: 'Asia/Tokyo' })).content;
  expect(html).toContain(
    'Created 2026-05-02 03:15:00 UTC from sandbox; newest masterchain block 1029 of 2026-05-02 08:33:31; time zone Asia/Tokyo.',
  );
});

test('the same data at the same time gives the same file', async () => {
  const [once, again] = await Promise.all([1, 2].map(() => renderReport(warehouse, 'network-daily', { now })));
  expect(once?.content).toBe(again?.content);
});

test.each(await shippedNames('reports'))('rows of %s have one order, however DuckDB reads them', async (name) => {
  const own = await goldenWarehouse(['transactions', '1000:1009'], ['jetton_transfers', '1000:1009']);
  const busiest = async (column: string, table: string) =>
    (await query(own, `SELECT mode(${column}) FROM ${table}`))[0]?.[0] ?? '';
  const params = {
    account: { account: await busiest('source', 'messages'), latest: '1000' },
    jetton: { jetton: await busiest('jetton_master', 'jetton_transfers') },
  }[name];
  const blocksOf = async (report: string) =>
    JSON.parse((await renderReport(own, report, { format: 'json', now, params })).content).blocks;
  const text = readFileSync(join(shippedFolder('reports'), name, 'report.md'), 'utf8');
  let orders = 0;
  const shuffled = text.replace(/(?<=^```sql .*\n)[\s\S]*?(?=\n```$)/gm, (sql) => {
    if (!/\border by (?!all\b)[^()]*$/i.test(sql)) return sql;
    orders += 1;
    return withRandomTies(sql);
  });
  expect(orders).toBeGreaterThan(3);
  expect(await blocksOf(writeReport(shuffled))).toEqual(await blocksOf(name));
});

test('days are those of the time zone', async () => {
  const of = async (timezone: string) => {
    const params = { by: 'day' };
    const { content } = await renderReport(warehouse, 'network-daily', { format: 'json', params, timezone });
    return JSON.parse(content).blocks.transactions_by_time.rows.map(({ time }: { readonly time: string }) => time);
  };
  expect(await of('UTC')).toEqual(['2026-05-01 00:00:00']);
  expect(await of('Asia/Tokyo')).toEqual(['2026-05-02 00:00:00']);
  await expect(of('Europe/Zurick')).rejects.toMatchObject({
    message: 'usage: expected a time zone such as Europe/Zurich, got "Europe/Zurick"',
    hint: 'did you mean Europe/Zurich?',
  });
});

test('a report without rows says that it is empty', async () => {
  const params = { account: `0:${'0'.repeat(64)}` };
  expect(await renderReport(warehouse, 'account', { params })).toMatchObject({ isEmpty: true });
  const later = { from: '2030-01-01', to: '2030-01-02' };
  expect(await renderReport(warehouse, 'network-daily', { params: later })).toMatchObject({ isEmpty: true });
  expect(await renderReport(warehouse, 'network-daily')).toMatchObject({ isEmpty: false });
});

test('all blocks of a report see the same commits, whatever an export does meanwhile', async () => {
  const own = join(freshFolder(), 'w');
  await run({ pipelines: ['blocks'], network: 'sandbox', range: '1000:1004', warehouse: own });
  const { tables } = await loadRegistry();
  const [pinned, following] = [await openReader(own, tables, { isPinned: true }), await openReader(own, tables)];
  const count = async ({ query }: typeof pinned) =>
    Number((await query('select count(*) from blocks where workchain = -1')).rows[0]?.[0]);
  await run({ pipelines: ['blocks'], network: 'sandbox', range: '1005:1009', warehouse: own });
  expect([await count(pinned), await count(following)]).toEqual([5, 10]);
  await Promise.all([pinned.close(), following.close()]);
});

test('a report works over a warehouse of one file', async () => {
  const file = join(freshFolder(), 'w.duckdb');
  await run({ pipelines: ['transactions'], network: 'sandbox', range: '1000:1004', warehouse: file });
  for (const report of ['network-daily', 'export-health']) {
    const { isEmpty, gaps } = await renderReport(file, report);
    const days = ['transactions', 'blocks'].map((name) => `${name}: missing part of 2026-05-01`);
    expect([isEmpty, gaps.map((gap) => gap.split(' (')[0])]).toEqual([false, report === 'network-daily' ? days : []]);
  }
});

async function openAndQuery(sql: string) {
  const opened = await openWarehouse(warehouse);
  try {
    return await opened.query(sql);
  } finally {
    await opened.close();
  }
}

describe('limits', () => {
  const ENDLESS = 'select count(*) as n from range(100000000000) a, range(100000000000) b';

  test('an abort ends the query that runs', async () => {
    const warehouse = await warehouseWithHole();
    const reason = new Error('enough');
    const end = new AbortController();
    const rendered = renderReport(warehouse, tableReport(ENDLESS), { signal: end.signal });
    setTimeout(() => end.abort(reason), 100);
    await expect(rendered).rejects.toBe(reason);
  });

  test('a query that needs more memory than it may have fails', async () => {
    const warehouse = await warehouseWithHole();
    const large = tableReport("select list(repeat('x', 1000) || i) as n from range(1000000) r(i)");
    const rendered = renderReport(warehouse, large, { memoryMb: 40 });
    await expect(rendered).rejects.toThrow(/Out of Memory/);
  });
});
