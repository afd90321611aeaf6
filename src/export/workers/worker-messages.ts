import type { LinkEnds } from '../../audit/header-links.ts';
import {
  AuditError,
  DecodeError,
  SourceError,
  StoreError,
  TonlakeError,
  UsageError,
  WalkError,
} from '../../core/errors.ts';
import type { Span } from '../../core/span.ts';
import type { PipelineDef } from '../../declare/pipeline.ts';
import type { FileForm, FolderState } from '../../warehouse/staging/row-folder.ts';
import type { RowRules } from '../row-rules.ts';
import type { PageRules } from '../walk-request.ts';

/** A call of a loader's method. */
export type LoaderCall =
  | { readonly kind: 'open'; readonly span: Span; readonly rules: RowRules }
  | { readonly kind: 'add'; readonly page: Uint8Array<ArrayBuffer>; readonly rules: PageRules }
  | { readonly kind: 'audit' }
  | { readonly kind: 'links'; readonly ends: LinkEnds }
  | { readonly kind: 'drop'; readonly unit: number }
  | { readonly kind: 'flush'; readonly folder: string; readonly form: FileForm }
  /** Answered with a number for the call `written`, as soon as the rows are sorted. */
  | { readonly kind: 'write'; readonly span: Span; readonly folder: string; readonly form: FileForm }
  | { readonly kind: 'clear' };

/** A call of the main thread to a worker. */
export interface Call {
  /** `written` is answered with a {@link FolderState} as soon as the rows are in their files. */
  readonly call: LoaderCall | { readonly kind: 'written'; readonly number: number };
  /** With the first call for another pipeline. */
  readonly pipeline?: PipelineDef;
}

/** An error as a message between threads. */
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
      : new Class(message, { code, retryable, cause, ...(hint === undefined ? {} : { hint }) });
  if (stack !== undefined) error.stack = stack;
  return error;
}

function textOf(cause: unknown): string {
  return cause instanceof Error ? cause.message : String(cause);
}
