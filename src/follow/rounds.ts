import type { IndexHead } from '../chain/index-head.ts';
import { greatest, haveCommon, intersectSpans, type Span, subtractSpans, totalSize, unionSpans } from '../core/span.ts';
import { HeadCheck } from '../export/finality.ts';
import type { OpenExport } from '../export/open-export.ts';
import { PageQueue } from '../export/page-queue.ts';
import type { ProvenChain } from '../export/proven-chain.ts';
import { type RunContext, runContext } from '../export/run-context.ts';
import { runPipeline } from '../export/run-pipeline.ts';
import { StateCache } from '../export/state-cache.ts';
import { storeSink } from '../export/store-sink.ts';
import { stillForgotten } from '../warehouse/index.ts';
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

/** The source does not have the block yet. */
const NOT_INDEXED = 'not-indexed';

/** The blocks and lists to export in a round. */
interface RoundRequest extends Pick<RoundInput, 'requested' | 'due'> {
  readonly ends: IndexHead;
}

export interface RoundsOptions {
  readonly chain: ProvenChain;
  /** Maximum number of concurrent requests. Default 8. */
  readonly concurrency?: number | undefined;
  /** Also exports blocks that were removed on purpose. Default false. */
  readonly isRestoring?: boolean | undefined;
  /** Default: the loaders of the export. */
  readonly loaders?: RoundLoaders | undefined;
}

interface RoundRun {
  readonly context: RunContext;
  readonly ends: IndexHead;
  /** True if pipelines share comparisons of the chain: each then needs its own loader. */
  readonly isSharing: boolean;
}

/** Exports missing blocks round by round. Blocks that cannot be proven are retried later, without delaying others. */
export class Rounds {
  private readonly backoff = new BlockBackoff();
  private readonly options: RoundsOptions;
  private readonly pages: PageQueue;
  private readonly states = new StateCache();
  private readonly heads = new HeadCheck();

  constructor(options: RoundsOptions) {
    this.options = options;
    this.pages = new PageQueue(2 * (options.concurrency ?? 8));
  }

  /**
   * Exports missing blocks that have not failed, and changing lists that are due.
   *
   * @returns true if more blocks may be missing than fit into a round
   * @throws {SourceError} {StoreError} {WalkError} after committing the rows that were already proven
   */
  exportMissing(exporting: OpenExport, round: RoundRequest): Promise<boolean> {
    return this.run(exporting, round, (pipeline) => this.backoff.failedSpans(pipeline));
  }

  /** Retries failed blocks whose back-off is over. @throws as `exportMissing` */
  async retry(exporting: OpenExport, requested: readonly Span[], ends: IndexHead): Promise<void> {
    const { effects, pipelines } = exporting;
    const now = effects.monotonic();
    const dueOf = (pipeline: string): readonly Span[] => this.backoff.dueSpans(pipeline, now);
    const again = intersectSpans(unionSpans(pipelines.flatMap(({ name }) => dueOf(name))), requested);
    if (again.length === 0) return;
    const notDue = (pipeline: string): readonly Span[] =>
      subtractSpans(this.backoff.failedSpans(pipeline), dueOf(pipeline));
    await this.run(exporting, { requested: again, ends, due: new Set() }, notDue);
  }

  /** Missing blocks of the pipeline that misses the most. */
  missing({ store, pipelines }: OpenExport, requested: readonly Span[]): number {
    const input = { requested, ledger: store.ledger(), forgotten: [] };
    return greatest(
      pipelines.filter((pipeline) => !isReading(pipeline)).map((pipeline) => totalSize(missingOf(input, pipeline))),
      0,
    );
  }

  private async run(exporting: OpenExport, round: RoundRequest, deferred: RoundInput['deferred']): Promise<boolean> {
    const { requested, ends, due } = round;
    const { effects, pipelines, store, options } = exporting;
    const forgotten = this.options.isRestoring ? [] : stillForgotten(store.forgotten(), store.ledger());
    const input = { pipelines, requested, due, deferred, forgotten, ledger: store.ledger(), head: ends.last };
    const { window, turns } = planRound(input);
    if (turns.length === 0) return false;
    const blocks = greatest(
      turns.map((turn) => (isReading(turn.pipeline) ? 0 : totalSize(turn.requested))),
      0,
    );
    const loaders = (await this.options.loaders?.for(blocks)) ?? exporting.loaders;
    let isComplete = false;
    try {
      const { registry, session, tally } = exporting;
      const context = runContext({
        options: { ...options, waitMs: 0 },
        session,
        effects,
        registry,
        pipelines,
        asked: requested,
        loaders,
        sink: storeSink(store, registry),
        report: tally.report,
        pages: this.pages,
        states: this.states,
      });
      await this.runTurns(turns, input, {
        context,
        ends,
        isSharing: this.options.loaders?.usesWorker(blocks) === false,
      });
      if (options.stop?.aborted === true) return false;
      isComplete = true;
      for (const { pipeline, requested: attempted } of turns) {
        if (isReading(pipeline)) continue;
        const missing = intersectSpans(missingOf({ ...input, ledger: store.ledger() }, pipeline), attempted);
        this.backoff.note(pipeline.name, attempted, missing, effects.monotonic());
        isComplete &&= missing.length === 0;
      }
      return isFull(window);
    } finally {
      // Account states that disagree with the rows are then requested again with them.
      if (!isComplete) this.states.clear();
    }
  }

  /**
   * Exports pipelines one after the other, and compares the chain before each commit. Leaves out blocks that an earlier pipeline did not find
   * in the index, and blocks whose proof is still missing: rows that are committed without proof are never read again.
   */
  private async runTurns(turns: RoundPlan['turns'], input: RoundInput, { context, ends, isSharing }: RoundRun) {
    const notIndexed: Span[] = [];
    const report: RunContext['report'] = (event) => {
      if (event.event === 'problem' && event.code === NOT_INDEXED) notIndexed.push({ from: event.from, to: event.to });
      context.report(event);
    };
    const provableOf = ({ pipeline, requested }: RoundPlan['turns'][number]): readonly Span[] => {
      if (isReading(pipeline)) return requested;
      const ledger = context.sink.ledger();
      const provers = context.pipelines.filter(({ name }) => pipeline.provenBy.includes(name));
      const unproven = provers.flatMap((prover) => missingOf({ ...input, ledger }, prover));
      return subtractSpans(requested, unionSpans([...notIndexed, ...unproven]));
    };
    for (const group of isSharing ? independentTurns(turns) : turns.map((turn) => [turn])) {
      const running = group.map((turn) => async (compared: () => Promise<void>) => {
        const requested = provableOf(turn);
        if (context.stop.aborted || requested.length === 0) return;
        const sink = comparingSink(context.sink, compared);
        const known = async (): Promise<IndexHead> => ends;
        const chain = { ends: known, newest: known, heads: this.heads };
        await runPipeline({ ...context, report, sink, pipeline: turn.pipeline, asked: requested }, chain);
      });
      await shareComparisons(running, () => this.options.chain.requireSame(context.source, ends, context.stop));
    }
  }
}

/** Compares the chain right before each commit, so that all rows of the commit were fetched from the proven chain. */
function comparingSink(sink: RunContext['sink'], compared: () => Promise<void>): RunContext['sink'] {
  return {
    ...sink,
    commit: async (staged, draft) => {
      await compared();
      return sink.commit(staged, draft);
    },
  };
}

const FIRST_PAUSE_MS = 2_000;
const MAX_PAUSE_MS = 300_000;

interface FailedBlocks {
  readonly span: Span;
  readonly attempts: number;
  /** On the monotonic clock. */
  readonly dueAt: number;
}

/** Retries blocks that could not be proven, with exponential back-off, while the head is followed. */
class BlockBackoff {
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
      return { span, attempts, dueAt: now + Math.min(MAX_PAUSE_MS, FIRST_PAUSE_MS * 2 ** (attempts - 1)) };
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

/** Fetches rows and commits them, and awaits `compared` before each commit. */
export type Committing = (compared: () => Promise<void>) => Promise<void>;

/** A commit that waits for a comparison. */
interface Waiting {
  readonly resume: () => void;
  readonly fail: (error: unknown) => void;
}

/**
 * Lets pipelines share comparisons of the chain: a comparison is valid for all rows that were fetched before it. A pipeline starts to fetch
 * when the one before it reaches a commit. When all have reached one, or have ended, the chain is compared and the waiting commits resume.
 *
 * @throws the first error, after all have ended
 */
export async function shareComparisons(all: readonly Committing[], compare: () => Promise<void>): Promise<void> {
  let isOpen = true;
  let running = 0;
  let waiting: readonly Waiting[] = [];
  const compareIfAllWait = (): void => {
    if (isOpen || waiting.length === 0 || waiting.length < running) return;
    const ready = waiting;
    waiting = [];
    compare().then(
      () => {
        for (const { resume } of ready) resume();
      },
      (error: unknown) => {
        for (const { fail } of ready) fail(error);
      },
    );
  };
  const ends: Promise<void>[] = [];
  for (const committing of all) {
    running++;
    const isFailed = await new Promise<boolean>((next) => {
      const compared = (): Promise<void> =>
        new Promise((resume, fail) => {
          waiting = [...waiting, { resume, fail }];
          next(false);
          compareIfAllWait();
        });
      const end = committing(compared).finally(() => {
        running--;
        compareIfAllWait();
      });
      ends.push(end);
      end.then(
        () => next(false),
        () => next(true),
      );
    });
    if (isFailed) break;
  }
  isOpen = false;
  compareIfAllWait();
  for (const end of await Promise.allSettled(ends)) if (end.status === 'rejected') throw end.reason;
}
