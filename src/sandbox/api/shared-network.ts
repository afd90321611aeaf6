import { Actions } from '../actions/actions.ts';
import { Chain, type ChainOptions } from '../chain/chain.ts';
import { TraceIndex } from '../chain/trace-index.ts';
import { BlockPages } from '../page/blocks.ts';
import { TransactionTexts } from '../page/transactions.ts';

/** How many networks are kept. */
const KEPT_NETWORKS = 4;

/** What depends on the seed and the options of a chain alone: the same for all sandboxes of a process that share them. */
export class SharedNetwork {
  readonly chain: Chain;
  readonly traces: TraceIndex;
  readonly actions: Actions;
  readonly blocks: BlockPages;
  readonly records: TransactionTexts;

  constructor(seed: number, options: ChainOptions) {
    this.chain = new Chain(seed, options);
    this.traces = new TraceIndex(this.chain);
    this.actions = new Actions(this.chain, this.traces);
    this.blocks = new BlockPages(this.chain);
    this.records = new TransactionTexts(this.chain);
  }
}

const kept = new Map<string, SharedNetwork>();

/** A network, as it was made before, if it is one of the last that were asked for. */
export function sharedNetwork(seed: number, options: ChainOptions): SharedNetwork {
  const { tieSeqno, activity, blockTimeMs, hasCells } = options;
  const key = `${seed} ${tieSeqno} ${activity} ${blockTimeMs} ${hasCells}`;
  const network = kept.get(key) ?? new SharedNetwork(seed, { tieSeqno, activity, blockTimeMs, hasCells });
  // The least recently asked for comes first.
  kept.delete(key);
  kept.set(key, network);
  for (const oldest of kept.keys()) if (kept.size > KEPT_NETWORKS) kept.delete(oldest);
  return network;
}
