import { readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { ifAny, makeFolder, stateOf } from '../../files/disk.ts';
import { layoutOf } from '../ledger/ledger-folder.ts';
import { pinnedPath } from '../parquet-store/pinned-files.ts';

/** State of a folder, and the names of the files and folders in it. */
type FolderNames = readonly [state: string, files: readonly string[], folders: readonly string[]];

/**
 * The names in `tables/` and `pinned/`. A writer that closes records them with the states of their folders, so that the next one lists only
 * folders that have changed since. It removes the record when it opens, so a killed writer leaves none.
 */
export class DataFolders {
  readonly #warehouse: string;
  readonly #record: string;
  /** By path, relative to the warehouse. */
  readonly #known = new Map<string, FolderNames>();
  readonly #changed = new Set<string>();

  constructor(warehouse: string) {
    this.#warehouse = warehouse;
    this.#record = layoutOf(warehouse).dataFolders;
  }

  /** Reads the record. @returns false if there is none: a writer is open or was killed, or a commit of the last one failed */
  async read(): Promise<boolean> {
    const record = parseRecord(await readFile(this.#record, 'utf8').catch(() => ''));
    for (const [path, names] of Object.entries(record ?? {})) this.#known.set(path, names);
    return record !== undefined;
  }

  /** Reads and removes the record. @returns as {@link read} */
  async take(): Promise<boolean> {
    const hasRecord = await this.read();
    await rm(this.#record, { force: true });
    return hasRecord;
  }

  /** Notes that this process adds, moves or removes a data file. @param file its path, as the ledger names it */
  note(file: string): void {
    for (const own of [file, pinnedPath(file)]) {
      for (let path = dirname(own); path !== '.'; path = dirname(path)) this.#changed.add(path);
    }
  }

  /** Paths of all files below a folder, relative to it. */
  async list(folder: 'tables' | 'pinned'): Promise<readonly string[]> {
    const found: string[] = [];
    await this.#walk(folder, '', found);
    return found;
  }

  /** Records the names, after listing the folders that this process has changed. */
  async write(): Promise<void> {
    for (const path of this.#changed) await this.#list(path);
    await makeFolder(dirname(this.#record));
    await writeFile(this.#record, JSON.stringify(Object.fromEntries(this.#known)));
  }

  async #walk(root: string, below: string, found: string[]): Promise<void> {
    const [, files, folders] = await this.#list(`${root}${below}`);
    for (const name of files) found.push(`${below}/${name}`.slice(1));
    for (const name of folders) await this.#walk(root, `${below}/${name}`, found);
  }

  /** Lists a folder, unless it is unchanged. */
  async #list(path: string): Promise<FolderNames> {
    const absolute = join(this.#warehouse, path);
    // Before the names are read: a change in between gives the folder another state.
    const state = stateOf(absolute) ?? '';
    const known = this.#known.get(path);
    if (known !== undefined && known[0] === state) return known;
    const items = (await ifAny(readdir(absolute, { withFileTypes: true }))) ?? [];
    const namesOf = (isWanted: (item: (typeof items)[number]) => boolean): readonly string[] =>
      items.filter(isWanted).map(({ name }) => name);
    const names: FolderNames = [state, namesOf((item) => item.isFile()), namesOf((item) => item.isDirectory())];
    if (items.length > 0) this.#known.set(path, names);
    else this.#known.delete(path);
    return names;
  }
}

/** Checked by hand: a schema takes as long for thousands of folders as listing them. */
function parseRecord(text: string): Readonly<Record<string, FolderNames>> | undefined {
  try {
    const record: unknown = JSON.parse(text);
    return isRecord(record) ? record : undefined;
  } catch {
    return undefined;
  }
}

function isRecord(record: unknown): record is Readonly<Record<string, FolderNames>> {
  const isNames = (names: unknown): boolean => Array.isArray(names) && names.every((name) => typeof name === 'string');
  return (
    typeof record === 'object' &&
    record !== null &&
    !Array.isArray(record) &&
    Object.values(record).every(
      (each: unknown) =>
        Array.isArray(each) && each.length === 3 && typeof each[0] === 'string' && isNames(each[1]) && isNames(each[2]),
    )
  );
}
