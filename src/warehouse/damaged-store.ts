import type { Effects } from '../core/effects.ts';
import type { Span } from '../core/span.ts';
import type { PipelineDef } from '../declare/pipeline.ts';
import type { TableDef } from '../declare/table.ts';
import type { Database } from '../sql/database.ts';
import type { Query } from '../sql/query-result.ts';
import type { Declarations } from './ledger/declarations.ts';
import { FORGOTTEN } from './ledger/done-spans.ts';
import type { Entries } from './ledger/entries.ts';
import type { LedgerEntry, Store, TableEntry } from './store.ts';

/** An entry of the ledger that is gone or broken, and what other places tell of it. */
export interface LostEntry {
  readonly number: number;
  readonly isBroken: boolean;
  /** Whether the ledger cannot be read beyond it. */
  readonly isGap: boolean;
  /** Whether rows that only it named still lie in the warehouse. */
  readonly hasRows: boolean;
  readonly pipeline: string | undefined;
  readonly span: Span | undefined;
  /** As in an entry. */
  readonly spans?: readonly Span[] | undefined;
}

/** What an entry covered that is not in force any more. */
export type RemovedEntry = Pick<LedgerEntry, 'number' | 'pipeline' | 'span' | 'spans'>;

/** Something that is wrong with a ledger itself. */
export interface LedgerFault {
  readonly kind:
    | 'entry-lost'
    | 'entry-broken'
    | 'entry-foreign'
    | 'schema-broken'
    | 'checkpoint-wrong'
    | 'file-unknown'
    | 'rows-unknown';
  /** Empty where it is not known. */
  readonly pipeline: string;
  readonly span?: Span | undefined;
  /** Number of the entry concerned. */
  readonly entry?: number | undefined;
  readonly expected: string;
  readonly got: string;
}

/** Something that is wrong with a file that an entry names. */
export interface FileFault {
  readonly kind: 'file-missing' | 'file-changed' | 'file-unreadable' | 'rows-changed';
  /** Relative to the warehouse. */
  readonly file: string;
  readonly expected: string;
  readonly got: string;
}

export type FaultKind = LedgerFault['kind'] | FileFault['kind'];

/**
 * How far a table's rows of one entry can be trusted by themselves. `proven`: every file has the checksum it was committed
 * with. `plain`: no checksum is known and nothing speaks against them. `suspect`: they can be read, but are not what was
 * committed. `unreadable`: they are gone, torn, or another span's.
 */
export type Trust = 'proven' | 'plain' | 'suspect' | 'unreadable';

/** What the bytes of a table's rows of one entry tell, before the rows are looked at. */
export interface BytesCheck {
  readonly trust: Trust;
  /** Whether the rows can be read by one statement with those of other entries. */
  readonly isShareable: boolean;
  readonly faults: readonly FileFault[];
}

/** A select whose rows tell their entries. */
export interface SelectEach {
  readonly sql: string;
  /** Name of the column that tells the entry. */
  readonly by: string;
  /** The number of the entry that a value of it stands for. */
  entryOf(value: unknown): number | undefined;
}

/** A warehouse as it lies there, opened for reading: whatever can be read of it, however damaged it is. */
export interface DamagedStore {
  readonly kind: Store['kind'];
  /** Absolute. */
  readonly path: string;
  readonly network: string;
  /** Entries in force, in order of commit. */
  readonly entries: readonly LedgerEntry[];
  readonly lost: readonly LostEntry[];
  /** What lost entries held whose numbers a repair has filled. */
  readonly filled: readonly RemovedEntry[];
  /** What was removed on purpose. */
  readonly forgotten: readonly RemovedEntry[];
  /** Declarations that made the rows. */
  readonly declarations: Declarations;
  readonly faults: readonly LedgerFault[];
  /** In memory, where `select` can be read; bounded. */
  readonly database: Database;
  /** SQL of the declared columns of a table's rows of some entries. */
  select(table: TableDef, entries: readonly LedgerEntry[]): string;
  /** As `select`, with one more column, which tells the entry of each row. */
  selectEach(table: TableDef, entries: readonly LedgerEntry[]): SelectEach;
  /** Compares the bytes of a table's rows with what their entry recorded. `query` is of `database`, or of a connection to it. */
  checkBytes(part: TableEntry, query: Query): Promise<BytesCheck>;
  /**
   * Makes the ledger readable and writable again: fills the numbers of lost entries with entries that are never in force, keeps
   * broken ones aside, removes rows that no entry in force names, and writes wrong checkpoints anew. Takes the lock, looks for the damage again, as another process
   * may have repaired it meanwhile, and can be called after `close`.
   *
   * @throws {StoreError} `busy`
   */
  fillLedger(options: FillOptions): Promise<void>;
  /** Writes lost declarations again, under the lock; also after `close`. @throws {StoreError} `busy` */
  restoreDeclarations(lost: readonly LostDeclaration[], options: Omit<FillOptions, 'tables'>): Promise<void>;
  close(): void;
}

/** A declaration that is missing or damaged. */
export interface LostDeclaration {
  readonly pipeline: PipelineDef;
  /** Number of the first entry whose rows it made. */
  readonly number: number;
}

export interface FillOptions {
  readonly tables: readonly TableDef[];
  readonly effects: Effects;
  /** What tonlake is doing, for processes that it keeps waiting. */
  readonly command: string;
}

export interface DamagedOptions {
  readonly tables: readonly TableDef[];
  /** To whom a table's rows belong that no entry names: their pipeline, and the column of their masterchain block, if they have one. */
  readonly ownerOf: (table: TableDef) => { readonly pipeline: string; readonly column: string | undefined };
  /** Folder that DuckDB may spill to. */
  readonly spill: string;
  /** Bound of DuckDB's memory in megabytes. */
  readonly memoryMb: number;
}

/** What a ledger that could be read in part comes to. */
export function surveyLedger(
  all: Entries,
  network: string,
  lost: readonly LostEntry[],
  more: readonly LedgerFault[],
): Pick<DamagedStore, 'network' | 'entries' | 'lost' | 'filled' | 'forgotten' | 'faults'> {
  const foreign = all.all.filter((entry) => entry.network !== network);
  return {
    network,
    lost,
    entries: all.effective,
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

/** An entry that fills the number of a lost one: it supersedes itself, and is therefore never in force. */
export function voidEntry(
  network: string,
  { number, pipeline = 'unknown', span = { from: 0, to: 0 }, spans }: LostEntry,
  effects: Effects,
): LedgerEntry {
  const id = effects.freshId();
  return {
    ...{ format: spans === undefined ? 1 : 2, number, id, network, pipeline, version: 1, span },
    ...(spans === undefined ? {} : { spans }),
    ...{ verdict: 'sealed', tables: {}, requests: 0, retries: 0, supersedes: [id] },
    committedAt: new Date(effects.now()).toISOString(),
  };
}
