import { fetchEnds } from '../chain/index-head.ts';
import { TonlakeError } from '../core/errors.ts';
import type { FetchOptions } from '../http/source.ts';
import { RepeatedFailure } from './repeated-failure.ts';
import type { EngineContext } from './run-context.ts';
import type { SpanWalk } from './span-walk.ts';
import type { WalkRequest } from './walk-request.ts';

/** Codes of failures that a request for fewer rows may avoid. */
const HEAVY: ReadonlySet<string> = new Set(['server-error', 'gateway-error', 'timeout', 'too-large']);
/** Attempts of a request once a list has shown that waiting does not help. */
const QUICK_ATTEMPTS = 3;
/** Attempts to check that the source responds at all. */
const PROBE_ATTEMPTS = 2;
/** Halvings after which a request counts as small, and after which it is not halved again. */
const CUTS = { small: 3, most: 10 } as const;

/** True for an error that may be due to the size of the answer. */
export function isHeavy(error: unknown): error is TonlakeError {
  return error instanceof TonlakeError && HEAVY.has(error.code);
}

/**
 * Halves requests that fail in every attempt while the source answers others: a server may take too long for many rows. If small
 * requests fail one after the other, the source is at fault.
 */
export class HeavyRequests {
  private readonly context: EngineContext;
  private readonly walk: SpanWalk;
  private readonly repeated = new RepeatedFailure();
  /** Blocks with a page that is too heavy at its smallest size. */
  private readonly failed = new Set<number>();
  /** Number of halvings that led to a request. */
  private readonly cuts = new WeakMap<WalkRequest, number>();
  /** Requests sent with few attempts, and those that get all attempts. */
  private readonly quick = new WeakSet<WalkRequest>();
  private readonly patient = new WeakSet<WalkRequest>();

  constructor(context: EngineContext, walk: SpanWalk) {
    this.context = context;
    this.walk = walk;
  }

  /** Options of a request: after one that was too heavy, others of the list are halved sooner. */
  optionsOf(request: WalkRequest): FetchOptions | undefined {
    const { pages, pipeline } = this.context;
    const { unit, isSupplement = false } = request.page;
    const isWindow = unit === undefined && !isSupplement;
    if (!isWindow || !pages.halved.has(pipeline.name) || this.patient.has(request)) return request.fetch;
    this.quick.add(request);
    return { ...request.fetch, attempts: QUICK_ATTEMPTS };
  }

  noteSuccess(): void {
    this.repeated.noteSuccess();
  }

  /** @returns the requests to send instead, none if it cannot be cut; undefined if the source is at fault, not the size */
  async partsOf(request: WalkRequest, error: unknown): Promise<readonly WalkRequest[] | undefined> {
    const { context, walk, repeated } = this;
    if (walk.isReading === true || !(error instanceof TonlakeError)) return undefined;
    const isTooHeavy = isHeavy(error) && (await this.isAlive());
    const cuts = this.cuts.get(request) ?? 0;
    const parts = isTooHeavy && cuts < CUTS.most ? (walk.halve?.(request) ?? []) : [];
    if (parts.length === 0 && error.retryable && this.quick.delete(request)) {
      this.patient.add(request);
      return [request];
    }
    if (!isTooHeavy) return undefined;
    if ((parts.length === 0 || cuts >= CUTS.small) && this.isFirst(request)) repeated.noteFailure(error);
    if (repeated.signal.aborted) return undefined;
    if (parts.length > 0) {
      const { name } = context.pipeline;
      context.pages.halved.add(name);
      context.report({ event: 'halved', pipeline: name, ...walk.span, message: error.message });
    }
    for (const part of parts) this.cuts.set(part, cuts + 1);
    return parts;
  }

  /** False for further pages of a block that is too heavy already. */
  private isFirst({ page: { unit } }: WalkRequest): boolean {
    const isFirst = unit === undefined || !this.failed.has(unit);
    if (unit !== undefined) this.failed.add(unit);
    return isFirst;
  }

  private async isAlive(): Promise<boolean> {
    const { source, stop } = this.context;
    try {
      await fetchEnds(source, { attempts: PROBE_ATTEMPTS, signal: stop });
      return true;
    } catch {
      return false;
    }
  }
}
