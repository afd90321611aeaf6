import type { RoleColumns, RoleName } from './roles.ts';

/**
 * What the rows of a list are compared with before their commit, and by `tonlake verify`: tables that play a role, over the same blocks.
 * `sentMessages`: each message that a transaction sent has its row, with that sender and its consumer.
 * `wholeTraces`: each trace that is whole in the transactions has its row, with as many transactions.
 * `traceMembers`: a row names a trace and transactions of it that are there; nothing counts the rows of a trace.
 * `orders`: each transaction that received an order has its row.
 */
export type CrossCheck = ItemCheck | OrdersCheck;

export interface ItemCheck {
  readonly kind: 'sentMessages' | 'wholeTraces' | 'traceMembers';
  /** How the list is asked for what is missing, by itself. */
  readonly items: ItemRequest;
}

export interface ItemRequest {
  /** Parameter of the list's endpoint that takes a message, or a trace. */
  readonly parameter: string;
  /** Of one request; fewer where rows are large. */
  readonly batch: number;
}

export interface OrdersCheck {
  readonly kind: 'orders';
  /** Opcode of the messages that are orders; signed, as in tables. */
  readonly opcode: number;
  /** Column of the account that received the order. */
  readonly account: string;
  /** Whether orders that were aborted are listed. */
  readonly isAbortedListed: boolean;
  /** All contracts that can receive one and that the index has verified: only their orders are listed. */
  readonly contracts: ContractList;
}

export interface ContractList {
  /** Table of them, and its column of their addresses. */
  readonly table: string;
  readonly column: string;
  /** Endpoint that lists them by `address`, and the name of the list in its answer. */
  readonly path: string;
  readonly list: string;
}

const ORDER_READS: RoleColumns = {
  counted: ['hash', 'account', 'lt', 'mc_block_seqno', 'end_status', 'aborted', 'compute_success'],
  messageEnds: ['tx_hash', 'tx_mc_block_seqno', 'direction', 'opcode'],
};

const READS: Readonly<Record<CrossCheck['kind'], RoleColumns>> = {
  sentMessages: { messageEnds: ['msg_hash', 'tx_hash', 'tx_mc_block_seqno', 'created_lt', 'direction'] },
  wholeTraces: {
    counted: ['hash', 'trace_id', 'mc_block_seqno'],
    messageEnds: ['tx_hash', 'msg_hash', 'tx_mc_block_seqno', 'direction', 'source', 'value', 'created_lt'],
  },
  traceMembers: {
    wholeTraces: ['trace_id', 'mc_seqno_end', 'is_incomplete', 'transactions', 'external_hash'],
    counted: ['hash', 'trace_id', 'mc_block_seqno'],
  },
  orders: ORDER_READS,
};

const OWN: Readonly<Record<ItemCheck['kind'], readonly string[]>> = {
  sentMessages: ['msg_hash', 'out_msg_tx_hash', 'in_msg_tx_hash', 'created_lt'],
  wholeTraces: ['trace_id', 'mc_seqno_start', 'mc_seqno_end', 'transactions'],
  traceMembers: ['trace_id', 'trace_mc_seqno_end', 'start_lt', 'transactions'],
};

const COMPARED: Readonly<Record<CrossCheck['kind'], readonly RoleName[]>> = {
  sentMessages: ['counted', 'messageEnds'],
  wholeTraces: ['counted', 'messageEnds'],
  traceMembers: ['counted', 'wholeTraces'],
  orders: ['counted', 'messageEnds'],
};

/** Roles whose tables must hold the same blocks. */
export function comparedRoles({ kind }: CrossCheck): readonly RoleName[] {
  return COMPARED[kind];
}

/** Columns of other tables that a list is compared by. */
export function comparedColumns({ kind }: CrossCheck): RoleColumns {
  return READS[kind];
}

/** Columns of the list itself that it is compared by: they are in every export. */
export function ownColumns(check: CrossCheck): readonly string[] {
  return check.kind === 'orders' ? ['tx_hash', 'tx_lt', check.account] : OWN[check.kind];
}

/** Whether the comparison tells how many rows there must be, and so proves the list. */
export function isProving({ kind }: CrossCheck): boolean {
  return kind !== 'traceMembers';
}
