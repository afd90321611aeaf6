import { execFile } from 'node:child_process';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { loadRegistry } from '../../src/declare/registry.ts';
import { type Sandbox, startSandbox } from '../../src/sandbox/index.ts';
import { openReader } from '../../src/warehouse/open-store.ts';
import type { Reader } from '../../src/warehouse/reader.ts';
import { tonlake } from '../cli.ts';
import { exportRange, query } from '../e2e/export.ts';
import { hasModules, PYTHON } from '../programs.ts';
import { freshFolder } from '../scratch.ts';
import { tagsOf } from './published.ts';

const run = promisify(execFile);

/** How each reads a table: lines of Python that define `read(folder, tag)`, an Arrow table, and `day_files(folder, day)`, a number of files. */
const readers = {
  pyiceberg: `
from pyiceberg.table import StaticTable
def snapshot(table, tag):
  return None if tag is None else table.snapshot_by_name(tag).snapshot_id
def read(folder, tag):
  table = StaticTable.from_metadata(folder)
  return table.scan(snapshot_id=snapshot(table, tag)).to_arrow()
def day_files(folder, day):
  return len(list(StaticTable.from_metadata(folder).scan(row_filter=f"block_date = '{day}'").plan_files()))`,
  polars: `
import os
os.environ['POLARS_ICEBERG_PLANNER'] = 'pyiceberg'
import polars as pl
from pyiceberg.table import StaticTable
def read(folder, tag):
  table = StaticTable.from_metadata(folder)
  at = None if tag is None else table.snapshot_by_name(tag).snapshot_id
  return pl.scan_iceberg(table, snapshot_id=at, reader_override='native').collect().to_arrow()
day_files = None`,
} as const;

/** Prints count, nulls, least, greatest and, for numbers, sum of each column, all as text that does not depend on the library. */
const PROFILE = `
import datetime, decimal, json, sys
def text(value):
  if value is None: return None
  if isinstance(value, bool): return str(value).lower()
  if isinstance(value, bytes): return value.hex()
  if isinstance(value, datetime.datetime): return str((value - datetime.datetime(1970, 1, 1)) // datetime.timedelta(microseconds=1))
  return str(value)
def ends(values):
  if not values: return [None, None]
  key = str.encode if isinstance(values[0], str) else None
  return [text(min(values, key=key)), text(max(values, key=key))]
def total(values):
  isNumber = len(values) > 0 and isinstance(values[0], (int, decimal.Decimal)) and not isinstance(values[0], bool)
  return str(sum(int(value) for value in values)) if isNumber else None
def figures(column):
  values = [value for value in column.to_pylist() if value is not None]
  return [len(column), column.null_count, *ends(values), total(values)]
def profile(table):
  return {name: figures(table.column(name)) for name in table.column_names}
asked = json.loads(sys.argv[1])
print('RESULT', json.dumps({
  'tables': {name: profile(read(folder, None)) for name, folder in asked['tables'].items()},
  'old': read(asked['old']['folder'], asked['old']['tag']).num_rows,
  'days': day_files and {day: day_files(asked['old']['folder'], day) for day in asked['days']},
}))`;

const present = Object.keys(readers).filter((name) => hasModules(['pyiceberg', name]));

let sandbox: Sandbox;
let warehouse: string;
/** What DuckDB says of each column of each table and mart, over the files of the ledger. */
let profiles: ReadonlyMap<string, Readonly<Record<string, unknown>>>;
const registry = await loadRegistry();

beforeAll(async () => {
  if (present.length === 0) return;
  sandbox = await startSandbox();
  // Readers take a path with blanks and other letters.
  warehouse = join(freshFolder(), 'ware house é');
  const place = ['--network', sandbox.url, '--warehouse', warehouse];
  await exportRange(sandbox.url, '4998:4999', warehouse);
  const publish = ['publish', 'iceberg', '--warehouse', warehouse];
  expect((await tonlake(publish)).code).toBe(0);
  // Midnight lies between.
  const more = ['transactions', 'actions', 'jetton_masters', 'account_latest', 'message_links'];
  expect((await tonlake(['run', ...more, ...place, '--range', '4998:5001'])).code).toBe(0);
  expect((await tonlake(['build', 'transactions_daily', 'accounts', '--warehouse', warehouse])).code).toBe(0);
  expect((await tonlake(['compact', '--warehouse', warehouse])).code).toBe(0);
  expect((await tonlake(publish)).code).toBe(0);
  const reader = await openReader(warehouse, registry.tables);
  const names = new Set((await reader.ledger()).flatMap(({ tables }) => Object.keys(tables)));
  profiles = new Map(await Promise.all([...names].map(async (name) => [name, await profileOf(reader, name)] as const)));
  await reader.close();
}, 120_000);

afterAll(() => sandbox?.close());

/** SQL for what Python tells of a column. */
function figuresOf(name: string, type: string): string {
  const end = (which: 'min' | 'max') => {
    const value = `${which}("${name}")`;
    if (type === 'BLOB') return `lower(hex(${value}))`;
    return type === 'TIMESTAMP' ? `epoch_us(${value})::VARCHAR` : `${value}::VARCHAR`;
  };
  const isNumber = /^(INTEGER|BIGINT|DECIMAL)/.test(type);
  const sum = isNumber ? `sum("${name}"::HUGEINT)::VARCHAR` : 'NULL';
  return `json_array(count(*), count(*) - count("${name}"), ${end('min')}, ${end('max')}, ${sum})`;
}

async function profileOf(reader: Reader, table: string): Promise<Readonly<Record<string, unknown>>> {
  const { rows } = await reader.query(`SELECT column_name, column_type FROM (DESCRIBE SELECT * FROM ${table})`);
  const columns = rows.map(([name, type]) => [String(name), figuresOf(String(name), String(type))] as const);
  const profile = await reader.query(`SELECT ${columns.map(([, figures]) => figures).join(', ')} FROM ${table}`);
  return Object.fromEntries(columns.map(([name], at) => [name, JSON.parse(String(profile.rows[0]?.[at]))]));
}

const folderOf = (table: string) => join(warehouse, 'iceberg', table);

describe('each of these reads every column of every table and mart as DuckDB reads the files', () => {
  for (const name of Object.keys(readers) as (keyof typeof readers)[]) {
    test.skipIf(!present.includes(name))(
      name,
      async () => {
        const script = join(freshFolder(), 'read.py');
        await writeFile(script, `${readers[name]}\n${PROFILE}\n`);
        const [first = ''] = await tagsOf(warehouse, 'transactions');
        const days = await query(warehouse, 'SELECT block_date::VARCHAR, count(*) FROM transactions GROUP BY ALL');
        const asked = {
          tables: Object.fromEntries([...profiles.keys()].map((table) => [table, folderOf(table)])),
          old: { folder: folderOf('transactions'), tag: first },
          days: days.map(([day]) => day),
        };
        const { stdout } = await run(PYTHON, [script, JSON.stringify(asked)], { maxBuffer: 2 ** 26 });
        const read = JSON.parse(/RESULT (.*)/.exec(stdout)?.[1] ?? 'null');
        expect(Object.keys(read.tables).length).toBe(profiles.size);
        expect(profiles.size).toBeGreaterThan(9);
        for (const [table, profile] of profiles) expect([table, read.tables[table]]).toEqual([table, profile]);
        // The first state had two blocks, before the lists, the second day and the merge.
        const [[now] = []] = await query(warehouse, 'SELECT count(*) FROM transactions WHERE mc_block_seqno <= 4999');
        expect(read.old).toBe(Number(now));
        // Of two days, a query for one opens the files of one.
        if (read.days !== null) expect(read.days).toEqual(Object.fromEntries(days.map(([day]) => [day, 1])));
      },
      120_000,
    );
  }
});
