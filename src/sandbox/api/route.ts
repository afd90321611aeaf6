import { blocks, masterchainBlockShardState, masterchainBlockShards, masterchainInfo } from './blocks.ts';
import { messages } from './messages.ts';
import { ApiError, type Params } from './params.ts';
import { transactions, transactionsByMasterchainBlock } from './transactions.ts';
import type { View } from './view.ts';

/** What one request may see differently from another. */
export interface Occasion {
  /** Changes the order of ties. */
  readonly shuffle: number;
  /** Blocks that the answering replica is behind. */
  readonly lag: number;
}

type Endpoint = (view: View, params: Params, occasion: Occasion) => string | Buffer;

/** Endpoints by their path under the base, all read by GET. */
export const ENDPOINTS: Readonly<Record<string, Endpoint>> = {
  masterchainInfo: (view, _, { lag }) => masterchainInfo(view, lag),
  blocks: (view, params, { shuffle }) => blocks(view, params, shuffle),
  masterchainBlockShards: (view, params, { shuffle }) => masterchainBlockShards(view, params, shuffle),
  masterchainBlockShardState,
  transactions,
  transactionsByMasterchainBlock,
  messages,
};

/** The body of an answer. @throws {ApiError} when the server would answer with an error. */
export function answer(view: View, method: string, path: string, params: Params, occasion: Occasion): string | Buffer {
  const endpoint = Object.hasOwn(ENDPOINTS, path) ? ENDPOINTS[path] : undefined;
  if (endpoint === undefined) throw new ApiError(500, `internal server error: Cannot ${method} ${path}`);
  if (method !== 'GET' && method !== 'HEAD') throw new ApiError(500, 'internal server error: Method Not Allowed');
  return endpoint(view, params, occasion);
}
