import { mixOf } from '../chain/mix.ts';
import { jsonText } from '../page/json.ts';
import type { SandboxAnswer, SandboxRequest } from '../server.ts';
import { Ask, type EndpointKey } from './ask.ts';
import * as calls from './calls.ts';
import * as chain from './chain-lists.ts';
import { ApiError } from './errors.ts';
import * as events from './event-lists.ts';
import { type Listing, list } from './list.ts';
import * as pending from './pending.ts';
import * as states from './state-lists.ts';
import * as tokens from './token-lists.ts';
import type { View } from './view.ts';

type Endpoint = (ask: Ask) => string;

function rows<T>(of: Listing<T>): Endpoint {
  return (ask) => list(ask, of);
}

/** Every endpoint of the vendored facts. */
const ENDPOINTS: Readonly<Record<EndpointKey, Endpoint>> = {
  'GET /masterchainInfo': calls.masterchainInfo,
  'GET /blocks': rows(chain.blocks),
  'GET /masterchainBlockShards': rows(chain.masterchainBlockShards),
  'GET /masterchainBlockShardState': rows(chain.masterchainBlockShardState),
  'GET /transactions': rows(chain.transactions),
  'GET /transactionsByMasterchainBlock': rows(chain.transactionsByMasterchainBlock),
  'GET /transactionsByMessage': rows(chain.transactionsByMessage),
  'GET /adjacentTransactions': rows(chain.adjacentTransactions),
  'GET /messages': rows(chain.messages),
  'GET /traces': rows(events.traces),
  'GET /actions': rows(events.actions),
  'GET /jetton/transfers': rows(events.jettonTransfers),
  'GET /jetton/burns': rows(events.jettonBurns),
  'GET /nft/transfers': rows(events.nftTransfers),
  'GET /pendingTransactions': rows(pending.pendingTransactions),
  'GET /pendingTraces': rows(pending.pendingTraces),
  'GET /pendingActions': rows(pending.pendingActions),
  'GET /accountStates': rows(states.accountStates),
  'GET /walletStates': rows(states.walletStates),
  'GET /topAccountsByBalance': rows(states.topAccountsByBalance),
  'GET /dns/records': rows(states.dnsRecords),
  'GET /multisig/wallets': rows(states.multisigWallets),
  'GET /multisig/orders': rows(states.multisigOrders),
  'GET /vesting': rows(states.vesting),
  'GET /jetton/masters': rows(tokens.jettonMasters),
  'GET /jetton/wallets': rows(tokens.jettonWallets),
  'GET /nft/collections': rows(tokens.nftCollections),
  'GET /nft/items': rows(tokens.nftItems),
  'GET /nft/sales': rows(tokens.nftSales),
  'GET /addressBook': calls.addressBook,
  'GET /metadata': calls.metadata,
  'GET /addressInformation': calls.addressInformation,
  'GET /walletInformation': calls.walletInformation,
  'GET /decode': calls.decode,
  'POST /decode': calls.decode,
  'POST /runGetMethod': calls.runGetMethod,
  'POST /estimateFee': calls.estimateFee,
  'POST /message': calls.message,
};

function isEndpoint(key: string): key is EndpointKey {
  return Object.hasOwn(ENDPOINTS, key);
}

/** Answers a request. @param count number of the request, which decides the order of ties */
export function answer(view: View, request: SandboxRequest, count: number): SandboxAnswer {
  try {
    const shuffle = mixOf(view.chain.seed, count, 77);
    const { path } = request;
    const method = request.method === 'HEAD' ? 'GET' : request.method;
    const key = `${method} ${path}`;
    if (isEndpoint(key)) return { status: 200, body: ENDPOINTS[key](new Ask(view, request, key, shuffle)) };
    const isKnown = isEndpoint(`GET ${path}`);
    const problem = isKnown ? 'Method Not Allowed' : `Cannot ${method} ${path.slice(1)}`;
    throw new ApiError(500, `internal server error: ${problem}`);
  } catch (error) {
    if (error instanceof ApiError) return { status: error.status, body: `{"error":${jsonText(error.message)}}` };
    const message = error instanceof Error ? error.message : String(error);
    return { status: 500, body: `{"error":${jsonText(`internal server error: ${message}`)}}` };
  }
}
