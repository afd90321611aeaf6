import type { ChainBounds } from '../chain/range-part.ts';
import type { Effects } from '../core/effects.ts';
import type { RunOptions, RunReport } from '../export/run.ts';
import type { PublishOptions, PublishReport } from '../iceberg/publish-warehouse.ts';
import type { MartBuild } from '../marts/build-marts.ts';
import type { CheckResult } from '../marts/run-checks.ts';
import type { RenderedReport, RenderOptions } from '../reports/render-report.ts';
import type { WholeFormat } from '../targets/target.ts';
import type { RepairOptions } from '../verify/repair.ts';
import type { RetentionOptions, RetentionReport } from '../verify/retention.ts';
import type { VerifyReport } from '../verify/verify.ts';
import type { CompactOptions, CompactReport } from '../warehouse/index.ts';
import type { Job, JobIceberg, PlacedQuery } from './job.ts';

/** Blocks and days of a network. */
export interface NetworkChain extends ChainBounds {
  /** Time of the newest block, milliseconds since 1970. */
  headTime(): Promise<number>;
}

/** What a job reports of a mart. */
export type MartOutcome = Pick<MartBuild, 'name' | 'status' | 'rows' | 'marked' | 'kept' | 'reason' | 'seconds'>;
/** What a job reports of a check. */
export type CheckOutcome = Pick<CheckResult, 'name' | 'status' | 'offenders' | 'reason'>;

export type VerifyRequest = Pick<
  RepairOptions,
  'warehouse' | 'network' | 'range' | 'deep' | 'rps' | 'effects' | 'signal' | 'onEvent'
> & { readonly repair: boolean };
/** What a job reports of a verification. */
export type VerifyOutcome = Pick<VerifyReport, 'proven' | 'findings' | 'files' | 'requests' | 'unproven'>;

export type CompactRequest = Pick<CompactOptions, 'warehouse' | 'effects' | 'stop'> & { readonly network: string };
/** What a job reports of a compaction. */
export type CompactOutcome = Pick<CompactReport, 'kind' | 'merged' | 'files'>;

export type IcebergRequest = Pick<PublishOptions, 'warehouse' | 'effects'> & JobIceberg & { readonly network: string };
/** What a job reports of a publication. */
export type IcebergOutcome = Pick<PublishReport, 'entry' | 'tables' | 'published' | 'skipped'>;

export type RetentionRequest = Pick<
  RetentionOptions,
  'warehouse' | 'pipelines' | 'keepDays' | 'now' | 'keepFrom' | 'effects' | 'isDry'
> & { readonly network: string };
/** What a job reports of a retention. */
export type RetentionOutcome = Pick<
  RetentionReport,
  'event' | 'firstDay' | 'spans' | 'rows' | 'retained' | 'withoutBlocks' | 'marts'
>;

export type ReportRequest = Required<Omit<RenderOptions, 'memoryMb' | 'signal'>>;
export type ReportOutcome = Pick<RenderedReport, 'content' | 'gaps' | 'isEmpty'>;

/** Rows to write to a file: a table in key order, or a select. */
export interface RowsRequest {
  readonly source: { readonly table: string } | PlacedQuery;
  readonly format: WholeFormat;
  readonly network: string;
  /** Values of the parameters of a select. */
  readonly parameters: Readonly<Record<string, unknown>>;
}

export interface RowsOutcome {
  readonly rows: number;
  /** Gaps in the tables that were read, one line each. */
  readonly gaps: readonly string[];
  /** Values that the target cannot hold as they are, one line each. */
  readonly notes: readonly string[];
}

/** Rows to write to a database. */
export interface DatabaseRequest extends Pick<RowsRequest, 'source' | 'network' | 'parameters'> {
  readonly as: string;
  /** UTC days to replace, of rows that have days. */
  readonly days: { readonly from: string; readonly to: string };
}

/** What a run will need, and why it is not there. */
export interface Tried {
  readonly name: string;
  /** Undefined if it is there. */
  readonly error: unknown;
}

/** The actions behind the steps of a job; those of the program are in `default-actions.ts`. */
export interface JobActions {
  /** Connects to a network to resolve a range; days are complete days of a zone. */
  withChain<T>(
    options: {
      readonly network: string;
      readonly zone: string;
      readonly rps: RunOptions['rps'];
      readonly effects: Effects;
    },
    use: (chain: NetworkChain) => Promise<T>,
  ): Promise<T>;
  /** Tries all that a run will write to. */
  tryNeeds(job: Job, effects: Effects): Promise<readonly Tried[]>;
  run(options: RunOptions): Promise<RunReport>;
  /** Verifies a warehouse from its own files. `repair`: also fetch damaged rows again. */
  verify(options: VerifyRequest): Promise<VerifyOutcome>;
  /** Merges small files; when stopped, it finishes the current merge. */
  compact(options: CompactRequest): Promise<CompactOutcome>;
  /** Publishes the tables and marts as Iceberg tables. */
  publishIceberg(options: IcebergRequest): Promise<IcebergOutcome>;
  /** Removes rows older than the retention, in one commit. */
  forgetOld(options: RetentionRequest): Promise<RetentionOutcome>;
  /** @param names undefined for all */
  buildMarts(warehouse: string, names: readonly string[] | undefined, network: string): Promise<readonly MartOutcome[]>;
  /** @param names undefined for all */
  runChecks(warehouse: string, names: readonly string[] | undefined, network: string): Promise<readonly CheckOutcome[]>;
  renderReport(warehouse: string, report: string, request: ReportRequest): Promise<ReportOutcome>;
  /** Writes a new file. */
  writeRows(warehouse: string, path: string, request: RowsRequest): Promise<RowsOutcome>;
  /** Writes rows to a database, where they replace those of the same days. */
  writeDatabase(warehouse: string, to: string, request: DatabaseRequest): Promise<RowsOutcome>;
  /** Sends a notification; throws if the program or server fails. */
  notify(target: NoticeTarget, body: string): Promise<void>;
}

/** Where a notification goes: a program with arguments, or a URL. */
export type NoticeTarget =
  | { readonly kind: 'command'; readonly command: readonly string[] }
  | { readonly kind: 'webhook'; readonly url: string };
