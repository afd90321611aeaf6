import { useEffect, useState } from 'preact/hooks';

const TICK_MS = 10_000;

/** The time in milliseconds, again every ten seconds. */
export function useNow(): number {
  const [now, setNow] = useState(Date.now());
  useEffect(() => {
    const timer = setInterval(() => setNow(Date.now()), TICK_MS);
    return () => clearInterval(timer);
  }, []);
  return now;
}

/** `5 min ago`, or the UTC time if it is more than two days away. */
export function ago(time: string, now: number): string {
  const seconds = Math.round((now - Date.parse(time)) / 1000);
  if (Number.isNaN(seconds)) return time;
  if (Math.abs(seconds) > 172_800) return `${time.slice(0, 16).replace('T', ' ')} UTC`;
  if (seconds < 0) return `${time.slice(0, 16).replace('T', ' ')} UTC`;
  if (seconds < 60) return seconds < 5 ? 'just now' : `${seconds} s ago`;
  if (seconds < 3600) return `${Math.floor(seconds / 60)} min ago`;
  return `${Math.floor(seconds / 3600)} h ago`;
}

/** `in 5 min`, or the UTC time if it is more than two days away. */
export function until(time: string, now: number): string {
  const seconds = Math.round((Date.parse(time) - now) / 1000);
  if (Number.isNaN(seconds) || seconds > 172_800) return `${time.slice(0, 16).replace('T', ' ')} UTC`;
  if (seconds <= 0) return 'now';
  if (seconds < 3600) return `in ${Math.ceil(seconds / 60)} min`;
  return `in ${Math.floor(seconds / 3600)} h ${Math.floor((seconds % 3600) / 60)} min`;
}
