import { least } from '../../core/span.ts';

const SECOND = 1000;
export const DAY_MS = 86_400_000;
const units = [1, 60, 3600, 86_400].map((seconds) => seconds * SECOND);

/** The period of one bar: the smallest distance between two, or for a single one, the largest unit that divides it. */
export function timeStep(times: readonly number[]): number {
  const sorted = [...new Set(times)].sort((a, b) => a - b);
  const steps = sorted.slice(1).map((time, at) => time - (sorted[at] ?? 0));
  if (steps.length > 0) return least(steps);
  const [only = 0] = sorted;
  return units.filter((unit) => only % unit === 0).at(-1) ?? SECOND;
}

/** Labels of the ticks of a time axis, from left to right: a date at midnight, otherwise a time of day, with the date below it if it changed. */
export function timeLabel(): (tick: Date, at: number) => string {
  let before = '';
  return (tick, at) => {
    const [date = '', time = ''] = tick.toISOString().split('T');
    const isNew = at === 0 || date !== before;
    before = date;
    if (tick.getTime() % DAY_MS === 0) return date.slice(5);
    const clock = tick.getTime() % (60 * SECOND) === 0 ? time.slice(0, 5) : time.slice(0, 8);
    return isNew ? `${clock}\n${date.slice(5)}` : clock;
  };
}

/** `12.5K`, `3M`, `1.2e+21`. */
export function shortNumber(value: number): string {
  if (Math.abs(value) >= 1e15) return value.toExponential(1);
  return new Intl.NumberFormat('en', { notation: 'compact', maximumFractionDigits: 2 }).format(value);
}

/** Labels of a number axis; undefined if the numbers are short. On an axis that starts far from zero, shortened labels would be equal. */
export function numberLabel(min: number, max: number): ((value: number) => string) | undefined {
  if (max < 10_000) return undefined;
  const isNarrow = max < 1e9 && max - min < max / 50;
  return isNarrow ? (value) => new Intl.NumberFormat('en', { maximumFractionDigits: 2 }).format(value) : shortNumber;
}

export function shorten(text: string, maxLength: number): string {
  return text.length > maxLength ? `${text.slice(0, Math.max(1, maxLength - 1))}…` : text;
}
