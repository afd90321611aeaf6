import { join } from 'node:path';
import { expect, test } from 'vitest';
import { run } from '../../src/export/run.ts';
import { forgetRange } from '../../src/verify/forget.ts';
import { type RepairOptions, repairWarehouse } from '../../src/verify/repair.ts';
import { startTestSandbox } from '../faults/test-sandbox.ts';
import { freshFolder } from '../scratch.ts';
import { contentOf, copyOf, dropFile, entriesOf, ledgerFiles, readEntry, verify } from './support.ts';

const sandbox = await startTestSandbox();
const sound = join(freshFolder(), 'w');
// Midnight lies before 5000: one entry has files of two days.
await run({ pipelines: ['transactions'], network: sandbox.url, range: '4990:5009', warehouse: sound });

/** Checksums of the files of transactions and their tables, by day. */
async function sumsOf(path: string, day: string): Promise<readonly string[]> {
  const own = (await entriesOf(path)).filter(({ pipeline }) => pipeline === 'transactions');
  const files = own.flatMap(({ tables }) => Object.values(tables).flatMap((table) => table.files));
  return files.flatMap((file) => (file.path.includes(`=${day}/`) ? [file.sha256] : [])).sort();
}

function fileOfDay(path: string, day: string): string {
  const files = ledgerFiles(path).flatMap((name) => readEntry(name).tables['transactions']?.files ?? []);
  return files.find((file) => file.path.includes(`=${day}/`))?.path ?? '';
}

test('a file without a row that leaves is the same file afterwards, byte by byte', async () => {
  const path = copyOf(sound);
  const [before, after] = [await sumsOf(path, '2026-05-01'), await sumsOf(path, '2026-05-02')];
  expect([before.length, after.length]).toEqual([3, 3]);
  await forgetRange({ warehouse: path, pipelines: ['transactions'], range: '5009' });
  expect(await sumsOf(path, '2026-05-01')).toEqual(before);
  expect(await sumsOf(path, '2026-05-02')).not.toEqual(after);
  expect((await verify(path, { deep: true })).findings).toEqual([]);
});

test('a lost file of a day is read again, and no block that it has no rows of', async () => {
  const path = copyOf(sound);
  const content = await contentOf(path);
  dropFile(path, fileOfDay(path, '2026-05-02'));
  const refetched: unknown[] = [];
  const onEvent: RepairOptions['onEvent'] = (event) => {
    if (event.event === 'repaired') refetched.push(event.refetched);
  };
  expect(await repairWarehouse({ warehouse: path, onEvent })).toMatchObject({ proven: true });
  expect(refetched).toEqual([[{ from: expect.any(Number), to: 5009 }]]);
  expect(refetched).not.toEqual([[{ from: 4990, to: 5009 }]]);
  expect(await contentOf(path)).toEqual(content);
});
