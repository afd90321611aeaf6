import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { loadRegistry } from '../../src/declare/registry.ts';
import { buildMarts } from '../../src/marts/build-marts.ts';
import { loadMarts } from '../../src/marts/load-marts.ts';
import { collectRows } from '../../src/sql/query-result.ts';
import { tonViews } from '../../src/sql/ton-views.ts';
import { EmptyDatabase } from '../../src/warehouse/query/empty-database.ts';
import { openQueries } from '../../src/warehouse/query/query.ts';
import { tonlake } from '../cli.ts';
import { exportSandbox } from '../marts/support.ts';
import { closing, freshFolder } from '../scratch.ts';
import { queryFile } from './warehouses.ts';

/** Constants to compare a column with, by its type. A part of the plan shows them. */
const CONSTANTS: Readonly<Record<string, string>> = { VARCHAR: "'0:00'", BIGINT: '5', INTEGER: '5' };
const MARTS = ['accounts', 'latest_balances', 'dex_swaps'];
const names = tonViews().map(({ name }) => name);
const registry = await loadRegistry();
const marts = await loadMarts(registry);

const pipelines = ['transactions', 'actions', 'jetton_transfers', 'nft_transfers', 'jetton_wallets', 'account_latest'];
const warehouse = await exportSandbox('1000:1060', pipelines);
const file = await exportSandbox('1000:1020', ['transactions'], join(freshFolder(), 'w.duckdb'));
for (const path of [warehouse, file]) await buildMarts(path, { names: MARTS });

/** Rows of a query, and its warnings. */
async function ask(sql: string, path = warehouse) {
  const warnings: string[] = [];
  const reader = closing(await openQueries(path, { onWarning: (message) => warnings.push(message) }));
  const { rows } = await reader.read(sql, collectRows);
  return { rows, warnings };
}

describe('a view of ton', () => {
  test.each(tonViews().map((view) => [view.name, view] as const))(
    '%s has the columns and types of its header, with all that it reads and without',
    async (name, { columns }) => {
      const expected = columns.map((column) => [column.name, column.type]);
      const scratch = closing(await EmptyDatabase.open(registry));
      const described = async () => {
        const { rows } = await scratch.query(`DESCRIBE SELECT * FROM ton.${name}`);
        return rows.map(([column, type]) => [column, String(type)]);
      };
      const without = await described();
      for (const { table } of marts) scratch.declare(table);
      expect([without, await described()]).toEqual([expected, expected]);
    },
  );

  test('reads what its header says', async () => {
    for (const { name, inputs, sql } of tonViews().filter((view) => view.sql !== '')) {
      const read = [...sql.matchAll(/\bmain\.(\w+)/g)].map(([, table]) => table);
      expect([...new Set(read)].sort(), name).toEqual([...inputs].sort());
    }
  });

  test.each([
    ['transactions', 'transactions'],
    ['messages', 'messages'],
    ['blocks', 'blocks'],
    ['account_states', 'account_states'],
    ['accounts', 'accounts'],
    ['latest_balances', 'latest_balances'],
    ['dex_trades', 'dex_swaps'],
  ])('%s has the rows of %s, in a folder, its catalog and a file', async (view, behind) => {
    const counts = `SELECT (SELECT count(*) FROM ton.${view}) = (SELECT count(*) FROM ${behind}), count(*) > 0 FROM ton.transactions`;
    const there = view === 'dex_trades' ? warehouse : file;
    expect([(await ask(counts)).rows, await queryFile(warehouse, counts), (await ask(counts, there)).rows]).toEqual(
      Array.from({ length: 3 }, () => [[true, true]]),
    );
  });

  test('is found under its quoted name, and listed', async () => {
    expect((await ask('SELECT count(*) > 0 FROM "ton"."transactions"')).rows).toEqual([[true]]);
    const listed = await ask("SELECT table_name FROM information_schema.tables WHERE table_schema = 'ton'");
    expect(listed.rows.flat().map(String).sort()).toEqual([...names].sort());
  });

  test('is read by a mart of the user, which is stale when the table behind changes', async () => {
    const folder = join(freshFolder(), 'marts');
    mkdirSync(folder);
    const header = '-- Events.\n-- question: q\n-- grain: a type\n-- key: type\n-- units: none\n';
    const inputs = '-- inputs: jetton_transfers, jetton_burns, messages, transactions, jetton_wallets\n';
    const select = 'SELECT type, count(*) AS events FROM ton.jetton_events GROUP BY type\n';
    writeFileSync(join(folder, 'events.sql'), `${header}${inputs}${select}`);
    const [own] = (await loadMarts(registry, folder)).filter(({ name }) => name === 'events');
    expect(own?.inputs.toSorted()).toEqual([
      ...['jetton_burns', 'jetton_transfers', 'jetton_wallets', 'messages', 'transactions'],
    ]);
  });
});

describe('a query of ton', () => {
  test('warns of the tables behind', async () => {
    const { warnings } = await ask('SELECT count(*) FROM ton.jetton_events');
    expect(warnings).toEqual(['jetton_burns was never exported here: tonlake run jetton_burns --range 1000:1060']);
    const day = "SELECT count(*) FROM ton.transactions WHERE block_date = DATE '2026-05-01'";
    expect((await ask(day)).warnings).toEqual([expect.stringMatching(/^transactions: missing part of 2026-05-01/)]);
  });

  test('warns of a mart that was never built, and has no rows', async () => {
    const { rows, warnings } = await ask('SELECT * FROM ton.dex_trades', file);
    expect([rows, warnings]).toEqual([[], expect.arrayContaining([expect.stringMatching(/dex_swaps/)])]);
  });

  test.each(['transactions', 'messages', 'blocks', 'account_states', 'accounts', 'latest_balances'])(
    '%s hands every condition on a column to the scan of the table behind',
    async (view) => {
      const { columns = [] } = tonViews().find(({ name }) => name === view) ?? {};
      const reader = await openQueries(warehouse);
      const above: string[] = [];
      for (const { name, type } of columns.filter((column) => column.type in CONSTANTS)) {
        const sql = `EXPLAIN SELECT count(*) FROM ton.${view} WHERE "${name}" = ${CONSTANTS[type]}`;
        const plan = String((await reader.read(sql, collectRows)).rows[0]?.[1]).replace(/[│\s]+/g, '');
        // The statistics of the files can tell that no row matches.
        if (/FILTER─/.test(plan) || !/Filters:|EMPTY_RESULT/.test(plan)) above.push(`${name} ${type}`);
      }
      await reader.close();
      expect(above).toEqual([]);
    },
  );
});

test('a warehouse called ton.duckdb is refused', async () => {
  const path = join(freshFolder(), 'ton.duckdb');
  const { code, stderr } = await tonlake([
    ...['run', 'blocks', '--network', 'sandbox', '--range', '1000:1001', '--warehouse', path],
  ]);
  expect([code, stderr]).toEqual([2, expect.stringMatching(/^error: usage: expected another name than ton\.duckdb/)]);
});
