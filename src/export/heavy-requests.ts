import { fetchEnds } from '../chain/index-ends.ts';
import { TonlakeError } from '../core/errors.ts';
import { LastingFailure } from './lasting-failure.ts';
import type { SpanWalk } from './span-walk.ts';
import type { WalkContext } from './walk-context.ts';
import type { WalkRequest } from './walk-request.ts';

/** Codes of failures that a request for fewer rows may not have. */
const HEAVY: ReadonlySet<string> = new Set(['server-error', 'gateway-error', 'timeout', 'too-large']);
/** Attempts of a part: the whole has shown that waiting does not help. */
const PART_ATTEMPTS = 3;
/** Attempts to find out whether the source answers at all. */
const PROBE_ATTEMPTS = 2;
/** A request that was halved so often is small, or as small as it can be. */
const CUTS = { small: 3, most: 10 } as const;

/** True for an error that may be due to the size of the answer. */
export function isHeavy(error: unknown): error is TonlakeError {
  return error instanceof TonlakeError && HEAVY.has(error.code);
}

/**
 * Cuts requests that fail in every attempt although the source answers others: a server may take too long for many rows. If small requests
 * fail one after the other, the source is at fault.
 */
export class HeavyRequests {
  private readonly context: WalkContext;
  private readonly walk: SpanWalk;
  private readonly lasting = new LastingFailure();
  /** How often a request was halved. */
  private readonly cuts = new WeakMap<WalkRequest, number>();

  constructor(context: WalkContext, walk: SpanWalk) {
    this.context = context;
    this.walk = walk;
  }

  noteAnswer(): void {
    this.lasting.noteAnswer();
  }

  /** @returns the parts to request instead, none if it cannot be cut; undefined if the source is at fault, not the size */
  async partsOf(request: WalkRequest, error: unknown): Promise<readonly WalkRequest[] | undefined> {
    const { context, walk, lasting } = this;
    if (!isHeavy(error) || walk.unit === 'reading' || !(await this.isAlive())) return undefined;
    const cuts = this.cuts.get(request) ?? 0;
    const parts = cuts < CUTS.most ? (walk.halve?.(request) ?? []) : [];
    if (parts.length === 0 || cuts >= CUTS.small) lasting.noteFailure(error);
    if (lasting.signal.aborted) return undefined;
    if (parts.length > 0) {
      context.report({ event: 'halved', pipeline: context.pipeline.name, ...walk.span, message: error.message });
    }
    return parts.map((each) => {
      const part = { ...each, fetch: { ...each.fetch, attempts: PART_ATTEMPTS } };
      this.cuts.set(part, cuts + 1);
      return part;
    });
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
