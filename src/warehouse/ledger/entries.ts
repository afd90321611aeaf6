import { z } from 'zod';
import { StoreError } from '../../core/errors.ts';
import { isNewer, newerTonlake } from '../../core/newer-tonlake.ts';
import { suggest } from '../../core/suggest.ts';
import { isPublished } from '../garbage/published-entries.ts';
import type { LedgerEntry } from '../store.ts';
import { FORGOTTEN } from './done-spans.ts';
import { commitOf, filesOf, PrunedEntries, type Successor, type Superseded } from './pruned-entries.ts';

/** The format of warehouses and their entries. */
export const FORMAT = 1;

const count = z.number().int().nonnegative();

/** The format, and the version that wrote it, of a document of any format. */
export const formatField = z.object({ format: z.unknown(), tonlake: z.string().optional() });

const bound = z.string().nullable();

/** True for a path inside the warehouse. A ledger can be foreign, and a copy writes the files that it names. */
export function isInside(path: string): boolean {
  return !path.startsWith('/') && !path.includes('..') && !path.includes('\\');
}

const spanSchema = z.object({ from: z.number().int(), to: z.number().int() });

const entrySchema = z.object({
  format: z.literal(FORMAT),
  number: z.number().int().positive(),
  id: z.string().min(1),
  network: z.string(),
  pipeline: z.string(),
  version: z.number(),
  span: spanSchema,
  spans: z.array(spanSchema).min(2).optional(),
  verdict: z.enum(['accepted', 'quarantined']),
  tables: z.record(
    z.string(),
    z.object({
      rows: count,
      keyHash: z.string(),
      sums: z.record(z.string(), z.string()),
      schema: z.string(),
      files: z.array(
        z.object({
          ...{ path: z.string().refine(isInside), rows: count, bytes: count, sha256: z.string() },
          bounds: z.record(z.string(), z.tuple([bound, bound, count])),
          copied: z.object({ newest: count, origin: z.string().regex(/^[0-9a-f]{16}$/) }).optional(),
        }),
      ),
    }),
  ),
  requests: count,
  retries: count,
  planned: count.optional(),
  asOf: spanSchema.optional(),
  scope: z.string().optional(),
  unknownKeys: count.optional(),
  proof: z.enum(['transactions', 'none', 'contradicted']).optional(),
  content: z.record(z.string(), count).optional(),
  declaration: z.string().optional(),
  without: z.record(z.string(), z.array(z.string())).optional(),
  mart: z
    .object({
      ...{ day: z.string().optional(), inputs: z.string(), coverage: z.enum(['proven', 'unproven', 'missing']) },
      ...{ reads: z.array(z.string()), through: count },
      select: z.string().optional(),
      passed: z.record(z.string(), z.string()).optional(),
    })
    .optional(),
  forgotten: z
    .object({
      by: z.enum(['command', 'retention']),
      days: z.object({ from: z.string(), to: z.string() }).optional(),
    })
    .optional(),
  copies: count.optional(),
  commitWith: z.string().optional(),
  supersedes: z.array(z.string()),
  tonlake: z.string().optional(),
  committedAt: z.string(),
});

/**
 * Refuses formats newer than this version: their contents are sound, and a repair would destroy them.
 * @throws {StoreError} `newer-tonlake`
 */
export function requireFormat(format: unknown, subject: string, version?: string): void {
  const number = typeof format === 'number' || typeof format === 'string' ? Number(format) : Number.NaN;
  if (!Number.isInteger(number) || number <= FORMAT) return;
  throw newerTonlake(subject, version, `expected format ${FORMAT}, got ${number}`);
}

/**
 * An entry from its JSON.
 * @throws {StoreError} `newer-tonlake`; `bad-ledger` if the text is truncated or not an entry, or has another number
 */
export function parseEntry(text: string, subject: string, number: number): LedgerEntry {
  try {
    const json: unknown = JSON.parse(text);
    const made = formatField.safeParse(json).data;
    requireFormat(made?.format, subject, made?.tonlake);
    const entry = entrySchema.parse(json);
    requireSpans(entry);
    // Not `entry`, which lacks fields that newer versions may have added: checkpoints must keep them.
    if (entry.number === number) return json as LedgerEntry;
    throw new Error(`expected number ${number}, got ${entry.number}`);
  } catch (error) {
    if (isNewer(error)) throw error;
    throw badLedger(`${subject} is not a ledger entry`, error);
  }
}

/** Refuses entries whose spans are ambiguous. */
function requireSpans({ span, spans }: Pick<LedgerEntry, 'span' | 'spans'>): void {
  if (spans === undefined) return;
  const isAscending = spans.every(({ from, to }, at) => from <= to && from > (spans[at - 1]?.to ?? -Infinity) + 1);
  if (isAscending && spans[0]?.from === span.from && spans.at(-1)?.to === span.to) return;
  throw new Error(`expected ascending spans that do not touch, from ${span.from} to ${span.to}`);
}

export function badLedger(problem: string, cause?: unknown, hint?: string): StoreError {
  return new StoreError(`store: ${problem}`, {
    code: 'bad-ledger',
    hint: hint ?? `${suggest('verify')} lists all damage, and --repair fixes it`,
    cause,
  });
}

/** File name of an entry. */
export function entryName(number: number): string {
  return `${String(number).padStart(8, '0')}.json`;
}

/** How long a checkpoint retains superseded entries, whose files may be in use until the grace period ends. */
export const CHECKPOINT_GRACE_MS = 86_400_000;

const MIN_PRUNED = 2_000;

/** The part of the ledger up to an entry that still matters. */
export interface Checkpoint {
  /** Number of the last entry that it covers. */
  readonly number: number;
  /** It has the entries superseded from this number on, and those in force at a {@link published} one; older superseded ones are left out. */
  readonly since: number;
  /** Numbers of the entries that were published when it was written. */
  readonly published: readonly number[];
  readonly entries: readonly LedgerEntry[];
}

/** The ledger in memory: entries in order of commit, and which of them are still in force. */
export class Entries {
  #all: LedgerEntry[] = [];
  #last = 0;
  readonly #ids = new Set<string>();
  readonly #successors = new Map<string, LedgerEntry>();
  readonly #aside = new Set<string>();
  /** Ids of the last entries of commits with several entries. */
  readonly #awaited = new Set<string>();
  #effective: readonly LedgerEntry[] | undefined;
  /** Names of the tables of all entries so far. */
  readonly #tables = new Set<string>();
  /** Entries that were superseded before this number are missing, except those of {@link retainedFor}. */
  #completeSince = 0;
  #retainedFor: readonly number[] = [];
  /** Number of entries from which on {@link prune} removes superseded ones. */
  #pruneAt: number;
  /** Entries that are in checkpoints, but no longer in memory. */
  readonly #pruned = new PrunedEntries();
  readonly #leastPruned: number;

  /** @param leastPruned minimum number of entries for some to be pruned */
  constructor(leastPruned = MIN_PRUNED) {
    this.#leastPruned = leastPruned;
    this.#pruneAt = leastPruned;
  }

  /** All entries, except those that a checkpoint left out or that were pruned. */
  get all(): readonly LedgerEntry[] {
    return this.#all;
  }

  /** Number of the last entry; 0 if there is none. */
  get lastNumber(): number {
    return this.#last;
  }

  get nextNumber(): number {
    return this.#last + 1;
  }

  /** Entries that are not superseded, set aside, or part of an incomplete commit, in order of commit. */
  get effective(): readonly LedgerEntry[] {
    this.#effective ??= this.#all.filter(
      (entry) => !this.#successors.has(entry.id) && !this.#aside.has(entry.id) && this.#isWhole(entry),
    );
    return this.#effective;
  }

  /** Entries that record rows removed on purpose, in order of commit. */
  get forgotten(): readonly LedgerEntry[] {
    return this.#all.filter((entry) => entry.scope === FORGOTTEN && this.#isWhole(entry));
  }

  /** The entries that a checkpoint retains: in force, set aside, recording removed rows, or recently superseded. Without pruned ones. */
  get retained(): readonly LedgerEntry[] {
    return this.#since(this.#recent());
  }

  /** Numbers of the entries that a checkpoint retains, including pruned ones. Ascending. */
  get retainedNumbers(): readonly number[] {
    const recent = this.#recent();
    return [...this.#pruned.since(recent), ...this.#since(recent)].map(({ number }) => number).sort((a, b) => a - b);
  }

  /** Number from which on a checkpoint retains all superseded entries. */
  get retainedSince(): number {
    return Math.max(this.#recent(), this.#completeSince);
  }

  /** Numbers of the published entries for which superseded ones are retained. */
  get retainedFor(): readonly number[] {
    return this.#retainedFor;
  }

  /** From now on, entries that were in force at one of these numbers are retained, however long ago they were superseded. */
  retainFor(published: readonly number[]): void {
    this.#retainedFor = published;
  }

  /** True if all entries that were in force at each of these numbers are in memory. */
  hasAllOf(published: readonly number[]): boolean {
    return published.every((number) => number >= this.#completeSince - 1 || this.#retainedFor.includes(number));
  }

  /** Entries that are not superseded, were superseded by an entry from this number on, or are part of a published state. */
  #since(recent: number): readonly LedgerEntry[] {
    const published = this.#publishedIds();
    return this.#all.filter((entry) => {
      const successor = this.#successors.get(entry.id);
      if ((successor ?? entry).number >= recent || published.has(entry.id)) return true;
      return this.#isWhole(entry) && (successor === undefined || entry.scope === FORGOTTEN);
    });
  }

  /** Superseded entries of published states, and their chains of successors, without which they would be in force. */
  #publishedIds(): ReadonlySet<string> {
    const published = new Set<string>();
    if (this.#retainedFor.length === 0) return published;
    for (const entry of this.#all) {
      const by = this.#successors.get(entry.id);
      if (by === undefined || !isPublished(this.#retainedFor, entry.number, by.number)) continue;
      for (let next: LedgerEntry | undefined = entry; next !== undefined && !published.has(next.id); ) {
        published.add(next.id);
        next = this.#successors.get(next.id);
      }
    }
    return published;
  }

  /** Removes the entries that a checkpoint leaves out, if there are many, so that a long-running process does not grow. */
  prune(): void {
    if (this.#all.length < this.#pruneAt) return;
    this.#removeBefore(this.#recent());
    this.#pruneAt = Math.max(this.#leastPruned, 2 * this.#all.length);
  }

  /**
   * Removes the entries that were superseded before a time, in milliseconds since 1970, even if a checkpoint retains them:
   * {@link retainedNumbers} still has their numbers, and {@link superseded} their files.
   *
   * @param isGone true if the files of a superseded entry are gone; {@link superseded} drops them then
   */
  pruneBefore(time: number, isGone: (entry: Superseded) => boolean): void {
    this.#removeBefore(firstAfter(this.#times(), time));
    this.#pruned.dropFiles(isGone);
  }

  #removeBefore(recent: number): void {
    const retained = new Set(this.#since(recent));
    const pruned = this.#all.filter((entry) => !retained.has(entry));
    if (pruned.length === 0) return;
    this.#all = [...retained];
    this.#pruned.add(pruned, (id) => this.#successors.get(id));
    this.#pruned.retainSince(this.#recent());
    for (const { id } of pruned) this.#successors.delete(id);
    const named = new Set(this.#all.flatMap(({ id, commitWith }) => [id, commitWith ?? id]));
    for (const id of this.#ids) if (!named.has(id)) this.#ids.delete(id);
    for (const id of this.#awaited) if (!named.has(id)) this.#awaited.delete(id);
    for (const id of this.#aside) if (!named.has(id)) this.#aside.delete(id);
    this.#completeSince = Math.max(this.#completeSince, recent);
  }

  /** Starts from a checkpoint. @param areInForce true if its entries are all in force, so that their commits are complete. Default false */
  restore({ number, since, published, entries }: Checkpoint, areInForce = false): void {
    this.#completeSince = since;
    this.#retainedFor = published;
    for (const entry of entries) this.add(entry);
    const recent = areInForce ? number + 1 : this.#recent();
    // Older commits of several entries are complete, but their last entry may have been left out.
    for (const { number, commitWith } of entries) {
      if (commitWith !== undefined && number < recent) this.#ids.add(commitWith);
    }
    this.#last = number;
    this.#effective = undefined;
  }

  /**
   * Number of the first entry of the last day. A number, not a time, because clocks can go back: the successor of a retained entry must be
   * retained, too.
   */
  #recent(): number {
    const times = this.#times();
    const last = times.reduce((most, { committedAt }) => Math.max(most, committedAt), 0);
    return firstAfter(times, last - CHECKPOINT_GRACE_MS);
  }

  #times(): readonly Successor[] {
    return [...this.#pruned.all, ...this.#all.map(commitOf)];
  }

  /** Entries with a greater number, except those of incomplete commits and those that a checkpoint left out. */
  after(number: number): readonly LedgerEntry[] {
    return this.#all.filter((entry) => entry.number > number && this.#isWhole(entry));
  }

  /** True unless the commit of an entry is incomplete. */
  #isWhole({ commitWith }: LedgerEntry): boolean {
    return commitWith === undefined || this.#ids.has(commitWith);
  }

  /** Superseded entries, except those that a checkpoint left out. */
  get superseded(): readonly Superseded[] {
    const inMemory = this.#all.flatMap((entry) => {
      const successor = this.#successors.get(entry.id);
      return successor === undefined ? [] : [{ number: entry.number, by: commitOf(successor), files: filesOf(entry) }];
    });
    return [...this.#pruned.superseded, ...inMemory];
  }

  /** The entry that superseded another; undefined if the other was pruned. */
  successorOf(id: string): LedgerEntry | undefined {
    return this.#successors.get(id);
  }

  /** Sets damaged entries aside: no longer in force, but they can still be superseded. */
  setAside(ids: Iterable<string>): void {
    for (const id of ids) if (!this.#successors.has(id)) this.#aside.add(id);
    this.#effective = undefined;
  }

  /** True if an entry is set aside and not yet superseded. */
  isAside(id: string): boolean {
    return this.#aside.has(id) && !this.#successors.has(id);
  }

  add(entry: LedgerEntry): void {
    this.#all.push(entry);
    this.#last = entry.number;
    this.#ids.add(entry.id);
    for (const table in entry.tables) this.#tables.add(table);
    for (const id of entry.supersedes) this.#successors.set(id, entry);
    if (entry.commitWith !== undefined) this.#awaited.add(entry.commitWith);
    const changesOthers = entry.supersedes.length > 0 || this.#awaited.has(entry.id);
    const isEffective = this.#isWhole(entry) && !this.#successors.has(entry.id);
    this.#effective =
      this.#effective === undefined || changesOthers || !isEffective ? undefined : [...this.#effective, entry];
  }

  /** Tables whose rows in force may have changed after the entry of a number. */
  tablesSince(number: number): ReadonlySet<string> {
    if (number < this.#completeSince - 1) return this.#tables;
    const superseded = new Set(this.#all.flatMap((entry) => (entry.number > number ? entry.supersedes : [])));
    const tables = new Set<string>();
    for (const entry of this.#all) {
      if (entry.number <= number && !superseded.has(entry.id)) continue;
      for (const table in entry.tables) tables.add(table);
    }
    return tables;
  }

  /** @throws {StoreError} if one of these cannot be superseded */
  requireEffective(ids: readonly string[]): void {
    if (ids.length === 0) return;
    const effective = new Set(this.effective.map(({ id }) => id));
    for (const id of ids) {
      if (effective.has(id) || this.isAside(id)) continue;
      throw new StoreError(`store: entry ${id} cannot be superseded: it is not active`, { code: 'not-in-force' });
    }
  }
}

/** Number of the first entry after a time; 0 if there is none. */
function firstAfter(times: readonly Successor[], time: number): number {
  const after = times.filter(({ committedAt }) => committedAt > time);
  return after.reduce((first, { number }) => Math.min(first, number), after[0]?.number ?? 0);
}
