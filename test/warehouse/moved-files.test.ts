import { existsSync, mkdirSync, renameSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { Database } from '../../src/sql/database.ts';
import { relocationIn } from '../../src/warehouse/parquet-store/pinned-files.ts';
import { freshFolder } from '../scratch.ts';

const FILES = 8;
/** Of each file: DuckDB makes the rows of a few files before the first are read. */
const ROWS = 100_000;
/** A path with characters that mean something in SQL, and in a pattern of files. */
let warehouse: string;
let files: readonly string[];
let database: Database;

beforeEach(async () => {
  warehouse = join(freshFolder(), "it's tables", '[1]');
  files = Array.from(
    { length: FILES },
    (_, at) => `items/block_date=2026-05-0${1 + at}/${at}-${at}-0123456789a${at}.parquet`,
  );
  database = await Database.open(':memory:', { threads: '2' });
  for (const [at, file] of files.entries()) {
    const path = join(warehouse, 'tables', file);
    mkdirSync(join(path, '..'), { recursive: true });
    await database.run(`COPY (SELECT ${at * ROWS} + range AS x FROM range(${ROWS})) TO '${quoted(path)}'`);
  }
  database.relocateWith(relocationIn(warehouse));
});

afterEach(() => database.close());

const quoted = (path: string): string => path.replaceAll("'", "''");

function read(some: readonly string[] = files): string {
  const paths = some.map((file) => `'${quoted(join(warehouse, 'tables', file)).replaceAll('[', '[[]')}'`);
  return `read_parquet([${paths}], filename = true)`;
}

function move(some: readonly string[], from: 'tables' | 'pinned' = 'tables'): void {
  for (const file of some) {
    const to = join(warehouse, from === 'tables' ? 'pinned' : 'tables', file);
    mkdirSync(join(to, '..'), { recursive: true });
    renameSync(join(warehouse, from, file), to);
  }
}

/** The numbers that a stream hands over. @param onRows called after each of its chunks */
function streamed(sql: string, onRows: (count: number) => void, own = database): Promise<readonly bigint[]> {
  return own.stream(sql, undefined, async ({ chunks }) => {
    const found: bigint[] = [];
    for await (const rows of chunks()) {
      for (const [x] of rows) found.push(x as bigint);
      onRows(found.length);
    }
    return found;
  });
}

const all = Array.from({ length: FILES * ROWS }, (_, x) => BigInt(x));

describe('files that move while a query runs', () => {
  test('are found by the next statement, whatever it does', async () => {
    const other = await database.connect();
    move(files.slice(2, 4));
    for (const own of [database, other]) {
      expect((await own.query(`SELECT count(*) FROM ${read()}`)).rows).toEqual([[BigInt(all.length)]]);
      await own.run(`CREATE OR REPLACE TEMP TABLE copied AS FROM ${read()}`);
      expect((await own.query('SELECT count(*) FROM copied')).rows).toEqual([[BigInt(all.length)]]);
      await expect(own.requireQuery(`FROM ${read()}`)).resolves.toBeUndefined();
    }
    other.disconnect();
  });

  test.each(['at once', 'one after the other', 'and come back'])(
    'leave out no row of a stream, and none comes twice: %s',
    async (how) => {
      const left = [...files].reverse();
      const found = await streamed(`SELECT x FROM ${read()}`, (count) => {
        if (how === 'at once') move(left.splice(0));
        else if (count % 4 === 0 && left.length > 1) {
          const [file = ''] = left.splice(0, 1);
          move([file]);
          if (how === 'and come back') move([file], 'pinned');
        }
      });
      expect(found.length).toBe(all.length);
      expect(found.every((x, at) => x === BigInt(at))).toBe(true);
    },
  );

  test('leave out no row of a stream in a transaction that reads, nor of several statements', async () => {
    const sql = `CREATE TEMP TABLE added AS SELECT 7 AS y; SELECT x + y - 7 AS x FROM ${read()}, added`;
    const found = await database.transaction(
      () => streamed(sql, () => move(files.filter((_, at) => at > 4).filter(isShown))),
      'READ ONLY',
    );
    expect(found).toEqual(all);
    expect((await database.query('SELECT y FROM added')).rows).toEqual([[7]]);
  });

  test('leave out no value of a raw read', async () => {
    let [sum, count] = [0n, 0];
    await database.readRaw(`SELECT x FROM ${read()}`, (rows) => {
      const bytes = rows.values(0, 8);
      for (const x of new BigInt64Array(bytes.buffer, bytes.byteOffset, rows.count)) sum += x;
      count += rows.count;
      move(files.filter(isShown));
    });
    expect([count, sum]).toEqual([all.length, (BigInt(all.length) * BigInt(all.length - 1)) / 2n]);
  });

  test('make a query fail that has its rows in another order each time', async () => {
    const found = streamed(`SELECT x, random() FROM ${read()}`, () => move(files.filter(isShown)));
    await expect(found).rejects.toMatchObject({ code: 'other-order', message: expect.stringContaining('merged') });
  });

  test('do not begin a transaction again that has written', async () => {
    const written = database.transaction(async () => {
      await database.run('CREATE TABLE t (x BIGINT)');
      move(files);
      await database.query(`FROM ${read()}`);
    });
    await expect(written).rejects.toThrow('No files found');
  });

  test('are missing where they are gone', async () => {
    const ended = streamed(`SELECT x FROM ${read()}`, () =>
      rmSync(join(warehouse, 'tables', files.at(-1) ?? ''), { force: true }),
    );
    await expect(ended).rejects.toThrow(files.at(-1));
    await expect(database.query(`FROM ${read()}`)).rejects.toThrow('No files found');
    expect((await database.query('SELECT 1')).rows).toEqual([[1]]);
  });
});

function isShown(file: string): boolean {
  return existsSync(join(warehouse, 'tables', file));
}
