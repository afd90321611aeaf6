import { mixOf } from '../chain/mix.ts';
import { jsonText } from '../page/json.ts';
import type { SandboxAnswer, SandboxRequest } from '../server.ts';
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
import { ApiError, Params } from './params.ts';
import { pendingActions, pendingTraces, pendingTransactions } from './pending.ts';
import { Reply } from './reply.ts';
import { nftSales } from './sales.ts';
import { jettonMasters, jettonWallets } from './tokens.ts';
import { traces } from './traces.ts';
import { transactions, transactionsByMasterchainBlock } from './transactions.ts';
import type { View } from './view.ts';

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

/** Answers a request. @param count number of the request, which decides the order of ties */
export function answer(view: View, request: SandboxRequest, count: number): SandboxAnswer {
  try {
    return { status: 200, body: bodyOf(view, request, mixOf(view.chain.seed, count, 77)) };
  } catch (error) {
    if (error instanceof ApiError) return { status: error.status, body: `{"error":${jsonText(error.message)}}` };
    const message = error instanceof Error ? error.message : String(error);
    return { status: 500, body: `{"error":${jsonText(`internal server error: ${message}`)}}` };
  }
}

/** @throws {ApiError} for an error response */
function bodyOf(view: View, request: SandboxRequest, shuffle: number): string | Buffer {
  const { method, query, headers, body } = request;
  const path = request.path.slice(1);
  const call = Object.hasOwn(CALLS, path) ? CALLS[path] : undefined;
  if (method === 'POST' && call !== undefined) return call(view, jsonBody(body, headers['content-type']));
  const reads = method === 'GET' || method === 'HEAD';
  if (path === 'masterchainInfo' && reads) return masterchainInfo(view);
  const endpoint = Object.hasOwn(ENDPOINTS, path) ? ENDPOINTS[path] : undefined;
  if (endpoint === undefined && path !== 'masterchainInfo') {
    throw new ApiError(500, `internal server error: Cannot ${method} ${path}`);
  }
  if (endpoint === undefined || !reads) throw new ApiError(500, 'internal server error: Method Not Allowed');
  return endpoint(new Reply(view, new Params(query, headers), shuffle));
}
