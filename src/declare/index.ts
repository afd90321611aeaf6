/** What a pipeline file may import: `import { pipeline, table, ... } from 'tonlake/pipeline'`. */

export {
  base64Hash,
  boc,
  bool,
  type ColumnDef,
  type ColumnDraft,
  decimal38,
  decimalInt64,
  decimalUint64,
  fromParent,
  fromPlace,
  hexShard,
  int32,
  int64Number,
  json,
  lt,
  nanoton,
  type Origin,
  opcodeHex,
  rawAddress,
  text,
  textComment,
  uint32,
  unixSeconds,
  unixSecondsString,
} from './column.ts';
export { type Kind, type KindName, kinds, type Physical, type Wire } from './kind.ts';
export {
  masterchain,
  type PipelineDef,
  type PipelineOptions,
  type Proof,
  pipeline,
  type WalkDef,
  type WindowsDef,
} from './pipeline.ts';
export { type Place, type RowsFrom, type TableDef, type TableOptions, table } from './table.ts';
