import { z } from 'zod';
import { rethrowAccessError } from '../../core/errors.ts';
import { readText, type WarehouseObjects } from '../../objects/object-store.ts';
import { type Schema, schemaId } from '../relations/table-schema.ts';
import { badLedger } from './entries.ts';

const schemaSchema = z.array(z.object({ name: z.string(), type: z.string() }));

/** The columns of stored rows: files beside the entries that name them, each immutable. */
export class Schemas {
  readonly #objects: WarehouseObjects;
  readonly #folder: string;
  readonly #known = new Map<string, Schema>();
  /** Why schemas cannot be read, by identifier. */
  readonly #unread = new Map<string, unknown>();

  /** @param folder of the ledger, within the warehouse */
  constructor(objects: WarehouseObjects, folder: string) {
    this.#objects = objects;
    this.#folder = folder;
  }

  /** @throws {StoreError} `bad-ledger` if it is missing or unreadable */
  get(id: string): Schema {
    const schema = this.#known.get(id);
    if (schema === undefined) throw this.#unread.get(id) ?? badLedger(`${this.#pathOf(id)} was not read`);
    return schema;
  }

  /** Reads the schemas that were not read yet. For one that cannot be read, {@link get} throws. */
  async read(ids: Iterable<string>): Promise<void> {
    for (const id of ids) {
      if (this.#known.has(id)) continue;
      try {
        this.know(await this.#read(id));
      } catch (error) {
        rethrowAccessError(error);
        this.#unread.set(id, error);
      }
    }
  }

  /** Schemas that are missing or unreadable, and why. */
  get unread(): ReadonlyMap<string, unknown> {
    return this.#unread;
  }

  /** Writes a schema unless it exists. */
  async put(schema: Schema): Promise<void> {
    if (this.#known.has(schema.id)) return;
    await this.#objects.putOrGet(this.#key(schema.id), format(schema));
    this.know(schema);
  }

  /** Writes a schema in place of a missing or damaged one. */
  async restore(schema: Schema): Promise<void> {
    await this.#objects.put(this.#key(schema.id), format(schema));
    this.know(schema);
  }

  /** Uses a schema in memory in place of a missing or damaged one. */
  know(schema: Schema): void {
    this.#known.set(schema.id, schema);
    this.#unread.delete(schema.id);
  }

  async #read(id: string): Promise<Schema> {
    const path = this.#pathOf(id);
    const text = await readText(this.#objects, this.#key(id));
    if (text === undefined) throw badLedger(`${path} is missing, but an entry names it`);
    try {
      const columns = schemaSchema.parse(JSON.parse(text));
      if (schemaId(columns) === id) return { id, columns };
      throw new Error('its columns do not match its identifier');
    } catch (error) {
      throw badLedger(`${path} is not a schema`, error);
    }
  }

  #key(id: string): string {
    return `${this.#folder}/schema-${id}.json`;
  }

  #pathOf(id: string): string {
    return `${this.#objects.url}/${this.#key(id)}`;
  }
}

function format({ columns }: Schema): Buffer {
  return Buffer.from(JSON.stringify(columns));
}
