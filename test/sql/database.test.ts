import { describe, expect, test } from 'vitest';
import { type Latch, newLatch } from '../../src/export/latch.ts';
import { Database } from '../../src/sql/database.ts';
import { collectRows } from '../../src/sql/query-result.ts';

async function limitOf(database: Database): Promise<unknown> {
  return (await database.query("SELECT current_setting('memory_limit')")).rows[0]?.[0];
}

test('a bound of memory that was widened for one statement is narrow again afterwards', async () => {
  const database = await Database.open(':memory:', { memory_limit: '64MB' });
  const limit = () => limitOf(database);
  const before = await limit();
  const limits: unknown[] = [];
  const result = await database.withMemory(async () => {
    limits.push(await limit());
    if (limits.length === 1) throw new Error('Out of Memory Error: could not allocate block');
    return 'done';
  });
  expect(result).toBe('done');
  expect(limits).toEqual([before, '1.8 GiB']);
  expect(await limit()).toBe(before);
  database.close();
});

test('a bound of memory does not shrink however often it is widened', async () => {
  const database = await Database.open(':memory:', { memory_limit: '256MB' });
  const limit = () => limitOf(database);
  const before = await limit();
  for (let at = 0; at < 3; at++) {
    let isFirst = true;
    await database.withMemory(async () => {
      if (isFirst) {
        isFirst = false;
        throw new Error('Out of Memory Error: could not allocate block');
      }
    });
  }
  expect(await limit()).toBe(before);
  database.close();
});

test('a statement that had more memory has succeeded, even if the bound cannot be narrow again because that memory is in use', async () => {
  const database = await Database.open(':memory:', { memory_limit: '64MB', temp_directory: '' });
  const large = "CREATE TABLE large AS SELECT repeat('x', 1000) || i AS x FROM range(100000) t(i)";
  await database.withMemory(() => database.run(large));
  expect((await database.query('SELECT count(*) FROM large')).rows).toEqual([[100_000n]]);
  database.close();
});

test('of two statements that have more memory, the one that ends last restores the bound', async () => {
  const database = await Database.open(':memory:', { memory_limit: '64MB' });
  const other = await database.connect();
  const limit = () => limitOf(database);
  const before = await limit();
  const [firstEnds, secondEnds] = [newLatch(), newLatch()];
  const widened = async (own: Database, { opened }: Latch, begun: () => void): Promise<void> => {
    let isFirst = true;
    await own.withMemory(async () => {
      if (isFirst) {
        isFirst = false;
        throw new Error('Out of Memory Error: could not allocate block');
      }
      begun();
      await opened;
    });
  };
  const [firstBegins, secondBegins] = [newLatch(), newLatch()];
  const first = widened(database, firstEnds, firstBegins.open);
  await firstBegins.opened;
  const second = widened(other, secondEnds, secondBegins.open);
  await secondBegins.opened;
  firstEnds.open();
  await first;
  expect(await limit()).toBe('1.8 GiB');
  secondEnds.open();
  await second;
  expect(await limit()).toBe(before);
  database.close();
});

/** DuckDB tells the limit that it refused to set. */
test('a bound that could not be restored, because the memory was in use, is restored after a later statement', async () => {
  const database = await Database.open(':memory:', { memory_limit: '64MB', temp_directory: '' });
  const large = "CREATE TABLE large AS SELECT repeat('x', 1000) || i AS x FROM range(100000) t(i)";
  await database.withMemory(() => database.run(large));
  await database.withMemory(() => database.run('DROP TABLE large'));
  await expect(database.run(large)).rejects.toThrow('Out of Memory Error');
  database.close();
});

/** Without care, about every tenth of these ends the process: DuckDB uses the connection in a thread. */
test('a database that is closed while a statement runs interrupts it, and closes when it has ended', async () => {
  for (let at = 0; at < 20; at++) {
    const database = await Database.open();
    const other = await database.connect();
    const counting = 'SELECT 1; SELECT count(*) FROM range(100000000000) AS t(x) WHERE x % 7 = sqrt(x)';
    const ends = Promise.allSettled([
      database.query(counting.replace('SELECT 1', 'SET threads = 1')),
      other.stream(counting.replace('SELECT 1; ', ''), undefined, ({ countRest }) => countRest()),
      other.run('CREATE TABLE t (x INTEGER)'),
    ]);
    if (at % 3 === 0) await new Promise(setImmediate);
    other.disconnect();
    database.close();
    for (const end of (await ends).slice(0, 2)) {
      expect(end).toMatchObject({ status: 'rejected', reason: { message: expect.stringMatching(/^INTERRUPT Error/) } });
    }
    await expect(database.query('SELECT 1')).rejects.toMatchObject({ code: 'closed' });
    await expect(other.query('SELECT 1')).rejects.toMatchObject({ code: 'closed' });
  }
});

/** DuckDB's JavaScript API tells the end of these rows as it tells any other. */
describe('a query that fails while its rows are read', () => {
  const failing =
    "SELECT CASE WHEN range = 200000 THEN error('no such row') ELSE range::VARCHAR END AS x FROM range(300000)";

  test.each([
    ['alone', failing, undefined],
    ['after another statement', `CREATE OR REPLACE TEMP TABLE t AS SELECT 1; ${failing} -- at the end`, undefined],
    ['with parameters', failing.replace('300000', '$rows::BIGINT'), { rows: 300_000n }],
  ])('says so, %s', async (_, sql, parameters) => {
    const database = await Database.open();
    const error = { message: expect.stringContaining('no such row') };
    const read = () => database.stream(sql, parameters, (rows) => collectRows(rows));
    const count = () => database.stream(sql, parameters, ({ countRest }) => countRest());
    for (const ask of [read, count, () => database.transaction(count, 'READ ONLY'), () => database.transaction(read)])
      await expect(ask()).rejects.toMatchObject(error);
    if (parameters === undefined && sql === failing)
      await expect(database.readRaw(sql, () => {})).rejects.toMatchObject(error);
    expect((await database.query('SELECT 1')).rows).toEqual([[1]]);
    database.close();
  });

  test('is told apart from one that ends', async () => {
    const database = await Database.open();
    for (const rows of [0, 1, 2048, 300_000]) {
      const counts = await database.stream(`FROM range(${rows})`, undefined, async ({ chunks, countRest }) => {
        let count = 0;
        for await (const some of chunks()) count += some.length;
        return [count, await countRest()];
      });
      expect(counts).toEqual([rows, 0]);
    }
    database.close();
  });

  test('is interrupted in the midst of its rows', async () => {
    const database = await Database.open();
    let read = 0;
    const ended = database.stream('FROM range(2000000)', undefined, async ({ chunks }) => {
      for await (const some of chunks()) {
        read += some.length;
        if (read === 4096) database.interrupt();
      }
    });
    await expect(ended).rejects.toMatchObject({ message: expect.stringMatching(/^INTERRUPT Error/) });
    database.close();
  });
});
