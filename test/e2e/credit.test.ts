import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { run } from '../../src/export/run.ts';
import { type Sandbox, startSandbox } from '../../src/sandbox/index.ts';
import { proxy } from '../proxy.ts';
import { freshFolder } from '../scratch.ts';
import { query } from './export.ts';

let sandbox: Sandbox;
beforeAll(async () => {
  sandbox = await startSandbox({ blocks: 200 });
});
afterAll(() => sandbox.close());

test.each(['w', 'w.duckdb'])('a negative credit is a value, and no reason for quarantine (%s)', async (name) => {
  const { baseUrl } = await proxy(sandbox, (_, answer) => ({
    ...answer,
    body: answer.body.replace(/"credit":"\d+"/, '"credit":"-9223372036854775808"'),
  }));
  const warehouse = join(freshFolder(), name);
  const options = {
    pipelines: ['transactions'],
    network: baseUrl,
    range: '66:68',
    warehouse,
    walk: 'masterchain',
  } as const;
  expect(await run({ ...options })).toMatchObject({ complete: true, quarantined: 0 });
  expect(await query(warehouse, 'SELECT min(credit), count(*) FILTER (credit < 0) FROM transactions')).toEqual([
    ['-9223372036854775808', '3'],
  ]);
});

test('null in the place of a list is asked for again', async () => {
  let left = 3;
  const { baseUrl } = await proxy(sandbox, ({ pathname }, answer) =>
    pathname === '/transactions' && left-- > 0 ? { ...answer, body: '{"transactions":null}' } : undefined,
  );
  const options = { pipelines: ['transactions'], network: baseUrl, range: '60:72', walk: 'window' } as const;
  expect(await run({ ...options, warehouse: join(freshFolder(), 'w') })).toMatchObject({
    ...{ complete: true, retries: 3 },
  });
});
