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

/** An entry that is about to be put into the ledger. */
export interface DraftedEntry extends Pick<DeclaredPart, 'staged' | 'declared'> {
  readonly entry: LedgerEntry;
}

/** A warehouse opened for writing: everything that differs between the kinds of stores. {@link openedStore} is the common part. */
export interface Writer
  extends Pick<Store, 'kind' | 'path' | 'rivals' | 'staging' | 'query' | 'connect' | 'rows' | 'log'> {
  readonly entries: Entries;
  /** Measures and encodes the files of stages. */
  readonly instance: Instance;
  /** See {@link Store.requireKnown}. Absent if there is one writer. */
  requireKnown?(): void;
  /** Wraps a stage, for example to upload files early. Default: unchanged. */
  readonly stage?: (files: FileStage, span: Span) => FileStage;
  /** Durably stores everything that entries will name, before readers can see it. Called once per commit. */
  place(parts: readonly DeclaredPart[]): Promise<void>;
  /**
   * Puts entries under their numbers, in order. The last one puts the others in force.
   * @returns number of entries put: fewer than given if another writer has taken a number. Its entries were read then
   */
  put(drafted: readonly DraftedEntry[]): Promise<number>;
  /** Called after a commit: retires superseded files, and updates catalog and checkpoints. */
  settle(drafted: readonly DraftedEntry[]): Promise<void>;
  /** Removes files that were placed for entries that will not be committed. */
  abandon(staged: readonly StagedSpan[]): Promise<void>;
  /** See {@link Store.clearSuperseded}. */
  clear(): Promise<number>;
  closeIdle(): Promise<void>;
  /** Called after all commits: completes their follow-up work, and releases the lock. */
  close(): Promise<void>;
}
