import { haveCommon, type Span, subtractSpans, unionSpans } from '../core/span.ts';

const FIRST_MS = 2_000;
const MAX_MS = 300_000;

interface FailedBlocks {
  readonly span: Span;
  readonly attempts: number;
  /** On the monotonic clock. */
  readonly dueAt: number;
}

/** Retries blocks that could not be proven, with exponential back-off, while the head is followed. */
export class BlockBackoff {
  private readonly failed = new Map<string, readonly FailedBlocks[]>();

  /** Records which of the attempted blocks of a pipeline are still missing. */
  note(pipeline: string, attempted: readonly Span[], missing: readonly Span[], now: number): void {
    const before = this.failed.get(pipeline) ?? [];
    const untouched = before.flatMap((each) =>
      subtractSpans([each.span], attempted).map((span) => ({ ...each, span })),
    );
    const again = missing.map((span) => {
      const attempts =
        1 + Math.max(0, ...before.filter((each) => haveCommon([each.span], [span])).map((each) => each.attempts));
      return { span, attempts, dueAt: now + Math.min(MAX_MS, FIRST_MS * 2 ** (attempts - 1)) };
    });
    this.failed.set(pipeline, [...untouched, ...again]);
  }

  /** Blocks whose last attempt failed. */
  failedSpans(pipeline: string): readonly Span[] {
    return unionSpans((this.failed.get(pipeline) ?? []).map(({ span }) => span));
  }

  /** Failed blocks whose next attempt is due. */
  dueSpans(pipeline: string, now: number): readonly Span[] {
    return unionSpans((this.failed.get(pipeline) ?? []).filter(({ dueAt }) => dueAt <= now).map(({ span }) => span));
  }
}
