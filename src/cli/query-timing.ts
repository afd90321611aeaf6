import { counted, formatBytes } from '../core/format.ts';
import type { Reader } from '../warehouse/index.ts';

/** What a query took. */
export interface QueryTiming {
  /** Milliseconds of a clock that never goes back. */
  readonly startedAt: number;
  readonly now: number;
  /** Undefined if the warehouse does not lie in an object store. */
  readonly traffic: Awaited<ReturnType<NonNullable<Reader['traffic']>>> | undefined;
}

/** One line, such as `0.532 s, 15 requests, 1.2 MB; ledger: 3 requests, 20 kB`; JSON beside rows in JSON. */
export function formatTiming({ startedAt, now, traffic }: QueryTiming, format: string): string {
  const seconds = ((now - startedAt) / 1000).toFixed(3);
  if (format === 'json' || format === 'jsonl')
    return JSON.stringify({ event: 'timer', seconds: Number(seconds), ...traffic });
  if (traffic === undefined) return `${seconds} s`;
  const [data, ledger] = [traffic.data, traffic.ledger].map(
    ({ requests, bytes }) => `${counted(requests, 'request')}, ${formatBytes(bytes)}`,
  );
  return `${seconds} s, ${data}; ledger: ${ledger}`;
}
