/** The id of a shard as the API names it, in hex: `8000000000000000`. @param id as rows have it, with a sign */
export function shardHex(id: bigint | string): string {
  return BigInt.asUintN(64, BigInt(id)).toString(16).toUpperCase();
}

/** `1,234,567`. Without `toLocaleString`, whose first call is slow. */
export function formatCount(count: number | bigint): string {
  return groupDigits(String(count));
}

/** The digits of a number before its point in groups of three. */
export function groupDigits(text: string): string {
  const [whole = '', ...fraction] = text.split('.');
  return [whole.replace(/\B(?=(\d{3})+$)/g, ','), ...fraction].join('.');
}

/** `1 row`, `1,234 rows`. */
export function counted(count: number, what: string): string {
  return `${formatCount(count)} ${count === 1 ? what : `${what}s`}`;
}

/** `12.3 MB`; decimal units. */
export function formatBytes(bytes: number): string {
  const units = ['B', 'kB', 'MB', 'GB', 'TB'];
  let value = bytes;
  let unit = 0;
  while (value >= 1000 && unit < units.length - 1) {
    value /= 1000;
    unit++;
  }
  return `${unit === 0 ? value : value.toFixed(1)} ${units[unit]}`;
}

/** `3 d 04 h`, `1 h 05 min`, `3 min 20 s`, `12 s`, `0.4 s`. */
export function formatDuration(seconds: number): string {
  if (seconds < 10) return `${Math.round(seconds * 10) / 10} s`;
  const whole = Math.round(seconds);
  if (whole < 60) return `${whole} s`;
  if (whole < 3600) return `${Math.floor(whole / 60)} min ${String(whole % 60).padStart(2, '0')} s`;
  const hours = Math.floor(whole / 3600);
  if (hours >= 48) return `${Math.floor(hours / 24)} d ${String(hours % 24).padStart(2, '0')} h`;
  return `${hours} h ${String(Math.floor((whole % 3600) / 60)).padStart(2, '0')} min`;
}

/** `205 d`, `7 h`, `12 min`, `5 s`: rounded down. */
export function formatAge(seconds: number): string {
  const whole = Math.max(0, Math.floor(seconds));
  if (whole < 60) return `${whole} s`;
  if (whole < 3600) return `${Math.floor(whole / 60)} min`;
  if (whole < 48 * 3600) return `${Math.floor(whole / 3600)} h`;
  return `${Math.floor(whole / 86_400)} d`;
}

const DAY_MS = 86_400_000;

/** The first days, and the number of others: `2026-05-01..2026-05-03, +2 days`. A text that is no day stays as it is. */
export function shortDays(days: readonly string[]): string {
  const [first = ''] = days;
  const after = days.findIndex((day, at) => Date.parse(day) !== Date.parse(first) + at * DAY_MS);
  const run = after === -1 ? days.length : Math.max(1, after);
  const rest = days.length - run;
  const shown = run === 1 ? first : `${first}..${days[run - 1]}`;
  return `${shown}${rest === 0 ? '' : `, +${rest} ${rest === 1 ? 'day' : 'days'}`}`;
}

/** Rows as lines with aligned columns; the last cell is not padded. */
export function alignColumns(rows: readonly (readonly string[])[]): readonly string[] {
  const widths: number[] = [];
  for (const row of rows) {
    for (const [at, cell] of row.slice(0, -1).entries()) widths[at] = Math.max(widths[at] ?? 0, cell.length);
  }
  return rows.map((row) =>
    row.map((cell, at) => (at === row.length - 1 ? cell : cell.padEnd(widths[at] ?? 0))).join('  '),
  );
}
