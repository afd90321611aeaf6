import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test, vi } from 'vitest';
import { SentLog } from '../../src/feed/feed.ts';
import { FeedFile } from '../../src/feed/feed-file.ts';
import { recordsOf } from '../../src/jobs/run-history.ts';
import { freshFolder } from '../scratch.ts';

const MOST = 10;

test('the log of an alert is read once, keeps the newest, and does not grow without end', async () => {
  const warehouse = join(freshFolder(), 'w');
  const open = () => new FeedFile(warehouse, 'alert-a', (value) => value);
  const file = open();
  const reads = vi.spyOn(file, 'lines');
  const log = new SentLog(file, MOST);
  for (let at = 0; at < 200; at++) {
    expect(await log.stateOf(`id-${at}`)).toBeUndefined();
    await log.note(`id-${at}`, 'try');
    await log.note(`id-${at}`, 'sent');
  }
  await log.note('id-200', 'try');
  expect(reads).toHaveBeenCalledTimes(1);
  const lines = readFileSync(join(await recordsOf(warehouse, 'feed'), 'alert-a.log'), 'utf8')
    .trim()
    .split('\n');
  expect(lines.length).toBeLessThanOrEqual(4 * MOST + 1);
  // The next process knows the same.
  for (const each of [log, new SentLog(open(), MOST)]) {
    expect(await each.stateOf('id-200')).toBe('try');
    for (let at = 191; at < 200; at++) expect(await each.stateOf(`id-${at}`)).toBe('sent');
    expect(await each.stateOf('id-190')).toBeUndefined();
  }
});

test.each([
  ['whole', 'one\ntwo\n', ['one', 'two']],
  ['torn', 'one\ntwo', ['one']],
  ['torn after its first letter', 'one\nt', ['one']],
  ['the only one, and torn', 'on', []],
])('a line is added after a last one that is %s', async (_, held, left) => {
  const warehouse = join(freshFolder(), 'w');
  await new FeedFile(warehouse, 'alert-a', (value) => value).append('none');
  const path = join(await recordsOf(warehouse, 'feed'), 'alert-a.log');
  writeFileSync(path, held);
  await new FeedFile(warehouse, 'alert-a', (value) => value).append('three');
  expect(readFileSync(path, 'utf8').split('\n')).toEqual([...left, 'three', '']);
});
