import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setImmediate } from 'node:timers/promises';
import { isDeepStrictEqual } from 'node:util';
import { z } from 'zod';
import { StoreError } from '../../core/errors.ts';
import { ifAny, listFolder, putText } from '../../files/disk.ts';
import { SmallFiles } from '../../files/small-files.ts';
import { CATALOG } from '../relations/table-relation.ts';
import { type Schema, schemaId } from '../relations/table-schema.ts';
import type { LedgerEntry } from '../store.ts';
import { Checkpoints } from './checkpoints.ts';
import { badLedger, Entries, FORMAT, formatField, isNewer, parseEntry, requireFormat } from './entries.ts';

const identitySchema = z.object({ format: z.literal(FORMAT), network: z.string(), createdAt: z.string() });

/** Contents of `tonlake.json`. */
export type Identity = Readonly<z.infer<typeof identitySchema>>;

const schemaSchema = z.array(z.object({ name: z.string(), type: z.string() }));

/** Minimum number of entries between two checkpoints; reading them takes about 10 ms. */
const CHECKPOINT_ENTRIES = 100;

/** Number of files to read concurrently. */
const readers = 32;

/** Paths inside a Parquet warehouse. */
export function layoutOf(path: string) {
  return {
    identity: join(path, 'tonlake.json'),
    ledger: join(path, '_ledger'),
    checkpoints: join(path, '_checkpoints'),
    declarations: join(path, '_declarations'),
    stage: join(path, '_stage'),
    lock: join(path, '_lock'),
    tables: join(path, 'tables'),
    pinned: join(path, 'pinned'),
    catalog: join(path, CATALOG),
    catalogStamp: join(path, '_checkpoints', 'catalog.sha256'),
  } as const;
}

/** An unreadable entry, or schema (without number). */
export interface LedgerProblem {
  readonly number: number | undefined;
  readonly error: unknown;
}

/** The ledger of a Parquet warehouse: numbered, immutable files that are written atomically. */
export class LedgerFolder {
  readonly path: string;
  readonly entries = new Entries();
  readonly #schemas = new Map<string, Schema>();
  readonly #files = new SmallFiles();
  readonly #checkpoints: Checkpoints;
  /** Last entry and number of entries of the newest checkpoint. */
  #checkpoint = { number: 0, entries: 0 };

  constructor(warehouse: string) {
    const { ledger, checkpoints } = layoutOf(warehouse);
    this.path = ledger;
    this.#checkpoints = new Checkpoints(checkpoints, (number) => this.entryPath(number));
  }

  /** The columns of a schema that an entry names. */
  schema(id: string): Schema {
    const schema = this.#schemas.get(id);
    if (schema === undefined) throw badLedger(`${this.path} lacks schema-${id}.json`);
    return schema;
  }

  /**
   * Reads what was committed since the last call.
   * @param tell called with each missing or unreadable entry or schema, which is left out. Default: throws. With `tell`, no checkpoint is
   * used, and the ledger must not be read again.
   * @returns the new entries; the first time, those of the newest checkpoint and all later ones
   */
  async refresh(tell?: (problem: LedgerProblem) => void): Promise<readonly LedgerEntry[]> {
    const isFirst = tell === undefined && this.entries.nextNumber === 1;
    const checkpoint = isFirst ? await this.#checkpoints.newest() : undefined;
    const names = await listFolder(this.path);
    const numbers: number[] = [];
    for (const name of names) {
      if (/^\d{8,}\.json$/.test(name)) numbers.push(Number.parseInt(name, 10));
      else if (!/^(schema-[0-9a-f]+\.json|\..*)$/.test(name))
        throw badLedger(`${join(this.path, name)} is not part of a ledger`);
    }
    // Every number up to the highest, listed or not: a listing can miss a file that is added meanwhile.
    const first = checkpoint === undefined ? this.entries.nextNumber : checkpoint.number + 1;
    const highest = numbers.reduce((most, number) => Math.max(most, number), 0);
    const fresh = Array.from({ length: Math.max(0, highest - first + 1) }, (_, at) => first + at);
    const told = async <T>(read: Promise<T>, number?: number): Promise<T | undefined> => {
      if (tell === undefined) return read;
      return read.catch((error: unknown) => {
        if (isNewer(error)) throw error;
        tell({ number, error });
        return undefined;
      });
    };
    const found = await readEach(fresh, (number) => told(this.#readEntry(number), number));
    const entries = found.filter((entry) => entry !== undefined);
    const all = [...(checkpoint?.entries ?? []), ...entries];
    const named = all.flatMap(({ tables }) => Object.values(tables).map(({ schema }) => schema));
    const unknown = new Set(named.filter((id) => !this.#schemas.has(id)));
    for (const schema of await readEach([...unknown], (id) => told(this.#readSchema(id)))) {
      if (schema !== undefined) this.#schemas.set(schema.id, schema);
    }
    if (checkpoint !== undefined) {
      this.entries.restore(checkpoint);
      this.#checkpoint = { number: checkpoint.number, entries: checkpoint.entries.length };
    }
    for (const entry of entries) this.entries.add(entry);
    return all;
  }

  /** True if enough was committed since the newest checkpoint for another one. */
  get isCheckpointDue(): boolean {
    const { number, entries } = this.#checkpoint;
    // A share of its size, so that work per commit does not grow with the ledger.
    return this.entries.nextNumber - 1 - number >= Math.max(CHECKPOINT_ENTRIES, entries / 10);
  }

  async writeCheckpoint(staging: string): Promise<void> {
    const [number, entries] = [this.entries.nextNumber - 1, this.entries.lasting];
    await this.#checkpoints.write({ number, entries }, staging);
    this.#checkpoint = { number, entries: entries.length };
  }

  /** Numbers of checkpoints that opening would use, but that differ from the entries. The ledger must have been read with `tell`. */
  async findWrongCheckpoints(): Promise<readonly number[]> {
    const wrong: number[] = [];
    for await (const { number, entries } of this.#checkpoints.list()) {
      const covered = new Entries();
      for (const entry of this.entries.all) if (entry.number <= number) covered.add(entry);
      if (covered.all.length === number && !isDeepStrictEqual(entries, covered.lasting)) wrong.push(number);
    }
    return wrong;
  }

  /** Writes a schema unless it is there. */
  async putSchema(schema: Schema, staging: string): Promise<void> {
    if (this.#schemas.has(schema.id)) return;
    await putText(join(this.path, `schema-${schema.id}.json`), JSON.stringify(schema.columns), staging, schema.id);
    this.#schemas.set(schema.id, schema);
  }

  entryPath(number: number): string {
    return `${this.path}/${String(number).padStart(8, '0')}.json`;
  }

  async #readEntry(number: number): Promise<LedgerEntry> {
    const path = this.entryPath(number);
    const text = await this.#files.text(path);
    if (text === undefined) throw badLedger(`${path} is missing, but later entries exist`);
    return parseEntry(text, path, number);
  }

  async #readSchema(id: string): Promise<Schema> {
    const path = join(this.path, `schema-${id}.json`);
    const text = await ifAny(readFile(path, 'utf8'));
    if (text === undefined) throw badLedger(`${path} is missing, but an entry names it`);
    try {
      const columns = schemaSchema.parse(JSON.parse(text));
      if (schemaId(columns) === id) return { id, columns };
      throw new Error('its columns do not match its identifier');
    } catch (error) {
      throw badLedger(`${path} is not a schema`, error);
    }
  }
}

async function readEach<T, R>(from: readonly T[], read: (value: T) => Promise<R>): Promise<readonly R[]> {
  const out: R[] = [];
  for (let at = 0; at < from.length; at += readers) {
    out.push(...(await Promise.all(from.slice(at, at + readers).map(read))));
    // Yields to other tasks, even if all reads were synchronous.
    await setImmediate();
  }
  return out;
}

/** The identity of the warehouse, if there is one. */
export async function readIdentity(warehouse: string): Promise<Identity | undefined> {
  const { identity: path, ledger } = layoutOf(warehouse);
  const text = await ifAny(readFile(path, 'utf8'));
  if (text === undefined) {
    if ((await listFolder(ledger)).length > 0) throw badLedger(`warehouse ${warehouse} has no tonlake.json`);
    return undefined;
  }
  try {
    const json: unknown = JSON.parse(text);
    requireFormat(formatField.safeParse(json).data?.format, `warehouse ${warehouse}`);
    return identitySchema.parse(json);
  } catch (error) {
    if (isNewer(error)) throw error;
    throw badLedger(`${path} does not describe the warehouse`, error);
  }
}

/** @throws {StoreError} `other-network` if the warehouse is of another network */
export function requireNetwork(warehouse: string, held: string, asked: string): void {
  if (held === asked) return;
  throw new StoreError(`store: warehouse ${warehouse} holds ${held}, not ${asked}`, {
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
