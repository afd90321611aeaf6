import { DecodeError, SourceError, type TonlakeError } from '../core/errors.ts';
import { sha256Of } from '../core/sha256.ts';
import { suggest } from '../core/suggest.ts';
import type { PipelineDef } from '../declare/pipeline.ts';
import { RetryableFailure } from '../http/retryable-failure.ts';
import { pathOf } from './page-request.ts';
import type { PageReport } from './span-loader.ts';

/** Consecutive keys with the same failure after which a run gives up an endpoint: before its first response, and after. */
const KEYS = { unanswered: 3, answered: 20 } as const;

/** Detects an endpoint that fails in the same way for every key, so that a run gives it up. */
export class RepeatedFailure {
  private readonly giveUp = new AbortController();
  private cause: string | undefined;
  /** Consecutive keys with the same failure. */
  failedKeys = 0;
  private hasSucceeded = false;

  /** Aborted when the endpoint is given up; ends current requests. */
  readonly signal: AbortSignal = this.giveUp.signal;

  /** Notes a usable response, or a refused key. */
  noteSuccess(): void {
    this.hasSucceeded = true;
    this.failedKeys = 0;
  }

  /** Notes a key that failed in every attempt. */
  noteFailure(error: TonlakeError): void {
    if (this.signal.aborted) return;
    const cause = causeOf(error);
    this.failedKeys = cause === this.cause ? this.failedKeys + 1 : 1;
    this.cause = cause;
    if (this.failedKeys < (this.hasSucceeded ? KEYS.answered : KEYS.unanswered)) return;
    this.giveUp.abort(new SourceError('source: the endpoint was given up'));
  }
}

/** Code of the error for a declaration that no record fits. */
export const NO_RECORD_FITS = 'no-record-fits';

/** Different records, refused at the same place, after which a run gives up a declaration that no record has fitted. */
const ENOUGH_REFUSED = 10;

/** Detects a declaration that no record fits, such as one with a wrong path. */
export class MisfitRecords {
  private readonly refused = new Set<string>();
  private place: string | undefined;
  private hasFitting = false;

  /** Notes a page. @returns the error that ends the run, if all records so far were refused at the same place */
  note(
    { name, endpoint }: PipelineDef,
    { records, refused }: Pick<PageReport, 'records' | 'refused'>,
  ): DecodeError | undefined {
    if (this.hasFitting || records === 0) return undefined;
    const placeOf = (pointer: string): string => pointer.replace(/\/\d+(?=\/|$)/g, '/#');
    this.place ??= refused[0] && placeOf(refused[0].pointer);
    this.hasFitting = refused.length < records || refused.some(({ pointer }) => placeOf(pointer) !== this.place);
    for (const { raw } of refused) this.refused.add(sha256Of(raw));
    const [first] = refused;
    if (this.hasFitting || first === undefined || this.refused.size < ENOUGH_REFUSED) return undefined;
    const message = `decode ${name}: ${first.reason} at ${first.pointer}, and no record fits the declaration: all ${this.refused.size} so far are refused there`;
    return new DecodeError(message, {
      code: NO_RECORD_FITS,
      hint: suggest('api', `${pathOf({ endpoint }).slice(1)} limit=1`),
    });
  }
}

/** The message of the server, without the parts that vary by key. */
function causeOf(error: TonlakeError): string {
  const said = error instanceof RetryableFailure ? `${error.fault.status} ${error.fault.detail ?? ''}` : error.message;
  return `${error.code} ${said.replace(/[0-9A-Za-z+/_=-]{24,}|\d+/g, '#')}`;
}

/** The reason of a failure, with the text of the server if there is one. */
export function describeCause(error: TonlakeError): string {
  if (!(error instanceof RetryableFailure)) return error.message;
  const { what, detail } = error.fault;
  return detail === undefined || detail === '' ? what : `${what} (${detail})`;
}
