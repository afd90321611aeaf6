/**
 * A set of columns that other code depends on. A table that plays the role has each of them, with that name and type, and is read by the
 * name of the role; no code names the table itself.
 */
export interface Role {
  /** Name of the relation in SQL; it is empty if no table plays the role. */
  readonly relation: `_${string}`;
  /** What one row is. */
  readonly grain: string;
  /** SQL types of the columns, by name. */
  readonly columns: Readonly<Record<string, string>>;
  /** Columns that every export has, because rows are proven by them. */
  readonly kept: readonly string[];
}

/** Shard and seqno of a block, and the masterchain block that includes it. */
const PLACE = { workchain: 'INTEGER', shard: 'BIGINT', seqno: 'INTEGER', mc_block_seqno: 'INTEGER' } as const;
/** Columns of transactions that are compared with block headers. */
const COUNTED = { hash: 'VARCHAR', account: 'VARCHAR', lt: 'BIGINT' } as const;
const COUNTED_PLACE = {
  block_workchain: 'INTEGER',
  block_shard: 'BIGINT',
  block_seqno: 'INTEGER',
  mc_block_seqno: 'INTEGER',
} as const;
/** Columns that determine how many messages a transaction received and sent. */
const MESSAGE_COUNTS = {
  descr: 'VARCHAR',
  action_success: 'BOOLEAN',
  action_msgs_created: 'INTEGER',
  bounce: 'VARCHAR',
} as const;
/** Columns that link a transaction of an account to the previous one. */
const ACCOUNT_CHAIN = {
  prev_trans_lt: 'BIGINT',
  prev_trans_hash: 'VARCHAR',
  orig_status: 'VARCHAR',
  end_status: 'VARCHAR',
  account_state_hash_before: 'VARCHAR',
  account_state_hash_after: 'VARCHAR',
} as const;
const LINKS = {
  prev_blocks: 'VARCHAR',
  tx_count: 'BIGINT',
  start_lt: 'BIGINT',
  end_lt: 'BIGINT',
  root_hash: 'VARCHAR',
  gen_utime: 'BIGINT',
};

function defineRoles<const T extends Record<string, Role>>(roles: T): { readonly [K in keyof T]: Role } {
  return roles;
}

/** Every role that a table can play. */
export const ROLES = defineRoles({
  headers: {
    relation: '_headers',
    grain: 'one block of any workchain, with the blocks before it and its number of transactions',
    columns: { ...PLACE, ...LINKS, block_time: 'TIMESTAMP', block_date: 'DATE' },
    kept: [...Object.keys(PLACE), ...Object.keys(LINKS)],
  },
  counted: {
    relation: '_counted',
    grain: 'one transaction, as counted by the headers',
    columns: {
      ...COUNTED,
      ...COUNTED_PLACE,
      ...MESSAGE_COUNTS,
      ...ACCOUNT_CHAIN,
      now: 'BIGINT',
      trace_id: 'VARCHAR',
      aborted: 'BOOLEAN',
      compute_success: 'BOOLEAN',
    },
    kept: [...Object.keys(COUNTED), ...Object.keys(COUNTED_PLACE)],
  },
  messageEnds: {
    relation: '_message_ends',
    grain: 'one message as received or sent by one transaction',
    columns: {
      tx_hash: 'VARCHAR',
      tx_lt: 'BIGINT',
      tx_mc_block_seqno: 'INTEGER',
      direction: 'VARCHAR',
      msg_hash: 'VARCHAR',
      source: 'VARCHAR',
      destination: 'VARCHAR',
      value: 'BIGINT',
      opcode: 'INTEGER',
      created_lt: 'BIGINT',
      created_at: 'BIGINT',
    },
    kept: ['tx_hash', 'tx_mc_block_seqno', 'direction', 'msg_hash'],
  },
  wholeTraces: {
    relation: '_whole_traces',
    grain: 'one complete trace, with the number of its transactions',
    columns: {
      trace_id: 'VARCHAR',
      mc_seqno_start: 'BIGINT',
      mc_seqno_end: 'BIGINT',
      transactions: 'BIGINT',
      is_incomplete: 'BOOLEAN',
      external_hash: 'VARCHAR',
    },
    kept: ['trace_id', 'mc_seqno_start', 'mc_seqno_end', 'transactions'],
  },
  pendingTransactions: {
    relation: '_pending_transactions',
    grain: 'one transaction of a watch',
    columns: {},
    kept: [],
  },
  pendingTraces: { relation: '_pending_traces', grain: 'one trace of a watch', columns: {}, kept: [] },
  pendingActions: { relation: '_pending_actions', grain: 'one action of a watch', columns: {}, kept: [] },
});

export type RoleName = keyof typeof ROLES;

/** Columns by role. */
export type RoleColumns = Readonly<Partial<Record<RoleName, readonly string[]>>>;

/** Columns that determine how many messages a transaction has. */
export const COUNTING_COLUMNS: readonly string[] = Object.keys(MESSAGE_COUNTS);

/** Columns for checks of account chains and message ends, in addition to those that every export has. */
export const CHAIN_COLUMNS: RoleColumns = {
  counted: Object.keys(ACCOUNT_CHAIN),
  messageEnds: ['value', 'source', 'created_lt'],
};
