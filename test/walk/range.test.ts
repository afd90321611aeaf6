import { describe, expect, test } from 'vitest';
import { UsageError } from '../../src/errors.ts';
import { formatSpans } from '../../src/span.ts';
import { parseRange, resolveRange } from '../../src/walk/range.ts';

const chain = {
  head: async () => 10_000,
  firstOfDay: async (date: string) => (date === '2026-05-01' ? 100 : 4000),
  lastOfDay: async (date: string) => (date === '2026-05-01' ? 4003 : 9003),
};

async function resolve(text: string): Promise<string> {
  return formatSpans(await resolveRange(parseRange(text), chain));
}

describe('a range', () => {
  test.each([
    ['1000:1499', '1000:1499'],
    ['47670000', '47670000'],
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
    '-0:',
    '9999999999',
  ])('%j is refused with examples', (text) => {
    expect(() => parseRange(text)).toThrow(UsageError);
  });

  test('one that shrinks is refused with the range that was probably meant', () => {
    expect(() => parseRange('20:10')).toThrow(expect.objectContaining({ hint: 'did you mean 10:20?' }));
  });

  test('an open one above the head is refused and names the head', async () => {
    await expect(resolve('10001:')).rejects.toMatchObject({ code: 'wrong-range', hint: 'the head is 10000' });
  });

  test('numbers alone ask nothing of the chain', async () => {
    const fail = async (): Promise<number> => Promise.reject(new Error('asked'));
    const silent = { head: fail, firstOfDay: fail, lastOfDay: fail };
    expect(await resolveRange(parseRange('5:6'), silent)).toEqual([{ from: 5, to: 6 }]);
  });
});
