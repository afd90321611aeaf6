import { rm } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { listFolder, makeFolder, putText, stateOf } from '../files/disk.ts';
import { SmallFiles } from '../files/small-files.ts';

/** The small files of a Parquet warehouse: identity, ledger, schemas, declarations. Paths are relative to it, with forward slashes. */
export interface WarehouseFiles {
  /** Path or address of the warehouse, for messages. */
  readonly root: string;
  /** True if a listing may lack files that are there. */
  readonly mayLag: boolean;
  /** Names in a folder; none if it does not exist. `after`: those up to this name may be left out. */
  list(folder: string, after?: string): Promise<readonly string[]>;
  /** Undefined if there is no such file. */
  text(path: string): Promise<string | undefined>;
  /** Writes a file unless it is there, atomically. `id`: of the draft. @returns false if there is another one */
  putIfAbsent(path: string, text: string, id: string): Promise<boolean>;
  remove(path: string): Promise<void>;
  /** Differs after a file was added to a folder, or removed from it. The same text always, if that cannot be told. */
  stateOf(folder: string): string | undefined;
}

/** The small files of a warehouse that is a folder. */
export class FolderFiles implements WarehouseFiles {
  readonly root: string;
  readonly mayLag = false;
  readonly #small = new SmallFiles();
  readonly #staging: string;

  constructor(warehouse: string, staging: string) {
    this.root = warehouse;
    this.#staging = staging;
  }

  list(folder: string): Promise<readonly string[]> {
    return listFolder(join(this.root, folder));
  }

  text(path: string): Promise<string | undefined> {
    return this.#small.text(`${this.root}/${path}`);
  }

  async putIfAbsent(path: string, text: string, id: string): Promise<boolean> {
    const to = join(this.root, path);
    await makeFolder(dirname(to));
    await makeFolder(this.#staging);
    return putText(to, text, this.#staging, id);
  }

  async remove(path: string): Promise<void> {
    await rm(join(this.root, path), { force: true });
  }

  stateOf(folder: string): string | undefined {
    return stateOf(join(this.root, folder));
  }
}
