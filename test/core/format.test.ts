import { expect, test } from 'vitest';
import { formatAge, formatBytes, formatCount, formatDuration, shortDays } from '../../src/core/format.ts';

test.each([
  [0, '0'],
  [999, '999'],
  [1000, '1,000'],
  [-1234567, '-1,234,567'],
  [1_078_583, '1,078,583'],
  [12_345_678_901_234_567_890n, '12,345,678,901,234,567,890'],
])('%s is told as %s', (count, text) => {
  expect(formatCount(count)).toBe(text);
  expect(formatCount(count)).toBe(count.toLocaleString('en-US'));
});

test.each([
  [0, '0 B'],
  [999, '999 B'],
  [1000, '1.0 kB'],
  [331_200_000, '331.2 MB'],
])('%s bytes are told as %s', (bytes, text) => {
  expect(formatBytes(bytes)).toBe(text);
});

test.each([
  [0.44, '0.4 s', '0 s'],
  [59, '59 s', '59 s'],
  [3599, '59 min 59 s', '59 min'],
  [47 * 3600 + 1800, '47 h 30 min', '47 h'],
  [48 * 3600, '2 d 00 h', '2 d'],
  [205 * 86_400 + 7 * 3600, '205 d 07 h', '205 d'],
])('%s seconds are the duration %s and the age %s', (seconds, duration, age) => {
  expect([formatDuration(seconds), formatAge(seconds)]).toEqual([duration, age]);
});

test.each([
  [['2026-05-01'], '2026-05-01'],
  [['2026-04-30', '2026-05-01', '2026-05-02'], '2026-04-30..2026-05-02'],
  [['2026-05-01', '2026-05-02', '2026-05-04'], '2026-05-01..2026-05-02, +1 day'],
  [['2026-05-01', '2026-05-04', '2026-05-05', '2026-05-09'], '2026-05-01, +3 days'],
  [['all'], 'all'],
])('the days %j are told as %s', (days, text) => {
  expect(shortDays(days)).toBe(text);
});
