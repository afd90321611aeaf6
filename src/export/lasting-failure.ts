import { SourceError, type TonlakeError } from '../core/errors.ts';
import { RetryableFailure } from '../http/retryable-failure.ts';

/** Different keys that fail alike, one after the other, until the endpoint is given up: before its first answer, and after. */
const KEYS = { unanswered: 3, answered: 20 } as const;

/** Notices an endpoint that fails alike whatever it is asked, so that a run does not ask it for every key in vain. */
export class LastingFailure {
  private readonly giveUp = new AbortController();
  private cause: string | undefined;
  private keys = 0;
  private hasAnswered = false;

  /** Aborted as soon as the endpoint is given up; ends what is being asked. */
  get signal(): AbortSignal {
    return this.giveUp.signal;
  }

  /** Different keys that failed alike, up to now. */
  get failedKeys(): number {
    return this.keys;
  }

  /** An answer came, or a refusal that is about its key. */
  noteAnswer(): void {
    this.hasAnswered = true;
    this.keys = 0;
  }

  /** A single key could not be had, however often it was asked for. */
  noteFailure(error: TonlakeError): void {
    if (this.signal.aborted) return;
    const cause = causeOf(error);
    this.keys = cause === this.cause ? this.keys + 1 : 1;
    this.cause = cause;
    if (this.keys < (this.hasAnswered ? KEYS.answered : KEYS.unanswered)) return;
    this.giveUp.abort(new SourceError('source: the endpoint was given up', { code: 'given-up' }));
  }
}

/** What a server says, without what differs from key to key. */
function causeOf(error: TonlakeError): string {
  const said = error instanceof RetryableFailure ? `${error.fault.status} ${error.fault.detail ?? ''}` : error.message;
  return `${error.code} ${said.replace(/[0-9A-Za-z+/_=-]{24,}|\d+/g, '#')}`;
}

/** What went wrong, in the words of the server where there are some. */
export function describeCause(error: TonlakeError): string {
  if (!(error instanceof RetryableFailure)) return error.message;
  const { what, detail } = error.fault;
  return detail === undefined || detail === '' ? what : `${what} (${detail})`;
}
