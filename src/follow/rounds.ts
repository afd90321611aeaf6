import type { IndexEnds } from '../chain/index-ends.ts';
import { greatest, intersectSpans, type Span, subtractSpans, totalSize, unionSpans } from '../core/span.ts';
import type { Exporting } from '../export/open-export.ts';
import { PageQueue } from '../export/page-queue.ts';
import type { ProvenChain } from '../export/proven-chain.ts';
import { type RunContext, runContext } from '../export/run-context.ts';
import { runPipeline } from '../export/run-pipeline.ts';
import { StateCache } from '../export/state-cache.ts';
import { storeSink } from '../export/store-sink.ts';
import { stillForgotten } from '../warehouse/index.ts';
import { BlockBackoff } from './block-backoff.ts';
import type { RoundLoaders } from './round-loaders.ts';
import {
  independentTurns,
  isFull,
  isReading,
  missingOf,
  planRound,
  type RoundInput,
  type RoundPlan,
} from './round-plan.ts';
import { shareComparisons } from './shared-comparison.ts';

/** Code of the error for a block that the source does not have yet. */
const NOT_INDEXED = 'not-indexed';

/** The blocks and lists of one round. */
export interface RoundOf extends Pick<RoundInput, 'asked' | 'due'> {
  readonly ends: IndexEnds;
}

export interface RoundsOptions {
  readonly chain: ProvenChain;
  /** Maximum of concurrent requests. Default 8. */
  readonly concurrency?: number | undefined;
  /** True to export blocks again that were removed on purpose. Default false. */
  readonly isRestoring?: boolean | undefined;
  /** Loaders by the size of a round. Default: those of the export. */
  readonly loaders?: RoundLoaders | undefined;
}

/** How the pipelines of a round run. */
interface RoundRun {
  readonly context: RunContext;
  readonly ends: IndexEnds;
  /** True if pipelines share comparisons, for which each needs a loader of its own. */
  readonly isSharing: boolean;
}

/** Brings in what is missing, round by round. Blocks that cannot be proven are tried again later, and hold up no others. */
export class Rounds {
  private readonly backoff = new BlockBackoff();
  private readonly options: RoundsOptions;
  private readonly pages: PageQueue;
  private readonly states = new StateCache();

  constructor(options: RoundsOptions) {
    this.options = options;
    this.pages = new PageQueue(2 * (options.concurrency ?? 8));
  }

  /**
   * Brings in missing blocks that did not fail before, and what else is due.
   *
   * @returns true if more blocks may be missing than a round takes
   * @throws what made the source or the warehouse unusable, after committing what was proven by then
   */
  bring(exporting: Exporting, round: RoundOf): Promise<boolean> {
    return this.take(exporting, round, (pipeline) => this.backoff.failedSpans(pipeline));
  }

  /** Tries blocks again that failed some time ago. @throws as `bring` */
  async retry(exporting: Exporting, asked: readonly Span[], ends: IndexEnds): Promise<void> {
    const { effects, pipelines } = exporting;
    const now = effects.monotonic();
    const dueOf = (pipeline: string): readonly Span[] => this.backoff.dueSpans(pipeline, now);
    const again = intersectSpans(unionSpans(pipelines.flatMap(({ name }) => dueOf(name))), asked);
    if (again.length === 0) return;
    const rest = (pipeline: string): readonly Span[] =>
      subtractSpans(this.backoff.failedSpans(pipeline), dueOf(pipeline));
    await this.take(exporting, { asked: again, ends, due: new Set() }, rest);
  }

  /** Most blocks that a pipeline lacks. */
  missing({ store, pipelines }: Exporting, asked: readonly Span[]): number {
    const input = { asked, ledger: store.ledger(), forgotten: [] };
    return greatest(
      pipelines.filter((pipeline) => !isReading(pipeline)).map((pipeline) => totalSize(missingOf(input, pipeline))),
      0,
    );
  }

  private async take(exporting: Exporting, round: RoundOf, deferred: RoundInput['deferred']): Promise<boolean> {
    const { asked, ends, due } = round;
    const { effects, pipelines, store, options } = exporting;
    const forgotten = this.options.isRestoring ? [] : stillForgotten(store.forgotten(), store.ledger());
    const input = { pipelines, asked, due, deferred, forgotten, ledger: store.ledger(), head: ends.last };
    const { window, turns } = planRound(input);
    if (turns.length === 0) return false;
    const blocks = greatest(
      turns.map((turn) => (isReading(turn.pipeline) ? 0 : totalSize(turn.asked))),
      0,
    );
    const loaders = (await this.options.loaders?.for(blocks)) ?? exporting.loaders;
    // A state that was wrong is asked for again with the rows that did not agree with it.
    let isWhole = false;
    try {
      const { registry, session, tally } = exporting;
      const context = runContext({
        ...{ options: { ...options, waitMs: 0 }, session, effects, registry, pipelines, asked, loaders },
        ...{ sink: storeSink(store, registry), report: tally.report, pages: this.pages, states: this.states },
      });
      await this.runTurns(turns, input, {
        context,
        ends,
        isSharing: !(this.options.loaders?.areShared(blocks) ?? true),
      });
      if (options.stop?.aborted === true) return false;
      isWhole = true;
      for (const { pipeline, asked: tried } of turns) {
        if (isReading(pipeline)) continue;
        const missing = intersectSpans(missingOf({ ...input, ledger: store.ledger() }, pipeline), tried);
        this.backoff.note(pipeline.name, tried, missing, effects.monotonic());
        isWhole &&= missing.length === 0;
      }
      return isFull(window);
    } finally {
      if (!isWhole) this.states.clear();
    }
  }

  /**
   * Exports pipelines one after the other, and compares the chain before their commits. Blocks are left out, to be tried again with the
   * others that failed, if an earlier pipeline has waited for them in vain, or if the rows that prove theirs are still missing: what is
   * committed without proof is never read again.
   */
  private async runTurns(turns: RoundPlan['turns'], input: RoundInput, { context, ends, isSharing }: RoundRun) {
    const late: Span[] = [];
    const report: RunContext['report'] = (event) => {
      if (event.event === 'problem' && event.code === NOT_INDEXED) late.push({ from: event.from, to: event.to });
      context.report(event);
    };
    const restOf = ({ pipeline, asked }: RoundPlan['turns'][number]): readonly Span[] => {
      if (isReading(pipeline)) return asked;
      const ledger = context.sink.ledger();
      const provers = context.pipelines.filter(({ name }) => pipeline.provenBy.includes(name));
      const unproven = provers.flatMap((prover) => missingOf({ ...input, ledger }, prover));
      return subtractSpans(asked, unionSpans([...late, ...unproven]));
    };
    for (const group of isSharing ? independentTurns(turns) : turns.map((turn) => [turn])) {
      const running = group.map((turn) => async (compared: () => Promise<void>) => {
        const asked = restOf(turn);
        if (context.stop.aborted || asked.length === 0) return;
        const sink = guarded(context.sink, compared);
        const answer = async (): Promise<IndexEnds> => ends;
        const chain = { ends: answer, newest: answer };
        await runPipeline({ ...context, report, sink, pipeline: turn.pipeline, asked }, chain);
      });
      await shareComparisons(running, () => this.options.chain.requireSame(context.source, ends));
    }
  }
}

/** A sink that compares the chain right before each commit: rows that were fetched before are of the chain that is proven. */
function guarded(sink: RunContext['sink'], compared: () => Promise<void>): RunContext['sink'] {
  return {
    ...sink,
    commit: async (staged, draft) => {
      await compared();
      return sink.commit(staged, draft);
    },
  };
}
