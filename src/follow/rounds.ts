import type { IndexEnds } from '../chain/index-ends.ts';
import { intersectSpans, type Span, totalSize } from '../core/span.ts';
import { bringEach, type CommonRun, commonRun, type Exporting } from '../export/exporting.ts';
import { PageQueue } from '../export/page-queue.ts';
import { stillForgotten } from '../warehouse/index.ts';
import { BlockBackoff } from './block-backoff.ts';
import { isFull, missingOf, planRound, type RoundInput } from './round-plan.ts';
import type { SealedChain } from './sealed-chain.ts';

/** The blocks and lists of one round. */
export interface RoundOf extends Pick<RoundInput, 'due'> {
  readonly asked: readonly Span[];
  readonly ends: IndexEnds;
}

export interface RoundOutcome {
  /** False if nothing was missing or due. */
  readonly hasTurns: boolean;
  /** True if more blocks may be missing than a round takes. */
  readonly isFull: boolean;
}

/** Brings in what is missing, round by round. Blocks that cannot be sealed are tried again later, and hold up no others. */
export class Rounds {
  readonly backoff = new BlockBackoff();
  private readonly chain: SealedChain;
  private readonly pages: PageQueue;

  constructor(chain: SealedChain, concurrency = 8) {
    this.chain = chain;
    this.pages = new PageQueue(2 * concurrency);
  }

  /** @throws what made the source or the warehouse unusable, after committing what was proven by then */
  async bring(exporting: Exporting, { asked, ends, due }: RoundOf): Promise<RoundOutcome> {
    const { effects, pipelines, store } = exporting;
    const now = effects.monotonic();
    const input = { pipelines, asked, due, ledger: store.ledger(), forgotten: this.forgotten(exporting) };
    const deferred = (pipeline: string): readonly Span[] => this.backoff.deferred(pipeline, now);
    const { window, turns } = planRound({ ...input, deferred, head: ends.last });
    if (turns.length === 0) return { hasTurns: false, isFull: false };
    await bringEach(this.guarded(exporting, asked, ends), turns);
    if (!(exporting.options.stop?.aborted ?? false)) {
      for (const { pipeline, asked: tried } of turns) {
        const missing = missingOf({ ...input, ledger: store.ledger() }, pipeline);
        this.backoff.note(pipeline.name, tried, intersectSpans(missing, tried), effects.monotonic());
      }
    }
    return { hasTurns: true, isFull: isFull(window) };
  }

  /** Blocks of any pipeline that are missing. */
  missing(exporting: Exporting, asked: readonly Span[]): number {
    const input = { asked, ledger: exporting.store.ledger(), forgotten: this.forgotten(exporting) };
    return exporting.pipelines.reduce((most, pipeline) => Math.max(most, totalSize(missingOf(input, pipeline))), 0);
  }

  private forgotten({ store }: Exporting) {
    return stillForgotten(store.forgotten(), store.ledger());
  }

  /** Compares the chain right before each commit: rows that were fetched before are of the chain that is sealed. */
  private guarded(exporting: Exporting, asked: readonly Span[], ends: IndexEnds): CommonRun {
    const { source } = exporting.session;
    const answer = async (): Promise<IndexEnds> => ends;
    const common = commonRun(exporting, { asked, waitMs: 0, chain: { ends: answer, newest: answer } });
    const { sink } = common;
    return {
      ...common,
      pages: this.pages,
      sink: {
        ...sink,
        commit: async (staged, draft) => {
          await this.chain.requireSame(source, ends);
          return sink.commit(staged, draft);
        },
      },
    };
  }
}
