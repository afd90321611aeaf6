/** Origin of an error; the first word of its message. */
export type Stage = 'usage' | 'source' | 'decode' | 'walk' | 'store' | 'audit' | 'mart' | 'report' | 'job' | 'delivery';

export interface TonlakeErrorOptions {
  /** Stable identifier for programs, for example `rate-limited`, if one can act on it. Default: the stage. */
  readonly code?: string | undefined;
  /** True if the same call can succeed later without changes. Default false. */
  readonly retryable?: boolean;
  /** What to do about it; often a command to run. */
  readonly hint?: string | undefined;
  readonly cause?: unknown;
}

/** Base class of all errors of tonlake. The message is one line, in lower case. */
export abstract class TonlakeError extends Error {
  static readonly stage: Stage;
  readonly stage: Stage;
  readonly code: string;
  readonly retryable: boolean;
  readonly hint: string | undefined;

  constructor(message: string, options: TonlakeErrorOptions = {}) {
    super(message, { cause: options.cause });
    this.name = new.target.name;
    this.stage = new.target.stage;
    this.code = options.code ?? this.stage;
    this.retryable = options.retryable ?? false;
    this.hint = options.hint;
  }
}

export interface UsageOptions extends Pick<TonlakeErrorOptions, 'code' | 'hint' | 'cause'> {
  /** What rejects the input, if the message does not say it: a pipeline, an endpoint, a file. */
  readonly of?: string | undefined;
}

/** Invalid input: a wrong range, an unknown pipeline. Exit code 2. */
export class UsageError extends TonlakeError {
  static override readonly stage = 'usage';
  declare readonly stage: 'usage';
  /** The message without its stage. */
  readonly problem: string;
  /** What refuses the input. */
  readonly of: string | undefined;

  constructor(problem: string, { of, ...options }: UsageOptions = {}) {
    super(`${of === undefined ? 'usage' : `usage ${of}`}: ${problem}`, options);
    this.problem = problem;
    this.of = of;
  }

  /** The same with what only the caller knows; this one is its cause. */
  with({ problem = this.problem, of = this.of, hint = this.hint }: Partial<UsageDetails>): UsageError {
    return new UsageError(problem, { of, hint, code: this.code, cause: this });
  }
}

/** What a caller can add to a usage error. */
type UsageDetails = Pick<UsageError, 'problem' | 'of' | 'hint'>;

/**
 * The error for wrong input: `usage: expected a query, got nothing`.
 * @param got as the user wrote it; undefined if `expected` says all
 */
export function usage(
  expected: string,
  got?: string | number | bigint,
  hint?: string,
  options: Omit<UsageOptions, 'hint'> = {},
): UsageError {
  return new UsageError(`expected ${expected}${got === undefined ? '' : `, got ${got}`}`, { ...options, hint });
}

/** The error of a server that cannot listen at an address. */
export function portTaken(address: string, hint: string, cause: unknown): UsageError {
  return new UsageError(`cannot listen on ${address}`, { hint, cause });
}

/** The API gave no usable response. */
export class SourceError extends TonlakeError {
  static override readonly stage = 'source';
  declare readonly stage: 'source';
}

/** A response does not match its declaration. */
export class DecodeError extends TonlakeError {
  static override readonly stage = 'decode';
  declare readonly stage: 'decode';
}

/** A walk could not fetch the requested range. */
export class WalkError extends TonlakeError {
  static override readonly stage = 'walk';
  declare readonly stage: 'walk';
}

/** A table, a file or the ledger could not be read or written. */
export class StoreError extends TonlakeError {
  static override readonly stage = 'store';
  declare readonly stage: 'store';
}

/** A store could not be reached, or did not respond, so its content is unknown. */
export class StoreAccessError extends StoreError {}

/** True for a statement of DuckDB that needed more memory than it may have. */
export function isOutOfMemory(error: unknown): boolean {
  return error instanceof Error && error.message.includes('Out of Memory Error');
}

/** Rethrows an error that says nothing about the data: an unreachable store, or too little memory. */
export function rethrowAccessError(error: unknown): void {
  if (error instanceof StoreAccessError || isOutOfMemory(error)) throw error;
}

/** Code of a commit that failed because another writer of the warehouse was first. */
export const COMMITTED_MEANWHILE = 'committed-meanwhile';

/** True for a failed commit whose rows another writer has committed. */
export function isCommittedMeanwhile(error: unknown): boolean {
  return error instanceof StoreError && error.code === COMMITTED_MEANWHILE;
}

/** True if an entry could not be replaced because a concurrent merge has replaced it: its rows are in another entry. */
export function isMergedMeanwhile(error: unknown): boolean {
  return error instanceof StoreError && error.code === 'not-in-force';
}

/** Rows and block headers do not match. */
export class AuditError extends TonlakeError {
  static override readonly stage = 'audit';
  declare readonly stage: 'audit';
}

/** A query of `sql/` is invalid, or its input is missing. */
export class MartError extends TonlakeError {
  static override readonly stage = 'mart';
  declare readonly stage: 'mart';
}

/** A step of a job failed, or its outputs could not be published. */
export class JobError extends TonlakeError {
  static override readonly stage = 'job';
  declare readonly stage: 'job';
}

/** A consumer did not take a line or an alert. */
export class DeliveryError extends TonlakeError {
  static override readonly stage = 'delivery';
  declare readonly stage: 'delivery';
}

/** A report could not be created from the available data. */
export class ReportError extends TonlakeError {
  static override readonly stage = 'report';
  declare readonly stage: 'report';
}

/** `message; hint: what to do` on one line. */
export function formatError(error: unknown): string {
  if (error instanceof TonlakeError) {
    return oneLine(error.hint === undefined ? error.message : `${error.message}; hint: ${error.hint}`);
  }
  return oneLine(error instanceof Error ? error.message : String(error));
}

/** The message of an error in at most 200 characters on one line, for use in another message. */
export function shortMessage(error: unknown): string {
  const text = error instanceof Error ? error.message : String(error);
  return text.replace(/\s+/g, ' ').slice(0, 200);
}

/** Replaces line breaks by spaces, so that an error is one line in a log. */
export function oneLine(text: string): string {
  return text.replace(/\s*[\r\n]+\s*/g, ' ').trim();
}
