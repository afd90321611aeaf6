import { join } from 'node:path';
import { Command } from 'commander';
import { afterEach, expect, test, vi } from 'vitest';
import { addVerify } from '../../src/cli/commands/verify-command.ts';
import { startTestSandbox } from '../faults/test-sandbox.ts';
import { copyOf, dropFile, exportWarehouse, fileOf } from './support.ts';

const sandbox = await startTestSandbox();
const sound = await exportWarehouse(sandbox);

afterEach(() => {
  process.exitCode = undefined;
});

/** Output and exit code of `tonlake verify`. */
async function tonlakeVerify(...args: readonly string[]): Promise<{ code: unknown; lines: readonly string[] }> {
  let text = '';
  const write = vi.spyOn(process.stdout, 'write').mockImplementation((chunk) => {
    text += String(chunk);
    return true;
  });
  const program = new Command();
  addVerify(program);
  try {
    await program.parseAsync(['node', 'tonlake', 'verify', ...args]);
  } finally {
    write.mockRestore();
  }
  return { code: process.exitCode ?? 0, lines: text.trimEnd().split('\n') };
}

test('a proven warehouse ends with 0 and one line that says what is proven', async () => {
  const { code, lines } = await tonlakeVerify('--warehouse', sound, '--deep');
  expect(code).toBe(0);
  expect(lines[0]).toMatch(/^proven: blocks 1080:1159; transactions 1080:1159 in .* \(0 findings, 12 files, .*\)$/);
  expect(lines[1]).toMatch(
    /^ {2}across the edges: 5 links to earlier blocks, \d+ transactions after others outside the range/,
  );
});

test('a finding is one line with exit code 1, and --repair ends with 0', async () => {
  const path = copyOf(sound);
  const file = fileOf(path, 'account_states', 1100);
  dropFile(path, file);
  const { code, lines } = await tonlakeVerify('--warehouse', path);
  expect(code).toBe(1);
  expect(lines[0]).toBe(`audit transactions 1095:1139: expected a file that the ledger names, got none (${file})`);
  expect(lines[1]).toMatch(/^NOT proven: .* \(1 finding, 12 files, /);
  process.exitCode = undefined;
  const repaired = await tonlakeVerify('--warehouse', path, '--repair', '--json');
  expect(repaired.code).toBe(0);
  expect(repaired.lines.map((line) => JSON.parse(line))).toEqual([
    expect.objectContaining({ event: 'finding', kind: 'file-missing', table: 'account_states', file }),
    expect.objectContaining({ event: 'repaired', pipeline: 'transactions', span: { from: 1095, to: 1139 } }),
    expect.objectContaining({ event: 'verified', proven: true, findings: 0, edges: { linksBefore: 5 } }),
  ]);
});

test('a path without a warehouse is an error', async () => {
  await expect(tonlakeVerify('--warehouse', join(sound, 'none'))).rejects.toMatchObject({ code: 'no-warehouse' });
});
