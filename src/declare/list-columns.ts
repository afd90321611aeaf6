/** Columns by table. */
export type ColumnsByTable = Readonly<Record<string, readonly string[]>>;

const ORDERS = {
  transactions: ['hash', 'account', 'lt', 'mc_block_seqno', 'end_status', 'aborted', 'compute_success'],
  messages: ['tx_hash', 'tx_mc_block_seqno', 'direction', 'opcode'],
} as const;

/** What each list and the tables that prove it are compared by: of its own table these are in every export. */
export const LIST_COLUMNS: Readonly<Record<string, ColumnsByTable>> = {
  message_links: {
    message_links: ['msg_hash', 'out_msg_tx_hash', 'in_msg_tx_hash', 'created_lt'],
    messages: ['msg_hash', 'tx_hash', 'tx_mc_block_seqno', 'created_lt', 'direction'],
  },
  traces: {
    traces: ['trace_id', 'mc_seqno_start', 'mc_seqno_end', 'transactions'],
    transactions: ['hash', 'trace_id', 'mc_block_seqno'],
    messages: ['tx_hash', 'msg_hash', 'tx_mc_block_seqno', 'direction', 'source', 'value', 'created_lt'],
  },
  actions: {
    actions: ['trace_id', 'trace_mc_seqno_end', 'start_lt', 'transactions'],
    traces: ['trace_id', 'mc_seqno_end', 'is_incomplete', 'transactions', 'external_hash'],
    transactions: ['hash', 'trace_id', 'mc_block_seqno'],
  },
  jetton_transfers: { jetton_transfers: ['tx_hash', 'tx_lt', 'jetton_wallet'], ...ORDERS },
  jetton_burns: { jetton_burns: ['tx_hash', 'tx_lt', 'jetton_wallet'], ...ORDERS },
  nft_transfers: { nft_transfers: ['tx_hash', 'tx_lt', 'nft_item_address'], ...ORDERS },
};
