import { join } from 'node:path';
import { expect, test } from 'vitest';
import { run } from '../../src/export/run.ts';
import { renderReport } from '../../src/reports/render-report.ts';
import { formatStatus, readStatus } from '../../src/warehouse/query/status.ts';
import { tonlake } from '../cli.ts';
import { freshFolder } from '../scratch.ts';
import { tableReport } from './support.ts';

const blocks = Array.from({ length: 14 }, (_, at) => 1000 + 3 * at);
const WHOLE = blocks.join(',');
const SHORT = '1000,1003,1006,1009,1012,1015,1018,1021 ... and 6 more spans, 6 blocks';
const MISSING =
  '1001:1002,1004:1005,1007:1008,1010:1011,1013:1014,1016:1017,1019:1020,1022:1023 ... and 5 more spans, 10 blocks';

const warehouse = join(freshFolder(), 'w');
await run({ pipelines: ['blocks'], network: 'sandbox', range: WHOLE, warehouse });

test('a long list of spans is short in the foot of a report, and whole in its JSON', async () => {
  const report = tableReport('select count(*) as n from blocks');
  for (const format of ['html', 'md'] as const) {
    const { content } = await renderReport(warehouse, report, { format });
    expect(content).toContain(SHORT);
    expect(content).toContain(MISSING);
    expect(content).not.toContain(WHOLE);
  }
  const { content } = await renderReport(warehouse, report, { format: 'json' });
  expect(JSON.parse(content).coverage).toMatchObject([{ pipeline: 'blocks', proven: WHOLE }]);
});

test('it is short in the status, in what verify proves and in warnings', async () => {
  const status = formatStatus(await readStatus(warehouse));
  expect(status).toContain(`proven       ${SHORT} (14 masterchain blocks)`);
  expect(status).toContain(`missing      ${MISSING} (not exported)`);
  const verified = await tonlake(['verify', '-w', warehouse]);
  expect(verified.stdout).toContain(`proven: blocks ${SHORT} in `);
  const queried = await tonlake(['sql', '-w', warehouse, 'select count(*) from blocks']);
  expect(queried.stderr).toContain(`blocks: missing ${MISSING} (not exported)`);
});
