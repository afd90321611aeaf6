import { AuditError, DecodeError, SourceError, StoreError, TonlakeError, UsageError, WalkError } from './errors.ts';

/** An error as a message between threads or processes. */
export interface WireError {
  readonly name: string;
  readonly message: string;
  readonly stack: string | undefined;
  /** Of a TonlakeError. */
  readonly code: string | undefined;
  readonly retryable: boolean;
  readonly hint: string | undefined;
  /** Of a UsageError: what its message is made of. */
  readonly usage: Pick<UsageError, 'problem' | 'of'> | undefined;
  /** Message of the cause. */
  readonly cause: string | undefined;
}

const classes = { SourceError, DecodeError, WalkError, StoreError, AuditError } as const;

export function encodeError(error: unknown): WireError {
  const { name, message, stack, cause } = error instanceof Error ? error : new Error(String(error));
  const { code, retryable, hint } =
    error instanceof TonlakeError ? error : { code: undefined, retryable: false, hint: undefined };
  const usage = error instanceof UsageError ? { problem: error.problem, of: error.of } : undefined;
  return { name, message, stack, code, retryable, hint, usage, cause: cause === undefined ? undefined : textOf(cause) };
}

/** The error with its class, code, hint and stack. */
export function decodeError(wire: WireError): Error {
  const error = errorOf(wire);
  if (wire.stack !== undefined) error.stack = wire.stack;
  return error;
}

function errorOf({ name, message, code, retryable, hint, usage, cause: reason }: WireError): Error {
  const cause = reason === undefined ? undefined : new Error(reason);
  const Class = Object.entries(classes).find(([known]) => known === name)?.[1];
  if (code !== undefined && usage !== undefined)
    return new UsageError(usage.problem, { of: usage.of, code, hint, cause });
  if (code !== undefined && Class !== undefined) return new Class(message, { code, retryable, hint, cause });
  return Object.assign(new Error(message, { cause }), { name });
}

function textOf(cause: unknown): string {
  return cause instanceof Error ? cause.message : String(cause);
}
