/** The part of the program an error comes from; the first word of its message. */
export type Stage = 'usage' | 'source' | 'decode' | 'walk' | 'store' | 'audit' | 'mart' | 'report' | 'job';

export interface TonlakeErrorOptions {
  /** Stable identifier for programs, for example `rate-limited`. */
  readonly code: string;
  /** Whether the same call can succeed later without anybody changing anything. Default false. */
  readonly retryable?: boolean;
  /** What to do about it; often a command to run. */
  readonly hint?: string;
  readonly cause?: unknown;
}

/** Base of every error that tonlake throws on purpose. The message is one line, in lower case. */
export abstract class TonlakeError extends Error {
  abstract readonly stage: Stage;
  readonly code: string;
  readonly retryable: boolean;
  readonly hint: string | undefined;

  constructor(message: string, options: TonlakeErrorOptions) {
    super(message, { cause: options.cause });
    this.name = new.target.name;
    this.code = options.code;
    this.retryable = options.retryable ?? false;
    this.hint = options.hint;
  }
}

/** The caller asked for something that cannot be: a wrong range, an unknown pipeline. Exit code 2. */
export class UsageError extends TonlakeError {
  readonly stage = 'usage';
}

/** The API did not give a usable answer. */
export class SourceError extends TonlakeError {
  readonly stage = 'source';
}

/** An answer is not what its declaration says. */
export class DecodeError extends TonlakeError {
  readonly stage = 'decode';
}

/** A walk could not cover what was asked. */
export class WalkError extends TonlakeError {
  readonly stage = 'walk';
}

/** A table, a file or the ledger could not be read or written. */
export class StoreError extends TonlakeError {
  readonly stage = 'store';
}

/** Rows and block headers do not agree. */
export class AuditError extends TonlakeError {
  readonly stage = 'audit';
}

/** A select of `sql/` is wrong, or what it reads is not there. */
export class MartError extends TonlakeError {
  readonly stage = 'mart';
}

/** A step of a job failed, or its outputs could not be put in place. */
export class JobError extends TonlakeError {
  readonly stage = 'job';
}

/** A report could not be made from the data that there is. */
export class ReportError extends TonlakeError {
  readonly stage = 'report';
}

/** `message; hint: what to do` on one line, for people. */
export function formatError(error: unknown): string {
  if (error instanceof TonlakeError) {
    return oneLine(error.hint === undefined ? error.message : `${error.message}; hint: ${error.hint}`);
  }
  return oneLine(error instanceof Error ? error.message : String(error));
}

/** The message of an error in at most 200 characters on one line, to be told as a part of another message. */
export function shortMessage(error: unknown): string {
  const text = error instanceof Error ? error.message : String(error);
  return text.replace(/\s+/g, ' ').slice(0, 200);
}

/** Line breaks become blanks, so that one error is one line in every log. */
export function oneLine(text: string): string {
  return text.replace(/\s*[\r\n]+\s*/g, ' ').trim();
}
