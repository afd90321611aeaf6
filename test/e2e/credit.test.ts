import { join } from 'node:path';
import { expect, test } from 'vitest';
import { run } from '../../src/export/run.ts';
import { startTestSandbox } from '../faults/test-sandbox.ts';
import { freshFolder } from '../scratch.ts';
import { query } from './export.ts';

const sandbox = await startTestSandbox({ blocks: 200 });

test.each(['w', 'w.duckdb'])('a negative credit is a value, and no reason for quarantine (%s)', async (name) => {
  sandbox.changeAnswers((_, answer) => ({
    ...answer,
    body: answer.body.replace(/"credit":"\d+"/, '"credit":"-9223372036854775808"'),
  }));
  const warehouse = join(freshFolder(), name);
  const options = {
    pipelines: ['transactions'],
    network: sandbox.url,
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
  sandbox.changeAnswers(({ path }, answer) =>
    path === '/transactions' && left-- > 0 ? { ...answer, body: '{"transactions":null}' } : undefined,
  );
  const options = { pipelines: ['transactions'], network: sandbox.url, range: '60:72', walk: 'window' } as const;
  expect(await run({ ...options, warehouse: join(freshFolder(), 'w') })).toMatchObject({
    ...{ complete: true, retries: 3 },
  });
});
