import { useEffect, useState } from 'preact/hooks';
import { formatAge } from '../src/core/format.ts';

const TICK_MS = 10_000;

/** The current time in milliseconds, updated every `tickMs`. */
export function useNow(tickMs = TICK_MS): number {
  const [now, setNow] = useState(Date.now());
  useEffect(() => {
    const timer = setInterval(() => setNow(Date.now()), tickMs);
    return () => clearInterval(timer);
  }, [tickMs]);
  return now;
}

/** `2026-05-01 12:34:56`. */
export function timeText(time: string): string {
  return time.slice(0, 19).replace('T', ' ');
}

/** `2026-05-01 12:34`. */
export function minuteText(time: string): string {
  return timeText(time).slice(0, 16);
}

/** `5 min ago`, or the UTC time if it is more than two days away. */
export function ago(time: string, now: number): string {
  const seconds = Math.round((now - Date.parse(time)) / 1000);
  if (Number.isNaN(seconds)) return time;
  if (seconds < 0 || seconds > 172_800) return `${minuteText(time)} UTC`;
  return seconds < 5 ? 'just now' : `${formatAge(seconds)} ago`;
}

/** `in 5 min`, or the UTC time if it is more than two days away. */
export function until(time: string, now: number): string {
  const seconds = Math.round((Date.parse(time) - now) / 1000);
  if (Number.isNaN(seconds) || seconds > 172_800) return `${minuteText(time)} UTC`;
  if (seconds <= 0) return 'now';
  if (seconds < 3600) return `in ${Math.ceil(seconds / 60)} min`;
  return `in ${Math.floor(seconds / 3600)} h ${Math.floor((seconds % 3600) / 60)} min`;
}
