import { describe, expect, test } from 'vitest';
import { parseRange, resolveRange } from '../../src/chain/range.ts';
import { UsageError } from '../../src/core/errors.ts';
import { formatSpans } from '../../src/core/span.ts';

const DAY = Date.UTC(2026, 4, 1);
/** A block every ten seconds. */
const blockAt = (ms: number): number => Math.ceil((ms - DAY) / 10_000);

const chain = {
  head: async () => 10_000,
  firstOfDay: async (date: string) => (date === '2026-05-01' ? 100 : 4000),
  lastOfDay: async (date: string) => (date === '2026-05-01' ? 4003 : 9003),
  firstSince: async (ms: number) => blockAt(ms),
  lastBefore: async (ms: number) => blockAt(ms) + 2,
  blockTime: async (seqno: number) => DAY + seqno * 10_000,
  today: async () => '2026-05-02',
};

async function resolve(text: string): Promise<string> {
  return formatSpans(await resolveRange(parseRange(text), chain));
}

const MINUTES = 'minutes cannot be counted; -12h: is the last 12 hours, -5M: the last 5 million blocks';

describe('a range', () => {
  test.each([
    ['1000:1499', '1000:1499'],
    ['47670000', '47670000'],
    ['4294967295', '4294967295'],
    ['47.67M:47.68M', '47670000:47680000'],
    ['47_670_000:47_670_001', '47670000:47670001'],
    ['5k:6K', '5000:6000'],
    ['-1000:', '9001:10000'],
    ['-10:7000', '6991:7000'],
    [':+1000', '10001:11000'],
    ['500:+10', '500:509'],
    ['9990:', '9990:10000'],
    ['1:3,7,5:6', '1:3,5:7'],
    ['2026-05-01', '100:4003'],
    ['2026-05-01:2026-05-02', '100:9003'],
    ['2026-05-01:', '100:10000'],
    ['yesterday', '100:4003'],
    ['Yesterday:today', '100:9003'],
    ['-1d:yesterday', '100:4003'],
    ['-2d:2026-05-02', '100:9003'],
    ['-1d:', '1360:10000'],
    ['-12H:', '5680:10000'],
    ['-1h:1000', '640:1000'],
    ['2026-05-01T12:00', '4320:4328'],
    ['2026-05-01T12:00:10', '4321:4324'],
    ['2026-05-01T12:00:2026-05-01T13:00', '4320:4682'],
    ['2026-05-01t12:00z:2026-05-01T12:30:30Z', '4320:4505'],
    ['2026-05-01T12:00:', '4320:10000'],
    ['2026-05-01T12:00:5000', '4320:5000'],
    ['-1h:2026-05-01T12:00', '3960:4322'],
    ['5:6,2026-05-01T01:00:2026-05-01T02:00', '5:6,360:722'],
    ['100:199,300:399', '100:199,300:399'],
    ['1:1,700', '1:1,700'],
    ['100:200,300', '100:200,300'],
    ['100, 200', '100:100,200'],
  ])('%s means %s', async (text, spans) => {
    expect(await resolve(text)).toBe(spans);
  });

  test.each([
    '',
    ':',
    'abc',
    '1:2:3',
    '1.5',
    '12x:13',
    '5:-3',
    '+5',
    '-5',
    '2026-13-01',
    '2026-02-30',
    '1,,2',
    ':700',
    '2026-13',
    '2026-00',
    '2026-05-01T24:30',
    '2026-05-01T12',
    '2026-05-01T12:00:00+02:00',
    '2026-02-30T12:00',
    '2026-05-01T13:00:2026-05-01T12:00',
    '-12h:2026-05-01',
    '-7d',
    '-0d:',
    ':-7d',
    'today:yesterday',
    'tomorrow',
    '-0:',
    '4294967296',
  ])('%j is refused with examples', (text) => {
    expect(() => parseRange(text)).toThrow(UsageError);
  });

  test.each([
    ['2026-02-30', 'expected a day of the calendar, got "2026-02-30"', 'days are written as 2026-05-01'],
    ['2026-13', 'expected a month of the calendar, got "2026-13"', 'months are written as 2026-05'],
    [
      '2026-05-01:2026-05-32',
      'expected a day of the calendar, got "2026-05-32"',
      'it is part of "2026-05-01:2026-05-32"',
    ],
    ['-7d', 'expected a range such as', 'did you mean -7d:?'],
    ['-100', 'expected a range such as', 'did you mean -100:?'],
    ['-5m:', 'expected blocks, days or hours before the end, got "-5m"', MINUTES],
    ['-5m', 'expected blocks, days or hours before the end, got "-5m"', MINUTES],
    ['-1.5m:2000000', 'expected blocks, days or hours before the end, got "-1.5m"', MINUTES],
  ])('%s is refused with a hint', (text, message, hint) => {
    expect(() => parseRange(text)).toThrow(
      expect.objectContaining({ message: expect.stringContaining(message), hint }),
    );
  });

  test('one that shrinks is refused with the range that was probably meant', () => {
    expect(() => parseRange('20:10')).toThrow(expect.objectContaining({ hint: 'did you mean 10:20?' }));
  });

  test.each([
    ['2026-05', '2026-05-01', '2026-05-31'],
    ['2024-02', '2024-02-01', '2024-02-29'],
    ['2026-11:2026-12', '2026-11-01', '2026-12-31'],
    ['2026-05:2026-06-07', '2026-05-01', '2026-06-07'],
  ])('the month %s is the days %s to %s', (text, first, last) => {
    const days = parseRange(text).map(({ from, to }) => [from, to]);
    expect(days).toEqual([[first, last].map((date) => ({ kind: 'date', date }))]);
  });

  test.each([
    ['1,000:2,000', 'did you mean 1000:2000? '],
    ['47,670,123:47,671,456', 'did you mean 47670123:47671456? '],
    ['-1,000:', 'did you mean -1000:? '],
    ['1,200', 'did you mean 1200? commas separate ranges; group digits like 47_670_000; 1:1,200 for'],
    ['100:300,200', 'did you mean 100:300200? '],
    ['1,000:2,000,300:400', 'commas separate ranges; '],
  ])('%s is refused, and not taken for several ranges', (text, hint) => {
    expect(() => parseRange(text)).toThrow(
      expect.objectContaining({
        message: `usage: expected digits without commas, got ${JSON.stringify(text)}`,
        hint: expect.stringMatching(`^${hint.replaceAll('?', '\\?')}`),
      }),
    );
  });

  test('spans in text are read again as the same spans', async () => {
    const spans = [
      { from: 1, to: 1 },
      { from: 100, to: 200 },
      { from: 300, to: 300 },
      { from: 1000, to: 1000 },
    ];
    expect(await resolveRange(parseRange(formatSpans(spans)), chain)).toEqual(spans);
  });

  test('an open one above the head is refused and names the head', async () => {
    await expect(resolve('10001:')).rejects.toMatchObject({
      message: 'usage: expected a range with blocks, got 10001:, which is 10001:10000',
      hint: 'the head is 10000',
    });
  });

  test('numbers alone ask nothing of the chain', async () => {
    const fail = async (): Promise<number> => Promise.reject(new Error('asked'));
    const never = async (): Promise<string> => Promise.reject(new Error('asked'));
    const days = { firstOfDay: fail, lastOfDay: fail, today: never };
    const silent = { head: fail, firstSince: fail, lastBefore: fail, blockTime: fail, ...days };
    expect(await resolveRange(parseRange('5:6'), silent)).toEqual([{ from: 5, to: 6 }]);
  });
});
