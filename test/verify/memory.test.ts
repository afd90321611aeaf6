import { expect, test } from 'vitest';
import { realEffects } from '../../src/core/effects.ts';
import { StoreError } from '../../src/core/errors.ts';
import { loadRegistry } from '../../src/declare/registry.ts';
import { type AuditOptions, auditRows } from '../../src/verify/audit-rows.ts';
import type { Finding } from '../../src/verify/finding.ts';
import { inspectWarehouse } from '../../src/verify/verify.ts';
import { startTestSandbox } from '../faults/test-sandbox.ts';
import { copyOf, exportWarehouse, fileOf, replaceRows, verify } from './support.ts';

const sandbox = await startTestSandbox();
const warehouse = copyOf(await exportWarehouse(sandbox));
// Two transactions are gone, which the audits after the headers' find.
await replaceRows(
  warehouse,
  fileOf(warehouse, 'transactions', 1100),
  'SELECT * FROM old LIMIT (SELECT count(*) - 2 FROM old)',
);

test('too little memory is no damage', async () => {
  const findings: Finding[] = [];
  const onEvent = (event: { event: string }): void => {
    if (event.event === 'finding') findings.push(event as never);
  };
  const failed = await verify(warehouse, { memoryMb: 4, onEvent }).catch((error: unknown) => error);
  expect(failed).toBeInstanceOf(StoreError);
  expect(failed).toMatchObject({
    code: 'out-of-memory',
    hint: expect.stringMatching(/verify --memory 16 .*allows more/),
  });
  expect(findings.filter(({ kind }) => kind === 'file-unreadable')).toEqual([]);
});

test('an audit that needs more memory than usual gets it, and tells each finding once', async () => {
  const registry = await loadRegistry();
  await inspectWarehouse({ warehouse, effects: realEffects }, async (inspection) => {
    const { states } = inspection;
    const audit = async (isWidened: boolean): Promise<readonly Finding[]> => {
      const told: Finding[] = [];
      const limits = [{ from: 1080, to: 1159 }];
      const options = { registry, states, limits, isDeep: true, isWidened, warehouse: inspection.warehouse };
      await auditRows({ ...options, report: (finding) => told.push(finding) } satisfies Omit<AuditOptions, 'skip'>);
      return told;
    };
    const all = await audit(false);
    expect(all.length).toBeGreaterThan(0);
    await inspection.warehouse.database.run("SET memory_limit = '4MB'");
    await expect(audit(false)).rejects.toThrow('Out of Memory Error');
    expect(await audit(true)).toEqual(all);
  });
});
