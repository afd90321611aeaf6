import type { ChainBounds } from '../chain/range-part.ts';
import type { Effects } from '../core/effects.ts';
import type { RunOptions, RunReport } from '../export/run.ts';
import type { MartBuild } from '../marts/build-marts.ts';
import type { CheckResult } from '../marts/run-checks.ts';
import type { ReportFormat } from '../reports/report-format.ts';
import type { RepairOptions } from '../verify/repair.ts';
import type { RetentionOptions, RetentionReport } from '../verify/retention.ts';
import type { VerifyReport } from '../verify/verify.ts';
import type { CompactOptions, CompactReport } from '../warehouse/index.ts';
import type { ExportFormat } from './export-formats.ts';
import type { PlacedQuery } from './job.ts';

/** What a network tells a job about its blocks and days. */
export interface NetworkChain extends ChainBounds {
  /** When the newest block was made, milliseconds since 1970. */
  headTime(): Promise<number>;
}

/** What of a mart's build a job tells. */
export type MartOutcome = Pick<MartBuild, 'name' | 'status' | 'rows' | 'marked' | 'kept' | 'reason' | 'seconds'>;
/** What of a check a job tells. */
export type CheckOutcome = Pick<CheckResult, 'name' | 'status' | 'offenders' | 'reason'>;

export type VerifyRequest = Pick<
  RepairOptions,
  'warehouse' | 'network' | 'range' | 'deep' | 'rps' | 'effects' | 'signal' | 'onEvent'
> & { readonly repair: boolean };
/** What of a verification a job tells. */
export type VerifyOutcome = Pick<VerifyReport, 'proven' | 'findings' | 'files' | 'requests' | 'unproven'>;

export type CompactRequest = Pick<CompactOptions, 'warehouse' | 'effects' | 'stop'> & { readonly network: string };
/** What of a compaction a job tells. */
export type CompactOutcome = Pick<CompactReport, 'kind' | 'merged' | 'files'>;

export type RetentionRequest = Pick<
  RetentionOptions,
  'warehouse' | 'pipelines' | 'keepDays' | 'now' | 'keepFrom' | 'effects' | 'isDry'
> & { readonly network: string };
/** What of a retention a job tells. */
export type RetentionOutcome = Pick<
  RetentionReport,
  'event' | 'firstDay' | 'spans' | 'rows' | 'retained' | 'withoutBlocks' | 'marts'
>;

export interface ReportOutcome {
  readonly content: string;
  readonly gaps: readonly string[];
  readonly isEmpty: boolean;
}

export interface ReportRequest {
  readonly params: Readonly<Record<string, string>>;
  readonly format: ReportFormat;
  readonly network: string;
  readonly timezone: string;
  readonly now: Date;
}

/** Rows that go to a file: a table in the order of its key, or a select. */
export interface RowsRequest {
  readonly source: { readonly table: string } | PlacedQuery;
  readonly format: ExportFormat;
  readonly network: string;
  /** Values that a select may name. */
  readonly parameters: Readonly<Record<string, unknown>>;
}

export interface RowsOutcome {
  readonly rows: number;
  /** What the tables that were read lack, one line each. */
  readonly gaps: readonly string[];
}

/** What the steps of a job are made of; the program's own are in `wiring.ts`. */
export interface JobActions {
  /** Asks a network for the ends of a range; days are those of a zone, and whole. */
  withChain<T>(
    options: {
      readonly network: string;
      readonly zone: string;
      readonly rps: RunOptions['rps'];
      readonly effects: Effects;
    },
    use: (chain: NetworkChain) => Promise<T>,
  ): Promise<T>;
  run(options: RunOptions): Promise<RunReport>;
  /** Proves a warehouse from its own files. `repair`: also brings damaged rows in again. */
  verify(options: VerifyRequest): Promise<VerifyOutcome>;
  /** Merges small files, up to the end of the merge in hand when it is stopped. */
  compact(options: CompactRequest): Promise<CompactOutcome>;
  /** Forgets rows that are older than they are kept, in one commit. */
  forgetOld(options: RetentionRequest): Promise<RetentionOutcome>;
  /** @param names undefined for all of them */
  buildMarts(warehouse: string, names: readonly string[] | undefined, network: string): Promise<readonly MartOutcome[]>;
  /** @param names undefined for all of them */
  runChecks(warehouse: string, names: readonly string[] | undefined, network: string): Promise<readonly CheckOutcome[]>;
  renderReport(warehouse: string, report: string, request: ReportRequest): Promise<ReportOutcome>;
  /** Writes a file that is not there yet. */
  writeRows(warehouse: string, path: string, request: RowsRequest): Promise<RowsOutcome>;
  /** Tells somebody; a program's or a server's refusal is an error. */
  notify(target: NoticeTarget, body: string): Promise<void>;
}

/** Where a notice goes: a program with arguments, or an address. */
export type NoticeTarget =
  | { readonly kind: 'command'; readonly command: readonly string[] }
  | { readonly kind: 'webhook'; readonly url: string };
