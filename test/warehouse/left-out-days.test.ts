import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { loadRegistry, type Registry } from '../../src/declare/registry.ts';
import { selectedTable } from '../../src/declare/selected-table.ts';
import { run } from '../../src/export/run.ts';
import { loadMarts, type MartDef } from '../../src/marts/load-marts.ts';
import { quoteName, quoteText } from '../../src/sql/canonical-text.ts';
import { Database } from '../../src/sql/database.ts';
import { shippedFolder, shippedNames } from '../../src/sql/shipped-queries.ts';
import { tonViews } from '../../src/sql/ton-views.ts';
import { DAY, dayStart } from '../../src/warehouse/query/day-times.ts';
import { EmptyDatabase } from '../../src/warehouse/query/empty-database.ts';
import type { Scan } from '../../src/warehouse/query/scans.ts';
import { freshFolder } from '../scratch.ts';
import { DAYS, type DayQuery, queries, VIEWS } from './day-queries.ts';

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

const full = await Database.open();
await fill(full);
const empty = await EmptyDatabase.open(await loadRegistry(), { readsFiles: false });
empty.declare(mart);
for (const statement of VIEWS) await empty.scans(statement);
for (const statement of MACROS) await empty.query(statement);

afterAll(async () => {
  full.close();
  await empty.close();
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

describe.each(queries)('no day is read that is not named: $title', (query) => {
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

describe('the SQL that is shipped reads no day that is not named', () => {
  const [before, day] = ['2026-05-01', '2026-05-02'];
  const held = [
    { date: before, from: dayStart(before), to: dayStart(day), first: 4996, last: 4999 },
    { date: day, from: dayStart(day), to: dayStart(day) + DAY, first: 5000, last: 5007 },
  ];
  let registry: Registry;
  let marts: readonly MartDef[];
  /** Where statements are planned, and where they are answered: a night of the sandbox, and its marts. */
  let planned: EmptyDatabase;
  let filled: EmptyDatabase;
  let tables: readonly string[];

  beforeAll(async () => {
    registry = await loadRegistry();
    marts = await loadMarts(registry);
    const warehouse = join(freshFolder(), 'w');
    const pipelines = ['transactions', 'actions', 'jetton_transfers', 'jetton_burns', 'nft_transfers', 'traces'];
    await run({ pipelines, network: 'sandbox', range: '4996:5007', warehouse });
    [planned, filled] = [await EmptyDatabase.open(registry), await EmptyDatabase.open(registry)];
    for (const database of [planned, filled]) {
      database.declareViews(registry.tables);
      for (const { table } of marts) database.declare(table);
    }
    await filled.query(`ATTACH ${quoteText(join(warehouse, 'warehouse.duckdb'))} AS lake (READ_ONLY)`);
    const written = pipelines.flatMap((name) => registry.pipeline(name).tables).concat(registry.table('blocks'));
    for (const { name, columns } of written) {
      const names = columns.map((column) => quoteName(column.name)).join(', ');
      await filled.query(`INSERT INTO ${name} BY NAME SELECT ${names} FROM lake.${name}`);
    }
    await filled.query('DETACH lake');
    for (const { name, file } of marts) {
      for (const database of [planned, filled]) await database.define(file.functions);
      await filled.query(`INSERT INTO ${name} BY NAME ${file.sql}`);
    }
    tables = [...written, ...marts.map(({ table }) => table)]
      .filter(({ columns }) => columns.some(({ name }) => name === 'block_date'))
      .map(({ name }) => name);
  });

  afterAll(async () => {
    await planned.close();
    await filled.close();
  });

  /** Asks a statement again without the days that it does not name. Returns how many days its own tables lost. */
  async function leaveOut(sql: string): Promise<number> {
    const scans = await planned.scans(sql, undefined, async () => held);
    const ask = async () => {
      const { rows } = await filled.query(sql);
      return rows
        .map((row) => JSON.stringify(row, (_, value) => (typeof value === 'bigint' ? `${value}` : value)))
        .sort();
    };
    const whole = await ask();
    const gone = tables.flatMap((table) =>
      [before, day].filter((date) => !isRead(scans, table, date)).map((date) => ({ table, date })),
    );
    await filled.query('BEGIN');
    for (const { table, date } of gone) await filled.query(`DELETE FROM ${table} WHERE block_date = '${date}'`);
    const without = await ask();
    await filled.query('ROLLBACK');
    expect(without, sql).toEqual(whole);
    return gone.filter(({ table }) => scans.some(({ relation }) => relation === table)).length;
  }

  test('marts that are built day by day', async () => {
    let left = 0;
    for (const { file } of marts.filter(({ isDaily }) => isDaily)) {
      left += await leaveOut(`SELECT * FROM (${file.sql}) WHERE block_date = '${day}'`);
    }
    expect(left).toBeGreaterThan(20);
  });

  test('questions', async () => {
    for (const name of await shippedNames('questions')) {
      const sql = await readFile(join(shippedFolder('questions'), `${name}.sql`), 'utf8');
      await leaveOut(sql.trim().replace(/;$/, ''));
    }
  });

  test('views of ton', async () => {
    let left = 0;
    for (const { name } of tonViews().filter(({ sql }) => /\bblock_date\b/.test(sql))) {
      left += await leaveOut(`SELECT * FROM ton.${name} WHERE block_date = '${day}'`);
    }
    expect(left).toBeGreaterThan(8);
  });
});
