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
import { isFinal, type PipelineDef } from '../declare/pipeline.ts';
import { doneFor, type ForgottenSpans, type LedgerEntry, spansOf } from '../warehouse/index.ts';

/** Maximum of missing blocks of a round: while it catches up, all pipelines advance together. */
const ROUND_BLOCKS = 2_000;
/** Maximum of blocks of a round that are read again because they are final by now. */
const AGAIN_BLOCKS = 1_000;

export interface RoundInput {
  readonly pipelines: readonly PipelineDef[];
  readonly ledger: readonly LedgerEntry[];
  readonly forgotten: readonly ForgottenSpans[];
  /** Blocks that are followed, up to the head. */
  readonly asked: readonly Span[];
  readonly head: number;
  /** Blocks of a pipeline that are left out. */
  readonly deferred: (pipeline: string) => readonly Span[];
  /** Names of changing lists that are due. */
  readonly due: ReadonlySet<string>;
}

interface RoundTurn {
  readonly pipeline: PipelineDef;
  readonly asked: readonly Span[];
}

/** What one round brings in. */
export interface RoundPlan {
  /** Missing blocks, oldest first. */
  readonly window: readonly Span[];
  readonly turns: readonly RoundTurn[];
}

/** Plans a round: requested blocks minus those that are done, lists that are due, and entries that are final by now. */
export function planRound(input: RoundInput): RoundPlan {
  const { pipelines, asked, due } = input;
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
      const whole = hullOf(asked);
      return due.has(pipeline.name) && whole !== undefined ? [{ pipeline, asked: [whole] }] : [];
    }
    const own = intersectSpans(missing.get(pipeline.name) ?? [], window);
    const turn = unionSpans([...own, ...maturedSpans(input, pipeline)]);
    return turn.length === 0 ? [] : [{ pipeline, asked: turn }];
  });
  return { window, turns };
}

/** Blocks of a pipeline that are not done, without those removed on purpose. */
export function missingOf(
  { ledger, forgotten, asked }: Pick<RoundInput, 'ledger' | 'forgotten' | 'asked'>,
  pipeline: PipelineDef,
): readonly Span[] {
  const removed = forgotten.filter((each) => each.pipeline === pipeline.name).flatMap(({ spans }) => spans);
  return subtractSpans(subtractSpans(asked, doneFor(ledger, pipeline)), unionSpans(removed));
}

/** Groups neighbouring turns whose pipelines do not read the rows of each other: lists of the chain. */
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

/** True for changing lists: they are read on a cadence of their own, not with new blocks. */
export function isReading({ walk }: PipelineDef): boolean {
  return walk.kind === 'snapshot';
}

/** Spans of entries that were read before their rows were final, and can be read for the last time now. Oldest first. */
function maturedSpans({ ledger, asked, head }: RoundInput, { name, walk }: PipelineDef): readonly Span[] {
  const lookBack = 'lookBack' in walk ? walk.lookBack : 0;
  if (lookBack === 0) return [];
  const matured = ledger.filter(
    (entry) =>
      entry.pipeline === name &&
      entry.scope === undefined &&
      entry.asOf !== undefined &&
      entry.span.to <= head - lookBack &&
      !isFinal(walk, entry),
  );
  const followed = matured.filter((entry) => subtractSpans(spansOf(entry), asked).length === 0);
  const spans: Span[] = [];
  let blocks = 0;
  for (const { span } of [...followed].sort((a, b) => a.span.from - b.span.from)) {
    if (blocks > 0 && blocks + spanSize(span) > AGAIN_BLOCKS) break;
    spans.push(span);
    blocks += spanSize(span);
  }
  return spans;
}

/** True for a window that may leave missing blocks to the next round. */
export function isFull(window: readonly Span[]): boolean {
  return totalSize(window) >= ROUND_BLOCKS;
}
