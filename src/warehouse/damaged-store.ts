import type { Effects } from '../core/effects.ts';
import type { Span } from '../core/span.ts';
import type { PipelineDef } from '../declare/pipeline.ts';
import type { TableDef } from '../declare/table.ts';
import type { Database } from '../sql/database.ts';
import type { Query } from '../sql/query-result.ts';
import type { Declarations } from './ledger/declarations.ts';
import { FORGOTTEN } from './ledger/done-spans.ts';
import { type Entries, FORMAT } from './ledger/entries.ts';
import { digestOf, type ProvenLedger } from './ledger/proven-ledger.ts';
import type { SelectEach } from './select-each.ts';
import type { LedgerEntry, Store, TableEntry } from './store.ts';

/** A missing or unreadable ledger entry, with facts about it from other sources. */
export interface LostEntry {
  readonly number: number;
  readonly isBroken: boolean;
  /** True if the ledger cannot be read past it. */
  readonly isGap: boolean;
  /** True if rows that belong to no other entry are still in the warehouse. */
  readonly hasRows: boolean;
  readonly pipeline: string | undefined;
  readonly span: Span | undefined;
  /** As in an entry. */
  readonly spans?: readonly Span[] | undefined;
}

/** Pipeline and blocks of a lost entry. */
export type FilledEntry = Pick<LedgerEntry, 'number' | 'pipeline' | 'span' | 'spans'>;

/** Damage to the ledger itself. */
export interface LedgerFault {
  readonly kind:
    | 'entry-lost'
    | 'entry-broken'
    | 'entry-foreign'
    | 'schema-broken'
    | 'checkpoint-wrong'
    | 'identity-lost'
    | 'commit-unknown'
    | 'file-foreign'
    | 'rows-unknown';
  /** Empty if unknown. */
  readonly pipeline: string;
  /** Relative to the warehouse. */
  readonly file?: string | undefined;
  readonly span?: Span | undefined;
  /** Number of the entry concerned. */
  readonly entry?: number | undefined;
  readonly expected: string;
  readonly got: string;
}

/** Damage to a file that an entry names. */
export interface FileFault {
  readonly kind: 'file-missing' | 'file-changed' | 'file-unreadable' | 'rows-changed';
  /** Relative to the warehouse. */
  readonly file: string;
  readonly expected: string;
  readonly got: string;
}

export type FaultKind = LedgerFault['kind'] | FileFault['kind'];

/**
 * Trust in a table's rows of one entry. `proven`: every file has its committed checksum. `plain`: the rows have no files of their own, so
 * only their values can be compared. `suspect`: readable, but not the committed bytes. `unreadable`: missing, truncated, or of another span.
 */
export type Trust = 'proven' | 'plain' | 'suspect' | 'unreadable';

/** Result of checking the bytes of a table's rows of one entry, before the rows are read. */
export interface BytesCheck {
  readonly trust: Trust;
  /** True if one statement can read these rows together with those of other entries. */
  readonly isShareable: boolean;
  readonly faults: readonly FileFault[];
}

/** A warehouse opened for reading, however damaged. */
export interface DamagedStore {
  readonly kind: Store['kind'];
  /** Absolute. */
  readonly path: string;
  readonly network: string;
  /** Entries in force, in order of commit. */
  readonly entries: readonly LedgerEntry[];
  /** Hash of the entries in force. */
  readonly digest: string;
  readonly lost: readonly LostEntry[];
  /** Lost entries whose numbers a repair has filled. */
  readonly filled: readonly FilledEntry[];
  /** Entries that record rows removed on purpose. */
  readonly forgotten: readonly LedgerEntry[];
  /** Stored declarations of the pipelines that wrote the rows. */
  readonly declarations: Declarations;
  readonly faults: readonly LedgerFault[];
  /** In-memory database with a memory limit, where `select` can be run. */
  readonly database: Database;
  /** SQL for the declared columns of a table's rows in some entries. */
  select(table: TableDef, entries: readonly LedgerEntry[]): string;
  /** As `select`, with one more column, which identifies the entry of each row. */
  selectEach(table: TableDef, entries: readonly LedgerEntry[]): SelectEach;
  /** Compares the bytes of a table's rows with their entry. `query` runs on `database`, or on a connection to it. */
  checkBytes(part: TableEntry, query: Query): Promise<BytesCheck>;
  /**
   * Makes the ledger readable and writable again: writes lost schemas, fills the numbers of lost entries with entries that are never in
   * force, moves unreadable ones aside, removes rows that no entry in force names, restores files in force that lie with superseded ones, and
   * replaces wrong checkpoints. Takes the lock and looks for the damage again, because another process may have repaired it. Can be called
   * after `close`.
   *
   * @throws {StoreError} `busy`
   */
  fillLedger(options: FillOptions): Promise<void>;
  /** Writes lost declarations again, under the lock. Can be called after `close`. @throws {StoreError} `busy` */
  restoreDeclarations(lost: readonly LostDeclaration[], options: FillOptions): Promise<void>;
  close(): void;
}

/** A declaration that is missing or damaged. */
export interface LostDeclaration {
  readonly pipeline: PipelineDef;
  /** Number of the first entry that uses it. */
  readonly number: number;
}

export interface FillOptions {
  readonly effects: Effects;
  /** The command that is running, shown to other processes that wait for the lock. */
  readonly command: string;
}

/** The pipeline or mart of a table, to attribute rows that no entry names. */
export interface StrayOwner {
  readonly pipeline: string;
  /** The column of their masterchain block, if there is one. */
  readonly column: string | undefined;
  /** For a mart: the table that has the blocks of each day, and its block column. */
  readonly days?: { readonly table: string; readonly column: string } | undefined;
}

export interface DamagedOptions {
  readonly tables: readonly TableDef[];
  /** The owner of a table or mart. */
  readonly ownerOf: (table: string) => StrayOwner;
  /** Folder for DuckDB's temporary files. */
  readonly spill: string;
  /** DuckDB's memory limit, in megabytes. */
  readonly memoryMb: number;
  /** State proven before. If the ledger continues it, older entries are not read from their files. Default: all are read. */
  readonly proven?: ProvenLedger | undefined;
}

/** Summary of a ledger that may be partly unreadable. */
export function surveyLedger(
  all: Entries,
  network: string,
  lost: readonly LostEntry[],
  more: readonly LedgerFault[],
): Pick<DamagedStore, 'network' | 'entries' | 'digest' | 'lost' | 'filled' | 'forgotten' | 'faults'> {
  const foreign = all.all.filter((entry) => entry.network !== network);
  return {
    network,
    lost,
    entries: all.effective,
    digest: digestOf(all.effective),
    filled: all.all.filter(({ id, supersedes, scope }) => supersedes.includes(id) && scope !== FORGOTTEN),
    forgotten: all.forgotten,
    faults: [
      ...more,
      ...lost.map(({ number, isBroken, pipeline, span }): LedgerFault => {
        const kind = isBroken ? 'entry-broken' : 'entry-lost';
        const got = isBroken ? 'one that cannot be read' : 'none';
        return { kind, pipeline: pipeline ?? '', span, entry: number, expected: `entry ${number} in the ledger`, got };
      }),
      ...foreign.map(({ number, pipeline, span, network: got }): LedgerFault => {
        const about = { pipeline, span, entry: number };
        return { kind: 'entry-foreign', ...about, expected: `entries of ${network}`, got: `one of ${got}` };
      }),
    ],
  };
}

/** An entry that fills the number of a lost one. It supersedes itself, so it is never in force. */
export function voidEntry(
  network: string,
  { number, pipeline = 'unknown', span = { from: 0, to: 0 }, spans }: LostEntry,
  effects: Effects,
): LedgerEntry {
  const id = effects.freshId();
  return {
    ...{ format: FORMAT, number, id, network, pipeline, version: 1, span },
    ...(spans === undefined ? {} : { spans }),
    ...{ verdict: 'accepted', tables: {}, requests: 0, retries: 0, supersedes: [id] },
    committedAt: new Date(effects.now()).toISOString(),
  };
}
