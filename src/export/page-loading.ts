import { AuditError, DecodeError, type TonlakeError } from '../core/errors.ts';
import type { SourceRequest } from '../http/request.ts';
import { isLocalFailure } from './failure-scope.ts';
import type { PageReport, RefusedReport } from './span-loader.ts';
import type { Round, SpanWalk } from './span-walk.ts';
import type { EngineContext } from './walk-context.ts';
import type { WalkRequest } from './walk-request.ts';
import type { SpanLoaderPort } from './workers/loader-port.ts';

/** A record that could not be decoded, and the request that brought it. */
export interface RefusedRecord extends RefusedReport {
  readonly request: string;
}

/** A request that brought nothing, and why. */
export interface Failure {
  readonly ask: SourceRequest;
  readonly error: TonlakeError;
}

/** Asks for the pages of one span and hands them to its loader; remembers what could not be had, and why. */
export class PageLoading {
  /** Why single blocks could not be had. */
  readonly failures = new Map<number, Failure>();
  /** Records of single blocks, or of the span as a whole, that could not be decoded. */
  readonly refusals = new Map<number | undefined, readonly RefusedRecord[]>();
  /** Blocks of which a window held a record that could not be decoded. */
  readonly suspects = new Set<number>();
  /** Blocks, or lots of keys, of which everything came. */
  readonly answered = new Set<number>();
  /** Those of which something was asked for. */
  private readonly begun = new Set<number>();
  /** Why the span as a whole could not be had. */
  failure: TonlakeError | undefined;
  /** Why no block of the span can be trusted. */
  distrust: DecodeError | undefined;
  /** What made the source unusable. */
  fatal: { readonly error: unknown } | undefined;

  private readonly context: EngineContext;
  private readonly walk: SpanWalk;
  private readonly loader: SpanLoaderPort;

  constructor(context: EngineContext, walk: SpanWalk, loader: SpanLoaderPort) {
    this.context = context;
    this.walk = walk;
    this.loader = loader;
  }

  get isOver(): boolean {
    return this.fatal !== undefined || this.context.stop.aborted;
  }

  /** Asks for everything that the walk plans. */
  async askPlanned(): Promise<void> {
    try {
      for await (const round of this.walk.plan()) {
        await this.askRound(round);
        if (this.isOver) return;
      }
    } catch (error) {
      if (!isLocalFailure(error) || this.walk.unit !== 'span') this.fatal ??= { error };
      else this.failure ??= error;
    }
  }

  /** Asks for some pages, and for all that they leave to ask for. @returns how many rows they brought */
  async askRound({ requests, count }: Round): Promise<number> {
    const { context } = this;
    context.report({ event: 'planned', pipeline: context.pipeline.name, requests: count });
    const running = new Set<Promise<void>>();
    let added = 0;
    const start = (request: WalkRequest, isMore: boolean): void => {
      const done = context.asks.add(() => this.ask(request, (rows) => (added += rows)), isMore);
      const work = done.then(
        (more) => {
          running.delete(work);
          for (const each of more) start(each, true);
        },
        (error: unknown) => {
          running.delete(work);
          this.fatal ??= { error };
        },
      );
      running.add(work);
    };
    for (const request of requests) {
      await context.asks.room();
      if (this.isOver) break;
      start(request, false);
    }
    while (running.size > 0) await Promise.all(running);
    return added;
  }

  /** Forgets what came of a block, to ask for it again. */
  async forget(seqno: number): Promise<void> {
    await this.loader.drop(seqno);
    this.failures.delete(seqno);
    this.refusals.delete(seqno);
    this.suspects.delete(seqno);
    this.answered.delete(seqno);
  }

  /** Forgets the rows of lots that did not come whole: their keys are asked for again. */
  async forgetTorn(): Promise<void> {
    for (const unit of this.begun) {
      if (!this.answered.has(unit) || this.refusals.has(unit)) await this.loader.drop(unit);
    }
  }

  /** All records that could not be decoded. */
  get refused(): readonly RefusedRecord[] {
    return [...this.refusals.values()].flat();
  }

  /** @returns what the page leaves to ask for */
  private async ask(request: WalkRequest, onAdded: (rows: number) => void): Promise<readonly WalkRequest[]> {
    if (this.isOver) return [];
    const { context } = this;
    const { unit } = request.page;
    if (unit !== undefined) this.begun.add(unit);
    try {
      const page = await this.load(request);
      onAdded(page.added);
      const more = (await this.walk.next?.(request, page)) ?? [];
      if (page.held > context.loaders.flushRecords && this.walk.rows.copies?.keep === 'newest')
        await this.loader.flush();
      if (unit !== undefined && more.length === 0) this.answered.add(unit);
      return more;
    } catch (error) {
      return this.judge(request, error);
    }
  }

  private async load(request: WalkRequest): Promise<PageReport> {
    const { context, walk, loader } = this;
    let asked = '';
    const page = await context.source.fetch(
      request.ask,
      async (answer) => {
        walk.see?.(request, answer);
        asked = answer.request;
        context.asks.learn(answer.body.length);
        // A key that the source does not know has no rows.
        return answer.status === 404 ? NO_ROWS : loader.add(answer.body, request.page);
      },
      request.fetch,
    );
    if (page.stranger !== undefined) throw this.stranger(request, page.stranger);
    this.note(request, asked, page);
    return page;
  }

  private note(
    { page: { unit, isSupplement = false } }: WalkRequest,
    request: string,
    { records, refused, unknown }: PageReport,
  ): void {
    const { context, walk } = this;
    const pipeline = context.pipeline.name;
    for (const [field, count] of unknown) context.report({ event: 'unknown-field', pipeline, field, count });
    context.report({ event: 'progress', pipeline, seqnos: 0, records });
    // What is missing for it is told of the row that it would be.
    if (refused.length === 0 || isSupplement) return;
    if (unit !== undefined || walk.unit !== 'block') {
      const before = this.refusals.get(unit) ?? [];
      this.refusals.set(unit, [...before, ...refused.map((record) => ({ request, ...record }))]);
      return;
    }
    // Their blocks are asked for by themselves.
    for (const { seqno, pointer, reason } of refused) {
      if (seqno !== undefined) this.suspects.add(seqno);
      // Counts tell which block lacks a transaction; links may not.
      else if (walk.rows.audit.kind !== 'counts') {
        const message = `decode ${pipeline}: ${reason} at ${pointer} of ${request}, which tells no masterchain block`;
        this.distrust ??= new DecodeError(message, { code: 'wrong-shape' });
      }
    }
  }

  private async judge(request: WalkRequest, error: unknown): Promise<readonly WalkRequest[]> {
    const { unit } = request.page;
    const more = this.walk.failed?.(request, error);
    if (more !== undefined) {
      if (unit !== undefined) await this.loader.drop(unit);
      return more;
    }
    if (!isLocalFailure(error) || this.walk.unit === 'reading') this.fatal ??= { error };
    else if (unit !== undefined) {
      this.failures.set(unit, { ask: request.ask, error });
      await this.loader.drop(unit);
    } else if (this.walk.unit === 'span') this.failure ??= error;
    // What a window lacks is found by the audit.
    return [];
  }

  private stranger({ page: { unit } }: WalkRequest, seqno: number): AuditError {
    const { name } = this.context.pipeline;
    return new AuditError(`audit ${name} ${unit}: expected rows of block ${unit}, got one of ${seqno}`, {
      code: 'wrong-block',
    });
  }
}

const NO_ROWS: PageReport = {
  ...{ isTaken: true, records: 0, refused: [], unknown: [], lastLt: undefined, added: 0, held: 0, stranger: undefined },
};
