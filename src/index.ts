/** tonlake as a library: the same as the command line, without the command line. See docs/library.md. */

export type { AnswerOf, CallOptions, Client, ParametersOf } from './api/client/client-types.ts';
export { type Api, type ApiOptions, openApi } from './api/client/open-api.ts';
export type { JsonObject, JsonValue } from './api/field.ts';
export { type ActionOf, type ActionType, isActionOf, type RecordName, type RecordOf } from './api/records.ts';
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
export { loadRegistry, type Registry } from './declare/registry.ts';
export type { BatchOf } from './export/batch-queue.ts';
export type { RunEvent, RunReport } from './export/run.ts';
export type { ConsumedRows } from './feed/consume.ts';
export type { FollowEvent } from './follow/follow-event.ts';
export {
  type BatchOptions,
  type ConsumeOptions,
  consume,
  type FollowOptions,
  follow,
  type RunOptions,
  readBatches,
  run,
} from './library/export.ts';
export {
  type Lake,
  type OpenOptions,
  open,
  type QueryCall,
  type QueryParameters,
  type ResultColumn,
  type Row,
} from './library/open.ts';
export type { PlaceOptions } from './library/place-options.ts';
export {
  type BuildOptions,
  build,
  type ExportOptions,
  exportRows,
  type ForgetOptions,
  forget,
  type ReportOptions,
  report,
  type ShowOptions,
  show,
  showRow,
  status,
  type TestOptions,
  test,
  type VerifyOptions,
  verify,
} from './library/read.ts';
export type { MartBuild, MartEvent } from './marts/build-marts.ts';
export type { CheckReport, CheckResult } from './marts/run-checks.ts';
export type { RenderedReport } from './reports/render-report.ts';
export type { ReportFormat } from './reports/report-format.ts';
export {
  type Sandbox,
  type SandboxAnswer,
  type SandboxOptions,
  type SandboxRequest,
  startSandbox,
} from './sandbox/index.ts';
export type { ExplainedThing, Explanation, RowExplanation, RowProof } from './show/explanation.ts';
export type { ShownThing, TraceNode } from './show/shown-thing.ts';
export type { ExportReport } from './targets/export-rows.ts';
export type { Finding, FindingKind } from './verify/finding.ts';
export type { ForgetReport } from './verify/forget.ts';
export type { VerifyEvent, VerifyReport } from './verify/verify.ts';
export type { PipelineStatus, WarehouseStatus } from './warehouse/query/status.ts';
