import { join } from 'node:path';
import { expect, test } from 'vitest';
import { renderReport } from '../../src/reports/render-report.ts';
import { damage, exportSandbox, texts } from '../marts/support.ts';
import { freshFolder } from '../scratch.ts';

test('a deleted account has no balance, though the source knows none after its last transaction', async () => {
  const path = await exportSandbox('4990:5009', ['transactions'], join(freshFolder(), 'w.duckdb'));
  const [[account = ''] = []] = await texts(
    path,
    'SELECT account FROM transactions GROUP BY 1 HAVING count(*) > 2 ORDER BY 1 LIMIT 1',
  );
  await damage(
    path,
    `UPDATE _rows.transactions SET end_status = 'nonexist', account_state_balance_after = NULL
     WHERE lt = (SELECT max(lt) FROM transactions WHERE account = '${account}') AND account = '${account}'`,
  );
  const { content } = await renderReport(path, 'account', { params: { account }, format: 'json' });
  const { facts, balances, latest_transactions: latest } = JSON.parse(content).blocks;
  expect([facts.rows[0].balance, facts.rows[0].status]).toEqual([0, 'nonexist']);
  expect([balances.rows.at(-1).balance_ton, latest.rows[0].balance_ton]).toEqual([0, 0]);
});
