import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { loadRegistry } from '../../src/declare/registry.ts';
import { selectedTable } from '../../src/declare/selected-table.ts';
import { Database } from '../../src/sql/database.ts';
import { EmptyDatabase } from '../../src/warehouse/query/empty-database.ts';
import { DAY, dayStart } from '../../src/warehouse/query/held-times.ts';
import type { Scan } from '../../src/warehouse/query/scans.ts';
import { DAYS, type DayQuery, moreQueries, queries, VIEWS } from './day-queries.ts';

const TABLES = {
  blocks: 'workchain int, shard bigint, seqno int, mc_block_seqno int, gen_utime bigint, tx_count int',
  transactions:
    'account varchar, hash varchar, lt bigint, mc_block_seqno int, now bigint, total_fees bigint, aborted boolean',
  messages: 'tx_hash varchar, msg_hash varchar, direction varchar, value bigint, tx_now bigint, tx_mc_block_seqno int',
} as const;
const MACROS = [
  'create temp macro in_week(d, x) as d >= x and d < x + 7',
  'create temp macro tx_of(day) as table select * from transactions where block_date = day',
];
const mart = selectedTable({
  ...{ name: 'gas_fees_daily', grain: '', key: [], isDated: true },
  columns: ['block_date DATE', 'total_fees DECIMAL(38,0)', 'other DATE'].map((column) => {
    const [name = '', type = ''] = column.split(' ');
    return { name, type };
  }),
});
const HELD = DAYS.map((date, at) => ({
  ...{ date, from: dayStart(date), to: dayStart(date) + DAY },
  ...{ first: 1000 + 10 * at, last: 1009 + 10 * at },
}));

let full: Database;
let empty: EmptyDatabase;

/** Six rows of each table on each day. */
async function fill(database: Database): Promise<void> {
  const rows = `(SELECT (DATE '${DAYS[0]}' + k::INT) AS day, 1000 + 10 * k + i AS seq, i,
    (DATE '${DAYS[0]}' + k::INT)::TIMESTAMP + to_seconds(i * 14000) AS t FROM range(${DAYS.length}) d(k), range(6) r(i))`;
  for (const [name, columns] of Object.entries(TABLES)) {
    await database.run(`CREATE TABLE ${name} (${columns}, block_time TIMESTAMP, block_date DATE)`);
  }
  await database.run(`INSERT INTO blocks SELECT 0, 1, seq, seq, epoch(t), 3 + i, t, day FROM ${rows};
    INSERT INTO transactions SELECT 'acc' || (i % 3), 'h' || seq, seq * 100 + i, seq, epoch(t), hash(seq) % 1000 + 1, i % 2 = 0, t, day
      FROM ${rows};
    INSERT INTO messages SELECT 'h' || seq, 'm' || seq, CASE WHEN i % 2 = 0 THEN 'in' ELSE 'out' END, hash(seq * 7) % 5000, epoch(t), seq,
      t, day FROM ${rows};
    CREATE TABLE gas_fees_daily AS SELECT block_date, sum(total_fees)::DECIMAL(38, 0) AS total_fees, block_date - 5 AS other
      FROM transactions GROUP BY 1`);
  await database.run([...VIEWS, ...MACROS].join(';\n'));
}

beforeAll(async () => {
  full = await Database.open();
  await fill(full);
  empty = await EmptyDatabase.open(await loadRegistry(), { enable_external_access: 'false' });
  empty.declare(mart);
  for (const statement of VIEWS) await empty.scans(statement);
  for (const statement of MACROS) await empty.query(statement);
});

afterAll(() => {
  full.close();
  empty.close();
});

async function answer({ sql, parameters }: DayQuery): Promise<string> {
  try {
    const { rows } = await full.query(sql.replaceAll('create temp', 'create or replace temp'), parameters);
    const told = rows.map((row) => JSON.stringify(row, (_, value) => (typeof value === 'bigint' ? `${value}` : value)));
    return told.sort().join('\n');
  } catch (error) {
    return String(error);
  }
}

function isRead(scans: readonly Scan[], table: string, date: string): boolean {
  return scans
    .filter(({ relation }) => relation === table)
    .some(({ periods }) => {
      const isWithin = (from = 0, to = Number.MAX_VALUE) => dayStart(date) < to && dayStart(date) + DAY > from;
      return periods === undefined || periods.some(({ from, to }) => isWithin(from, to));
    });
}

describe.each([...queries, ...moreQueries])('no day is read that is not named: $title', (query) => {
  test(query.sql, async () => {
    const scans = await empty.scans(query.sql, query.parameters, async () => HELD);
    const whole = await answer(query);
    expect(whole).not.toMatch(/^(Parser|Catalog|Binder) Error/);
    // As files are read: without all others at once.
    const gone: string[] = [];
    await full.run('BEGIN');
    for (const table of [...Object.keys(TABLES), mart.name]) {
      const dates = DAYS.filter((date) => !isRead(scans, table, date));
      if (dates.length === 0) continue;
      gone.push(`${table} of ${dates.join(', ')}`);
      await full.run(`DELETE FROM ${table} WHERE block_date IN ('${dates.join("', '")}')`);
    }
    const without = await answer(query);
    await full.run('ROLLBACK');
    expect(without, gone.join('; ')).toBe(whole);
  });
});

test('a query of one day names that day alone, in whatever form', async () => {
  const forms = ["block_date = '2026-05-01'", "block_time::date = '2026-05-01'", "block_date in ('2026-05-01')"];
  for (const form of forms) {
    const scans = await empty.scans(`select hash from transactions where ${form}`, undefined, async () => []);
    const [from, to] = [dayStart('2026-05-01'), dayStart('2026-05-02')];
    expect(scans).toMatchObject([{ relation: 'transactions', periods: [{ from, to }] }]);
  }
});

test('columns that a query reads are those of the plan, in conditions, too', async () => {
  const columns = async (sql: string) => (await empty.scans(sql)).map((scan) => [...scan.columns].sort());
  expect(await columns('select hash from transactions where lt > 5')).toEqual([['hash', 'lt']]);
  expect(await columns('select count(*) from (select hash, lt from transactions)')).toEqual([[]]);
  expect(await columns('with t as (from transactions) select account from t')).toEqual([['account']]);
});
