import { join } from 'node:path';
import { setImmediate } from 'node:timers/promises';
import { isDeepStrictEqual } from 'node:util';
import { z } from 'zod';
import { rethrowAccessError, StoreError } from '../../core/errors.ts';
import { isNewer } from '../../core/newer-tonlake.ts';
import { suggest } from '../../core/suggest.ts';
import type { TableDef } from '../../declare/table.ts';
import { diskObjects } from '../../objects/disk-objects.ts';
import { readText, type WarehouseObjects } from '../../objects/object-store.ts';
import { publishedNumbers } from '../garbage/published-entries.ts';
import { CATALOG } from '../relations/table-relation.ts';
import { requireKnownTables, requireReadable, requireWritable } from '../relations/table-schema.ts';
import type { LedgerEntry } from '../store.ts';
import { Checkpoints } from './checkpoints.ts';
import { hasRows } from './done-spans.ts';
import { badLedger, Entries, entryName, FORMAT, formatField, parseEntry, requireFormat } from './entries.ts';
import { Schemas } from './schemas.ts';

const identitySchema = z.object({ format: z.literal(FORMAT), network: z.string(), createdAt: z.string() });

/** Contents of `tonlake.json`. */
export type Identity = Readonly<z.infer<typeof identitySchema>>;

/** Minimum number of entries between two checkpoints; reading them takes about 10 ms. */
const CHECKPOINT_ENTRIES = 100;

/** Number of files to read concurrently. */
const CONCURRENCY = 32;

/** Folders of the ledger and of declarations, and the file that describes the warehouse. */
export const LEDGER = '_ledger';
export const DECLARATIONS = '_declarations';
export const IDENTITY = 'tonlake.json';

/** Paths inside a Parquet warehouse that is a folder. */
export function layoutOf(path: string) {
  return {
    ledger: join(path, LEDGER),
    checkpoints: join(path, '_checkpoints'),
    stage: join(path, '_stage'),
    lock: join(path, '_lock'),
    tables: join(path, 'tables'),
    pinned: join(path, 'pinned'),
    catalog: join(path, CATALOG),
    catalogStamp: join(path, '_checkpoints', 'catalog.sha256'),
    dataFolders: join(path, '_checkpoints', 'settled.json'),
  } as const;
}

/** The small objects of a warehouse that is a folder. */
export function folderObjects(warehouse: string): WarehouseObjects {
  return diskObjects(warehouse, layoutOf(warehouse).stage);
}

/** A missing or unreadable entry, by its number, or schema, by its identifier. */
export interface LedgerProblem {
  readonly number?: number;
  readonly schema?: string;
  readonly error: unknown;
}

/** Awaits the read of an entry; undefined if it failed and the failure was reported. */
type Tolerate = <T>(read: Promise<T>, number: number) => Promise<T | undefined>;

/** The ledger of a Parquet warehouse: numbered, immutable files that are written atomically. */
export class LedgerFolder {
  readonly path: string;
  readonly entries = new Entries();
  /** The columns of rows that entries name. */
  readonly schemas: Schemas;
  /** Identifiers of the schemas that entries name, by table. */
  readonly #named = new Map<string, Set<string>>();
  readonly #objects: WarehouseObjects;
  readonly #checkpoints: Checkpoints;
  /** State of the folder when its entries were last listed; null before. */
  #listed: string | null | undefined = null;
  /** An entry that was already read, but not added. */
  #preloaded: { readonly number: number; readonly text: string } | undefined;
  /** Last entry and number of entries of the newest checkpoint. */
  #checkpoint = { number: 0, entries: 0 };

  /** @param warehouse its path or address */
  constructor(warehouse: string, objects = folderObjects(warehouse)) {
    this.path = `${warehouse}/${LEDGER}`;
    this.#objects = objects;
    this.schemas = new Schemas(objects, LEDGER);
    this.#checkpoints = new Checkpoints(objects, layoutOf(warehouse));
  }

  /**
   * Reads what was committed since the last call.
   * @param onProblem called with each missing or unreadable entry, which is left out, and each such schema that an entry in force names.
   * No checkpoint is used then, and the ledger must not be read again. Default: throws for entries; {@link Schemas.get} throws for schemas.
   * @returns the new entries; the first time, those of the newest checkpoint and all later ones
   */
  async refresh(onProblem?: (problem: LedgerProblem) => void): Promise<readonly LedgerEntry[]> {
    const state = this.#objects.stateOf?.(LEDGER);
    const isFirst = onProblem === undefined && this.entries.nextNumber === 1;
    const checkpoint = isFirst ? await this.#checkpoints.newest(state) : undefined;
    // If the state of the folder is unchanged, no entry was removed; one may have been added since. An object store has no such state:
    // later entries are found by their numbers.
    const isUnchanged = checkpoint?.isStamped === true || this.#listed === state;
    const highest = isUnchanged
      ? undefined
      : await this.#highestNumber(checkpoint?.number ?? this.entries.nextNumber - 1);
    const tolerate: Tolerate = async (read, number) => {
      if (onProblem === undefined) return read;
      return read.catch((error: unknown) => {
        rethrowAccessError(error);
        if (isNewer(error)) throw error;
        onProblem({ number, error });
        return undefined;
      });
    };
    const first = checkpoint === undefined ? this.entries.nextNumber : checkpoint.number + 1;
    const listed = await this.#readEntries(first, highest, tolerate);
    const mayLackEntries = highest !== undefined && this.#objects.stateOf === undefined;
    const unlisted = mayLackEntries ? await this.#readEntries(Math.max(highest + 1, first), undefined, tolerate) : [];
    const entries = [...listed, ...unlisted];
    const all = checkpoint === undefined ? entries : [...checkpoint.entries, ...entries];
    await this.schemas.read(this.#nameSchemas(all));
    if (checkpoint !== undefined) {
      this.entries.restore(checkpoint);
      this.#checkpoint = { number: checkpoint.number, entries: checkpoint.entries.length };
    }
    for (const entry of entries) this.entries.add(entry);
    if (onProblem === undefined) this.entries.prune();
    else this.#reportUnread(onProblem);
    this.#listed = onProblem === undefined ? state : null;
    return all;
  }

  /** Gives the next `refresh` the text of an entry that was already read. */
  preload(number: number, text: string): void {
    this.#preloaded = { number, text };
  }

  /**
   * Entries with a greater number, up to the last one that was read. Those that a checkpoint left out are read from their files.
   * @param most approximate maximum number of entries. Default: all
   */
  async log(after: number, most = Number.POSITIVE_INFINITY): Promise<readonly LedgerEntry[]> {
    const last = this.entries.nextNumber - 1;
    const known = new Map(
      this.entries.all.flatMap((entry) => (entry.number > after ? [[entry.number, entry] as const] : [])),
    );
    if (known.size === Math.max(0, last - after)) return this.entries.after(after).slice(0, most);
    const complete: LedgerEntry[] = [];
    // Entries of commits whose last entry is still to come.
    let parts: readonly LedgerEntry[] = [];
    for (let at = after + 1; at <= last && complete.length < most; at += CONCURRENCY) {
      const numbers = Array.from({ length: Math.min(CONCURRENCY, last - at + 1) }, (_, more) => at + more);
      const read = await Promise.all(
        numbers.map(async (number) => known.get(number) ?? (await this.#readEntry(number, last))),
      );
      for (const entry of read) {
        if (entry === undefined) continue;
        if (entry.commitWith !== undefined) {
          parts = [...parts, entry];
          continue;
        }
        complete.push(...parts.filter(({ commitWith }) => commitWith === entry.id), entry);
        parts = parts.filter(({ commitWith }) => commitWith !== entry.id);
      }
    }
    return complete.sort((a, b) => a.number - b.number);
  }

  /** Entries after a number, up to the last one that was read, all from their files, even if a checkpoint has them. */
  async readAfter(after: number): Promise<readonly LedgerEntry[]> {
    const { number } = this.#checkpoint;
    const covered = await this.#readEntries(after + 1, number, (read) => read);
    return [...covered, ...this.entries.all.filter((entry) => entry.number > Math.max(after, number))];
  }

  /** @throws {StoreError} `needs-migration` if rows in force cannot be read as they are declared */
  requireReadable(tables: readonly TableDef[], warehouse: string): void {
    for (const { table, columns } of this.#storedTables(tables)) requireReadable(table, columns, warehouse);
  }

  /** @throws {StoreError} `needs-migration`, `newer-tonlake` if rows in force cannot be copied as they are declared */
  requireWritable(tables: readonly TableDef[], warehouse: string): void {
    requireKnownTables(warehouse, this.entries.effective, tables);
    for (const { table, columns, own } of this.#storedTables(tables)) requireWritable(table, columns, warehouse, own);
  }

  /** Tables with rows in force, once per schema. */
  *#storedTables(tables: readonly TableDef[]) {
    const { effective } = this.entries;
    for (const table of tables) {
      for (const id of this.#named.get(table.name) ?? []) {
        const own = effective.filter((entry) => entry.tables[table.name]?.schema === id);
        if (hasRows(own, table.name)) yield { table, columns: this.schemas.get(id).columns, own };
      }
    }
  }

  /** @param known number of the last entry that is known @throws {StoreError} `bad-ledger` for files that are not part of a ledger */
  async #highestNumber(known: number): Promise<number> {
    let highest = 0;
    for (const name of await this.#objects.names(LEDGER, known === 0 ? undefined : entryName(known))) {
      if (/^\d{8,}\.json$/.test(name)) highest = Math.max(highest, Number.parseInt(name, 10));
      else if (!/^(schema-[0-9a-f]+\.json|\..*)$/.test(name))
        throw badLedger(`${this.path}/${name} is not part of a ledger`);
    }
    return highest;
  }

  /**
   * Entries from a number on, except those that `tolerate` drops.
   *
   * @param highest the last number to read, because a listing can miss a file that is added meanwhile. Undefined: up to the first number
   * without an entry.
   */
  async #readEntries(first: number, highest: number | undefined, tolerate: Tolerate): Promise<readonly LedgerEntry[]> {
    const entries: LedgerEntry[] = [];
    let count = 0;
    for (let at = first; at <= (highest ?? at); at += count) {
      // Usually there are no new entries, or a few. After a preloaded one, one more is no more likely than before.
      const isAfterPreloaded = at - count === this.#preloaded?.number;
      const many = isAfterPreloaded ? 1 : Math.max(1, 2 * count);
      count = Math.min(CONCURRENCY, highest === undefined ? many : highest - at + 1);
      const numbers = Array.from({ length: count }, (_, more) => at + more);
      const read = await Promise.all(numbers.map((number) => tolerate(this.#readEntry(number, highest), number)));
      // Yields to other tasks, even if all reads were synchronous.
      await setImmediate();
      const end = highest === undefined ? read.indexOf(undefined) : -1;
      entries.push(...read.slice(0, end < 0 ? undefined : end).filter((entry) => entry !== undefined));
      if (end >= 0) break;
    }
    return entries;
  }

  /** Adds the schemas that entries name. @returns identifiers of all */
  #nameSchemas(entries: readonly LedgerEntry[]): readonly string[] {
    for (const { tables } of entries) {
      for (const name in tables) {
        const named = this.#named.get(name) ?? new Set();
        this.#named.set(name, named.add(tables[name]?.schema ?? ''));
      }
    }
    return [...new Set([...this.#named.values()].flatMap((ids) => [...ids]))];
  }

  /** True if enough was committed since the newest checkpoint. */
  get isCheckpointDue(): boolean {
    const { number, entries } = this.#checkpoint;
    // In proportion to its size, so that the work per commit does not grow with the ledger.
    return this.entries.nextNumber - 1 - number >= Math.max(CHECKPOINT_ENTRIES, entries / 30);
  }

  /** See {@link Checkpoints.stamp}. */
  stamp(): Promise<void> {
    return this.#checkpoints.stamp(this.#objects.stateOf?.(LEDGER));
  }

  /** @param source a ledger with the same entries, which was read. Default: this one */
  async writeCheckpoint(source: LedgerFolder = this): Promise<void> {
    const { entries } = source;
    const [number, published] = [entries.lastNumber, await publishedNumbers(this.#objects)];
    // Entries that were pruned before a state was published cannot be retained for it.
    entries.retainFor(published.filter((each) => entries.hasAllOf([each])));
    const { retainedNumbers: numbers, retainedSince: since, retainedFor } = entries;
    await this.#checkpoints.write({ number, since, published: retainedFor, lines: source.#lines(numbers) });
    this.#checkpoint = { number, entries: numbers.length };
    this.entries.prune();
  }

  /** Entries as JSON; those that were pruned are read from their files. */
  async *#lines(numbers: readonly number[]): AsyncGenerator<string> {
    const known = new Map(this.entries.retained.map((entry) => [entry.number, entry]));
    for (let at = 0; at < numbers.length; at += CONCURRENCY) {
      const some = numbers
        .slice(at, at + CONCURRENCY)
        .map((number) => known.get(number) ?? this.#readEntry(number, number));
      for (const entry of await Promise.all(some)) yield JSON.stringify(entry);
    }
  }

  /** Numbers of valid checkpoints that differ from the entries. The ledger must have been read with `onProblem`. */
  async findWrongCheckpoints(): Promise<readonly number[]> {
    const wrong: number[] = [];
    for await (const { number, since, published, entries } of this.#checkpoints.list()) {
      const covered = new Entries();
      for (const entry of this.entries.all) if (entry.number <= number) covered.add(entry);
      if (covered.all.length !== number) continue;
      covered.retainFor(published);
      const isRight = isDeepStrictEqual(entries, covered.retained) && since >= covered.retainedSince;
      if (!isRight) wrong.push(number);
    }
    return wrong;
  }

  entryPath(number: number): string {
    return `${this.path}/${entryName(number)}`;
  }

  /** Undefined if it does not exist and `highest` is undefined. */
  async #readEntry(number: number, highest: number | undefined): Promise<LedgerEntry | undefined> {
    const path = this.entryPath(number);
    const preloaded = this.#preloaded?.number === number ? this.#preloaded.text : undefined;
    const text = preloaded ?? (await readText(this.#objects, `${LEDGER}/${entryName(number)}`));
    if (text !== undefined) return parseEntry(text, path, number);
    if (highest === undefined) return undefined;
    throw badLedger(`${path} is missing, but later entries exist`);
  }

  #reportUnread(onProblem: (problem: LedgerProblem) => void): void {
    const named = new Set(
      this.entries.effective.flatMap(({ tables }) => Object.values(tables).map(({ schema }) => schema)),
    );
    for (const [schema, error] of this.schemas.unread) if (named.has(schema)) onProblem({ schema, error });
  }
}

/** The identity of a warehouse; undefined if there is no warehouse. @throws {StoreError} `bad-ledger`, `newer-tonlake` */
export async function readIdentity(objects: WarehouseObjects): Promise<Identity | undefined> {
  const warehouse = objects.url;
  const text = await readText(objects, IDENTITY);
  if (text === undefined) {
    if ((await objects.names(LEDGER)).length > 0) throw withoutIdentity(warehouse);
    return undefined;
  }
  return parseIdentity(text, warehouse);
}

function parseIdentity(text: string, warehouse: string): Identity {
  try {
    const json: unknown = JSON.parse(text);
    requireFormat(formatField.safeParse(json).data?.format, `warehouse ${warehouse}`);
    return identitySchema.parse(json);
  } catch (error) {
    if (isNewer(error)) throw error;
    throw badLedger(`${warehouse}/${IDENTITY} does not describe the warehouse`, error);
  }
}

function withoutIdentity(warehouse: string): StoreError {
  const hint = `if a copy into it was ended, copy again; otherwise ${suggest('verify', '--repair', { warehouse })}`;
  return badLedger(`warehouse ${warehouse} has no tonlake.json`, undefined, hint);
}

/** Writes the identity of a new warehouse, unless another process was first. @returns the stored identity */
export async function putIdentity(objects: WarehouseObjects, network: string, now: number): Promise<Identity> {
  const own: Identity = { format: FORMAT, network, createdAt: new Date(now).toISOString() };
  const other = await objects.putOrGet(IDENTITY, Buffer.from(`${JSON.stringify(own)}\n`));
  return other === undefined ? own : parseIdentity(Buffer.from(other).toString(), objects.url);
}

/** @throws {StoreError} `other-network` if the warehouse is of another network */
export function requireNetwork(warehouse: string, stored: string, requested: string): void {
  if (stored === requested) return;
  throw new StoreError(`store: warehouse ${warehouse} holds ${stored}, not ${requested}`, {
    code: 'other-network',
    hint: 'choose another --warehouse, or the network of this one',
  });
}

/** @throws {StoreError} `bad-ledger` if an entry is not of the network of its warehouse */
export function requireOwnEntries(warehouse: string, network: string, entries: readonly LedgerEntry[]): void {
  const foreign = entries.find((entry) => entry.network !== network);
  if (foreign === undefined) return;
  throw badLedger(
    `warehouse ${warehouse} holds ${network}, but its ledger entry ${foreign.number} is of ${foreign.network}`,
  );
}
