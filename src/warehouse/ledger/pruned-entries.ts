import type { LedgerEntry } from '../store.ts';
import { filesIn } from './entries-in.ts';

/** The commit that superseded an entry. */
export interface Successor {
  readonly number: number;
  /** Milliseconds since 1970. */
  readonly committedAt: number;
}

/** The fields of a superseded entry that garbage collection needs. */
export interface Superseded {
  readonly number: number;
  readonly by: Successor;
  /** Paths of its data files, as the ledger names them. */
  readonly files: readonly string[];
}

/** An entry that checkpoints retain, but memory does not. */
interface PrunedEntry {
  readonly number: number;
  /** Milliseconds since 1970. */
  readonly committedAt: number;
  /** Undefined if none superseded it: its commit is incomplete. */
  readonly by: Successor | undefined;
  /** Empty after {@link PrunedEntries.dropFiles}. */
  readonly files: readonly string[];
}

/** Paths of the data files of an entry, as the ledger names them. */
export function filesOf(entry: LedgerEntry): string[] {
  return filesIn([entry]).map(({ path }) => path);
}

/** Number and time of an entry. */
export function commitOf({ number, committedAt }: LedgerEntry): Successor {
  return { number, committedAt: Date.parse(committedAt) };
}

/** Entries that were removed from memory: their numbers, and their files while these may exist. In order of commit. */
export class PrunedEntries {
  #all: readonly PrunedEntry[] = [];

  get all(): readonly PrunedEntry[] {
    return this.#all;
  }

  get superseded(): readonly Superseded[] {
    return this.#all.flatMap(({ number, by, files }) => (by === undefined ? [] : [{ number, by, files }]));
  }

  add(entries: readonly LedgerEntry[], successorOf: (id: string) => LedgerEntry | undefined): void {
    const added = entries.map((entry): PrunedEntry => {
      const successor = successorOf(entry.id);
      return { ...commitOf(entry), by: successor && commitOf(successor), files: filesOf(entry) };
    });
    this.#all = [...this.#all, ...added].sort((a, b) => a.number - b.number);
  }

  /** Entries that were superseded by an entry from this number on. */
  since(number: number): readonly PrunedEntry[] {
    return this.#all.filter((entry) => (entry.by ?? entry).number >= number);
  }

  retainSince(number: number): void {
    this.#all = this.since(number);
  }

  /** Drops file names of entries whose files are gone. An entry of an incomplete commit counts as superseded by itself. */
  dropFiles(isGone: (entry: Superseded) => boolean): void {
    this.#all = this.#all.map((entry) => {
      const { number, files, by = entry } = entry;
      return files.length > 0 && isGone({ number, by, files }) ? { ...entry, files: [] } : entry;
    });
  }
}
