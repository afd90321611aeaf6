import { cellOf, isSentObject, type SentObject, type SentValue } from '../api/client/exact-json.ts';
import type { Given } from '../decode/table-rows.ts';

/** The tables of a watch. */
export type PendingTable = 'pending_transactions' | 'pending_traces' | 'pending_actions';

/** What became of a row, once its trace is complete on chain. */
export type Outcome = 'on_chain' | 'replaced' | 'dropped';

/** One row of a watch. Times are Unix milliseconds. */
export interface Sighting {
  readonly table: PendingTable;
  /** Hash of the external message that started its trace. */
  readonly externalHash: string;
  /** As it was sent last. */
  record: SentObject;
  readonly firstSeen: number;
  lastSeen: number;
  end: Ending | undefined;
}

/** How a row ended, and the columns that say so. */
export interface Ending {
  readonly outcome: Outcome;
  readonly columns: Given;
}

/** Records of one poll. */
export type Polled = Readonly<Record<PendingTable, readonly SentObject[]>>;

/** How long a trace that is neither pending nor on chain is looked for, in milliseconds. */
const LOST_MS = 600_000;
/** Traces that are remembered as over, so that a late listing does not open them again. */
const MOST_OVER = 10_000;

/** Everything that a watch has seen and not put away yet. */
export class Sightings {
  private readonly open = new Map<string, Sighting>();
  private closed: Sighting[] = [];
  private readonly over = new Set<string>();
  /** Whether a row is new or says something new, its time of last sight apart. */
  isChanged = false;

  /**
   * Takes in what a poll found.
   *
   * @returns the external hashes of traces that were not seen before
   */
  see(polled: Polled, now: number): readonly string[] {
    const known = new Set([...this.open.values()].map(({ externalHash }) => externalHash));
    const fresh = new Set<string>();
    for (const table of ['pending_transactions', 'pending_traces', 'pending_actions'] as const) {
      for (const record of polled[table]) {
        const externalHash = externalHashOf(table, record);
        if (externalHash === null || this.over.has(externalHash)) continue;
        if (!known.has(externalHash)) fresh.add(externalHash);
        this.put(table, externalHash, record, now);
      }
    }
    return [...fresh];
  }

  /** Traces that have open rows and that this poll did not list. */
  vanished(now: number): readonly string[] {
    const seen = new Set<string>();
    const all = new Set<string>();
    for (const { externalHash, lastSeen } of this.open.values()) {
      all.add(externalHash);
      if (lastSeen >= now) seen.add(externalHash);
    }
    return [...all].filter((hash) => !seen.has(hash));
  }

  /** Rows of one table that belong to a trace and are open. */
  of(externalHash: string, table: PendingTable): readonly Sighting[] {
    return [...this.open.values()].filter((one) => one.externalHash === externalHash && one.table === table);
  }

  /** Closes the rows of a trace: it is complete, and each row was told how it ended. */
  close(externalHash: string): void {
    for (const [key, sighting] of this.open) {
      if (sighting.externalHash !== externalHash) continue;
      this.open.delete(key);
      this.closed.push(sighting);
    }
    this.isChanged = true;
    this.over.add(externalHash);
    const [oldest] = this.over;
    if (this.over.size > MOST_OVER && oldest !== undefined) this.over.delete(oldest);
  }

  /** Closes rows that were lost sight of long ago: an answer without them proves nothing, so they have no outcome. */
  forget(now: number): void {
    for (const [key, sighting] of this.open) {
      if (now - sighting.lastSeen < LOST_MS) continue;
      this.open.delete(key);
      this.closed.push(sighting);
    }
  }

  /** Rows that may still change, and rows that are over. */
  rows(): { readonly open: readonly Sighting[]; readonly closed: readonly Sighting[] } {
    return { open: [...this.open.values()], closed: this.closed };
  }

  /** Drops rows that are over; they are stored for good. */
  putAway(rows: readonly Sighting[]): void {
    const stored = new Set(rows);
    this.closed = this.closed.filter((row) => !stored.has(row));
  }

  private put(table: PendingTable, externalHash: string, record: SentObject, now: number): void {
    const key = `${table} ${externalHash} ${keyOf(table, record)}`;
    const known = this.open.get(key);
    if (known === undefined) {
      this.open.set(key, { table, externalHash, record, firstSeen: now, lastSeen: now, end: undefined });
      this.isChanged = true;
      return;
    }
    if (cellOf(known.record['finality']) !== cellOf(record['finality'])) this.isChanged = true;
    known.record = record;
    known.lastSeen = now;
  }
}

function externalHashOf(table: PendingTable, record: SentObject): string | null {
  return cellOf(record[table === 'pending_traces' ? 'external_hash' : 'trace_external_hash']);
}

function keyOf(table: PendingTable, record: SentObject): string {
  const names = { pending_transactions: 'hash', pending_traces: 'external_hash', pending_actions: 'action_id' };
  return cellOf(record[names[table]]) ?? '';
}

/** The objects in a list, or the values of a map; none for null. */
export function objectsIn(value: SentValue | undefined): readonly SentObject[] {
  if (value === undefined || value === null || typeof value !== 'object') return [];
  return (Array.isArray(value) ? value : Object.values(value)).filter((one: SentValue) => isSentObject(one));
}
