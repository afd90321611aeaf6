import { StoreError } from '../../core/errors.ts';
import { suggest } from '../../core/suggest.ts';
import type { PipelineDef } from '../../declare/pipeline.ts';
import { parsePipeline, type StoredDeclaration } from '../../declare/stored-declaration.ts';
import { readText, type WarehouseObjects } from '../../objects/object-store.ts';
import { DECLARATIONS } from './ledger-folder.ts';

/** The place of a stored declaration. */
export interface DeclarationPlace {
  readonly pipeline: string;
  readonly id: string;
  /** Number of the first ledger entry that uses it. */
  readonly number: number;
}

/** The declarations stored in a warehouse, each once. */
export interface Declarations {
  /** In order of their first entries. */
  list(): Promise<readonly DeclarationPlace[]>;
  /** @throws {StoreError} when it is missing or damaged */
  read(place: DeclarationPlace): Promise<PipelineDef>;
}

const NAME = /^([a-z0-9_]+)-(\d{8,})-([0-9a-f]{16})\.json$/;

/** The declarations of a Parquet warehouse: immutable files that are written atomically. */
export class DeclarationFolder implements Declarations {
  readonly #objects: WarehouseObjects;
  /** Identifier of the newest declaration, by pipeline. */
  readonly #newest = new Map<string, string>();

  constructor(objects: WarehouseObjects) {
    this.#objects = objects;
  }

  async list(): Promise<readonly DeclarationPlace[]> {
    const places = (await this.#objects.names(DECLARATIONS)).flatMap((name) => {
      const [, pipeline, number, id] = NAME.exec(name) ?? [];
      if (pipeline === undefined || id === undefined) return [];
      return [{ pipeline, id, number: Number(number) }];
    });
    places.sort((a, b) => a.number - b.number);
    for (const { pipeline, id } of places) this.#newest.set(pipeline, id);
    return places;
  }

  async read(place: DeclarationPlace): Promise<PipelineDef> {
    const path = pathOf(place);
    const subject = `${this.#objects.url}/${path}`;
    const text = await readText(this.#objects, path);
    if (text === undefined) throw missingDeclaration(subject);
    return parsePipeline(text, place.id, subject);
  }

  /** Writes a declaration unless it is the newest of its pipeline. */
  async put({ pipeline, id, text }: StoredDeclaration, number: number): Promise<void> {
    if (this.#newest.get(pipeline) !== id) await this.list();
    if (this.#newest.get(pipeline) !== id)
      await this.#objects.putOrGet(pathOf({ pipeline, id, number }), Buffer.from(text));
    this.#newest.set(pipeline, id);
  }

  /** Replaces a damaged declaration. */
  async replace(declared: StoredDeclaration, number: number): Promise<void> {
    const damaged = (await this.list()).filter(({ id }) => id === declared.id);
    await this.#objects.remove(damaged.map(pathOf));
    this.#newest.delete(declared.pipeline);
    await this.put(declared, number);
  }
}

function pathOf({ pipeline, number, id }: DeclarationPlace): string {
  return `${DECLARATIONS}/${pipeline}-${String(number).padStart(8, '0')}-${id}.json`;
}

/** Rows exist, but nothing describes their columns. */
export function missingDeclaration(subject: string): StoreError {
  return new StoreError(`store: ${subject} is missing, but entries name it`, {
    hint: `${suggest('verify')} names all damage; --pipelines with the folder of your pipelines gives the declaration again`,
  });
}
