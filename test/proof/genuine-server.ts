import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterFile } from '../scratch.ts';
import { genuineTransactions, type Json } from './genuine.ts';

const FIRST = 1000;
const SHARD = '8000000000000000';

/** A server of a chain of genuine transactions, one block for each of their times. What no hash covers, the blocks, is made up. */
export interface GenuineServer {
  readonly url: string;
  /** All blocks: `1000:1200`. */
  readonly range: string;
  /** The transactions that it sends, which may be changed. */
  readonly transactions: readonly Json[];
  /** Requests for the transactions of each block. */
  readonly requests: Map<number, number>;
}

/**
 * Starts servers of all transactions of the chain, or of those that were emulated; they end with the tests of the file. They come from several
 * shards, whose times overlap: each server has as many as can follow each other in one shard.
 */
export async function startGenuineServers(isEmulated = false): Promise<readonly GenuineServer[]> {
  const transactions = genuineTransactions().filter(({ emulated }) => (emulated === true) === isEmulated);
  return Promise.all(chainsOf(blocksOf(transactions)).map(startServer));
}

async function startServer(blocks: readonly Json[][]): Promise<GenuineServer> {
  for (const [index, own] of blocks.entries()) {
    for (const transaction of own) {
      transaction['mc_block_seqno'] = FIRST + index;
      transaction['block_ref'] = { workchain: workchainOf(transaction), shard: SHARD, seqno: FIRST + index };
    }
  }
  const requests = new Map<number, number>();
  const last = FIRST + blocks.length - 1;
  const answer = (path: string, query: URLSearchParams): unknown => {
    const seqno = Number(query.get('seqno') ?? query.get('mc_seqno'));
    const own = blocks[seqno - FIRST] ?? [];
    switch (path) {
      case '/masterchainInfo':
        return { first: headersOf(FIRST, blocks[0] ?? [])[0], last: headersOf(last, blocks.at(-1) ?? [])[0] };
      case '/blocks':
      case '/masterchainBlockShardState':
        return { blocks: seqno < FIRST || seqno > last ? [] : headersOf(seqno, own) };
      case '/transactionsByMasterchainBlock':
        requests.set(seqno, (requests.get(seqno) ?? 0) + 1);
        return { transactions: own, address_book: {} };
      default:
        throw new Error(`expected a known path, got ${path}`);
    }
  };
  const server = createServer((request, response) => {
    const { pathname, searchParams } = new URL(request.url ?? '', 'http://127.0.0.1');
    const body = JSON.stringify(answer(pathname.replace('/api/v3', ''), searchParams));
    response.writeHead(200, { 'content-type': 'application/json' }).end(body);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  afterFile(() => server.close());
  const { port } = server.address() as AddressInfo;
  const transactions = blocks.flat();
  return { url: `http://127.0.0.1:${port}/api/v3`, range: `${FIRST}:${last}`, transactions, requests };
}

const workchainOf = ({ account }: Json): number => Number(String(account).split(':')[0]);
const ltOf = (transaction: Json | undefined): bigint => BigInt(String(transaction?.['lt']));

/** Transactions by their time, in the order of logical time. */
function blocksOf(all: readonly Json[]): readonly Json[][] {
  const byTime = new Map<unknown, Json[]>();
  for (const transaction of all.toSorted((a, b) => (ltOf(a) < ltOf(b) ? -1 : 1))) {
    const own = byTime.get(transaction['now']) ?? [];
    own.push(transaction);
    byTime.set(transaction['now'], own);
  }
  return [...byTime.values()];
}

/** Chains of blocks, each later than the one before it: a block continues the first chain that it can. */
function chainsOf(blocks: readonly Json[][]): readonly Json[][][] {
  const chains: Json[][][] = [];
  const follows = (own: readonly Json[], before: readonly Json[]): boolean =>
    Number(own[0]?.['now']) > Number(before[0]?.['now']) && ltOf(own[0]) > ltOf(before.at(-1));
  for (const own of blocks) {
    const chain = chains.find((one) => follows(own, one.at(-1) ?? []));
    if (chain === undefined) chains.push([own]);
    else chain.push(own);
  }
  return chains;
}

/** Headers of a masterchain block, and of the block of the only shard. */
function headersOf(seqno: number, own: readonly Json[]): readonly object[] {
  const lts = own.map((transaction) => BigInt(String(transaction['lt'])));
  const counts = [-1, 0].map((workchain) => own.filter((transaction) => workchainOf(transaction) === workchain).length);
  const hash = (kind: number): string => Buffer.alloc(32, `${kind} ${seqno}`).toString('base64');
  const header = (workchain: number, count: number): object => ({
    ...{ workchain, shard: SHARD, seqno, root_hash: hash(workchain), file_hash: hash(workchain + 2), global_id: -239 },
    ...{ version: 0, after_merge: false, before_split: false, after_split: false, want_merge: true, want_split: false },
    ...{ key_block: false, vert_seqno_incr: false, flags: 1, gen_utime: String(own[0]?.['now']) },
    ...{ start_lt: String(lts[0]), end_lt: String(lts.at(-1)), validator_list_hash_short: 1, gen_catchain_seqno: 1 },
    ...{ min_ref_mc_seqno: 1, prev_key_block_seqno: 1, vert_seqno: 0, master_ref_seqno: 0, rand_seed: hash(3) },
    ...{ created_by: hash(4), tx_count: count, masterchain_block_ref: { workchain: -1, shard: SHARD, seqno } },
    ...{ prev_blocks: [{ workchain, shard: SHARD, seqno: seqno - 1 }] },
  });
  return [header(-1, counts[0] ?? 0), header(0, counts[1] ?? 0)];
}
