import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { buildMarts } from '../../src/marts/build-marts.ts';
import { openQueries, type Queries } from '../../src/warehouse/query/query.ts';
import { exportSandbox } from '../marts/support.ts';
import { lakeQueries } from './lake-queries.ts';

let lake: Queries;
let own: Queries;

beforeAll(async () => {
  const warehouse = await exportSandbox('1000:1200', [
    ...['transactions', 'actions', 'jetton_transfers', 'jetton_burns', 'jetton_wallets', 'jetton_masters'],
    ...['nft_transfers', 'nft_items', 'nft_collections', 'nft_sales', 'token_metadata', 'account_latest'],
  ]);
  await buildMarts(warehouse, { names: ['accounts', 'latest_balances', 'dex_swaps'] });
  [lake, own] = [await openQueries(warehouse, { dialect: 'trino' }), await openQueries(warehouse)];
});

afterAll(async () => {
  await lake.close();
  await own.close();
});

/** Rows as JSON with plain numbers. */
async function rowsOf(queries: Queries, sql: string): Promise<unknown> {
  const rows = await queries.read(sql, async ({ chunks }) => {
    const found: unknown[] = [];
    for await (const some of chunks()) found.push(...some);
    return found;
  });
  const plain = (_key: string, value: unknown): unknown => (typeof value === 'bigint' ? Number(value) : value);
  const text = JSON.stringify(rows, (key, value: unknown) =>
    typeof value === 'object' && value !== null && !Array.isArray(value) ? String(value) : plain(key, value),
  );
  return JSON.parse(text.replace(/"(-?\d+(?:\.\d+)?)"/g, '$1').replace(/ 00:00:00"/g, '"'), (_key, value) =>
    typeof value === 'number' ? Number(value.toPrecision(14)) : value,
  );
}

describe('a query of the public lake has the rows of the tables behind', () => {
  test('there are forty, with a table of ton each', () => {
    expect(lakeQueries.length).toBeGreaterThanOrEqual(40);
    expect(lakeQueries.filter(({ trino }) => !/\bton\.\w/.test(trino))).toEqual([]);
  });

  test.each(lakeQueries.map((query) => [query.name, query] as const))('%s', async (_name, { trino, duckdb }) => {
    const rows = await rowsOf(lake, trino);
    expect(rows).toEqual(await rowsOf(own, duckdb));
    expect(rows).not.toEqual([]);
  });
});
