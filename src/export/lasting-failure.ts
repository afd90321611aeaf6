import { SourceError, type TonlakeError } from '../core/errors.ts';
import { RetryableFailure } from '../http/retryable-failure.ts';

/** Successive keys with the same failure after which a run gives up an endpoint: before its first answer, and after. */
const KEYS = { unanswered: 3, answered: 20 } as const;

/** Detects an endpoint that fails in the same way for every key, so that a run gives it up. */
export class LastingFailure {
  private readonly giveUp = new AbortController();
  private cause: string | undefined;
  /** Successive keys with the same failure. */
  failedKeys = 0;
  private hasAnswered = false;

  /** Aborted when the endpoint is given up; ends current requests. */
  readonly signal: AbortSignal = this.giveUp.signal;

  /** Notes an answer, or a refusal of a key. */
  noteAnswer(): void {
    this.hasAnswered = true;
    this.failedKeys = 0;
  }

  /** Notes a key that failed in every attempt. */
  noteFailure(error: TonlakeError): void {
    if (this.signal.aborted) return;
    const cause = causeOf(error);
    this.failedKeys = cause === this.cause ? this.failedKeys + 1 : 1;
    this.cause = cause;
    if (this.failedKeys < (this.hasAnswered ? KEYS.answered : KEYS.unanswered)) return;
    this.giveUp.abort(new SourceError('source: the endpoint was given up', { code: 'given-up' }));
  }
}

/** The message of a server without the parts that differ by key. */
function causeOf(error: TonlakeError): string {
  const said = error instanceof RetryableFailure ? `${error.fault.status} ${error.fault.detail ?? ''}` : error.message;
  return `${error.code} ${said.replace(/[0-9A-Za-z+/_=-]{24,}|\d+/g, '#')}`;
}

/** The reason of a failure, with the words of the server if there are any. */
export function describeCause(error: TonlakeError): string {
  if (!(error instanceof RetryableFailure)) return error.message;
  const { what, detail } = error.fault;
  return detail === undefined || detail === '' ? what : `${what} (${detail})`;
}
