import { join } from 'node:path';
import { expect, test } from 'vitest';
import { startNode } from '../cli.ts';
import { freshFolder } from '../scratch.ts';

/** A program of somebody else that exports, with a second run and a job of its own in the way of the first. */
const HOST = `
import { readFileSync } from 'node:fs';
import { run } from ${JSON.stringify(new URL('../../dist/src/index.js', import.meta.url).href)};
const [warehouse, lock] = process.argv.slice(1);
const options = { pipelines: ['blocks'], network: 'sandbox', range: '1000:1001', warehouse };
let second;
await run({
  ...options,
  onEvent: ({ event }) => {
    if (event !== 'start') return;
    process.stdout.write(readFileSync(lock, 'utf8'));
    second = run(options).catch((error) => process.stdout.write(error.message));
  },
});
await second;
`;

test.each([
  ['a folder', 'w', 'w/_lock'],
  ['a DuckDB file', 'w.duckdb', 'w.duckdb.lock'],
])('as a library, %s is locked without a word of the host program', async (_, name, lock) => {
  const folder = freshFolder();
  const host = startNode(
    ['--input-type=module', '-e', HOST, '--', join(folder, name), join(folder, lock), '--db-password', 'hunter2'],
    {},
  );
  const { code, stdout, stderr } = await host.finished;
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
  expect(stdout).toContain('"command":"tonlake run blocks --range 1000:1001"');
  expect(stdout).toMatch(/is being written by process .* \(tonlake run blocks --range 1000:1001\)/);
  expect(stdout).not.toMatch(/hunter2|db-password/);
});
