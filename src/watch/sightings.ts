import { cellOf, isSentObject, type SentObject, type SentValue } from '../api/client/exact-json.ts';
import type { PipelineDef } from '../declare/pipeline.ts';
import type { Given } from '../decode/table-rows.ts';

/** Roles of the tables of a watch. */
export const PENDING_ROLES = ['pendingTransactions', 'pendingTraces', 'pendingActions'] as const;
export type PendingRole = (typeof PENDING_ROLES)[number];

/** What the rows of a pipeline are for a watch; undefined for one that it does not read. */
export function pendingRole({ tables }: PipelineDef): PendingRole | undefined {
  return PENDING_ROLES.find((role) => tables[0]?.plays === role);
}

/** What became of a row, once its trace is complete on chain. */
export type Outcome = 'on_chain' | 'replaced' | 'dropped';

/** One row of a watch. Times are Unix milliseconds. */
export interface Sighting {
  readonly role: PendingRole;
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
export type Polled = Readonly<Record<PendingRole, readonly SentObject[]>>;

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
    for (const role of PENDING_ROLES) {
      for (const record of polled[role]) {
        const externalHash = externalHashOf(role, record);
        if (externalHash === null || this.over.has(externalHash)) continue;
        if (!known.has(externalHash)) fresh.add(externalHash);
        this.put(role, externalHash, record, now);
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

  /** Rows of one role that belong to a trace and are open. */
  of(externalHash: string, role: PendingRole): readonly Sighting[] {
    return [...this.open.values()].filter((one) => one.externalHash === externalHash && one.role === role);
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

  private put(role: PendingRole, externalHash: string, record: SentObject, now: number): void {
    const key = `${role} ${externalHash} ${keyOf(role, record)}`;
    const known = this.open.get(key);
    if (known === undefined) {
      this.open.set(key, { role, externalHash, record, firstSeen: now, lastSeen: now, end: undefined });
      this.isChanged = true;
      return;
    }
    if (cellOf(known.record['finality']) !== cellOf(record['finality'])) this.isChanged = true;
    known.record = record;
    known.lastSeen = now;
  }
}

function externalHashOf(role: PendingRole, record: SentObject): string | null {
  return cellOf(record[role === 'pendingTraces' ? 'external_hash' : 'trace_external_hash']);
}

function keyOf(role: PendingRole, record: SentObject): string {
  const names = { pendingTransactions: 'hash', pendingTraces: 'external_hash', pendingActions: 'action_id' };
  return cellOf(record[names[role]]) ?? '';
}

/** The objects in a list, or the values of a map; none for null. */
export function objectsIn(value: SentValue | undefined): readonly SentObject[] {
  if (value === undefined || value === null || typeof value !== 'object') return [];
  return (Array.isArray(value) ? value : Object.values(value)).filter((one: SentValue) => isSentObject(one));
}
