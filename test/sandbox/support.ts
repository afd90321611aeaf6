import { existsSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import type { Sandbox } from '../../src/sandbox/index.ts';

/** Folder of the facts about the API; missing in a plain clone. */
const SHARED = fileURLToPath(new URL('../../../shared/', import.meta.url));
export const HAS_SHARED = existsSync(SHARED);

export interface Reply {
  readonly status: number;
  readonly body: string;
  readonly headers: Headers;
}

export async function ask(sandbox: Sandbox, path: string, headers: Record<string, string> = {}): Promise<Reply> {
  const response = await fetch(sandbox.url + path, { headers });
  return { status: response.status, body: await response.text(), headers: response.headers };
}

export interface BlockId {
  workchain: number;
  shard: string;
  seqno: number;
}

export interface Block extends BlockId {
  after_merge: boolean;
  before_split: boolean;
  after_split: boolean;
  gen_utime: string;
  start_lt: string;
  end_lt: string;
  tx_count: number;
  root_hash: string;
  file_hash: string;
  master_ref_seqno: number;
  masterchain_block_ref: BlockId;
  prev_blocks: BlockId[];
}

export interface Message {
  hash: string;
  source: string | null;
  destination: string | null;
  value: string | null;
  value_extra_currencies: Record<string, string> | null;
  fwd_fee: string | null;
  ihr_fee: string | null;
  created_lt: string | null;
  created_at: string | null;
  opcode: string | null;
  bounced: boolean | null;
  in_msg_tx_hash?: string;
  out_msg_tx_hash?: string;
  message_content: { hash: string; body: string; decoded: { comment?: string } | null };
  init_state: { hash: string; body: string } | null;
  hash_norm?: string;
}

export interface State {
  hash: string;
  balance: string | null;
  extra_currencies: Record<string, string> | null;
  account_status: string | null;
}

export interface Transaction {
  account: string;
  hash: string;
  lt: string;
  now: number;
  mc_block_seqno: number;
  trace_id: string;
  prev_trans_hash: string;
  prev_trans_lt: string;
  orig_status: string;
  end_status: string;
  total_fees: string;
  description: {
    type: string;
    aborted: boolean;
    destroyed: boolean;
    compute_ph: { reason?: string; exit_code?: number; gas_fees?: string; gas_used?: string };
    action?: { success: boolean; msgs_created: number };
    bounce?: { type: string };
    credit_ph?: object;
    storage_ph?: { storage_fees_due?: string; status_change: string };
  };
  block_ref: BlockId;
  in_msg: Message | null;
  out_msgs: Message[];
  account_state_before: State;
  account_state_after: State;
}

async function rows<T>(sandbox: Sandbox, path: string, key: string): Promise<T[]> {
  const { status, body } = await ask(sandbox, path, { 'X-No-Address-Book': '1', 'X-No-Metadata': '1' });
  if (status !== 200) throw new Error(`${path}: ${status} ${body.slice(0, 200)}`);
  return JSON.parse(body)[key];
}

export const askBlocks = (sandbox: Sandbox, query: string): Promise<Block[]> =>
  rows(sandbox, `/blocks?limit=1000&${query}`, 'blocks');
export const askTransactions = (sandbox: Sandbox, query: string): Promise<Transaction[]> =>
  rows(sandbox, `/transactions?limit=1000&${query}`, 'transactions');
export const askMessages = (sandbox: Sandbox, query: string): Promise<Message[]> =>
  rows(sandbox, `/messages?limit=1000&${query}`, 'messages');

/** All transactions of a masterchain block, page by page. */
export async function transactionsOf(sandbox: Sandbox, seqno: number): Promise<Transaction[]> {
  const all: Transaction[] = [];
  for (let offset = 0; ; offset += 1000) {
    const path = `/transactionsByMasterchainBlock?seqno=${seqno}&limit=1000&sort=asc&offset=${offset}`;
    const page = await rows<Transaction>(sandbox, path, 'transactions');
    all.push(...page);
    if (page.length < 1000) return all;
  }
}

/** Blocks and transactions of a range of masterchain blocks, both ends included. */
export async function readRange(
  sandbox: Sandbox,
  from: number,
  to: number,
): Promise<{ blocks: Block[]; transactions: Transaction[] }> {
  const blocks: Block[] = [];
  const transactions: Transaction[] = [];
  for (let seqno = from; seqno <= to; seqno += 1) {
    blocks.push(...(await askBlocks(sandbox, `mc_seqno=${seqno}`)));
    transactions.push(...(await transactionsOf(sandbox, seqno)));
  }
  return { blocks, transactions };
}

export function nameOf(block: BlockId): string {
  return `${block.workchain}:${block.shard}:${block.seqno}`;
}

// biome-ignore lint/suspicious/noExplicitAny: facts and recorded answers are read as they are
export function readShared(path: string): any {
  return JSON.parse(readFileSync(SHARED + path, 'utf8'));
}

// biome-ignore lint/suspicious/noExplicitAny: answers of many shapes, checked against the facts where they are at hand
export type Answer = any;

/** The parsed body of an answer that must be 200. */
export async function askJson(sandbox: Sandbox, path: string): Promise<Answer> {
  const { status, body } = await ask(sandbox, path);
  if (status !== 200) throw new Error(`${path}: ${status} ${body.slice(0, 200)}`);
  return JSON.parse(body);
}
