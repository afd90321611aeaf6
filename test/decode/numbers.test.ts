import { describe, expect, it } from 'vitest';
import { parseExact, valueAt } from '../../src/decode/read-cell.ts';
import { cell } from './things.ts';

const refused = (pointer: string, expected: string, got: string) => ({
  refused: `/things/0/${pointer}: expected ${expected}, got ${got}`,
});

describe('decimal strings of 64 bits', () => {
  it.each([
    '0',
    '1',
    '-1',
    '7',
    '2147483647',
    '2147483648',
    '4294967295',
    '4294967296',
    '-4294967296',
    '-4294967297',
    '99999999999999',
    '999999999999999',
    '-999999999999999',
    '1000000000000000',
    '9999999999999999',
    '-1000000000000001',
    '1234567890123456789',
    '-1234567890123456789',
    '4294967296000000000',
    '-4294967296000000000',
    '9223372036854775807',
    '-9223372036854775807',
    '-9223372036854775808',
  ])('%s keeps every digit', (digits) => {
    expect(cell('int64', `"${digits}"`)).toBe(BigInt(digits));
  });

  it.each(['9223372036854775808', '-9223372036854775809', '18446744073709551616', '99999999999999999999999999'])(
    '%s is out of range, and named so',
    (digits) => {
      expect(cell('int64', `"${digits}"`)).toEqual(
        refused('int64', 'a decimal string (decimal-int64)', `"${digits}" (string)`),
      );
    },
  );

  it.each(['', '-', '+1', '01', '-01', '-0', '00', ' 1', '1 ', '1.0', '1e3', '0x10', '1_000', '١'])(
    '"%s" is no number',
    (text) => {
      expect(cell('int64', `"${text}"`)).toEqual(
        refused('int64', 'a decimal string (decimal-int64)', `"${text}" (string)`),
      );
    },
  );

  it('a JSON number in place of a decimal string is refused, never read', () => {
    expect(cell('int64', '17')).toEqual(refused('int64', 'a decimal string (decimal-int64)', '17 (number)'));
  });
});

describe('wide decimals', () => {
  it('an unsigned 64-bit value above the signed range is kept: servers of 2024 sent such credits', () => {
    expect(cell('uint64', '"16298225961743024383"')).toBe(16298225961743024383n);
  });

  it.each(['0', '1', '4294967296', '999999999999999', '1000000000000000', '18446744073709551615'])(
    '%s fits an unsigned 64-bit column',
    (digits) => {
      expect(cell('uint64', `"${digits}"`)).toBe(BigInt(digits));
    },
  );

  it.each(['18446744073709551616', '-1'])('%s does not fit an unsigned 64-bit column', (digits) => {
    expect(cell('uint64', `"${digits}"`)).toEqual(
      refused('uint64', 'a decimal string (decimal-uint64)', `"${digits}" (string)`),
    );
  });

  it.each([10n ** 20n - 1n, 1n - 10n ** 20n, 2n ** 64n - 1n, -(2n ** 63n), -1n, 0n])(
    'DECIMAL(20,0) holds %s',
    (value) => {
      expect(cell('decimal20', `"${value}"`)).toBe(value);
    },
  );

  it.each([10n ** 20n, -(10n ** 20n)])('DECIMAL(20,0) does not hold %s', (value) => {
    expect(cell('decimal20', `"${value}"`)).toEqual(
      refused('decimal20', 'a decimal string (decimal-20)', `"${value}" (string)`),
    );
  });

  it.each([10n ** 38n - 1n, 1n - 10n ** 38n, 2n ** 64n, -(2n ** 64n), 2n ** 120n - 1n, -1n, 0n])(
    'DECIMAL(38,0) holds %s',
    (value) => {
      expect(cell('decimal', `"${value}"`)).toBe(value);
    },
  );

  it.each([10n ** 38n, -(10n ** 38n)])('DECIMAL(38,0) does not hold %s', (value) => {
    expect(cell('decimal', `"${value}"`)).toEqual(
      refused('decimal', 'a decimal string (decimal-38)', `"${value}" (string)`),
    );
  });
});

describe('JSON integers', () => {
  it.each(['2147483647', '-2147483648', '0', '-3'])('%s fits int32', (text) => {
    expect(cell('int32', text)).toBe(BigInt(text));
  });

  it.each(['2147483648', '-2147483649', '99999999999999999999'])('%s does not fit int32', (text) => {
    expect(cell('int32', text)).toMatchObject({ refused: expect.stringContaining('/things/0/int32: expected') });
  });

  it.each(['1.0', '1.5', '1e2', '1E2', '-0', '1e-2'])('%s is refused: no number passes through a float', (text) => {
    expect(cell('int32', text)).toMatchObject({ refused: expect.stringContaining('/things/0/int32: expected') });
  });

  it('integers above 2^53 keep every digit', () => {
    expect(cell('number', '9223372036854775807')).toBe(9223372036854775807n);
    expect(cell('number', '-9007199254740993')).toBe(-9007199254740993n);
  });

  it('an unsigned 32-bit value reads as a positive number up to its greatest', () => {
    expect(cell('uint32', '4294967295')).toBe(4294967295n);
    expect(cell('uint32', '4294967296')).toEqual(refused('uint32', 'an integer (uint32)', '4294967296 (number)'));
    expect(cell('uint32', '-1')).toEqual(refused('uint32', 'an integer (uint32)', '-1 (number)'));
  });

  it('times come as integers or as decimal strings, each in its own columns', () => {
    expect(cell('now', '1777600600')).toBe(1777600600n);
    expect(cell('time', '"1777600600"')).toBe(1777600600n);
    expect(cell('now', '"1777600600"')).toMatchObject({ refused: expect.stringContaining('(string)') });
    expect(cell('time', '1777600600')).toMatchObject({ refused: expect.stringContaining('(number)') });
    expect(cell('time', '"4294967296"')).toMatchObject({ refused: expect.stringContaining('4294967296') });
  });

  it('a string in place of an integer is refused', () => {
    expect(cell('int32', '"5"')).toEqual(refused('int32', 'an integer (int32)', '"5" (string)'));
  });
});

describe('hexadecimal', () => {
  it.each([
    ['8000000000000000', -(2n ** 63n)],
    ['800000000000000', 2n ** 59n],
    ['4000000000000000', 2n ** 62n],
    ['C000000000000000', -(2n ** 62n)],
    ['FFFFFFFFFFFFFFFF', -1n],
    ['1', 1n],
    ['123456789', 0x123456789n],
  ])('shard %s is %s: not padded, and the top bit is the sign', (text, value) => {
    expect(cell('shard', `"${text}"`)).toBe(value);
  });

  it.each(['', '80000000000000000', '80000000000000G0', '-1'])('"%s" is no shard', (text) => {
    expect(cell('shard', `"${text}"`)).toEqual(refused('shard', 'a shard in upper-case hex', `"${text}" (string)`));
  });

  it.each([
    ['0x00000000', 0n],
    ['0x0f8a7ea5', 0x0f8a7ea5n],
    ['0x7fffffff', 2147483647n],
    ['0x80000000', -2147483648n],
    ['0xffffffff', -1n],
    ['0xd53276db', -718113061n],
  ])('opcode %s is %s as a signed 32-bit integer', (text, value) => {
    expect(cell('opcode', `"${text}"`)).toBe(value);
  });

  it.each(['0f8a7ea5', '0x0f8a7ea', '0x0f8a7ea55', '0x0f8a7eag', '1x0f8a7ea5', ''])('"%s" is no opcode', (text) => {
    expect(cell('opcode', `"${text}"`)).toEqual(
      refused('opcode', 'an opcode of 0x and 8 hex digits', `"${text}" (string)`),
    );
  });
});

describe('truth values', () => {
  it('true and false are kept apart from null', () => {
    expect(cell('bool', 'true')).toBe(true);
    expect(cell('bool', 'false')).toBe(false);
    expect(cell('bool', 'null')).toBe(null);
  });

  it.each(['1', '0', '"true"', '[]'])('%s is neither', (text) => {
    expect(cell('bool', text)).toMatchObject({ refused: expect.stringContaining('expected true or false, got') });
  });
});

it('a number is no record, however it is written', () => {
  for (const digits of ['7', '1e5', '-0', '12345678901234567890'])
    expect(valueAt(parseExact(`{"details":${digits}}`), '/details/value')).toBeUndefined();
});
