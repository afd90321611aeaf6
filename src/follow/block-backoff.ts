import { haveCommon, type Span, subtractSpans, unionSpans } from '../core/span.ts';

const FIRST_MS = 2_000;
const MOST_MS = 300_000;

interface Failed {
  readonly span: Span;
  readonly tries: number;
  /** On the monotonic clock. */
  readonly dueAt: number;
}

/** Blocks that could not be proven: each is tried again, less and less often, while the head goes on. */
export class BlockBackoff {
  private readonly failed = new Map<string, readonly Failed[]>();

  /** Notes which of the tried blocks of a pipeline are still missing. */
  note(pipeline: string, tried: readonly Span[], missing: readonly Span[], now: number): void {
    const before = this.failed.get(pipeline) ?? [];
    const untouched = before.flatMap((each) => subtractSpans([each.span], tried).map((span) => ({ ...each, span })));
    const again = missing.map((span) => {
      const tries =
        1 + Math.max(0, ...before.filter((each) => haveCommon([each.span], [span])).map((each) => each.tries));
      return { span, tries, dueAt: now + Math.min(MOST_MS, FIRST_MS * 2 ** (tries - 1)) };
    });
    this.failed.set(pipeline, [...untouched, ...again]);
  }

  /** Blocks that failed in their last try. */
  failedSpans(pipeline: string): readonly Span[] {
    return unionSpans((this.failed.get(pipeline) ?? []).map(({ span }) => span));
  }

  /** Those whose next try is due. */
  dueSpans(pipeline: string, now: number): readonly Span[] {
    return unionSpans((this.failed.get(pipeline) ?? []).filter(({ dueAt }) => dueAt <= now).map(({ span }) => span));
  }
}
