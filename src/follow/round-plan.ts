import {
  firstBlocks,
  hullOf,
  intersectSpans,
  type Span,
  spanSize,
  subtractSpans,
  totalSize,
  unionSpans,
} from '../core/span.ts';
import { isFinal, lookBackOf, type PipelineDef } from '../declare/pipeline.ts';
import { doneFor, type ForgottenSpans, type LedgerEntry, spansOf } from '../warehouse/index.ts';

/** Maximum number of missing blocks in a round, so that all pipelines advance together while catching up. */
const ROUND_BLOCKS = 2_000;
/** Maximum number of blocks in a round that are read again because they have become final. */
const FINAL_BLOCKS = 1_000;

export interface RoundInput {
  readonly pipelines: readonly PipelineDef[];
  readonly ledger: readonly LedgerEntry[];
  readonly forgotten: readonly ForgottenSpans[];
  /** Followed blocks, up to the head. */
  readonly requested: readonly Span[];
  readonly head: number;
  /** Blocks of a pipeline to leave out of this round. */
  readonly deferred: (pipeline: string) => readonly Span[];
  /** Names of changing lists that are due. */
  readonly due: ReadonlySet<string>;
}

interface RoundTurn {
  readonly pipeline: PipelineDef;
  readonly requested: readonly Span[];
}

/** The blocks and lists that a round exports. */
export interface RoundPlan {
  /** Missing blocks, oldest first. */
  readonly window: readonly Span[];
  readonly turns: readonly RoundTurn[];
}

/** Plans a round: missing blocks, changing lists that are due, and entries that have become final. */
export function planRound(input: RoundInput): RoundPlan {
  const { pipelines, requested, due } = input;
  const missing = new Map(
    pipelines
      .filter((pipeline) => !isReading(pipeline))
      .map((pipeline) => {
        const deferred = input.deferred(pipeline.name);
        return [pipeline.name, subtractSpans(missingOf(input, pipeline), deferred)] as const;
      }),
  );
  const window = firstBlocks(unionSpans([...missing.values()].flat()), ROUND_BLOCKS);
  const turns = pipelines.flatMap((pipeline) => {
    if (isReading(pipeline)) {
      const whole = hullOf(requested);
      return due.has(pipeline.name) && whole !== undefined ? [{ pipeline, requested: [whole] }] : [];
    }
    const own = intersectSpans(missing.get(pipeline.name) ?? [], window);
    const turn = unionSpans([...own, ...maturedSpans(input, pipeline)]);
    return turn.length === 0 ? [] : [{ pipeline, requested: turn }];
  });
  return { window, turns };
}

/** Requested blocks of a pipeline that are not done, without those removed on purpose. */
export function missingOf(
  { ledger, forgotten, requested }: Pick<RoundInput, 'ledger' | 'forgotten' | 'requested'>,
  pipeline: PipelineDef,
): readonly Span[] {
  const removed = forgotten.filter((each) => each.pipeline === pipeline.name).flatMap(({ spans }) => spans);
  return subtractSpans(subtractSpans(requested, doneFor(ledger, pipeline)), unionSpans(removed));
}

/** Groups adjacent turns whose pipelines do not depend on each other. */
export function independentTurns(turns: readonly RoundTurn[]): readonly (readonly RoundTurn[])[] {
  const groups: RoundTurn[][] = [];
  for (const turn of turns) {
    const group = groups.at(-1);
    if (group?.every((before) => areIndependent(before, turn)) === true) group.push(turn);
    else groups.push([turn]);
  }
  return groups;
}

function areIndependent({ pipeline: before }: RoundTurn, { pipeline }: RoundTurn): boolean {
  const areLists = [before, pipeline].every(({ walk }) => walk.kind === 'lt' || walk.kind === 'block');
  return areLists && ![...pipeline.needs, ...pipeline.provenBy].includes(before.name);
}

/** True for changing lists: they are read at an interval, not with new blocks. */
export function isReading({ walk }: PipelineDef): boolean {
  return walk.kind === 'snapshot';
}

/** Spans of entries that were read before their rows were final and have become final since. Oldest first. */
function maturedSpans({ ledger, requested, head }: RoundInput, pipeline: PipelineDef): readonly Span[] {
  const { name, walk } = pipeline;
  const lookBack = lookBackOf(pipeline);
  if (lookBack === 0) return [];
  const matured = ledger.filter(
    (entry) =>
      entry.pipeline === name &&
      entry.scope === undefined &&
      entry.asOf !== undefined &&
      entry.span.to <= head - lookBack &&
      !isFinal(walk, entry),
  );
  const followed = matured.filter((entry) => subtractSpans(spansOf(entry), requested).length === 0);
  const spans: Span[] = [];
  let blocks = 0;
  for (const { span } of [...followed].sort((a, b) => a.span.from - b.span.from)) {
    if (blocks > 0 && blocks + spanSize(span) > FINAL_BLOCKS) break;
    spans.push(span);
    blocks += spanSize(span);
  }
  return spans;
}

/** True if blocks may be missing that the window leaves to the next round. */
export function isFull(window: readonly Span[]): boolean {
  return totalSize(window) >= ROUND_BLOCKS;
}
