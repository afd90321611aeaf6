import { Actions } from '../actions/actions.ts';
import { Chain, type ChainOptions } from '../chain/chain.ts';
import { remembered } from '../chain/mix.ts';
import type { Template } from '../chain/model.ts';
import { TraceIndex } from '../chain/trace-index.ts';
import { BlockPages } from '../page/blocks.ts';
import { TransactionForms } from '../page/transactions.ts';

/** How many networks are kept. Each takes up to 30 MB, once all transactions of an epoch have been shown. */
const KEPT_NETWORKS = 2;

/** What depends on the seed and the options of a chain alone: the same for all sandboxes of a process that share them. */
export class SharedNetwork {
  readonly chain: Chain;
  readonly traces: TraceIndex;
  readonly actions: Actions;
  readonly blocks: BlockPages;
  readonly #forms = new Map<Template, TransactionForms>();

  constructor(seed: number, options: ChainOptions) {
    this.chain = new Chain(seed, options);
    this.traces = new TraceIndex(this.chain);
    this.actions = new Actions(this.chain, this.traces);
    this.blocks = new BlockPages(this.chain);
  }

  formsOf(template: Template): TransactionForms {
    return remembered(this.#forms, template, () => new TransactionForms(template, this.chain.codec, this.chain.clock));
  }
}

const kept = new Map<string, SharedNetwork>();

/** A network, as it was made before, if it is one of the last that were asked for. */
export function sharedNetwork(seed: number, options: ChainOptions): SharedNetwork {
  const { tieSeqno, activity, blockTimeMs } = options;
  const key = `${seed} ${tieSeqno} ${activity} ${blockTimeMs}`;
  const network = kept.get(key) ?? new SharedNetwork(seed, { tieSeqno, activity, blockTimeMs });
  // The least recently asked for comes first.
  kept.delete(key);
  kept.set(key, network);
  for (const oldest of kept.keys()) if (kept.size > KEPT_NETWORKS) kept.delete(oldest);
  return network;
}
