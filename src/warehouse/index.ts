// The exports of the warehouse for other folders. Besides these they may import `query/`, which reads a warehouse as users do, and
// `staging/row-folder.ts`, which threads load without the rest. docs/architecture.md describes what a store has to implement.

// Opening: for writing, for reading, and for repair.

export type { DamagedStore, FaultKind, LostDeclaration, Trust } from './damaged-store.ts';
export { type OpenStoreOptions, openDamaged, openReader, openStore, requireKind } from './open-store.ts';
export type { Reader } from './reader.ts';
export type { RowOwner } from './select-each.ts';
export type { SideConnection, Store } from './store.ts';
export { recordsFolder } from './store-kinds.ts';
export { warehousePath } from './store-options.ts';

// Committing: rows are staged, and a ledger entry puts them in force.

export { placeTrials } from './place-trials.ts';
export { selectStaged } from './relations/table-relation.ts';
export { requireSpace } from './staging/free-space.ts';
export type {
  CommitDraft,
  CommitPart,
  FileStage,
  FinishOptions,
  NewestRule,
  Stage,
  StagedSpan,
  StagedTable,
} from './store.ts';

// The ledger: its entries, and pure functions of them.

export type { DeclarationPlace } from './ledger/declarations.ts';
export {
  covering,
  doneFor,
  doneSpans,
  FORGOTTEN,
  hasMadeUpHashes,
  isReplacedBy,
  narrowerEntries,
  PARTIAL,
  spansOf,
} from './ledger/done-spans.ts';
export { blocksOf, entriesIn } from './ledger/entries-in.ts';
export { type ForgottenSpans, stillForgotten } from './ledger/forgotten-spans.ts';
export type { ProvenLedger } from './ledger/proven-ledger.ts';
export type { Covered, ForgottenRows, LedgerEntry, ListProofKind, MartStamp, TableEntry, Verdict } from './store.ts';

// Evidence: counts, sums and bounds that an entry records.

export { addEvidence, type Measured, measureBy } from './staging/row-evidence.ts';
export type { ColumnBounds, FileBounds, TableEvidence, TableFile } from './store.ts';

// Rewriting: new entries supersede others.

export { type Rewrite, stageRewrite } from './rewrite-entries.ts';

// Relations of SQL over a warehouse.

export { COMMITS } from './relations/commits-view.ts';
export type { OwnRelation } from './relations/own-relation.ts';
export { roleView } from './relations/role-views.ts';

// Publishing: data files for other engines.

export { type DataFile, type DataFiles, type FilesInForce, openDataFiles, type TableInForce } from './data-files.ts';
export { PublishedEntries, type PublishedEntry } from './garbage/published-entries.ts';

// Upkeep: fewer and larger files, and the catalog for other programs.

export type { CommitStep } from './commit-step.ts';
export { BackgroundMerge } from './compaction/background-merge.ts';
export {
  type CompactEvent,
  type CompactOptions,
  type CompactReport,
  compactWarehouse,
} from './compaction/compact.ts';
export { type CopiedFile, type CopyReport, copyWarehouse } from './copy/copy-warehouse.ts';
export { rebuildCatalog } from './parquet-store/rebuild-catalog.ts';
