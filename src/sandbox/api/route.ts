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
import { nftSales } from './sales.ts';
import { jettonMasters, jettonWallets } from './tokens.ts';
import { traces } from './traces.ts';
import { transactions, transactionsByMasterchainBlock } from './transactions.ts';
import type { View } from './view.ts';

/** What one request may see differently from another. */
export interface Occasion {
  /** Changes the order of ties. */
  readonly shuffle: number;
  /** Blocks that the answering replica is behind. */
  readonly lag: number;
  /** What was posted, and as what. */
  readonly body?: string;
  readonly contentType?: string | undefined;
}

type Endpoint = (view: View, params: Params, shuffle: number) => string | Buffer;
type Call = (view: View, body: Readonly<Record<string, unknown>>) => string;

/** Endpoints that are read by GET, by their path under the base. */
export const ENDPOINTS: Readonly<Record<string, Endpoint>> = {
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

/** Endpoints that take a JSON body by POST. */
export const CALLS: Readonly<Record<string, Call>> = {
  runGetMethod,
  estimateFee: (_, body) => estimateFee(body),
  message: (_, body) => sendMessage(body),
  decode: decodePosted,
};

/** The body of an answer. @throws {ApiError} when the server would answer with an error. */
export function answer(view: View, method: string, path: string, params: Params, occasion: Occasion): string | Buffer {
  const call = Object.hasOwn(CALLS, path) ? CALLS[path] : undefined;
  if (method === 'POST' && call !== undefined) return call(view, jsonBody(occasion.body ?? '', occasion.contentType));
  const reads = method === 'GET' || method === 'HEAD';
  if (path === 'masterchainInfo' && reads) return masterchainInfo(view, occasion.lag);
  const endpoint = Object.hasOwn(ENDPOINTS, path) ? ENDPOINTS[path] : undefined;
  if (endpoint === undefined && path !== 'masterchainInfo') {
    throw new ApiError(500, `internal server error: Cannot ${method} ${path}`);
  }
  if (endpoint === undefined || !reads) throw new ApiError(500, 'internal server error: Method Not Allowed');
  return endpoint(view, params, occasion.shuffle);
}
