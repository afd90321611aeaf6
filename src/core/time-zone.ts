import { didYouMean } from './did-you-mean.ts';
import { usage } from './errors.ts';

/** Calendar days in a time zone. Dates are `YYYY-MM-DD`; zones are IANA names, or `UTC`. */

const DAY_MS = 86_400_000;
const formats = new Map<string, Intl.DateTimeFormat>();

/** @throws {UsageError} for an unknown zone */
export function requireZone(zone: string): void {
  if (isZone(zone)) return;
  throw usage(
    'a time zone such as Europe/Zurich',
    JSON.stringify(zone),
    didYouMean(zone, zoneNames()).trimEnd() || 'names are those of the IANA database',
  );
}

/** True for a known zone. Offsets such as `+02:00` are not allowed: they have no daylight saving time. */
function isZone(zone: string): boolean {
  if (!/^[A-Za-z]/.test(zone)) return false;
  try {
    formatOf(zone);
    return true;
  } catch {
    return false;
  }
}

/** Names of all known zones. */
function zoneNames(): readonly string[] {
  return ['UTC', ...Intl.supportedValuesOf('timeZone')];
}

/** The date in a zone at a time in milliseconds since 1970. */
export function dateAt(ms: number, zone: string): string {
  return wallAt(ms, zone).slice(0, 10);
}

/** The start of a date in a zone, in milliseconds since 1970; if midnight is skipped, the first time after it. */
export function dayStart(date: string, zone: string): number {
  const midnight = Date.parse(`${date}T00:00:00Z`);
  const offsets = [midnight - DAY_MS, midnight + DAY_MS].map((ms) => Date.parse(`${wallAt(ms, zone)}Z`) - ms);
  const moments = offsets.map((offset) => midnight - offset).sort((a, b) => a - b);
  return moments.find((ms) => dateAt(ms, zone) === date) ?? midnight;
}

/** True for a day of the calendar: JavaScript takes the last days of short months for those of the next one. */
export function isDate(text: string): boolean {
  const midnight = /^\d{4}-\d{2}-\d{2}$/.test(text) ? Date.parse(`${text}T00:00:00Z`) : Number.NaN;
  return !Number.isNaN(midnight) && new Date(midnight).toISOString().startsWith(text);
}

/** A UTC time to the second: `2026-05-01T12:00:00Z`. */
export function formatTime(ms: number): string {
  return new Date(ms).toISOString().replace(/\.\d+Z$/, 'Z');
}

/** Adds days to a date. */
export function addDays(date: string, days: number): string {
  return new Date(Date.parse(`${date}T00:00:00Z`) + days * DAY_MS).toISOString().slice(0, 10);
}

/** Number of days from one date to another. */
export function daysBetween(from: string, to: string): number {
  return (Date.parse(`${to}T00:00:00Z`) - Date.parse(`${from}T00:00:00Z`)) / DAY_MS;
}

/** Local time in a zone: `2026-05-01T03:00:00`. */
function wallAt(ms: number, zone: string): string {
  const parts = Object.fromEntries(
    formatOf(zone)
      .formatToParts(ms)
      .map(({ type, value }) => [type, value]),
  );
  return `${parts['year']}-${parts['month']}-${parts['day']}T${parts['hour']}:${parts['minute']}:${parts['second']}`;
}

function formatOf(zone: string): Intl.DateTimeFormat {
  const known = formats.get(zone);
  if (known !== undefined) return known;
  const two = '2-digit';
  const format = new Intl.DateTimeFormat('en-CA', {
    timeZone: zone,
    hourCycle: 'h23',
    year: 'numeric',
    month: two,
    day: two,
    hour: two,
    minute: two,
    second: two,
  });
  formats.set(zone, format);
  return format;
}
