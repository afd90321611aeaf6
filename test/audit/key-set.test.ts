import { expect, test } from 'vitest';
import { KeySet } from '../../src/audit/page-audit.ts';

test('a set of keys counts each text once', () => {
  const keys = new KeySet();
  const addressOf = (at: number): string => `66:0:${at.toString(16).toUpperCase().padStart(64, '0')}`;
  for (let at = 0; at < 200_000; at++) keys.add(addressOf(at));
  expect(keys.size).toBe(200_000);
  for (let at = 0; at < 200_000; at += 7) keys.add(addressOf(at));
  expect(keys.size).toBe(200_000);
  for (const text of ['', '-', '1:a', '1:b', '']) keys.add(text);
  expect(keys.size).toBe(200_004);
});
