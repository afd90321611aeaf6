import { fetchHead } from '../chain/index-head.ts';
import { type Span, totalSize } from '../core/span.ts';
import type { CommitSteps } from '../export/commit-steps.ts';
import type { Exporting } from '../export/open-export.ts';
import type { ProvenChain } from '../export/proven-chain.ts';
import type { FollowEvent } from './follow-event.ts';
import { Outage } from './outage.ts';
import { Rounds } from './rounds.ts';

/** Tries for blocks that cannot be proven, and the pause between them. */
const TRIES = 5;
const PAUSE_MS = 60_000;

export interface BackfillOptions {
  readonly chain: ProvenChain;
  readonly spans: readonly Span[];
  readonly stop: AbortSignal;
  readonly tell: (event: FollowEvent) => void;
  readonly steps: CommitSteps;
  readonly reopen: () => Promise<Exporting>;
}

/** Exports older blocks beside the head, with what its requests leave of the rate limit. */
export async function backfill(first: Exporting, options: BackfillOptions): Promise<void> {
  const { chain, spans, stop, tell, steps, reopen } = options;
  const rounds = new Rounds({ chain, concurrency: first.options.concurrency, isRestoring: true });
  const outage = new Outage(first, tell);
  let missing = totalSize(spans);
  const bring = async (): Promise<boolean> => {
    const { exporting } = outage;
    const ends = await fetchHead(exporting.session.source, stop);
    const isFull = await rounds.bring(exporting, { asked: spans, ends, due: new Set() });
    if (!isFull) await rounds.retry(exporting, spans, ends);
    return isFull;
  };
  for (let tries = 0; missing > 0 && tries < TRIES && !stop.aborted; ) {
    const isFull = await outage.waitOut(bring, stop, reopen);
    steps.committed();
    if (!isFull) tries++;
    missing = rounds.missing(outage.exporting, spans);
    if (!isFull && missing > 0 && tries < TRIES) await first.effects.sleep(PAUSE_MS, stop);
  }
  if (stop.aborted) return;
  const [from, to] = [spans[0]?.from ?? 0, spans.at(-1)?.to ?? 0];
  tell({ event: 'backfill', complete: missing === 0, from, to, missing });
}
