import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { listReports } from '../../src/reports/find-report.ts';
import { renderReport } from '../../src/reports/render-report.ts';
import { directiveSchemas, frontSchema } from '../../src/reports/report-definition.ts';
import { warehouseWithHole, writeReport } from './support.ts';

const text = readFileSync(join(import.meta.dirname, '../../docs/reports.md'), 'utf8');

test('the report of the page can be made as it stands', async () => {
  const [, example = ''] = /^~~~markdown\n([\s\S]*?)^~~~$/m.exec(text) ?? [];
  const warehouse = await warehouseWithHole();
  for (const params of [{}, { day: '2026-05-01', least: '1' }]) {
    const { content, isEmpty } = await renderReport(warehouse, writeReport(example), { params, format: 'md' });
    expect(isEmpty).toBe(false);
    expect(content).toMatch(/\*\*Transactions a minute\*\*\n\n\| minute \| transactions \|\n/);
    expect(content).toMatch(/\| account \| transactions \| fees, TON \|/);
  }
});

test('the page names every report with its parameters, and every key', async () => {
  for (const { name, params = {} } of await listReports()) {
    const named = Object.keys(params).map((param) => `\`${param}\``);
    expect(text).toMatch(new RegExp(`^\\| \`${name}\` \\|.*\\| ${named.join(', ')} \\|$`, 'm'));
  }
  const schemas = [frontSchema, ...Object.values(directiveSchemas)];
  for (const key of schemas.flatMap(({ shape }) => Object.keys(shape))) expect(text, key).toContain(`\`${key}\``);
});
