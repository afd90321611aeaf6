import { SourceError } from '../core/errors.ts';

/** How to go on after a failure that can pass by itself. */
export type Pause =
  /** Exponential back-off with jitter. */
  | { readonly kind: 'backoff' }
  /** The source named the time to wait. */
  | { readonly kind: 'after'; readonly ms: number }
  /** Nothing has ever answered there: few attempts in short order. */
  | { readonly kind: 'brief' }
  /** Not indexed yet: look again every now and then until the wait time is over. */
  | { readonly kind: 'poll' };

/** What went wrong with one attempt, before it is put into words. */
export interface Fault {
  /** Stable identifier, for example `rate-limited`. */
  readonly code: string;
  /** The fault in a few words: `429`, `nothing listens at http://127.0.0.1:1`. */
  readonly what: string;
  readonly hint?: string | undefined;
  /** Absent when asking again cannot help. */
  readonly pause?: Pause | undefined;
  /** HTTP status, when there was an answer. */
  readonly status?: number | undefined;
  /** What the server said, on one line; or the system's word for the failure. */
  readonly detail?: string | undefined;
}

/** One attempt that failed: a SourceError that knows how the retry loop may go on. */
export class RetryableFailure extends SourceError {
  readonly label: string;
  readonly fault: Fault;

  constructor(label: string, fault: Fault, options: { readonly cause?: unknown; readonly tries?: string } = {}) {
    const detail = fault.detail === undefined || fault.detail === '' ? '' : ` (${fault.detail})`;
    super(`source ${label}: ${fault.what}${options.tries ?? ''}${detail}`, {
      code: fault.code,
      retryable: fault.pause !== undefined,
      ...(fault.hint === undefined ? {} : { hint: fault.hint }),
      cause: options.cause,
    });
    this.name = 'SourceError';
    this.label = label;
    this.fault = fault;
  }
}
