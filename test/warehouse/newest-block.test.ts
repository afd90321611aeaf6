import { expect, test } from 'vitest';
import type { QueryResult } from '../../src/sql/query-result.ts';
import { openReader } from '../../src/warehouse/open-store.ts';
import { statusIn } from '../../src/warehouse/query/status.ts';
import { warehouseRegistry } from '../../src/warehouse/query/warehouse-registry.ts';
import { exportSandbox } from '../marts/support.ts';
import { closing } from '../scratch.ts';

test.each([
  ['of its day', ['4990:5009']],
  ['of its commit', ['5001:5003', '5005:5007', '5009']],
])('the time of the newest block is read from files %s alone', async (_, [range = '', ...others]) => {
  const path = await exportSandbox(range, ['blocks']);
  for (const other of others) await exportSandbox(other, ['blocks'], path);
  const registry = await warehouseRegistry(path);
  const reader = closing(await openReader(path, registry.tables));
  const plans: string[] = [];
  const query = async (sql: string, parameters?: Parameters<typeof reader.query>[1]): Promise<QueryResult> => {
    if (sql.includes('$seqno'))
      plans.push(JSON.stringify((await reader.query(`EXPLAIN ANALYZE ${sql}`, parameters)).rows));
    return reader.query(sql, parameters);
  };
  const status = await statusIn(Object.assign(Object.create(reader), { query }), registry);
  expect(status.newest).toEqual({ seqno: 5009, time: expect.stringMatching(/^2026-05-02T/) });
  expect(plans).toEqual([expect.stringContaining('Total Files Read: 1')]);
});
