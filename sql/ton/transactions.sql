-- Transactions of all accounts.
-- grain: one transaction of one account
-- inputs: transactions
-- columns:
--   account VARCHAR: account that the transaction changes
--   hash VARCHAR: hash of the transaction
--   lt BIGINT (lt): logical time; unique together with the account
--   block_workchain INTEGER: workchain of the block
--   block_shard BIGINT: shard of the block
--   block_seqno INTEGER: seqno of the block within its shard
--   mc_block_seqno INTEGER: masterchain block that includes the block
--   trace_id VARCHAR: hash of the first transaction of the trace
--   prev_trans_hash VARCHAR: previous transaction of the account; all zeros for its first
--   prev_trans_lt BIGINT (lt): logical time of the previous transaction of the account; 0 for its first
--   now BIGINT (seconds): time of the transaction
--   orig_status VARCHAR: account status before: uninit, frozen, active, nonexist
--   end_status VARCHAR: account status after
--   total_fees BIGINT (nanoton): fees collected
--   account_state_hash_before VARCHAR: hash of the account state before the transaction
--   account_state_hash_after VARCHAR: hash of the account state after the transaction
--   account_state_code_hash_before VARCHAR: code hash before; null if the index has only the hash
--   account_state_code_hash_after VARCHAR: code hash after; null if the index has only the hash
--   account_state_balance_before BIGINT (nanoton): balance before; null if the index has only the hash
--   account_state_balance_after BIGINT (nanoton): balance after; null if the index has only the hash
--   descr VARCHAR: transaction type: ord, tick_tock; storage, split_prepare, split_install, merge_prepare, merge_install
--   aborted BOOLEAN: the action phase was not reached or failed
--   destroyed BOOLEAN: the account was deleted
--   credit_first BOOLEAN: the value was credited before the storage phase
--   is_tock BOOLEAN: true for tock, false for tick; tick_tock only
--   installed BOOLEAN: split_install only
--   storage_fees_collected BIGINT (nanoton): storage fees collected
--   storage_fees_due BIGINT (nanoton): storage fees due
--   storage_status_change VARCHAR: unchanged, frozen, deleted
--   credit_due_fees_collected BIGINT (nanoton): due storage fees collected from the credited value
--   credit BIGINT (nanoton): value credited
--   compute_skipped BOOLEAN: the compute phase was skipped
--   skipped_reason VARCHAR: no_state, bad_state, no_gas, suspended
--   compute_success BOOLEAN: the compute phase succeeded
--   compute_msg_state_used BOOLEAN: the StateInit of the message was used
--   compute_account_activated BOOLEAN: the account was activated
--   compute_gas_fees BIGINT (nanoton): gas fees; the server swaps them with gas_used when they are smaller
--   compute_gas_used BIGINT (gas): gas used
--   compute_gas_limit BIGINT (gas): gas limit
--   compute_gas_credit BIGINT (gas): gas credit of an external message
--   compute_mode INTEGER: mode of the TVM
--   compute_exit_code INTEGER: exit code; 0 and 1 mean success
--   compute_exit_arg INTEGER: argument of the TVM exception
--   compute_vm_steps BIGINT: number of TVM instructions executed
--   compute_vm_init_state_hash VARCHAR: hash of the initial TVM state
--   compute_vm_final_state_hash VARCHAR: hash of the final TVM state
--   action_success BOOLEAN: all actions succeeded
--   action_valid BOOLEAN: the action list is valid
--   action_no_funds BOOLEAN: the balance was insufficient
--   action_status_change VARCHAR: unchanged, frozen, deleted
--   action_total_fwd_fees BIGINT (nanoton): forward fees of all messages sent
--   action_total_action_fees BIGINT (nanoton): fees of the action phase
--   action_result_code INTEGER: result code of the action phase; 0 means success
--   action_result_arg INTEGER: index of the action that failed
--   action_tot_actions INTEGER: number of actions
--   action_spec_actions INTEGER: number of special actions
--   action_skipped_actions INTEGER: number of skipped actions
--   action_msgs_created INTEGER: number of messages sent
--   action_action_list_hash VARCHAR: hash of the action list
--   action_tot_msg_size_cells BIGINT: total cells of the messages sent
--   action_tot_msg_size_bits BIGINT: total bits of the messages sent
--   bounce VARCHAR: bounce phase: negfunds, nofunds, ok
--   bounce_msg_size_cells BIGINT: cells of the bounced message
--   bounce_msg_size_bits BIGINT: bits of the bounced message
--   bounce_req_fwd_fees BIGINT (nanoton): forward fees required; nofunds only
--   bounce_msg_fees BIGINT (nanoton): fees of the bounced message; ok only
--   bounce_fwd_fees BIGINT (nanoton): forward fees of the bounced message; ok only
--   split_info_cur_shard_pfx_len INTEGER: length of the current shard prefix
--   split_info_acc_split_depth INTEGER: split depth of the account
--   split_info_this_addr VARCHAR: account id as base64
--   split_info_sibling_addr VARCHAR: id of the sibling account as base64
--   block_time TIMESTAMP: UTC time of now
--   block_date DATE: UTC date of now; the partition of the files
SELECT
  account,
  hash,
  lt,
  block_workchain,
  block_shard,
  block_seqno,
  mc_block_seqno,
  trace_id,
  prev_trans_hash,
  prev_trans_lt,
  now,
  orig_status,
  end_status,
  total_fees,
  account_state_hash_before,
  account_state_hash_after,
  account_state_code_hash_before,
  account_state_code_hash_after,
  account_state_balance_before,
  account_state_balance_after,
  descr,
  aborted,
  destroyed,
  credit_first,
  is_tock,
  installed,
  storage_fees_collected,
  storage_fees_due,
  storage_status_change,
  credit_due_fees_collected,
  credit::BIGINT AS credit,
  compute_skipped,
  skipped_reason,
  compute_success,
  compute_msg_state_used,
  compute_account_activated,
  compute_gas_fees,
  compute_gas_used,
  compute_gas_limit,
  compute_gas_credit,
  compute_mode,
  compute_exit_code,
  compute_exit_arg,
  compute_vm_steps,
  compute_vm_init_state_hash,
  compute_vm_final_state_hash,
  action_success,
  action_valid,
  action_no_funds,
  action_status_change,
  action_total_fwd_fees,
  action_total_action_fees,
  action_result_code,
  action_result_arg,
  action_tot_actions,
  action_spec_actions,
  action_skipped_actions,
  action_msgs_created,
  action_action_list_hash,
  action_tot_msg_size_cells,
  action_tot_msg_size_bits,
  bounce,
  bounce_msg_size_cells,
  bounce_msg_size_bits,
  bounce_req_fwd_fees,
  bounce_msg_fees,
  bounce_fwd_fees,
  split_info_cur_shard_pfx_len,
  split_info_acc_split_depth,
  split_info_this_addr,
  split_info_sibling_addr,
  block_time,
  block_date
FROM main.transactions
