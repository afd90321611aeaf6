import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { makeFolders, makeFoldersSync } from '../../src/files/make-folders.ts';
import { type Sandbox, startSandbox } from '../../src/sandbox/index.ts';
import { tonlake } from '../cli.ts';
import { freshFolder } from '../scratch.ts';

/** A folder that is there and takes none, for root neither; Node's recursive mkdir never returns there. */
const NOWHERE = '/proc/tonlake/home';

let sandbox: Sandbox;
beforeAll(async () => {
  sandbox = await startSandbox({ port: 0 });
});
afterAll(() => sandbox.close());

describe.skipIf(!existsSync('/proc/self'))('a place that takes no folder', () => {
  test('as HOME ends a run that has a rate limit to share, with one line, before it makes a warehouse', async () => {
    const warehouse = join(freshFolder(), 'w');
    const args = ['run', 'blocks', '--network', sandbox.url, '--range', '1000:1001', '--warehouse', warehouse];
    const env = { HOME: NOWHERE, XDG_STATE_HOME: '' };
    const { code, stderr } = await tonlake([...args, '--rps', '50'], { env });
    expect({ code, stderr }).toEqual({
      code: 1,
      stderr: expect.stringMatching(
        /^error: source: expected a writable state folder to share the rate limit, got ENOENT: .*; hint: set TONLAKE_STATE_DIR to a writable folder\n$/,
      ),
    });
    expect(existsSync(warehouse)).toBe(false);
    // Nothing is shared where there is no limit.
    expect((await tonlake(args, { env })).code).toBe(0);
  });

  test('as HOME is told by status --budget in one line', async () => {
    const { code, stderr } = await tonlake(['status', '--budget', '--network', sandbox.url], {
      env: { HOME: NOWHERE, XDG_STATE_HOME: '' },
    });
    expect({ code, stderr }).toEqual({
      code: 1,
      stderr: expect.stringMatching(
        /^error: source: expected a writable state folder .*; hint: set TONLAKE_STATE_DIR .*\n$/,
      ),
    });
  });

  test.each(['/proc/tonlake/w', '/proc/tonlake/w.duckdb'])('as a warehouse is refused: %s', async (warehouse) => {
    const args = ['run', 'blocks', '--network', sandbox.url, '--range', '1000:1001', '--warehouse', warehouse];
    const { code, stderr } = await tonlake(args);
    expect({ code, stderr }).toEqual({
      code: 1,
      stderr: expect.stringMatching(
        /^error: store: warehouse \/proc\/tonlake\/w.*: the folder cannot be created there \(ENOENT.*\); hint: choose another --warehouse\n$/,
      ),
    });
  });

  test('is told by the function that makes folders', async () => {
    await expect(makeFolders(NOWHERE)).rejects.toThrow(/ENOENT.*mkdir/);
    expect(() => makeFoldersSync(NOWHERE)).toThrow(/ENOENT.*mkdir/);
  });
});

test('folders are made with their parents, whoever else makes them at the same time', async () => {
  const root = freshFolder();
  const path = join(root, 'a/b/c');
  const firsts = await Promise.all(Array.from({ length: 8 }, () => makeFolders(path)));
  expect(existsSync(path)).toBe(true);
  expect(firsts).toContain(join(root, 'a'));
  expect(await makeFolders(path)).toBeUndefined();
  makeFoldersSync(join(root, 'x/y'), 0o700);
  expect(existsSync(join(root, 'x/y'))).toBe(true);
});
