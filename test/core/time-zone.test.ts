import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { addDays, dateAt, dayStart, daysBetween, isDate, requireZone } from '../../src/core/time-zone.ts';

const startOf = (date: string, zone: string): string => new Date(dayStart(date, zone)).toISOString();

describe('the first moment of a day', () => {
  test.each([
    ['2026-05-01', 'UTC', '2026-05-01T00:00:00.000Z'],
    ['2026-05-01', 'Europe/Berlin', '2026-04-30T22:00:00.000Z'],
    ['2026-03-29', 'Europe/Berlin', '2026-03-28T23:00:00.000Z'],
    ['2026-03-30', 'Europe/Berlin', '2026-03-29T22:00:00.000Z'],
    ['2026-10-26', 'Europe/Berlin', '2026-10-25T23:00:00.000Z'],
    // Clocks skip from 00:00 to 01:00: the day begins at one.
    ['2026-04-24', 'Africa/Cairo', '2026-04-23T22:00:00.000Z'],
    // Clocks go back from 01:00 to 00:00: the first of two midnights.
    ['2026-11-01', 'America/Havana', '2026-11-01T04:00:00.000Z'],
    ['2026-05-01', 'Asia/Kathmandu', '2026-04-30T18:15:00.000Z'],
  ])('%s in %s is %s', (date, zone, moment) => {
    expect(startOf(date, zone)).toBe(moment);
  });

  test('the millisecond before it belongs to the day before, in every zone', () => {
    const zones = ['UTC', 'Europe/Berlin', 'Africa/Cairo', 'America/Havana', 'America/New_York', 'Pacific/Auckland'];
    fc.assert(
      fc.property(fc.constantFrom(...zones), fc.integer({ min: 0, max: 4000 }), (zone, days) => {
        const date = addDays('2020-01-01', days);
        const start = dayStart(date, zone);
        expect(dateAt(start, zone)).toBe(date);
        expect(dateAt(start - 1, zone)).toBe(addDays(date, -1));
      }),
      { numRuns: 500 },
    );
  });
});

test.each(['2026-02-29', '2026-02-31', '2026-13-01', '2026-00-10', '2026-5-1', '2026-05-01T00:00', '', 'yesterday'])(
  '%j is no day of the calendar',
  (text) => expect(isDate(text)).toBe(false),
);

test.each(['2028-02-29', '2026-12-31', '1970-01-01'])('%j is one', (text) => expect(isDate(text)).toBe(true));

test('days are counted over the ends of months and years', () => {
  expect(addDays('2026-12-31', 1)).toBe('2027-01-01');
  expect(addDays('2028-03-01', -1)).toBe('2028-02-29');
  expect(daysBetween('2026-12-31', '2027-01-02')).toBe(2);
});

test('zones are names: offsets and words that the system does not know are none', () => {
  for (const zone of ['Europe/Berlin', 'UTC']) expect(() => requireZone(zone)).not.toThrow();
  for (const zone of ['Europe/Berln', '+02:00', '']) {
    expect(() => requireZone(zone)).toThrow(`expected a time zone such as Europe/Zurich, got "${zone}"`);
  }
});
