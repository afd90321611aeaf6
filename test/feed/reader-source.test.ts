import { join } from 'node:path';
import { expect, test } from 'vitest';
import { loadRegistry } from '../../src/declare/registry.ts';
import { run } from '../../src/export/run.ts';
import { ReaderSource } from '../../src/feed/reader-source.ts';
import { freshFolder } from '../scratch.ts';

const COUNT = 'SELECT count(*) FROM blocks';

test.each(['w', 'w.duckdb'])('feeds that read at the same time do not close %s for each other', async (name) => {
  const warehouse = join(freshFolder(), name);
  const { rows } = await run({ pipelines: ['blocks'], range: '1000:1002', network: 'sandbox', warehouse });
  const source = new ReaderSource(warehouse, await loadRegistry());
  const read = (times: number) =>
    source.use(async (view) => {
      const counts: number[] = [];
      for (let at = 0; at < times; at++) counts.push(Number((await view.query(COUNT)).rows[0]?.[0]));
      return counts;
    });
  const reads = [read(1), read(20), read(1)];
  const closed = source.close();
  const counts = (await Promise.all(reads)).flat();
  await closed;
  expect(counts).toEqual(Array.from({ length: 22 }, () => rows['blocks']));
  expect(await read(1)).toEqual([rows['blocks']]);
  await source.close();
});
