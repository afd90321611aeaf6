import { cellOf, isSentObject, type SentObject, type SentValue, writeSent } from '../api/client/exact-json.ts';
import { sha256Of } from '../core/sha256.ts';
import type { PipelineDef } from '../declare/pipeline.ts';

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

/** The field of a response with the records of a pipeline. */
export function listField({ tables: [table] }: PipelineDef): string {
  return table?.rows.kind === 'records' ? table.rows.path.slice(1) : '';
}

/** A record as it was seen first with these values. */
export interface Sighting {
  readonly role: PendingRole;
  readonly record: SentObject;
  /** Unix milliseconds. */
  readonly seenAt: number;
}

/** Records of one poll. */
export type Polled = Readonly<Record<PendingRole, readonly SentObject[]>>;

/** Time that a record is remembered after the last poll that listed it, in milliseconds. */
const FORGET_MS = 600_000;

interface Known {
  readonly digest: string;
  readonly lastSeen: number;
}

/** Collects sightings: a record that is new or has changed since the last poll. */
export class Sightings {
  readonly #known = new Map<string, Known>();
  readonly #traces = new Map<string, number>();
  #unsaved: Sighting[] = [];

  /** Sightings that are not saved. */
  get unsaved(): readonly Sighting[] {
    return this.#unsaved;
  }

  /** Adds the records of a poll. @returns external hashes of new traces */
  see(polled: Polled, now: number): readonly string[] {
    const fresh: string[] = [];
    for (const role of PENDING_ROLES) {
      for (const record of polled[role]) {
        const externalHash = externalHashOf(role, record);
        if (externalHash === null) continue;
        if (!this.#traces.has(externalHash)) fresh.push(externalHash);
        this.#traces.set(externalHash, now);
        this.#note(role, `${role} ${externalHash} ${keyOf(role, record)}`, record, now);
      }
    }
    for (const [hash, lastSeen] of this.#traces) if (now - lastSeen >= FORGET_MS) this.#traces.delete(hash);
    for (const [key, { lastSeen }] of this.#known) if (now - lastSeen >= FORGET_MS) this.#known.delete(key);
    return fresh;
  }

  /** Removes saved sightings. */
  saved(rows: readonly Sighting[]): void {
    const gone = new Set(rows);
    this.#unsaved = this.#unsaved.filter((row) => !gone.has(row));
  }

  #note(role: PendingRole, key: string, record: SentObject, seenAt: number): void {
    const digest = sha256Of(writeSent(record), 32);
    if (this.#known.get(key)?.digest !== digest) this.#unsaved.push({ role, record, seenAt });
    this.#known.set(key, { digest, lastSeen: seenAt });
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
