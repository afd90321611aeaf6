import { join } from 'node:path';
import { beforeAll, describe, expect, test } from 'vitest';
import { run } from '../../src/export/run.ts';
import { open } from '../../src/library/open.ts';
import { tonlake } from '../cli.ts';
import { freshFolder } from '../scratch.ts';

let warehouse: string;
const QUERY = 'select count(*) as transactions from transactions';
const GAP = 'transactions: missing 1010:1019 (not exported)';

beforeAll(async () => {
  warehouse = join(freshFolder(), 'w');
  for (const range of ['1000:1009', '1020:1029']) {
    await run({ pipelines: ['transactions'], network: 'sandbox', range, warehouse });
  }
  await run({ pipelines: ['blocks'], network: 'sandbox', range: '1010:1019', warehouse });
});

describe('a query over a table with a hole', () => {
  test('answers, and says so on stderr', async () => {
    const { code, stdout, stderr } = await tonlake(['sql', QUERY, '--warehouse', warehouse, '--format', 'csv']);
    expect({ code, stderr }).toEqual({ code: 0, stderr: `warning: ${GAP}\n` });
    expect(stdout).toMatch(/^transactions\n\d+\n$/);
  });

  test('is refused with --strict', async () => {
    const { code, stdout, stderr } = await tonlake(['sql', QUERY, '--warehouse', warehouse, '--strict']);
    expect({ code, stdout }).toEqual({ code: 1, stdout: '' });
    expect(stderr).toContain(GAP);
  });

  test('is no matter where the query reads other tables', async () => {
    const { code, stderr } = await tonlake([
      'sql',
      'with whole as (select * from blocks) select count(*) from whole',
      '--warehouse',
      warehouse,
      '--strict',
    ]);
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
  });

  test('warns once in the library, and is refused there as well', async () => {
    const warnings: string[] = [];
    const opened = await open({ warehouse, onWarning: (message) => warnings.push(message) });
    await opened.query(QUERY);
    await opened.query(QUERY);
    await opened.close();
    expect(warnings).toEqual([GAP]);
    const strict = await open({ warehouse, strict: true });
    await expect(strict.query(QUERY)).rejects.toMatchObject({ code: 'missing' });
    await expect(strict.query('select count(*) from blocks')).resolves.toBeDefined();
    await strict.close();
  });
});
