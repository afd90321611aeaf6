import { SourceError } from '../core/errors.ts';

/** How to continue after a transient failure. */
export type Pause =
  /** Exponential backoff with jitter. */
  | { readonly kind: 'backoff' }
  /** The source gave the time to wait. */
  | { readonly kind: 'after'; readonly ms: number }
  /** The source has never answered: a few quick attempts. */
  | { readonly kind: 'brief' }
  /** Not indexed yet: poll until the wait time is over. */
  | { readonly kind: 'poll' };

/** What went wrong with one attempt. */
export interface Fault {
  /** Stable identifier, for example `rate-limited`. */
  readonly code: string;
  /** In a few words: `429`, `nothing is listening at http://127.0.0.1:1`. */
  readonly what: string;
  readonly hint?: string | undefined;
  /** Undefined if a retry is useless. */
  readonly pause?: Pause | undefined;
  /** HTTP status, if there was a response. */
  readonly status?: number | undefined;
  /** Text of the server on one line, or the error code of the system. */
  readonly detail?: string | undefined;
}

/** A failed attempt, with how to continue. */
export class RetryableFailure extends SourceError {
  readonly label: string;
  readonly fault: Fault;

  constructor(label: string, fault: Fault, options: { readonly cause?: unknown; readonly tries?: string } = {}) {
    const detail = fault.detail === undefined || fault.detail === '' ? '' : ` (${fault.detail})`;
    super(`source ${label}: ${fault.what}${options.tries ?? ''}${detail}`, {
      code: fault.code,
      retryable: fault.pause !== undefined,
      hint: fault.hint,
      cause: options.cause,
    });
    this.name = 'SourceError';
    this.label = label;
    this.fault = fault;
  }
}
