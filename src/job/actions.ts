import type { Effects } from '../effects.ts';
import type { RunOptions, RunReport } from '../run.ts';
import type { ChainBounds } from '../walk/range.ts';
import type { ExportFormat, ReportFormat } from './formats.ts';

/** What a network tells a job about its blocks and days. */
export interface NetworkChain extends ChainBounds {
  /** When the newest block was made, milliseconds since 1970. */
  headTime(): Promise<number>;
}

export interface MartOutcome {
  readonly name: string;
  readonly status: 'built' | 'unchanged' | 'empty';
  readonly rows: number;
  readonly seconds: number;
}

export interface CheckOutcome {
  readonly name: string;
  readonly status: 'passed' | 'failed' | 'skipped';
  readonly offenders: number;
  readonly reason?: string;
}

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
  readonly source: { readonly table: string } | { readonly sql: string };
  readonly format: ExportFormat;
  readonly network: string;
  /** Values that a select may name. */
  readonly parameters: Readonly<Record<string, unknown>>;
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
  /** @param names undefined for all of them */
  buildMarts(warehouse: string, names: readonly string[] | undefined, network: string): Promise<readonly MartOutcome[]>;
  /** @param names undefined for all of them */
  runChecks(warehouse: string, names: readonly string[] | undefined, network: string): Promise<readonly CheckOutcome[]>;
  renderReport(warehouse: string, report: string, request: ReportRequest): Promise<ReportOutcome>;
  /** Writes a file that is not there yet. @returns its rows */
  writeRows(warehouse: string, path: string, request: RowsRequest): Promise<number>;
  /** Tells somebody; a program's or a server's refusal is an error. */
  notify(target: NoticeTarget, body: string): Promise<void>;
}

/** Where a notice goes: a program with arguments, or an address. */
export type NoticeTarget =
  | { readonly kind: 'command'; readonly command: readonly string[] }
  | { readonly kind: 'webhook'; readonly url: string };
