import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { run } from '../../src/export/run.ts';
import { renderReport } from '../../src/reports/render-report.ts';
import { startSandbox } from '../../src/sandbox/index.ts';
import { freshFolder } from '../scratch.ts';

const warehouse = join(freshFolder(), 'w');

const sandbox = await startSandbox();
// Block 5000 is the first one after midnight.
await run({ pipelines: ['transactions'], network: sandbox.url, range: '4990:5000', warehouse });

afterAll(() => sandbox.close());

test('a report ends before a day that has just begun, unless it is asked for', async () => {
  const usual = await renderReport(warehouse, 'network-daily', {});
  expect(usual.gaps.join('\n')).toContain('missing part of 2026-05-01 (');
  expect(usual.gaps.join('\n')).not.toContain('2026-05-02');
  const asked = await renderReport(warehouse, 'network-daily', { params: { to: '2026-05-02' } });
  expect(asked.gaps.join('\n')).toContain('2026-05-02');
});
