import { cellOf, isSentObject, type SentObject, type SentValue } from '../api/client/exact-json.ts';
import type { PipelineDef } from '../declare/pipeline.ts';
import type { Given } from '../decode/table-rows.ts';

/** Roles of the tables of a watch. */
export const PENDING_ROLES = ['pendingTransactions', 'pendingTraces', 'pendingActions'] as const;
export type PendingRole = (typeof PENDING_ROLES)[number];

/** A value for each role. */
export function perRole<T>(of: (role: PendingRole) => T): Record<PendingRole, T> {
  const [transactions, traces, actions] = PENDING_ROLES;
  return { [transactions]: of(transactions), [traces]: of(traces), [actions]: of(actions) };
}

/** The role of a pipeline in a watch; undefined for others. */
export function pendingRole({ tables }: PipelineDef): PendingRole | undefined {
  return PENDING_ROLES.find((role) => tables[0]?.plays === role);
}

/** What happened to a row when its trace was completed on chain. */
export type Outcome = 'on_chain' | 'replaced' | 'dropped';

/** One row of a watch. Times are Unix milliseconds. */
export interface Sighting {
  readonly role: PendingRole;
  /** Hash of the external message that started its trace. */
  readonly externalHash: string;
  /** Last received record. */
  record: SentObject;
  readonly firstSeen: number;
  lastSeen: number;
  end: Ending | undefined;
}

/** How a row ended, and the columns with the details. */
export interface Ending {
  readonly outcome: Outcome;
  readonly columns: Given;
}

/** Records of one poll. */
export type Polled = Readonly<Record<PendingRole, readonly SentObject[]>>;

/** How long to look for a trace that is neither pending nor on chain, in milliseconds. */
const LOST_MS = 600_000;
/** Maximum number of ended traces to remember, so that a late listing does not reopen them. */
const MOST_OVER = 10_000;

/** The pending rows of a watch, and ended ones that are not stored yet. */
export class Sightings {
  private readonly open = new Map<string, Sighting>();
  private closed: Sighting[] = [];
  private readonly over = new Set<string>();
  /** True if a row is new or changed, except for its time of last sight. */
  isChanged = false;

  /** Adds the records of a poll. @returns external hashes of new traces */
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

  /** Traces with open rows that the last poll did not list. */
  vanished(now: number): readonly string[] {
    const seen = new Set<string>();
    const all = new Set<string>();
    for (const { externalHash, lastSeen } of this.open.values()) {
      all.add(externalHash);
      if (lastSeen >= now) seen.add(externalHash);
    }
    return [...all].filter((hash) => !seen.has(hash));
  }

  /** Open rows of a trace, of one role. */
  of(externalHash: string, role: PendingRole): readonly Sighting[] {
    return [...this.open.values()].filter((one) => one.externalHash === externalHash && one.role === role);
  }

  /** Closes the rows of a complete trace. */
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

  /** Closes rows not seen for a long time. They get no outcome, because an answer without them proves nothing. */
  forget(now: number): void {
    for (const [key, sighting] of this.open) {
      if (now - sighting.lastSeen < LOST_MS) continue;
      this.open.delete(key);
      this.closed.push(sighting);
    }
  }

  /** Rows that may still change, and ended rows. */
  rows(): { readonly open: readonly Sighting[]; readonly closed: readonly Sighting[] } {
    return { open: [...this.open.values()], closed: this.closed };
  }

  /** Drops ended rows that are stored. */
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
