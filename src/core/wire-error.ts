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
  /** Message of the cause. */
  readonly cause: string | undefined;
}

const classes = { UsageError, SourceError, DecodeError, WalkError, StoreError, AuditError } as const;

export function encodeError(error: unknown): WireError {
  const { name, message, stack, cause } = error instanceof Error ? error : new Error(String(error));
  const { code, retryable, hint } =
    error instanceof TonlakeError ? error : { code: undefined, retryable: false, hint: undefined };
  return { name, message, stack, code, retryable, hint, cause: cause === undefined ? undefined : textOf(cause) };
}

/** The error with its class, code, hint and stack. */
export function decodeError(wire: WireError): Error {
  const { name, message, code, retryable, hint, stack } = wire;
  const cause = wire.cause === undefined ? undefined : new Error(wire.cause);
  const Class = Object.entries(classes).find(([known]) => known === name)?.[1];
  const error =
    Class === undefined || code === undefined
      ? Object.assign(new Error(message, { cause }), { name })
      : new Class(message, { code, retryable, hint, cause });
  if (stack !== undefined) error.stack = stack;
  return error;
}

function textOf(cause: unknown): string {
  return cause instanceof Error ? cause.message : String(cause);
}
