import type { NamedHeader } from '../chain/headers.ts';
import { fetchEnds } from '../chain/index-head.ts';
import { TonlakeError } from '../core/errors.ts';
import { intersectSpans, type Span } from '../core/span.ts';
import { CommittedHeaders } from './committed-headers.ts';
import type { BlockProblem } from './span-walk.ts';
import type { WalkContext } from './walk-context.ts';

/** Codes of failures that concern a single block. */
const HOLES: ReadonlySet<string> = new Set(['not-indexed', 'short-list']);

/** A span of headers, with the shard states at its ends that prove it. */
export interface HeaderEnds {
  readonly span: Span;
  /** Its missing blocks. */
  readonly only: readonly Span[];
  /** Undefined at the beginning of the index. */
  readonly before: readonly NamedHeader[] | undefined;
  readonly after: readonly NamedHeader[];
}

/**
 * The longest prefix of a span with shard states at both ends. A masterchain block that is not indexed, or whose state cannot be right,
 * cannot be an end.
 *
 * @param missing blocks, of which the first one begins the span
 */
export async function provableEnds(
  { from, to }: Span,
  missing: readonly Span[],
  states: ShardStates,
): Promise<HeaderEnds | BlockProblem> {
  const before = await states.before(from);
  if (before instanceof TonlakeError) return { span: { from, to: from }, error: before };
  for (let [end, step] = [to, 1]; ; step *= 2) {
    const after = await states.after(end);
    const span = { from, to: end };
    const only = intersectSpans(missing, [span]);
    if (!(after instanceof TonlakeError)) return { span, only, before, after };
    const last = await states.head();
    if (last < from) return { span: only[0] ?? span, error: after };
    if (end === from) return { span: { from, to: from }, error: after };
    end = Math.max(from, Math.min(end - step, last));
  }
}

/** Shard states at masterchain blocks. Waits once for a block that is not indexed, and requests it once more. */
export class ShardStates {
  private readonly context: WalkContext;
  private readonly committed: CommittedHeaders;
  /** The state at the end of one span is the state before the next. */
  private last: { readonly seqno: number; readonly state: readonly NamedHeader[] } | undefined;
  private readonly requested = new Set<number>();
  private holes = new Map<number, TonlakeError>();
  /** Holes to request once more, without waiting. */
  private again: ReadonlyMap<number, TonlakeError> = new Map();

  constructor(context: WalkContext) {
    this.context = context;
    this.committed = new CommittedHeaders(context);
  }

  /** The state before a block, with which committed headers agree; undefined at the beginning of the index. */
  async before(from: number): Promise<readonly NamedHeader[] | TonlakeError | undefined> {
    // An index may have lost what it had when the blocks before were committed.
    if (from <= this.context.ends.first) return this.committed.stateAt(from - 1);
    const state = await this.at(from - 1);
    if (state instanceof TonlakeError) return state;
    return this.refused(from - 1, await this.committed.contradictionUntil(from - 1, state)) ?? state;
  }

  /** The state at a block, with which committed headers agree; the error for a block that cannot be the end of a span. */
  async after(seqno: number): Promise<readonly NamedHeader[] | TonlakeError> {
    const state = await this.at(seqno);
    if (state instanceof TonlakeError) return state;
    return this.refused(seqno, await this.committed.contradictionAfter(seqno, state)) ?? state;
  }

  /** Remembers that a state is not right, so that it is requested once more. */
  private refused(seqno: number, error: TonlakeError | undefined): TonlakeError | undefined {
    if (error === undefined) return undefined;
    this.holes.set(seqno, error);
    this.last = undefined;
    return error;
  }

  /** The state at a block; the error for a block that is still not indexed after the wait time. */
  async at(seqno: number): Promise<readonly NamedHeader[] | TonlakeError> {
    if (this.last?.seqno === seqno) return this.last.state;
    const hole = this.holes.get(seqno);
    if (hole !== undefined) return hole;
    const { report, pipeline, source, stop, states, ends } = this.context;
    const isAgain = this.requested.has(seqno);
    this.requested.add(seqno);
    if (isAgain || !states.has(seqno)) report({ event: 'planned', pipeline: pipeline.name, requests: 1 });
    const before = this.again.get(seqno);
    try {
      const missing = before === undefined ? 'wait' : 'fail';
      const options = { signal: stop, missing, isAgain, first: ends.first } as const;
      const state = await states.fetch(source, seqno, `${pipeline.name} ${seqno}`, options);
      this.last = { seqno, state };
      return state;
    } catch (error) {
      if (!(error instanceof TonlakeError)) throw error;
      if (!HOLES.has(error.code) && (before === undefined || error.code !== 'not-found')) throw error;
      this.holes.set(seqno, before ?? error);
      return before ?? error;
    }
  }

  /** Allows one more request for each hole, which may be indexed by now. */
  retryHoles(): void {
    this.again = this.holes;
    this.holes = new Map();
  }

  /** The current head. */
  async head(): Promise<number> {
    return (await fetchEnds(this.context.source)).last;
  }
}
