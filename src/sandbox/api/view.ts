import { type ActionRow, Actions } from '../actions/actions.ts';
import { Chain, type ChainOptions } from '../chain/chain.ts';
import { FIRST_SEQNO, slotOf } from '../chain/clock.ts';
import { cached } from '../chain/mix.ts';
import { backOf, type MessageKey, masterchainSeqno, type Transaction, type TransactionRow } from '../chain/model.ts';
import { endSeqno, TraceIndex, type TraceRow } from '../chain/trace-index.ts';
import { BlockRecords } from '../page/block-records.ts';
import { TransactionRecords } from '../page/transaction-records.ts';
import { demand, timeout } from './api-error.ts';
import { LatestStates } from './latest-states.ts';

/** How many inbound externals the server can sort before its timeout. */
const EXTERNALS_PER_STATEMENT = 150_000;
/** Number of cached networks. */
const CACHED_NETWORKS = 4;
const networks = new Map<string, ReturnType<typeof makeNetwork>>();

/** The parts that depend on seed and chain options alone, shared by all sandboxes of a process that have them in common. */
function makeNetwork(seed: number, options: ChainOptions) {
  const chain = new Chain(seed, options);
  const traces = new TraceIndex(chain);
  const [blocks, records] = [new BlockRecords(chain), new TransactionRecords(chain)];
  return { chain, traces, actions: new Actions(chain, traces), blocks, records };
}

/** A network; the most recently used ones are cached. */
function sharedNetwork(seed: number, options: ChainOptions) {
  const { tieSeqno, activity, blockTimeMs, hasCells } = options;
  const key = `${seed} ${tieSeqno} ${activity} ${blockTimeMs} ${hasCells}`;
  const network = cached(networks, key, () => makeNetwork(seed, options));
  // The least recently used comes first.
  networks.delete(key);
  networks.set(key, network);
  for (const oldest of networks.keys()) if (networks.size > CACHED_NETWORKS) networks.delete(oldest);
  return network;
}

/** The chain up to the head, as endpoints read it. */
export type View = ReturnType<typeof viewOf>;

/** @param actionLag Number of blocks that actions lag behind the head */
export function viewOf(seed: number, head: () => number, options: ChainOptions & { readonly actionLag: number }) {
  const network = sharedNetwork(seed, options);
  const { chain, actions } = network;
  let bodies: ReadonlyMap<string, string> | undefined;
  let externals: { readonly head: number; readonly rows: readonly MessageKey[] } | undefined;

  /** True if a masterchain block is indexed, with everything in it. */
  const isIndexed = (seqno: number): boolean => seqno >= FIRST_SEQNO && seqno <= head();
  const isVisible = (row: TransactionRow): boolean => isIndexed(masterchainSeqno(row));

  const readInboundExternals = (): readonly MessageKey[] => {
    const found: MessageKey[] = [];
    for (let slot = slotOf(FIRST_SEQNO); slot <= slotOf(head()); slot += 1) {
      for (const row of chain.createdIn(slot)) {
        if (row.message.from === undefined && sidesOf(row).received !== undefined) found.push(row);
      }
      if (found.length > EXTERNALS_PER_STATEMENT) throw timeout();
    }
    return found;
  };

  /** The transactions of a message that are indexed. */
  const sidesOf = ({ template, message, epoch }: MessageKey) => {
    const shown = (transaction: Transaction | undefined, at: number): TransactionRow | undefined => {
      const row = transaction && chain.row(template, transaction, at);
      return row !== undefined && isVisible(row) ? row : undefined;
    };
    return { sent: shown(message.from, epoch), received: shown(message.to, epoch + backOf(message)) };
  };

  return {
    ...network,
    head,
    latestStates: new LatestStates(chain, head),
    isIndexed,
    isVisible,
    sidesOf,

    /** @throws {ApiError} 404 if the transactions of a masterchain block cannot be requested */
    requireTransactions: (seqno: number | undefined): void => {
      demand(seqno === undefined || isIndexed(seqno), `masterchain block ${seqno} not found`, 404);
    },

    /** Actions of a trace; none until they are indexed. */
    classified: (trace: TraceRow): readonly ActionRow[] =>
      endSeqno(trace) > head() - options.actionLag ? [] : actions.of(trace),

    /** True if the last block of a trace is indexed. */
    isComplete: (trace: TraceRow): boolean => isIndexed(endSeqno(trace)),

    transactionByHash: (hash: string): TransactionRow | undefined => chain.transactionByHash(hash, head()),
    messageByHash: (hash: string): MessageKey | undefined => chain.messageByHash(hash, head()),

    /** The received inbound externals of the whole chain: they have no time. @throws {ApiError} 500 if they are too many */
    inboundExternals: (): readonly MessageKey[] => {
      if (externals?.head !== head()) externals = { head: head(), rows: readInboundExternals() };
      return externals.rows;
    },

    /** The decoded form of all bodies in ordinary epochs. */
    knownBodies: (): ReadonlyMap<string, string> => {
      bodies ??= new Map(chain.epoch.messages.map(({ body }) => [body.boc, body.decoded]));
      return bodies;
    },
  };
}
