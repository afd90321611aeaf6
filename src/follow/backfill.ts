import { fetchHead } from '../chain/index-head.ts';
import { type Span, totalSize } from '../core/span.ts';
import type { Exporting } from '../export/open-export.ts';
import type { ProvenChain } from '../export/proven-chain.ts';
import type { FollowEvent } from './follow-event.ts';
import { canPass, isOfKey, Outage } from './outage.ts';
import { Rounds } from './rounds.ts';

/** Tries for blocks that cannot be proven, and the pause between them. */
const TRIES = 5;
const PAUSE_MS = 60_000;

export interface BackfillOptions {
  readonly chain: ProvenChain;
  readonly spans: readonly Span[];
  readonly stop: AbortSignal;
  readonly tell: (event: FollowEvent) => void;
  readonly reopen: () => Promise<Exporting>;
}

/** Exports older blocks beside the head, with what its requests leave of the rate limit. */
export async function backfill(first: Exporting, options: BackfillOptions): Promise<void> {
  const { chain, spans, stop, tell, reopen } = options;
  const { effects } = first;
  const rounds = new Rounds({ chain, concurrency: first.options.concurrency, isRestoring: true });
  const outage = new Outage(effects, tell);
  let exporting = first;
  let missing = totalSize(spans);
  for (let tries = 0; missing > 0 && tries < TRIES && !stop.aborted; ) {
    try {
      const ends = await fetchHead(exporting.session.source, stop);
      const isFull = await rounds.bring(exporting, { asked: spans, ends, due: new Set() });
      if (!isFull) {
        await rounds.retry(exporting, spans, ends);
        tries++;
      }
      outage.end();
      missing = rounds.missing(exporting, spans);
      if (!isFull && missing > 0 && tries < TRIES) await effects.sleep(PAUSE_MS, stop);
    } catch (error) {
      if (stop.aborted) return;
      if (!canPass(error)) throw error;
      await outage.wait(error, stop);
      if (isOfKey(error)) exporting = await reopen().catch(() => exporting);
    }
  }
  if (stop.aborted) return;
  const [from, to] = [spans[0]?.from ?? 0, spans.at(-1)?.to ?? 0];
  tell({ event: 'backfill', complete: missing === 0, from, to, missing });
}
