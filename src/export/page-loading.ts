import { DOUBLE_KEY, WRONG_ROWS } from '../audit/page-audit.ts';
import { DecodeError, TonlakeError } from '../core/errors.ts';
import type { SourceRequest } from '../http/request.ts';
import { HeavyRequests, isHeavy } from './heavy-requests.ts';
import { type MisfitRecords, NO_RECORD_FITS, type RepeatedFailure } from './repeated-failure.ts';
import type { EngineContext } from './run-context.ts';
import type { PageReport, RefusedReport } from './span-loader.ts';
import type { Round, SpanWalk } from './span-walk.ts';
import type { WalkRequest } from './walk-request.ts';
import type { SpanLoaderPort } from './workers/loader-port.ts';

/** A record that could not be decoded, and its request. */
export interface RefusedRecord extends RefusedReport {
  readonly request: string;
}

/** Failures counted over all spans of a walk: the walk ends if every request fails in the same way. */
export interface WalkFailures {
  /** Consecutive wrong pages. */
  readonly repeated: RepeatedFailure;
  readonly misfits: MisfitRecords;
}

/** A failed request. */
export interface Failure {
  readonly http: SourceRequest;
  readonly error: TonlakeError;
}

/** Fetches the pages of a span into its loader, and records what failed. */
export class PageLoading {
  /** Failures by block. */
  readonly failures = new Map<number, Failure>();
  /** Records that could not be decoded, by block; undefined for the whole span. */
  readonly refusals = new Map<number | undefined, readonly RefusedRecord[]>();
  /** Blocks with a record in a window that could not be decoded. */
  readonly suspects = new Set<number>();
  /** Blocks, or batches of keys, that were loaded completely. */
  readonly answered = new Set<number>();
  /** Blocks, or batches, that were requested. */
  private readonly begun = new Set<number>();
  /** Failure of the whole span. */
  failure: TonlakeError | undefined;
  /** Reason to trust no block of the span. */
  distrust: DecodeError | undefined;
  /** The error that made the source unusable. */
  fatal: { readonly error: unknown } | undefined;
  /** Aborted by a fatal error, or when the run is stopped. */
  readonly over: AbortSignal;

  private readonly context: EngineContext;
  private readonly walk: SpanWalk;
  private readonly loader: SpanLoaderPort;
  private readonly flush: () => Promise<void>;
  private readonly heavy: HeavyRequests;
  private readonly repeated: RepeatedFailure;
  private readonly failed = new AbortController();
  private readonly misfits: MisfitRecords;

  /** @param flush moves the rows so far out of memory */
  constructor(
    context: EngineContext,
    walk: SpanWalk,
    loader: SpanLoaderPort,
    flush: () => Promise<void>,
    { repeated, misfits }: WalkFailures,
  ) {
    this.flush = flush;
    this.repeated = repeated;
    this.misfits = misfits;
    this.context = context;
    this.walk = walk;
    this.loader = loader;
    this.heavy = new HeavyRequests(context, walk);
    this.over = AbortSignal.any([context.stop, this.failed.signal]);
  }

  get isOver(): boolean {
    return this.over.aborted;
  }

  private fail(error: unknown): void {
    this.fatal ??= { error };
    this.failed.abort(error);
  }

  /** Sends all requests that the walk plans. */
  async fetchPlanned(): Promise<void> {
    try {
      for await (const round of this.walk.plan()) {
        await this.fetchRound(round);
        if (this.isOver) return;
      }
    } catch (error) {
      if (!isLocalFailure(error) || this.isByBlock || this.walk.isReading === true) this.fail(error);
      else this.failure ??= error;
    }
  }

  /** Sends requests, and those that follow from their pages. @returns the number of rows */
  async fetchRound({ requests, count }: Round): Promise<number> {
    const { context } = this;
    context.report({ event: 'planned', pipeline: context.pipeline.name, requests: count });
    const running = new Set<Promise<void>>();
    let added = 0;
    const start = (request: WalkRequest, isMore: boolean): void => {
      const done = context.pages.add(() => this.fetchPage(request, (rows) => (added += rows)), isMore);
      const work = done.then(
        (more) => {
          running.delete(work);
          for (const each of more) start(each, true);
        },
        (error: unknown) => {
          running.delete(work);
          this.fail(error);
        },
      );
      running.add(work);
    };
    for (const request of requests) {
      await context.pages.room();
      if (this.isOver) break;
      start(request, false);
    }
    while (running.size > 0) await Promise.all(running);
    return added;
  }

  /** Drops the rows of incomplete batches: the next run requests their keys again. */
  async forgetIncomplete(): Promise<void> {
    for (const unit of this.begun) {
      if (!this.answered.has(unit) || this.refusals.has(unit)) await this.loader.drop(unit);
    }
  }

  /** True if each row has a block. */
  private get isByBlock(): boolean {
    return this.walk.rows.block !== undefined;
  }

  get refused(): readonly RefusedRecord[] {
    return [...this.refusals.values()].flat();
  }

  /** @returns requests that follow from the page */
  private async fetchPage(request: WalkRequest, onAdded: (rows: number) => void): Promise<readonly WalkRequest[]> {
    if (this.isOver) return [];
    const { context } = this;
    const { unit } = request.page;
    if (unit !== undefined) this.begun.add(unit);
    try {
      const page = await this.load(request);
      onAdded(page.added);
      const more = request.after?.(page) ?? (await this.walk.next?.(request, page)) ?? [];
      if (page.loaded > context.loaders.flushRecords && this.walk.rows.copies?.keep === 'newest') await this.flush();
      if (unit !== undefined && more.length === 0) this.answered.add(unit);
      return more;
    } catch (error) {
      return this.handleFailure(request, error);
    }
  }

  private async load(request: WalkRequest): Promise<PageReport> {
    const { context, walk, loader } = this;
    let label = '';
    const page = await context.source.fetch(
      request.http,
      async (response) => {
        walk.see?.(request, response);
        label = response.request;
        context.pages.learn(response.body.length);
        // The source does not know the key.
        return response.status === 404 ? noRows(request) : loader.add(response.body, request.page);
      },
      { ...this.heavy.optionsOf(request), ending: context.stop },
    );
    this.heavy.noteSuccess();
    this.repeated.noteSuccess();
    this.note(request, label, page);
    return page;
  }

  private note({ page: { unit, isSupplement = false } }: WalkRequest, request: string, page: PageReport): void {
    const { context, walk } = this;
    const { records, refused, unknown } = page;
    const pipeline = context.pipeline.name;
    for (const [field, count] of unknown) context.report({ event: 'unknown-field', pipeline, field, count });
    context.report({ event: 'progress', pipeline, seqnos: 0, records });
    // The comparison reports the missing row.
    if (isSupplement) return;
    this.distrust ??= this.misfits.note(context.pipeline, page);
    if (this.distrust?.code === NO_RECORD_FITS) this.fatal ??= { error: this.distrust };
    if (refused.length === 0) return;
    if (unit !== undefined || !this.isByBlock) {
      const before = this.refusals.get(unit) ?? [];
      this.refusals.set(unit, [...before, ...refused.map((record) => ({ request, ...record }))]);
      return;
    }
    // The blocks of these records are requested one by one.
    for (const { seqno, pointer, reason } of refused) {
      if (seqno !== undefined) this.suspects.add(seqno);
      // Counts show which block lacks a transaction; links may not.
      else if (walk.rows.audit.kind !== 'counts') {
        const message = `decode ${pipeline}: ${reason} at ${pointer} of ${request}, without a masterchain block`;
        this.distrust ??= new DecodeError(message, { code: 'wrong-shape' });
      }
    }
  }

  private async handleFailure(request: WalkRequest, error: unknown): Promise<readonly WalkRequest[]> {
    // Another attempt or fewer rows might have helped: these rows stay missing.
    if (this.context.stop.aborted && (isHeavy(error) || (error instanceof TonlakeError && error.retryable))) return [];
    const { unit } = request.page;
    const more = this.walk.failed?.(request, error);
    if (more !== undefined) {
      if (unit !== undefined) await this.loader.drop(unit);
      return more;
    }
    // The blocks of a failed window are requested one by one.
    const isReplaced = unit === undefined && this.isByBlock;
    if (isWrong(error) && !isReplaced) this.repeated.noteFailure(error);
    if (this.repeated.signal.aborted) {
      this.fail(error);
      return [];
    }
    const parts = await this.heavy.partsOf(request, error);
    if (parts !== undefined && parts.length > 0) return parts;
    if (!(error instanceof TonlakeError)) this.fail(error);
    else if ((parts === undefined && !isLocalFailure(error)) || this.walk.isReading === true) this.fail(error);
    else if (unit !== undefined) this.failures.set(unit, { http: request.http, error });
    else if (!this.isByBlock) this.failure ??= error;
    // The audit finds what a window lacks.
    return [];
  }
}

function noRows({ page: { only } }: WalkRequest): PageReport {
  const without = (only ?? []).flatMap((rows) => (rows.kind === 'keys' ? rows.values : []));
  return { isTaken: true, records: 0, refused: [], unknown: [], added: 0, loaded: 0, without, distinct: undefined };
}

/** True if the source sent other rows than requested in every attempt. */
export function isWrong(error: unknown): error is TonlakeError {
  return error instanceof TonlakeError && (error.code === WRONG_ROWS || error.code === DOUBLE_KEY);
}

/** Codes of failures of a single block or span. */
const LOCAL: ReadonlySet<string> = new Set(['not-indexed', 'no-horizon', WRONG_ROWS, DOUBLE_KEY]);

/** True for a failure of single blocks, not of the source: the run continues with the others. */
function isLocalFailure(error: unknown): error is TonlakeError {
  if (!(error instanceof TonlakeError)) return false;
  return LOCAL.has(error.code) || (error.stage === 'decode' && error.retryable);
}
