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
