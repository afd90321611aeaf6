import { execFile } from 'node:child_process';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Sandbox, startSandbox } from '../../src/sandbox/index.ts';
import { tonlake } from '../cli.ts';
import { hasModules, PYTHON } from '../programs.ts';
import { freshFolder } from '../scratch.ts';
import { exportRange, query } from './export.ts';

const run = promisify(execFile);

/**
 * What a reader makes of a folder, and of a list of files: lines of Python that set `folder_days` and `list_days` to rows by day.
 * `folder` and `files` are given.
 */
const readers = {
  pandas: `
import pandas as pd
days = lambda frame: frame.groupby(frame['block_date'].astype(str)).size().to_dict()
folder_days, list_days = days(pd.read_parquet(folder)), days(pd.read_parquet(files))`,
  pyarrow: `
import pyarrow.dataset as ds
days = lambda source: ds.dataset(source, partitioning='hive').to_table(columns=['block_date', 'hash']).to_pandas().groupby('block_date').size().to_dict()
folder_days, list_days = days(folder), days(files)`,
  polars: `
import polars as pl
days = lambda source: {str(day): n for day, n in pl.scan_parquet(source, hive_partitioning=True).group_by('block_date').agg(pl.len()).collect().iter_rows()}
folder_days, list_days = days(folder), days(files)`,
  duckdb: `
import duckdb
days = lambda source: {str(day): n for day, n in duckdb.execute('select block_date, count(*) from read_parquet(?) group by all', [source]).fetchall()}
folder_days, list_days = days(folder + '/**/*.parquet'), days(files)`,
  chdb: `
import chdb, json
def days(sources):
  tables = ' union all '.join(f"select block_date, hash from file('{source}', Parquet)" for source in sources)
  answer = chdb.query(f'select block_date, count() as n from ({tables}) group by block_date', 'JSON')
  return {row['block_date']: int(row['n']) for row in json.loads(str(answer))['data']}
folder_days, list_days = days([folder + '/**/*.parquet']), days(files)`,
  pyspark: `
from pyspark.sql import SparkSession
spark = SparkSession.builder.master('local[1]').config('spark.ui.enabled', 'false').getOrCreate()
days = lambda frame: {str(row['block_date']): row['count'] for row in frame.groupBy('block_date').count().collect()}
folder_days, list_days = days(spark.read.parquet(folder)), days(spark.read.option('basePath', base).parquet(*files))`,
} as const;

let sandbox: Sandbox;
let warehouse: string;

beforeAll(async () => {
  sandbox = await startSandbox();
  warehouse = join(freshFolder(), 'w');
  // Midnight lies between.
  await exportRange(sandbox.url, '4999:5001', warehouse);
});

afterAll(async () => {
  await sandbox.close();
});

async function read(name: keyof typeof readers, path: string) {
  const files = (await tonlake(['show', 'transactions', '--files', '--warehouse', path])).stdout.trim().split('\n');
  const script = join(freshFolder(), 'read.py');
  const base = files[0]?.slice(0, files[0].indexOf('/block_date=')) ?? '';
  await writeFile(
    script,
    `import json
folder, files, base = ${JSON.stringify(join(path, 'tables', 'transactions'))}, ${JSON.stringify(files)}, ${JSON.stringify(base)}
${readers[name]}
print('RESULT', json.dumps([folder_days, list_days]))
`,
  );
  const { stdout } = await run(PYTHON, [script], { maxBuffer: 2 ** 26 });
  return JSON.parse(/RESULT (.*)/.exec(stdout)?.[1] ?? 'null');
}

async function daysOf(path: string): Promise<Readonly<Record<string, number>>> {
  const rows = await query(path, 'SELECT block_date::VARCHAR, count(*) FROM transactions GROUP BY ALL');
  return Object.fromEntries(rows.map(([day, count]) => [day, Number(count)]));
}

test('a warehouse of two days has its dates in the paths alone', async () => {
  const files = (await tonlake(['show', 'transactions', '--files', '--warehouse', warehouse])).stdout
    .trim()
    .split('\n');
  expect(Object.keys(await daysOf(warehouse))).toHaveLength(2);
  const [[held] = []] = await query(
    warehouse,
    `SELECT count(*) FROM parquet_schema([${files.map((file) => `'${file}'`).join(', ')}]) WHERE name = 'block_date'`,
  );
  expect(held).toBe('0');
});

describe('each of these reads the folder of a table, and a list of its files', () => {
  for (const name of Object.keys(readers) as (keyof typeof readers)[]) {
    test.skipIf(!hasModules([name]))(name, async () => {
      const days = await daysOf(warehouse);
      expect(await read(name, warehouse)).toEqual([days, days]);
    });
  }
});
