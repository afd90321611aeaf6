import { cpSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { run } from '../../src/export/run.ts';
import { open } from '../../src/library/open.ts';
import { repairWarehouse } from '../../src/verify/repair.ts';
import { tonlake } from '../cli.ts';
import { query } from '../e2e/export.ts';
import { startTestSandbox } from '../faults/test-sandbox.ts';
import { freshFolder } from '../scratch.ts';

const sandbox = await startTestSandbox();

async function bring(range: string): Promise<string> {
  const warehouse = join(freshFolder(), 'w');
  await run({ pipelines: ['transactions'], range, network: sandbox.url, warehouse });
  return warehouse;
}

/** Adds the files and entries of one warehouse to another, as somebody would who does not know `tonlake copy --add`. */
function copyByHand(from: string, to: string): void {
  cpSync(join(from, 'tables'), join(to, 'tables'), { recursive: true });
  const entries = (path: string) => readdirSync(join(path, '_ledger')).filter((name) => /^\d+\.json$/.test(name));
  let number = entries(to).length;
  for (const name of entries(from).sort()) {
    const entry = JSON.parse(readFileSync(join(from, '_ledger', name), 'utf8'));
    number++;
    writeFileSync(join(to, '_ledger', `${String(number).padStart(8, '0')}.json`), JSON.stringify({ ...entry, number }));
  }
}

const COUNT = 'select count(*) as n from transactions';

test('entries with common blocks, copied by hand, double no rows in an answer; a repair leaves each once', async () => {
  const [first, second] = [await bring('1000:1009'), await bring('1005:1014')];
  const whole = await query(await bring('1000:1014'), COUNT);
  copyByHand(second, first);
  const asked = await tonlake(['sql', COUNT, '--warehouse', first]);
  expect(asked).toMatchObject({
    code: 1,
    stderr: `error: store: transactions 1005:1009: expected one entry of the ledger, got 2 and 4; hint: tonlake verify --repair --warehouse ${first}\n`,
  });
  const warehouse = await open({ warehouse: first });
  await expect(warehouse.query(COUNT)).rejects.toMatchObject({ code: 'blocks-twice' });
  expect(await warehouse.query('select 1 as one')).toEqual([{ one: 1 }]);
  await warehouse.close();
  expect(await repairWarehouse({ warehouse: first, network: sandbox.url })).toMatchObject({ proven: true });
  expect(await query(first, COUNT)).toEqual(whole);
});
