import type { NamedHeader } from '../chain/headers.ts';
import { fetchEnds, fetchShardState } from '../chain/index-ends.ts';
import { TonlakeError } from '../core/errors.ts';
import type { Span } from '../core/span.ts';
import type { BlockProblem } from './span-walk.ts';
import type { WalkContext } from './walk-context.ts';

/** What an answer can lack for one block only: others are asked for all the same. */
const HOLES: ReadonlySet<string> = new Set(['not-indexed', 'short-list']);

/** A span of headers with the states that it is proven by. */
export interface HeaderEnds {
  readonly span: Span;
  /** Undefined where the index begins. */
  readonly before: readonly NamedHeader[] | undefined;
  readonly after: readonly NamedHeader[];
}

/** As much of a span as there are states for: a masterchain block that is a hole, or above the head, cannot be an end. */
export async function provableEnds(
  { from, to }: Span,
  first: number,
  states: ShardStates,
): Promise<HeaderEnds | BlockProblem> {
  const before = from > first ? await states.at(from - 1) : undefined;
  if (before instanceof TonlakeError) return { span: { from, to: from }, error: before };
  for (let end = to; ; ) {
    const after = await states.at(end);
    if (!(after instanceof TonlakeError)) return { span: { from, to: end }, before, after };
    const last = await states.head();
    if (last < from) return { span: { from, to }, error: after };
    if (end === from) return { span: { from, to: from }, error: after };
    end = Math.min(end - 1, last);
  }
}

/** The states of the shards at masterchain blocks. Each block that is not indexed is waited for once, and asked for once more. */
export class ShardStates {
  private readonly context: WalkContext;
  /** The state at the end of one span is the state before the next. */
  private last: { readonly seqno: number; readonly state: readonly NamedHeader[] } | undefined;
  private readonly holes = new Map<number, TonlakeError>();
  /** Holes that are asked for once more, without waiting. */
  private again = new Map<number, TonlakeError>();

  constructor(context: WalkContext) {
    this.context = context;
  }

  /** The state at a block; the error of one that is not indexed, however long it is waited for. */
  async at(seqno: number): Promise<readonly NamedHeader[] | TonlakeError> {
    if (this.last?.seqno === seqno) return this.last.state;
    const hole = this.holes.get(seqno);
    if (hole !== undefined) return hole;
    const { report, pipeline, source, stop } = this.context;
    report({ event: 'planned', pipeline: pipeline.name, requests: 1 });
    const before = this.again.get(seqno);
    try {
      const missing = before === undefined ? 'wait' : 'fail';
      const state = await fetchShardState(source, seqno, `${pipeline.name} ${seqno}`, { signal: stop, missing });
      this.last = { seqno, state };
      return state;
    } catch (error) {
      const isHole =
        error instanceof TonlakeError &&
        (HOLES.has(error.code) || (before !== undefined && error.code === 'not-found'));
      if (!isHole) throw error;
      this.holes.set(seqno, before ?? error);
      return before ?? error;
    }
  }

  /** Asks for each hole once more when it is met again: much may have been indexed since. */
  askAgain(): void {
    this.again = new Map(this.holes);
    this.holes.clear();
  }

  /** The newest block of the index, as it is now. */
  async head(): Promise<number> {
    return (await fetchEnds(this.context.source)).last;
  }
}
