import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { openCron, outOfStep } from '../../src/jobs/cron.ts';

const at = (text: string): number => Date.parse(text);
const between = (cron: string, zone: string, from: string, to: string, most = 100): readonly string[] =>
  openCron(cron, zone)
    .between(at(from), at(to), most)
    .map((ms) => new Date(ms).toISOString().slice(0, 16));

describe('times of a cron expression', () => {
  test('keep the hour of the zone when its clocks change', () => {
    expect(between('15 3 * * *', 'Europe/Berlin', '2026-10-24T00:00Z', '2026-10-27T00:00Z')).toEqual([
      '2026-10-24T01:15',
      '2026-10-25T02:15',
      '2026-10-26T02:15',
    ]);
  });

  test('come at the first moment after an hour that is skipped, and once in one that is repeated', () => {
    expect(between('30 2 * * *', 'Europe/Berlin', '2026-03-28T12:00Z', '2026-03-29T12:00Z')).toEqual([
      '2026-03-29T01:00',
    ]);
    expect(between('30 2 * * *', 'Europe/Berlin', '2026-10-24T12:00Z', '2026-10-25T12:00Z')).toEqual([
      '2026-10-25T00:30',
    ]);
  });

  test('of a list of hours do the same', () => {
    expect(between('30 2,14 * * *', 'Europe/Berlin', '2026-03-29T00:00Z', '2026-03-30T00:00Z')).toEqual([
      '2026-03-29T01:00',
      '2026-03-29T12:30',
    ]);
  });

  test('after one of them is the next one, never the same', () => {
    const times = openCron('15 3 * * *', 'UTC');
    expect(times.after(at('2026-05-04T03:15:00Z'))).toBe(at('2026-05-05T03:15:00Z'));
    expect(times.after(at('2026-05-04T03:14:59.999Z'))).toBe(at('2026-05-04T03:15:00Z'));
  });

  test('in a period are the newest of all that follow one another in it', () => {
    const crons = ['15 3 * * *', '*/7 * * * *', '30 2 * * *', '0 */5 * * 1', '0 0 1 * *'];
    fc.assert(
      fc.property(
        fc.constantFrom(...crons),
        fc.constantFrom('UTC', 'Europe/Berlin', 'America/New_York'),
        fc.integer({ min: at('2026-01-01T00:00Z'), max: at('2026-12-01T00:00Z') }),
        fc.integer({ min: 0, max: 4 * 86_400_000 }),
        fc.integer({ min: 1, max: 20 }),
        (cron, zone, from, length, most) => {
          const times = openCron(cron, zone);
          const all: number[] = [];
          for (let time = times.after(from); time !== undefined && time <= from + length; time = times.after(time)) {
            all.push(time);
          }
          expect(times.between(from, from + length, most)).toEqual(all.slice(-most));
        },
      ),
      { numRuns: 60 },
    );
  });

  test('of a year of minutes are found without counting them', () => {
    expect(between('* * * * *', 'UTC', '2025-05-04T00:00Z', '2026-05-04T00:00Z', 2)).toEqual([
      '2026-05-03T23:59',
      '2026-05-04T00:00',
    ]);
  });
});

test.each([
  ['30 1 * * *', 'Europe/Berlin', 'UTC', '2026-10-26'],
  ['30 4 * * *', 'Europe/Berlin', 'UTC', undefined],
  ['30 1 * * *', 'Europe/Berlin', 'Europe/Berlin', undefined],
  ['30 20 * * *', 'America/New_York', 'UTC', undefined],
  ['30 19 * * *', 'America/New_York', 'UTC', '2026-11-01'],
  ['0 6 * * 1', 'Europe/Berlin', 'UTC', undefined],
])('%s in %s is out of step with days of %s first on %s', (cron, zone, days, date) => {
  const found = outOfStep(openCron(cron, zone), { cron: zone, days }, at('2026-05-04T00:00Z'));
  expect(found).toBe(date);
});
