/** tonlake as a library: the same as the command line, without the command line. */

export type { JsonObject, JsonValue } from './api/field.ts';
export { type ActionOf, type ActionType, isActionOf, type RecordName, type RecordOf } from './api/records.ts';
export { type ContentHash, contentHash } from './audit/content.ts';
export { type BatchOptions, readBatches } from './batches.ts';
export type { BatchOf } from './batchqueue.ts';
export { createClient } from './client/client.ts';
export { type Api, type ApiOptions, openApi } from './client/open.ts';
export type { AnswerOf, CallOptions, Client, ParametersOf } from './client/types.ts';
export type { ColumnDef } from './declare/column.ts';
export type { PipelineDef } from './declare/pipeline.ts';
export type { TableDef } from './declare/table.ts';
export { type Effects, realEffects } from './effects.ts';
export {
  AuditError,
  DecodeError,
  formatError,
  MartError,
  ReportError,
  SourceError,
  StoreError,
  TonlakeError,
  UsageError,
  WalkError,
} from './errors.ts';
export { type BuildOptions, buildMarts, type MartBuild, type MartEvent } from './mart/build.ts';
export { type CheckOptions, type CheckReport, type CheckResult, runChecks } from './mart/check.ts';
export { type PipelinePlan, planRun, type RunPlan } from './plan.ts';
export { loadRegistry, type Registry } from './registry.ts';
export type { ReportFormat } from './report/format.ts';
export { type RenderedReport, type RenderOptions, renderReport } from './report/render.ts';
export { type RunEvent, type RunOptions, type RunReport, run } from './run.ts';
export { type Sandbox, type SandboxOptions, startSandbox } from './sandbox/index.ts';
export { type BudgetStatus, budgetStatus } from './source/budgetstatus.ts';
export type { Span } from './span.ts';
export { type PipelineStatus, readStatus, type WarehouseStatus } from './status.ts';
export type { LedgerEntry, ListProofKind, QueryResult } from './store/store.ts';
export type { Finding, FindingKind } from './verify/finding.ts';
export { type RepairOptions, repairWarehouse } from './verify/repair.ts';
export { type VerifyEvent, type VerifyOptions, type VerifyReport, verifyWarehouse } from './verify/verify.ts';
export { openWarehouse, type Warehouse, type WarehouseOptions } from './warehouse.ts';
export { type WatchEvent, type WatchOptions, type WatchReport, watch } from './watch/watch.ts';
