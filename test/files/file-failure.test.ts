import { chmod, mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { StoreError } from '../../src/core/errors.ts';
import { asStoreError } from '../../src/files/file-failure.ts';
import { freshFolder } from '../scratch.ts';
import { openTestStore } from '../warehouse/warehouses.ts';

test.each([
  ['ENOSPC: no space left on device, write', 'disk-full'],
  ['IO Error: Could not write file "/w/x": No space left on device', 'disk-full'],
  ["EROFS: read-only file system, mkdir '/w'", 'not-writable'],
  ['IO Error: Cannot open file "/w/x": Permission denied', 'not-writable'],
  ["ENOTDIR: not a directory, mkdir '/f/w'", 'wrong-path'],
  ['IO Error: Could not set lock on file "/w.duckdb": Conflicting lock is held in node (PID 7)', 'busy'],
  ['Binder Error: Referenced column "x" not found\n\nLINE 1: select x', 'failed'],
  // What DuckDB quotes of a query is no failure of the disk.
  ["Conversion Error: Could not convert string 'permission denied' to INT32", 'failed'],
  ['Binder Error: Referenced column "x" not found\n\nLINE 1: select x = \'is a directory\'', 'failed'],
  ["Parser Error: syntax error at or near 'ENOSPC'", 'failed'],
  ['INTERRUPT Error: Interrupted!', 'interrupted'],
  ["Conversion Error: Could not convert string 'INTERRUPT Error: Interrupted!' to INT32", 'failed'],
  ['Invalid Input Error: INTERRUPT Error: Interrupted!', 'failed'],
  ['Invalid Input Error: permission denied', 'failed'],
  ['Invalid Input Error: No space left on device', 'failed'],
  ['Binder Error: Can only update base table', 'read-only'],
  ['Invalid Input Error: Cannot execute INSERT on database "w" which is attached in read-only mode!', 'read-only'],
  ["Invalid Input Error: File '/w/tables/t/d/0-9-0123456789ab.parquet' too small to be a Parquet file", 'damaged'],
])('%s is told as %s, on one line and with its cause', (message, code) => {
  const cause = new Error(message);
  const error = asStoreError(cause, 'warehouse /w');
  expect(error).toMatchObject({ code, cause });
  expect(error.message).toMatch(/^store: warehouse \/w: [^\n]*$/);
  if (code !== 'failed') expect(error.hint).toBeDefined();
});

test('an error of the store stays what it is', () => {
  const error = new StoreError('store: x', { code: 'busy' });
  expect(asStoreError(error, 'warehouse /w')).toBe(error);
});

// Root may write everywhere.
test.skipIf(process.getuid?.() === 0)('a folder without the right to write is refused with a hint', async () => {
  const folder = join(freshFolder(), 'closed');
  await mkdir(folder);
  await chmod(folder, 0o500);
  await expect(openTestStore(join(folder, 'w'))).rejects.toMatchObject({
    code: 'not-writable',
    hint: expect.any(String),
  });
  await expect(openTestStore(join(folder, 'w.duckdb'))).rejects.toMatchObject({ code: 'not-writable' });
});
