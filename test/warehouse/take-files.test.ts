import { expect, test } from 'vitest';
import { lt, text, unixSeconds } from '../../src/declare/column.ts';
import { table } from '../../src/declare/table.ts';
import { commitRows, draftOf, filesOf, freshPath, openTestStore } from './warehouses.ts';

const maybe = table('maybe', {
  ...{ grain: 'a row', rows: { kind: 'records', path: '/rows' }, key: ['lt'], sort: ['lt'], time: 'now' },
  columns: { lt: lt('/lt', 'x'), now: unixSeconds('/now', 'time').nullable(), hash: text('/hash', 'text') },
});

test('files of rows without a time are taken from another warehouse', async () => {
  const [from, to] = [freshPath('parquet'), freshPath('parquet')];
  const source = await openTestStore(from, { tables: [maybe] });
  const entry = await commitRows(source, maybe, [{ lt: 1n, hash: 'h' }], { from: 1, to: 2 });
  const target = await openTestStore(to, { tables: [maybe] });
  const stage = target.stage({ from: 1, to: 2 });
  for (const file of filesOf([entry])) await stage.take(maybe, file, from);
  const taken = await target.commit(await stage.finish(), draftOf({ from: 1, to: 2 }));
  expect(filesOf([taken]).map(({ path }) => path)).toEqual([
    expect.stringContaining('/block_date=__HIVE_DEFAULT_PARTITION__/'),
  ]);
  expect((await target.query('SELECT lt, now FROM maybe')).rows).toEqual([[1n, null]]);
});
