import { join } from 'node:path';
import { expect, test } from 'vitest';
import { tonlake } from '../cli.ts';
import { freshFolder } from '../scratch.ts';
import { hashTables } from './export.ts';

const PIPELINES = ['actions', 'message_links'];

async function bring(path: string, range: string) {
  const args = ['run', ...PIPELINES, '--network', 'sandbox', '--range', range, '--warehouse', path, '--json'];
  const { code, stdout } = await tonlake(args);
  expect(code).toBe(0);
  return JSON.parse(stdout.trim().split('\n').at(-1) ?? '');
}

async function merged(path: string): Promise<readonly string[]> {
  const listeners = process.listenerCount('SIGINT');
  const { stdout } = await tonlake(['compact', '--warehouse', path, '--json']);
  expect(process.listenerCount('SIGINT')).toBe(listeners);
  const events = stdout
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line));
  return events
    .filter(({ event }) => event === 'merged')
    .map(({ pipeline, from, to }) => `${pipeline} ${from}:${to}`)
    .filter((text) => PIPELINES.some((name) => text.startsWith(name)))
    .sort();
}

test('actions and message links are merged when they are final, and not asked for again', async () => {
  const path = join(freshFolder(), 'w');
  await bring(path, '1000:1004');
  await bring(path, '1005:1009');
  const before = await hashTables(path);
  expect(await merged(path)).toEqual(['actions 1000:1009', 'message_links 1000:1009']);
  expect(await hashTables(path)).toEqual(before);
  const again = await bring(path, '1000:1009');
  expect(again.spans).toBe(0);
  expect(await hashTables(path)).toEqual(before);
});

test('those near the head can change, and stay as they are', async () => {
  const path = join(freshFolder(), 'w');
  await bring(path, '9900:9904');
  await bring(path, '9905:9909');
  expect(await merged(path)).toEqual([]);
});
