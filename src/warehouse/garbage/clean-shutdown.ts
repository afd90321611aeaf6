import { readFile, rm, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { makeFolder, stateOf } from '../../files/disk.ts';
import type { Entries } from '../ledger/entries.ts';
import { layoutOf } from '../ledger/ledger-folder.ts';
import { filesOf } from '../ledger/pruned-entries.ts';
import { pinnedPath } from '../parquet-store/pinned-files.ts';
import { MARKS } from './published-entries.ts';

/** State by path, relative to the warehouse; null for a folder that does not exist. */
type FolderStates = Readonly<Record<string, string | null>>;

/**
 * The states of the folders of ledger, data files and publication marks, recorded by a writer that closed with nothing left to clear. While
 * none of them changes, the next writer need not list their files. It removes the record when it opens, so a killed writer leaves none.
 */
export class CleanShutdown {
  readonly #warehouse: string;
  readonly #path: string;
  /** Undefined if there was no record, or a folder has changed since. */
  #recorded: FolderStates | undefined;
  readonly #changed = new Set<string>();
  #marks: string | null = null;

  constructor(warehouse: string) {
    this.#warehouse = warehouse;
    this.#path = layoutOf(warehouse).cleanShutdown;
  }

  /** Reads and removes the record. @returns true if there was one, and no folder has changed since */
  async take(): Promise<boolean> {
    const text = await readFile(this.#path, 'utf8').catch(() => '{}');
    await rm(this.#path, { force: true });
    const states = Object.entries(parseStates(text));
    const isUnchanged = states.length > 0 && states.every(([path, state]) => state === this.#stateOf(path));
    this.#recorded = isUnchanged ? Object.fromEntries(states) : undefined;
    this.noteMarks();
    return isUnchanged;
  }

  /** To be called before publication marks are read: a mark that is removed later leaves files to clear. */
  noteMarks(): void {
    this.#marks = this.#stateOf(MARKS);
  }

  /** Notes that a file was added to a folder. @param folder relative to the warehouse */
  add(folder: string): void {
    this.#changed.add(folder);
  }

  async write(entries: Entries): Promise<void> {
    const all = this.#recorded === undefined ? entries.effective.flatMap(filesOf).map(dirname) : [];
    const changed = new Set(['_ledger', 'tables', 'pinned']);
    for (const folder of new Set([...all, ...this.#changed])) {
      for (let path = folder; path !== '.'; path = dirname(path))
        for (const each of [path, pinnedPath(path)]) changed.add(each);
    }
    const now = Object.fromEntries([...changed].map((path) => [path, this.#stateOf(path)]));
    const states: FolderStates = { ...this.#recorded, ...now, [MARKS]: this.#marks };
    await makeFolder(dirname(this.#path));
    await writeFile(this.#path, JSON.stringify(states));
  }

  #stateOf(path: string): string | null {
    return stateOf(join(this.#warehouse, path)) ?? null;
  }
}

function parseStates(text: string): FolderStates {
  try {
    return JSON.parse(text) ?? {};
  } catch {
    return {};
  }
}
