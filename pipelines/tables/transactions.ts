import { type ColumnDraft, decimal20, field, table } from 'tonlake/pipeline';

/** The columns of the state before or after a transaction. All but the hash are null if the index has only a stub. */
function stateColumns(when: 'before' | 'after'): Readonly<Record<string, ColumnDraft>> {
  const path = `/account_state_${when}`;
  const stub = 'null if the index has only the hash';
  return {
    [`account_state_hash_${when}`]: field(`${path}/hash`, `hash of the account state ${when} the transaction`),
    [`account_state_code_hash_${when}`]: field(`${path}/code_hash`, `code hash ${when}; ${stub}`),
    [`account_state_data_hash_${when}`]: field(`${path}/data_hash`, `data hash ${when}; ${stub}`),
    [`account_state_frozen_hash_${when}`]: field(`${path}/frozen_hash`, `hash of the frozen state ${when}`),
    [`account_state_balance_${when}`]: field(`${path}/balance`, `balance ${when}; ${stub}`),
    [`account_state_status_${when}`]: field(`${path}/account_status`, `status ${when}; ${stub}`),
    [`account_state_extra_currencies_${when}`]: field(
      `${path}/extra_currencies`,
      `extra currencies ${when}: amount by currency id; ${stub}`,
    ),
  };
}

/** The fields of a transaction, its messages apart. */
export const transactionColumns = {
  account: field('/account', 'account that the transaction changes').bloomFilter(),
  hash: field('/hash', 'hash of the transaction').bloomFilter(),
  lt: field('/lt', 'logical time; unique together with the account'),
  block_workchain: field('/block_ref/workchain', 'workchain of the block'),
  block_shard: field('/block_ref/shard', 'shard of the block'),
  block_seqno: field('/block_ref/seqno', 'seqno of the block within its shard'),
  mc_block_seqno: field('/mc_block_seqno', 'masterchain block that includes the block'),
  trace_id: field('/trace_id', 'hash of the first transaction of the trace').bloomFilter(),
  trace_external_hash: field(
    '/trace_external_hash',
    'hash of the message that started the trace; pending endpoints only',
  ).bloomFilter(),
  prev_trans_hash: field('/prev_trans_hash', 'previous transaction of the account; all zeros for its first'),
  prev_trans_lt: field('/prev_trans_lt', 'logical time of the previous transaction of the account; 0 for its first'),
  now: field('/now', 'time of the transaction'),
  orig_status: field('/orig_status', 'account status before: uninit, frozen, active, nonexist'),
  end_status: field('/end_status', 'account status after'),
  total_fees: field('/total_fees', 'fees collected'),
  total_fees_extra_currencies: field('/total_fees_extra_currencies', 'fees in extra currencies: amount by currency id'),
  ...stateColumns('before'),
  ...stateColumns('after'),
  descr: field(
    '/description/type',
    'transaction type: ord, tick_tock; storage, split_prepare, split_install, merge_prepare, merge_install',
  ),
  aborted: field('/description/aborted', 'the action phase was not reached or failed'),
  destroyed: field('/description/destroyed', 'the account was deleted'),
  credit_first: field('/description/credit_first', 'the value was credited before the storage phase'),
  is_tock: field('/description/is_tock', 'true for tock, false for tick; tick_tock only'),
  installed: field('/description/installed', 'split_install only'),
  storage_fees_collected: field('/description/storage_ph/storage_fees_collected', 'storage fees collected'),
  storage_fees_due: field('/description/storage_ph/storage_fees_due', 'storage fees due'),
  storage_status_change: field('/description/storage_ph/status_change', 'unchanged, frozen, deleted'),
  credit_due_fees_collected: field(
    '/description/credit_ph/due_fees_collected',
    'due storage fees collected from the credited value',
  ),
  // Servers of 2024 sent an uninitialised uint64 for external messages (16298225961743024383), so BIGINT is too small; the same
  // bits read as signed are negative.
  credit: decimal20('/description/credit_ph/credit', 'value credited').unit('nanoton').nullable(),
  credit_extra_currencies: field(
    '/description/credit_ph/credit_extra_currencies',
    'extra currencies credited: amount by currency id',
  ),
  compute_skipped: field('/description/compute_ph/skipped', 'the compute phase was skipped'),
  skipped_reason: field('/description/compute_ph/reason', 'no_state, bad_state, no_gas, suspended'),
  compute_success: field('/description/compute_ph/success', 'the compute phase succeeded'),
  compute_msg_state_used: field('/description/compute_ph/msg_state_used', 'the StateInit of the message was used'),
  compute_account_activated: field('/description/compute_ph/account_activated', 'the account was activated'),
  compute_gas_fees: field(
    '/description/compute_ph/gas_fees',
    'gas fees; the server swaps them with gas_used when they are smaller',
  ),
  compute_gas_used: field('/description/compute_ph/gas_used', 'gas used').unit('gas'),
  compute_gas_limit: field('/description/compute_ph/gas_limit', 'gas limit').unit('gas'),
  compute_gas_credit: field('/description/compute_ph/gas_credit', 'gas credit of an external message').unit('gas'),
  compute_mode: field('/description/compute_ph/mode', 'mode of the TVM'),
  compute_exit_code: field('/description/compute_ph/exit_code', 'exit code; 0 and 1 mean success'),
  compute_exit_arg: field('/description/compute_ph/exit_arg', 'argument of the TVM exception'),
  compute_vm_steps: field('/description/compute_ph/vm_steps', 'number of TVM instructions executed'),
  compute_vm_init_state_hash: field('/description/compute_ph/vm_init_state_hash', 'hash of the initial TVM state'),
  compute_vm_final_state_hash: field('/description/compute_ph/vm_final_state_hash', 'hash of the final TVM state'),
  action_success: field('/description/action/success', 'all actions succeeded'),
  action_valid: field('/description/action/valid', 'the action list is valid'),
  action_no_funds: field('/description/action/no_funds', 'the balance was insufficient'),
  action_status_change: field('/description/action/status_change', 'unchanged, frozen, deleted'),
  action_total_fwd_fees: field('/description/action/total_fwd_fees', 'forward fees of all messages sent'),
  action_total_action_fees: field('/description/action/total_action_fees', 'fees of the action phase'),
  action_result_code: field('/description/action/result_code', 'result code of the action phase; 0 means success'),
  action_result_arg: field('/description/action/result_arg', 'index of the action that failed'),
  action_tot_actions: field('/description/action/tot_actions', 'number of actions'),
  action_spec_actions: field('/description/action/spec_actions', 'number of special actions'),
  action_skipped_actions: field('/description/action/skipped_actions', 'number of skipped actions'),
  action_msgs_created: field('/description/action/msgs_created', 'number of messages sent'),
  action_action_list_hash: field('/description/action/action_list_hash', 'hash of the action list'),
  action_tot_msg_size_cells: field('/description/action/tot_msg_size/cells', 'total cells of the messages sent'),
  action_tot_msg_size_bits: field('/description/action/tot_msg_size/bits', 'total bits of the messages sent'),
  bounce: field('/description/bounce/type', 'bounce phase: negfunds, nofunds, ok'),
  bounce_msg_size_cells: field('/description/bounce/msg_size/cells', 'cells of the bounced message'),
  bounce_msg_size_bits: field('/description/bounce/msg_size/bits', 'bits of the bounced message'),
  bounce_req_fwd_fees: field('/description/bounce/req_fwd_fees', 'forward fees required; nofunds only'),
  bounce_msg_fees: field('/description/bounce/msg_fees', 'fees of the bounced message; ok only'),
  bounce_fwd_fees: field('/description/bounce/fwd_fees', 'forward fees of the bounced message; ok only'),
  split_info_cur_shard_pfx_len: field(
    '/description/split_info/cur_shard_pfx_len',
    'length of the current shard prefix',
  ),
  split_info_acc_split_depth: field('/description/split_info/acc_split_depth', 'split depth of the account'),
  split_info_this_addr: field('/description/split_info/this_addr', 'account id as base64'),
  split_info_sibling_addr: field('/description/split_info/sibling_addr', 'id of the sibling account as base64'),
  emulated: field('/emulated', 'emulated, not on chain; always false in history').nullable(),
  finality: field('/finality', 'finalized in history; not sent by servers before 2026').nullable(),
};

export const transactions = table('transactions', {
  grain: 'one transaction of one account',
  plays: 'counted',
  key: ['hash'],
  sort: ['lt', 'account'],
  time: 'now',
  columns: transactionColumns,
});
