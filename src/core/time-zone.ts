/** Days of the calendar in a time zone. Dates are `YYYY-MM-DD`; zones are names of the IANA database, or `UTC`. */

const DAY_MS = 86_400_000;
const formats = new Map<string, Intl.DateTimeFormat>();

/** Whether the system knows a zone. Offsets such as `+02:00` are none: they have no summer time. */
export function isZone(zone: string): boolean {
  if (!/^[A-Za-z]/.test(zone)) return false;
  try {
    formatOf(zone);
    return true;
  } catch {
    return false;
  }
}

/** Names of the zones that the system knows. */
export function zoneNames(): readonly string[] {
  return ['UTC', ...Intl.supportedValuesOf('timeZone')];
}

/** The date in a zone at a moment, in milliseconds since 1970. */
export function dateAt(ms: number, zone: string): string {
  return wallAt(ms, zone).slice(0, 10);
}

/** The first moment of a date in a zone, in milliseconds since 1970; where the clock skips midnight, the first after it. */
export function dayStart(date: string, zone: string): number {
  const midnight = Date.parse(`${date}T00:00:00Z`);
  const offsets = [midnight - DAY_MS, midnight + DAY_MS].map((ms) => Date.parse(`${wallAt(ms, zone)}Z`) - ms);
  const moments = offsets.map((offset) => midnight - offset).sort((a, b) => a - b);
  return moments.find((ms) => dateAt(ms, zone) === date) ?? midnight;
}

/** The date so many days later; earlier for a negative number. */
export function addDays(date: string, days: number): string {
  return new Date(Date.parse(`${date}T00:00:00Z`) + days * DAY_MS).toISOString().slice(0, 10);
}

/** Days from one date to another. */
export function daysBetween(from: string, to: string): number {
  return (Date.parse(`${to}T00:00:00Z`) - Date.parse(`${from}T00:00:00Z`)) / DAY_MS;
}

/** What the clocks of a zone show: `2026-05-01T03:00:00`. */
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
    ...{ timeZone: zone, hourCycle: 'h23', year: 'numeric', month: two, day: two, hour: two, minute: two, second: two },
  });
  formats.set(zone, format);
  return format;
}
