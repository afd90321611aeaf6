import { readFile, rm, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { makeFolder, stateOf } from '../../files/disk.ts';
import type { Entries } from '../ledger/entries.ts';
import { layoutOf } from '../ledger/ledger-folder.ts';
import { filesOf } from '../ledger/pruned-entries.ts';
import { pinnedPath } from '../parquet-store/pinned-files.ts';
import { MARKS } from './published-entries.ts';

/**
 * The folders of ledger, data files, and marks of publications as a writer left them that closed with nothing left to clear: as long as
 * none of them changed, their files need not be listed. A writer forgets them when it opens, so that one that is killed leaves nothing to rely on.
 */
export class SettledFolders {
  readonly #warehouse: string;
  readonly #path: string;
  /** State by path, relative to the warehouse; undefined if the folders changed, or are unknown. */
  #states: Readonly<Record<string, string | null>> | undefined;
  readonly #changed = new Set<string>();
  #marks: string | null = null;

  constructor(warehouse: string) {
    this.#warehouse = warehouse;
    this.#path = layoutOf(warehouse).settled;
  }

  /** True if all folders are as they were left. */
  async take(): Promise<boolean> {
    const text = await readFile(this.#path, 'utf8').catch(() => '{}');
    await rm(this.#path, { force: true });
    const states = parseStates(text);
    const isSettled =
      Object.keys(states).length > 0 && Object.entries(states).every(([path, state]) => state === this.#stateOf(path));
    this.#states = isSettled ? states : undefined;
    this.noteMarks();
    return isSettled;
  }

  /** Before marks of publications are read: those that go later leave something to clear. */
  noteMarks(): void {
    this.#marks = this.#stateOf(MARKS);
  }

  /** A file was added to a folder; relative to the warehouse. */
  add(folder: string): void {
    this.#changed.add(folder);
  }

  async put(entries: Entries): Promise<void> {
    const all = this.#states === undefined ? entries.effective.flatMap(filesOf).map(dirname) : [];
    const changed = new Set(['_ledger', 'tables', 'pinned']);
    for (const folder of new Set([...all, ...this.#changed])) {
      for (let path = folder; path !== '.'; path = dirname(path))
        for (const each of [path, pinnedPath(path)]) changed.add(each);
    }
    const now = Object.fromEntries([...changed].map((path) => [path, this.#stateOf(path)]));
    const states = { ...this.#states, ...now, [MARKS]: this.#marks };
    await makeFolder(dirname(this.#path));
    await writeFile(this.#path, JSON.stringify(states));
  }

  #stateOf(path: string): string | null {
    return stateOf(join(this.#warehouse, path)) ?? null;
  }
}

function parseStates(text: string): Readonly<Record<string, string | null>> {
  try {
    return JSON.parse(text) ?? {};
  } catch {
    return {};
  }
}
