import {
  base64Hash,
  bool,
  type ColumnDraft,
  decimalInt64,
  decimalUint64,
  hexShard,
  int32,
  json,
  lt,
  nanoton,
  rawAddress,
  table,
  text,
  uint32,
  unixSeconds,
} from 'tonlake/pipeline';

/** The columns of the state before or after a transaction. Null apart from the hash when the index holds only a stub. */
function stateColumns(when: 'before' | 'after'): Readonly<Record<string, ColumnDraft>> {
  const path = `/account_state_${when}`;
  const stub = 'null when the index holds only the hash';
  return {
    [`account_state_hash_${when}`]: base64Hash(`${path}/hash`, `hash of the account state ${when} the transaction`),
    [`account_state_code_hash_${when}`]: base64Hash(`${path}/code_hash`, `code hash ${when}; ${stub}`).nullable(),
    [`account_state_data_hash_${when}`]: base64Hash(`${path}/data_hash`, `data hash ${when}; ${stub}`).nullable(),
    [`account_state_frozen_hash_${when}`]: base64Hash(
      `${path}/frozen_hash`,
      `hash of the frozen state ${when}`,
    ).nullable(),
    [`account_state_balance_${when}`]: nanoton(`${path}/balance`, `balance ${when}; ${stub}`).nullable(),
    [`account_state_status_${when}`]: text(`${path}/account_status`, `status ${when}; ${stub}`).nullable(),
    [`account_state_extra_currencies_${when}`]: json(
      `${path}/extra_currencies`,
      `currency id to amount ${when}; ${stub}`,
    ).nullable(),
  };
}

/** The fields of a transaction, its messages apart. */
export const transactionColumns = {
  account: rawAddress('/account', 'account that the transaction changes'),
  hash: base64Hash('/hash', 'hash of the transaction'),
  lt: lt('/lt', 'logical time; unique together with the account'),
  block_workchain: int32('/block_ref/workchain', 'workchain of the block'),
  block_shard: hexShard('/block_ref/shard', 'shard of the block'),
  block_seqno: int32('/block_ref/seqno', 'seqno of the block within its shard'),
  mc_block_seqno: int32('/mc_block_seqno', 'masterchain block that includes the block'),
  trace_id: base64Hash('/trace_id', 'hash of the first transaction of the trace').nullable(),
  trace_external_hash: base64Hash(
    '/trace_external_hash',
    'message that started the trace; pending endpoints only',
  ).nullable(),
  prev_trans_hash: base64Hash('/prev_trans_hash', 'the account’s transaction before; all zero for its first'),
  prev_trans_lt: lt('/prev_trans_lt', 'logical time of the account’s transaction before; 0 for its first'),
  now: unixSeconds('/now', 'time of the transaction').unit('seconds'),
  orig_status: text('/orig_status', 'status of the account before: uninit, frozen, active, nonexist'),
  end_status: text('/end_status', 'status of the account after'),
  total_fees: nanoton('/total_fees', 'fees collected'),
  total_fees_extra_currencies: json(
    '/total_fees_extra_currencies',
    'fees in extra currencies, id to amount',
  ).nullable(),
  ...stateColumns('before'),
  ...stateColumns('after'),
  descr: text(
    '/description/type',
    'ord, tick_tock; storage, split_prepare, split_install, merge_prepare, merge_install',
  ),
  aborted: bool('/description/aborted', 'the action phase was not reached or failed').nullable(),
  destroyed: bool('/description/destroyed', 'the account was deleted').nullable(),
  credit_first: bool('/description/credit_first', 'the value was credited before the storage phase').nullable(),
  is_tock: bool('/description/is_tock', 'tock rather than tick; tick_tock only').nullable(),
  installed: bool('/description/installed', 'split_install only').nullable(),
  storage_fees_collected: nanoton('/description/storage_ph/storage_fees_collected', 'storage fees taken').nullable(),
  storage_fees_due: nanoton('/description/storage_ph/storage_fees_due', 'storage fees still owed').nullable(),
  storage_status_change: text('/description/storage_ph/status_change', 'unchanged, frozen, deleted').nullable(),
  credit_due_fees_collected: nanoton(
    '/description/credit_ph/due_fees_collected',
    'owed storage fees taken from the value',
  ).nullable(),
  // Servers of 2024 sent an uninitialised uint64 for external messages (16298225961743024383), so BIGINT is too small.
  credit: decimalUint64('/description/credit_ph/credit', 'value credited').unit('nanoton').nullable(),
  credit_extra_currencies: json(
    '/description/credit_ph/credit_extra_currencies',
    'extra currencies credited, id to amount',
  ).nullable(),
  compute_skipped: bool('/description/compute_ph/skipped', 'the contract was not run').nullable(),
  skipped_reason: text('/description/compute_ph/reason', 'no_state, bad_state, no_gas, suspended').nullable(),
  compute_success: bool('/description/compute_ph/success', 'the contract ended without an exception').nullable(),
  compute_msg_state_used: bool('/description/compute_ph/msg_state_used', 'the state came with the message').nullable(),
  compute_account_activated: bool('/description/compute_ph/account_activated', 'the account became active').nullable(),
  compute_gas_fees: nanoton(
    '/description/compute_ph/gas_fees',
    'fees for gas; swapped with gas_used by the server when smaller',
  ).nullable(),
  compute_gas_used: decimalInt64('/description/compute_ph/gas_used', 'gas used').unit('gas').nullable(),
  compute_gas_limit: decimalInt64('/description/compute_ph/gas_limit', 'most gas that could be used')
    .unit('gas')
    .nullable(),
  compute_gas_credit: decimalInt64('/description/compute_ph/gas_credit', 'gas lent to an external message')
    .unit('gas')
    .nullable(),
  compute_mode: int32('/description/compute_ph/mode', 'mode of the virtual machine').nullable(),
  compute_exit_code: int32('/description/compute_ph/exit_code', 'exit code; 0 and 1 are success').nullable(),
  compute_exit_arg: int32('/description/compute_ph/exit_arg', 'argument of the exception').nullable(),
  compute_vm_steps: uint32('/description/compute_ph/vm_steps', 'instructions run').nullable(),
  compute_vm_init_state_hash: base64Hash(
    '/description/compute_ph/vm_init_state_hash',
    'state of the machine at its start',
  ).nullable(),
  compute_vm_final_state_hash: base64Hash(
    '/description/compute_ph/vm_final_state_hash',
    'state of the machine at its end',
  ).nullable(),
  action_success: bool('/description/action/success', 'all actions were done').nullable(),
  action_valid: bool('/description/action/valid', 'the list of actions was well-formed').nullable(),
  action_no_funds: bool('/description/action/no_funds', 'the balance did not suffice').nullable(),
  action_status_change: text('/description/action/status_change', 'unchanged, frozen, deleted').nullable(),
  action_total_fwd_fees: nanoton('/description/action/total_fwd_fees', 'forward fees of all messages sent').nullable(),
  action_total_action_fees: nanoton('/description/action/total_action_fees', 'fees of the action phase').nullable(),
  action_result_code: int32('/description/action/result_code', 'result of the action phase; 0 is success').nullable(),
  action_result_arg: int32('/description/action/result_arg', 'position of the action that failed').nullable(),
  action_tot_actions: int32('/description/action/tot_actions', 'number of actions').nullable(),
  action_spec_actions: int32('/description/action/spec_actions', 'number of special actions').nullable(),
  action_skipped_actions: int32('/description/action/skipped_actions', 'number of actions left out').nullable(),
  action_msgs_created: int32('/description/action/msgs_created', 'number of messages sent').nullable(),
  action_action_list_hash: base64Hash('/description/action/action_list_hash', 'hash of the list of actions').nullable(),
  action_tot_msg_size_cells: decimalInt64(
    '/description/action/tot_msg_size/cells',
    'cells of all messages sent',
  ).nullable(),
  action_tot_msg_size_bits: decimalInt64(
    '/description/action/tot_msg_size/bits',
    'bits of all messages sent',
  ).nullable(),
  bounce: text('/description/bounce/type', 'negfunds, nofunds, ok').nullable(),
  bounce_msg_size_cells: decimalInt64('/description/bounce/msg_size/cells', 'cells of the bounced message').nullable(),
  bounce_msg_size_bits: decimalInt64('/description/bounce/msg_size/bits', 'bits of the bounced message').nullable(),
  bounce_req_fwd_fees: nanoton(
    '/description/bounce/req_fwd_fees',
    'fees that could not be paid; nofunds only',
  ).nullable(),
  bounce_msg_fees: nanoton('/description/bounce/msg_fees', 'fees of the message; ok only').nullable(),
  bounce_fwd_fees: nanoton('/description/bounce/fwd_fees', 'forward fees of the message; ok only').nullable(),
  split_info_cur_shard_pfx_len: int32(
    '/description/split_info/cur_shard_pfx_len',
    'length of the shard prefix',
  ).nullable(),
  split_info_acc_split_depth: int32('/description/split_info/acc_split_depth', 'split depth of the account').nullable(),
  split_info_this_addr: base64Hash('/description/split_info/this_addr', 'account id as base64').nullable(),
  split_info_sibling_addr: base64Hash(
    '/description/split_info/sibling_addr',
    'id of the sibling account as base64',
  ).nullable(),
  emulated: bool('/emulated', 'predicted, not on chain; false in history').nullable(),
  finality: text('/finality', 'finalized in history; absent from servers before 2026').nullable(),
};

export const transactions = table('transactions', {
  grain: 'one transaction of one account',
  rows: { kind: 'records', path: '/transactions' },
  key: ['hash'],
  sort: ['lt', 'account'],
  time: 'now',
  columns: transactionColumns,
});
