import { expect, test } from 'vitest';
import { Database } from '../../src/sql/database.ts';

test('a bound of memory that was widened for one statement is narrow again afterwards', async () => {
  const database = await Database.open(':memory:', { memory_limit: '64MB' });
  const limit = async (): Promise<unknown> =>
    (await database.query("SELECT current_setting('memory_limit')")).rows[0]?.[0];
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
  const limit = async (): Promise<unknown> =>
    (await database.query("SELECT current_setting('memory_limit')")).rows[0]?.[0];
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
