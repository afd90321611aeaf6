import type { RoleColumns, RoleName } from './roles.ts';

/**
 * How the rows of a list are compared with other tables of the same blocks, before their commit and by `tonlake verify`.
 * `sentMessages`: each message that a transaction sent has a row with that sender, its consumer, and its ends, value and time.
 * `wholeTraces`: each trace that is complete in the transactions has a row with the same number of transactions, and their times.
 * `traceMembers`: each row names an existing trace and transactions of it; the number of rows per trace is unknown.
 * `orders`: each transaction that received an order message has a row with its account and time.
 */
export type CrossCheck = ItemCheck | OrdersCheck;

export interface ItemCheck {
  readonly kind: 'sentMessages' | 'wholeTraces' | 'traceMembers';
  /** How missing items are requested. */
  readonly items: ItemRequest;
}

export interface ItemRequest {
  /** Parameter of the list's endpoint that takes a message or trace hash, and the column with it. */
  readonly parameter: string;
  /** Items per request; fewer if rows are large. */
  readonly batch: number;
}

export interface OrdersCheck {
  readonly kind: 'orders';
  /** Opcode of the order messages; signed, as in tables. */
  readonly opcode: number;
  /** Column of the account that received the order. */
  readonly account: string;
  /** True if aborted orders are listed. */
  readonly isAbortedListed: boolean;
  /** Contracts verified by the index: only their orders are listed. */
  readonly contracts: ContractList;
}

export interface ContractList {
  /** Table of these contracts, and its address column. */
  readonly table: string;
  readonly column: string;
  /** Endpoint that lists them by `address`, and the name of the list in its response. */
  readonly path: string;
  readonly list: string;
}

const READS: Readonly<Record<CrossCheck['kind'], RoleColumns>> = {
  sentMessages: {
    messageEnds: [
      ...['msg_hash', 'tx_hash', 'tx_mc_block_seqno', 'direction', 'source', 'destination', 'value', 'created_lt'],
      'created_at',
    ],
  },
  wholeTraces: {
    counted: ['hash', 'trace_id', 'mc_block_seqno', 'lt', 'now'],
    messageEnds: ['tx_hash', 'msg_hash', 'tx_mc_block_seqno', 'direction', 'source', 'value', 'created_lt'],
  },
  traceMembers: {
    wholeTraces: ['trace_id', 'mc_seqno_end', 'is_incomplete', 'transactions', 'external_hash'],
    counted: ['hash', 'trace_id', 'mc_block_seqno'],
  },
  orders: {
    counted: ['hash', 'account', 'lt', 'now', 'mc_block_seqno', 'end_status', 'aborted', 'compute_success'],
    messageEnds: ['tx_hash', 'tx_mc_block_seqno', 'direction', 'opcode'],
  },
};

const OWN: Readonly<Record<ItemCheck['kind'], readonly string[]>> = {
  sentMessages: ['msg_hash', 'out_msg_tx_hash', 'in_msg_tx_hash', 'created_lt'],
  wholeTraces: ['trace_id', 'mc_seqno_start', 'mc_seqno_end', 'transactions'],
  traceMembers: ['trace_id', 'trace_mc_seqno_end', 'start_lt', 'transactions'],
};

/** Columns of the list that must have the values of the transactions or messages that the row is about. */
const VALUES: Readonly<Record<CrossCheck['kind'], readonly string[]>> = {
  sentMessages: ['source', 'destination', 'value', 'created_lt', 'created_at'],
  wholeTraces: ['start_lt', 'start_utime', 'end_lt', 'end_utime'],
  traceMembers: [],
  orders: ['tx_lt', 'tx_now', 'tx_aborted'],
};

/** Roles whose tables must have the same blocks. */
export function comparedRoles({ kind }: CrossCheck): readonly RoleName[] {
  return ['counted', kind === 'traceMembers' ? 'wholeTraces' : 'messageEnds'];
}

/** Columns of other tables that the comparison reads. */
export function comparedColumns({ kind }: CrossCheck): RoleColumns {
  return READS[kind];
}

/** Columns of the list itself that the comparison reads: every export has them. */
export function ownColumns(check: CrossCheck): readonly string[] {
  return check.kind === 'orders' ? ['tx_hash', 'tx_lt', check.account] : OWN[check.kind];
}

/** Columns of the list whose values are compared, if it has them: every export has them then. */
export function valueColumns({ kind }: CrossCheck): readonly string[] {
  return VALUES[kind];
}

/** True if the comparison gives the expected number of rows, and so proves the list. */
export function isProving({ kind }: CrossCheck): boolean {
  return kind !== 'traceMembers';
}
