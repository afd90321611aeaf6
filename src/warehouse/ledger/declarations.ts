import { readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { StoreError } from '../../core/errors.ts';
import type { PipelineDef } from '../../declare/pipeline.ts';
import { parsePipeline, serializePipeline } from '../../declare/stored-declaration.ts';
import { ifAny, listFolder, makeFolder, putText } from '../../files/disk.ts';
import { layoutOf } from './ledger-folder.ts';

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
  /** @throws {StoreError} `bad-declaration` when it is missing or damaged */
  read(place: DeclarationPlace): Promise<PipelineDef>;
}

const NAME = /^([a-z0-9_]+)-(\d{8,})-([0-9a-f]{16})\.json$/;

/** The declarations of a Parquet warehouse: immutable files that are written atomically. */
export class DeclarationFolder implements Declarations {
  readonly path: string;
  readonly #staging: string;
  readonly #known = new Set<string>();

  constructor(warehouse: string) {
    this.path = layoutOf(warehouse).declarations;
    this.#staging = layoutOf(warehouse).stage;
  }

  async list(): Promise<readonly DeclarationPlace[]> {
    const places = (await listFolder(this.path)).flatMap((name) => {
      const [, pipeline, number, id] = NAME.exec(name) ?? [];
      if (pipeline === undefined || id === undefined) return [];
      return [{ pipeline, id, number: Number(number) }];
    });
    for (const { id } of places) this.#known.add(id);
    return places.sort((a, b) => a.number - b.number);
  }

  async read(place: DeclarationPlace): Promise<PipelineDef> {
    const path = this.#pathOf(place);
    const text = await ifAny(readFile(path, 'utf8'));
    if (text === undefined) throw missing(path);
    return parsePipeline(text, place.id, path);
  }

  /** Writes a declaration unless it is there. @returns its identifier */
  async put(pipeline: PipelineDef, number: number): Promise<string> {
    const { id, text } = serializePipeline(pipeline);
    if (this.#known.has(id)) return id;
    const known = (await this.list()).some((place) => place.id === id);
    if (!known) {
      await makeFolder(this.path);
      await putText(this.#pathOf({ pipeline: pipeline.name, id, number }), text, this.#staging, `declaration-${id}`);
    }
    this.#known.add(id);
    return id;
  }

  /** Replaces a damaged declaration. */
  async replace(pipeline: PipelineDef, number: number): Promise<void> {
    const { id } = serializePipeline(pipeline);
    for (const place of await this.list()) if (place.id === id) await rm(this.#pathOf(place), { force: true });
    this.#known.delete(id);
    await makeFolder(this.#staging);
    await this.put(pipeline, number);
  }

  #pathOf({ pipeline, number, id }: DeclarationPlace): string {
    return join(this.path, `${pipeline}-${String(number).padStart(8, '0')}-${id}.json`);
  }
}

function missing(subject: string): StoreError {
  return new StoreError(`store: ${subject} is missing, but entries name it`, {
    code: 'bad-declaration',
    hint: 'tonlake verify names all damage; --pipelines FOLDER gives the declaration again',
  });
}
