import {
  accountStates,
  addressBook,
  addressInformation,
  metadata,
  topAccountsByBalance,
  walletInformation,
  walletStates,
} from './accounts.ts';
import { actions } from './actions.ts';
import { blocks, masterchainBlockShardState, masterchainBlockShards, masterchainInfo } from './blocks.ts';
import { decode, decodePosted, estimateFee, jsonBody, runGetMethod, sendMessage } from './calls.ts';
import { dnsRecords, multisigOrders, multisigWallets, vesting } from './contracts.ts';
import { adjacentTransactions, transactionsByMessage } from './lookups.ts';
import { messages } from './messages.ts';
import { nftCollections, nftItems } from './nfts.ts';
import { jettonBurns, jettonTransfers, nftTransfers } from './orders.ts';
import { ApiError, type Params } from './params.ts';
import { pendingActions, pendingTraces, pendingTransactions } from './pending.ts';
import { Reply } from './reply.ts';
import { nftSales } from './sales.ts';
import { jettonMasters, jettonWallets } from './tokens.ts';
import { traces } from './traces.ts';
import { transactions, transactionsByMasterchainBlock } from './transactions.ts';
import type { View } from './view.ts';

/** What differs between requests. */
interface Occasion {
  /** Decides the order of ties. */
  readonly shuffle: number;
  /** How many blocks the head of `/masterchainInfo` is behind. */
  readonly lag: number;
  /** The body of a POST. */
  readonly body: string;
  readonly contentType: string | undefined;
}

type Endpoint = (reply: Reply) => string | Buffer;
type Call = (view: View, body: Readonly<Record<string, unknown>>) => string;

/** GET endpoints by path. */
const ENDPOINTS: Readonly<Record<string, Endpoint>> = {
  blocks,
  masterchainBlockShards,
  masterchainBlockShardState,
  transactions,
  transactionsByMasterchainBlock,
  transactionsByMessage,
  adjacentTransactions,
  messages,
  traces,
  actions,
  'jetton/transfers': jettonTransfers,
  'jetton/burns': jettonBurns,
  'jetton/masters': jettonMasters,
  'jetton/wallets': jettonWallets,
  'nft/transfers': nftTransfers,
  'nft/collections': nftCollections,
  'nft/items': nftItems,
  'nft/sales': nftSales,
  'dns/records': dnsRecords,
  'multisig/wallets': multisigWallets,
  'multisig/orders': multisigOrders,
  vesting,
  accountStates,
  walletStates,
  addressBook,
  metadata,
  addressInformation,
  walletInformation,
  topAccountsByBalance,
  decode,
  pendingTransactions,
  pendingTraces,
  pendingActions,
};

/** POST endpoints by path. */
const CALLS: Readonly<Record<string, Call>> = {
  runGetMethod,
  estimateFee: (_, body) => estimateFee(body),
  message: (_, body) => sendMessage(body),
  decode: decodePosted,
};

/** The body of a response. @throws {ApiError} for an error response */
export function answer(view: View, method: string, path: string, params: Params, occasion: Occasion): string | Buffer {
  const call = Object.hasOwn(CALLS, path) ? CALLS[path] : undefined;
  if (method === 'POST' && call !== undefined) return call(view, jsonBody(occasion.body, occasion.contentType));
  const reads = method === 'GET' || method === 'HEAD';
  if (path === 'masterchainInfo' && reads) return masterchainInfo(view, occasion.lag);
  const endpoint = Object.hasOwn(ENDPOINTS, path) ? ENDPOINTS[path] : undefined;
  if (endpoint === undefined && path !== 'masterchainInfo') {
    throw new ApiError(500, `internal server error: Cannot ${method} ${path}`);
  }
  if (endpoint === undefined || !reads) throw new ApiError(500, 'internal server error: Method Not Allowed');
  return endpoint(new Reply(view, params, occasion.shuffle));
}
