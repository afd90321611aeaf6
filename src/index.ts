/** tonlake as a library: the same as the command line, without the command line. */

export { createClient } from './api/client/client.ts';
export type { AnswerOf, CallOptions, Client, ParametersOf } from './api/client/client-types.ts';
export { type Api, type ApiOptions, openApi } from './api/client/open-api.ts';
export type { JsonObject, JsonValue } from './api/field.ts';
export { type ActionOf, type ActionType, isActionOf, type RecordName, type RecordOf } from './api/records.ts';
export { type ContentHash, contentHash } from './audit/content-hash.ts';
export { type Effects, realEffects } from './core/effects.ts';
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
} from './core/errors.ts';
export type { Span } from './core/span.ts';
export type { ColumnDef } from './declare/column.ts';
export type { PipelineDef } from './declare/pipeline.ts';
export { loadRegistry, type Registry } from './declare/registry.ts';
export type { TableDef } from './declare/table.ts';
export type { BatchOf } from './export/batch-queue.ts';
export { type PipelinePlan, planRun, type RunPlan } from './export/plan.ts';
export { type BatchOptions, readBatches } from './export/read-batches.ts';
export { type RunEvent, type RunOptions, type RunReport, run } from './export/run.ts';
export { type FollowedRows, type FollowOptions, follow } from './feed/follow.ts';
export type {
  BackfillEvent,
  ClockEvent,
  FollowEvent,
  LagEvent,
  ResumedEvent,
  WaitingEvent,
} from './follow/follow-event.ts';
export { type FollowHeadOptions, followHead } from './follow/follow-head.ts';
export { type BuildOptions, buildMarts, type MartBuild, type MartEvent } from './marts/build-marts.ts';
export { type CheckOptions, type CheckReport, type CheckResult, runChecks } from './marts/run-checks.ts';
export { type BudgetStatus, budgetStatus } from './rate-limit/budget-status.ts';
export { type RenderedReport, type RenderOptions, renderReport } from './reports/render-report.ts';
export type { ReportFormat } from './reports/report-format.ts';
export {
  type Sandbox,
  type SandboxAnswer,
  type SandboxOptions,
  type SandboxRequest,
  startSandbox,
} from './sandbox/index.ts';
export { explainRow } from './show/explain-row.ts';
export type { Explanation, RowExplanation, RowProof } from './show/explanation.ts';
export type { QueryResult } from './sql/query-result.ts';
export { type ExportOptions, type ExportReport, exportRows } from './targets/export-rows.ts';
export type { Finding, FindingKind } from './verify/finding.ts';
export { type ForgetOptions, type ForgetReport, forgetRange } from './verify/forget.ts';
export type { RetainedRows } from './verify/plan-retention.ts';
export { type RepairOptions, repairWarehouse } from './verify/repair.ts';
export { forgetOld, type RetentionOptions, type RetentionReport } from './verify/retention.ts';
export { type VerifyEvent, type VerifyOptions, type VerifyReport, verifyWarehouse } from './verify/verify.ts';
export type { LedgerEntry, ListProofKind } from './warehouse/index.ts';
export { openWarehouse, type Warehouse, type WarehouseOptions } from './warehouse/query/open-warehouse.ts';
export { type PipelineStatus, readStatus, type WarehouseStatus } from './warehouse/query/status.ts';
export { type WatchEvent, type WatchOptions, type WatchReport, watch } from './watch/watch.ts';
