import fc from 'fast-check';
import { expect, test } from 'vitest';
import { readableDecimals, roundDecimal } from '../../src/reports/cells.ts';
import { isIdentifier } from '../../src/sql/identifiers.ts';

test.each([
  { texts: ['57104.538701896', '0.000000001', '0.000000000'], shown: ['57104.54', '<0.01', '0'] },
  { texts: ['2.761945404', '-0.500000000'], shown: ['2.7619', '-0.5000'] },
  { texts: ['0.014445095', '0.001200000'], shown: ['0.014445', '0.001200'] },
  { texts: ['0.000000001', '0.000000120'], shown: ['0.000000001', '0.000000120'] },
  { texts: ['3.000000000', '-1.500000000'], shown: ['3.0', '-1.5'] },
  { texts: ['76.000000000', '228.000000000'], shown: ['76', '228'] },
  { texts: ['-0.000000001', '-999.995000000'], shown: ['>-0.01', '-1000.00'] },
  { texts: ['0.394', '0.400'], shown: ['0.394', '0.400'] },
  { texts: ['12345678901234567890123456789.123456789'], shown: ['12345678901234567890123456789.12'] },
  { texts: [], shown: [] },
])('decimals of a column are those that people need: $texts', ({ texts, shown }) => {
  const decimals = readableDecimals(texts);
  expect(texts.map((text) => roundDecimal(text, decimals))).toEqual(shown);
});

test('a rounded number is the nearest of its decimals, and never shows something as nothing', () => {
  fc.assert(
    fc.property(fc.bigInt({ min: -(10n ** 37n), max: 10n ** 37n }), fc.nat(9), (nanotons, decimals) => {
      const digits = String(nanotons < 0n ? -nanotons : nanotons).padStart(10, '0');
      const text = `${nanotons < 0n ? '-' : ''}${digits.slice(0, -9)}.${digits.slice(-9)}`;
      const rounded = roundDecimal(text, decimals);
      if (/[<>]/.test(rounded)) return nanotons !== 0n && digits.length <= 10;
      const [whole = '', fraction = ''] = rounded.replace('-', '').split('.');
      const far = BigInt(whole + fraction.padEnd(9, '0')) - BigInt(digits);
      const sign = rounded === '0' || rounded.startsWith('-') === nanotons < 0n;
      return sign && 2n * (far < 0n ? -far : far) <= 10n ** BigInt(9 - decimals);
    }),
  );
});

test('addresses and hashes are identifiers, numbers are not', () => {
  const hash = 'lAhCetIstfEHrTq0nXw5mE3C6vKjYb1uZo9sPdR2a7M=';
  for (const text of [`0:${'AB'.repeat(32)}`, `-1:${'3'.repeat(64)}`, hash, '0f'.repeat(16)]) {
    expect([text, isIdentifier(text)]).toEqual([text, true]);
  }
  for (const text of ['1'.repeat(38), '12345678901234567890123456789012', 'excess', '']) {
    expect([text, isIdentifier(text)]).toEqual([text, false]);
  }
});
