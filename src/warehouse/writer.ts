import type { Span } from '../core/span.ts';
import type { StoredDeclaration } from '../declare/stored-declaration.ts';
import type { Instance } from '../sql/instance.ts';
import type { Entries } from './ledger/entries.ts';
import type { CommitPart, FileStage, LedgerEntry, StagedSpan, Store } from './store.ts';

/** One of the entries of a commit, with the declaration of its pipeline. */
export interface DeclaredPart extends CommitPart {
  /** Undefined for a mart. */
  readonly declared: StoredDeclaration | undefined;
}

/** An entry on its way to the ledger. */
export interface DraftedEntry extends Pick<DeclaredPart, 'staged' | 'declared'> {
  readonly entry: LedgerEntry;
}

/** A warehouse, opened for writing: all that the kinds of warehouses do in different ways. {@link WarehouseStore} is written once. */
export interface Writer
  extends Pick<Store, 'kind' | 'path' | 'rivals' | 'staging' | 'query' | 'connect' | 'rows' | 'log'> {
  readonly entries: Entries;
  /** Measures and encodes the files of stages. */
  readonly instance: Instance;
  /** As `requireKnown` of a store. Absent if there is one writer. */
  requireKnown?(): void;
  /** A stage as the place wants to be told of it. Default: as it is. */
  readonly stage?: (files: FileStage, span: Span) => FileStage;
  /** Stores what entries will name, durably: no reader knows of it yet. Called once for each commit. */
  place(parts: readonly DeclaredPart[]): Promise<void>;
  /**
   * Puts entries under their numbers, one after the other. The last one puts the others in force.
   * @returns how many are there: fewer than were given if another writer has taken a number, whose entries are known then
   */
  put(drafted: readonly DraftedEntry[]): Promise<number>;
  /** After a commit: superseded files leave, and others follow what is committed. */
  settle(drafted: readonly DraftedEntry[]): Promise<void>;
  /** Removes what was placed for entries that will never be. */
  abandon(staged: readonly StagedSpan[]): Promise<void>;
  /** As `clearSuperseded` of a store. */
  clear(): Promise<number>;
  closeIdle(): Promise<void>;
  /** After all commits: completes what follows them, and releases the lock. */
  close(): Promise<void>;
}
