import { join } from 'node:path';
import { expect, test } from 'vitest';
import { greatest, least } from '../../src/core/span.ts';
import { loadRegistry } from '../../src/declare/registry.ts';
import { withDamagedStore } from '../../src/verify/damaged-warehouse.ts';
import { readStatus } from '../../src/warehouse/query/status.ts';
import { freshFolder } from '../scratch.ts';
import { editFile, openTestStore } from '../warehouse/warehouses.ts';

/** More than the maximum number of arguments of a call, which is about 125,000. */
const MANY = 130_000;

test('least and greatest take any number of values', () => {
  const values = Array.from({ length: MANY }, (_, at) => at - 5);
  expect([least(values), greatest(values), least([]), greatest([], 0)]).toEqual([-5, MANY - 6, Infinity, 0]);
});

test('a ledger of 130,000 entries has a status and can be verified', async () => {
  const path = join(freshFolder(), 'w.duckdb');
  const registry = await loadRegistry();
  await (await openTestStore(path, { tables: registry.tables })).close();
  const entry = `'{"format":1,"number":' || n || ',"id":"e' || n || '","network":"sandbox","pipeline":"blocks","version":1,"span":{"from":'
    || (2 * n) || ',"to":' || (2 * n) || '},"verdict":"accepted","tables":{},"requests":1,"retries":0,"supersedes":[],"committedAt":"2026-05-01T00:00:00.000Z"}'`;
  const columns = `n, 'e' || n, 'blocks', 2 * n, 2 * n, 'proven', '{}', 1, TIMESTAMP '2026-05-01', NULL, ${entry}`;
  await editFile(path, `INSERT INTO _ledger SELECT ${columns} FROM range(1, ${MANY + 1}) t(n)`);
  const { pipelines } = await readStatus(path);
  expect(pipelines).toMatchObject([{ pipeline: 'blocks', blocks: MANY }]);
  await withDamagedStore({ path, registry, memoryMb: 256 }, async ({ entries }) => expect(entries).toHaveLength(MANY));
});
