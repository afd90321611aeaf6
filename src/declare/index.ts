/** What a pipeline file may import: `import { pipeline, table, ... } from 'tonlake/pipeline'`. */

export { actionTypes } from '../api/records.ts';
export type { Span } from '../core/span.ts';
export {
  type BlockProblem,
  defineWalk,
  type EntryTerms,
  type PageReport,
  type Prepare,
  type Round,
  type SpanWalk,
  type WalkContext,
  type WalkKind,
  type WalkRequest,
} from '../export/walk-kind.ts';
export {
  base64Hash,
  boc,
  bool,
  type ColumnDef,
  type ColumnDraft,
  decimal20,
  decimal38,
  decimal257,
  decimalInt64,
  decimalUint64,
  field,
  fromParent,
  fromPlace,
  fromRequest,
  hexShard,
  int32,
  int64Number,
  json,
  lt,
  nanoton,
  type Origin,
  opcodeHex,
  rawAddress,
  reading,
  text,
  textComment,
  uint32,
  uint64Number,
  unixSeconds,
  unixSecondsString,
  wideInteger,
} from './column.ts';
export type { ContractList, CrossCheck, ItemCheck, ItemRequest, OrdersCheck } from './cross-check.ts';
export { type Kind, type KindName, kinds, type Physical, type Wire } from './kind.ts';
export { type PipelineDef, type PipelineOf, type PipelineOptions, pipeline } from './pipeline.ts';
export { ROLES, type Role, type RoleName } from './roles.ts';
export {
  type Place,
  type RowsFrom,
  type Shape,
  type TableDef,
  type TableDraft,
  type TableOptions,
  table,
  type ViewDef,
} from './table.ts';
export {
  type BlockWalk,
  block,
  type CustomWalk,
  customWalk,
  type EphemeralWalk,
  ephemeral,
  type LookupWalk,
  type LtWalk,
  lookup,
  ltWindows,
  type MasterchainWalk,
  masterchain,
  type ParentsDef,
  type Proof,
  type SnapshotWalk,
  snapshot,
  type TiesDef,
  type WalkDef,
  type WindowsDef,
} from './walk.ts';
