import type { PipelineDef } from '../declare/pipeline.ts';
import type { RoleColumns, RoleName } from '../declare/roles.ts';
import { decodedColumns } from '../decode/table-rows.ts';

/** Columns of transactions that their cells are rebuilt from. The build makes `wasm/generated/numbering.ts` of them. */
export const transactionColumns = [
  ...['hash', 'account', 'lt', 'prev_trans_hash', 'prev_trans_lt', 'now', 'orig_status', 'end_status', 'total_fees'],
  ...['total_fees_extra_currencies', 'account_state_hash_before', 'account_state_hash_after', 'descr', 'aborted'],
  ...['destroyed', 'credit_first', 'is_tock', 'storage_fees_collected', 'storage_fees_due', 'storage_status_change'],
  ...['credit_due_fees_collected', 'credit', 'credit_extra_currencies', 'compute_skipped', 'skipped_reason'],
  ...['compute_success', 'compute_msg_state_used', 'compute_account_activated', 'compute_gas_fees', 'compute_gas_used'],
  ...['compute_gas_limit', 'compute_gas_credit', 'compute_mode', 'compute_exit_code', 'compute_exit_arg'],
  ...['compute_vm_steps', 'compute_vm_init_state_hash', 'compute_vm_final_state_hash', 'action_success'],
  ...['action_valid', 'action_no_funds', 'action_status_change', 'action_total_fwd_fees', 'action_total_action_fees'],
  ...['action_result_code', 'action_result_arg', 'action_tot_actions', 'action_spec_actions', 'action_skipped_actions'],
  ...['action_msgs_created', 'action_action_list_hash', 'action_tot_msg_size_cells', 'action_tot_msg_size_bits'],
  ...['bounce', 'bounce_msg_size_cells', 'bounce_msg_size_bits', 'bounce_req_fwd_fees', 'bounce_msg_fees'],
  ...['bounce_fwd_fees', 'split_info_cur_shard_pfx_len', 'split_info_acc_split_depth', 'split_info_this_addr'],
  ...['split_info_sibling_addr', 'emulated', 'installed', 'account_state_status_before', 'account_state_status_after'],
  ...['account_state_balance_before', 'account_state_balance_after'],
] as const;

/** Columns of messages that their cells are rebuilt from; they follow those of transactions. */
export const messageColumns = [
  ...['msg_hash', 'direction', 'source', 'destination', 'value', 'value_extra_currencies', 'fwd_fee', 'ihr_fee'],
  ...['extra_flags', 'created_lt', 'created_at', 'opcode', 'ihr_disabled', 'bounce', 'bounced', 'import_fee'],
  ...['msg_hash_norm', 'body_hash', 'body_boc', 'init_state_hash', 'init_state_boc'],
] as const;

/** The same of stored messages, and the hash of their transaction. */
export const storedMessageColumns = [...messageColumns, 'tx_hash'] as const;

/** Columns that a pipeline would have to export for the proof of its transactions; empty if it has all. */
export function lackingColumns({ tables }: PipelineDef): readonly string[] {
  const lackOf = (role: RoleName, names: readonly string[]): readonly string[] => {
    const table = tables.find(({ plays }) => plays === role);
    if (table === undefined) return [role];
    const own = new Set(decodedColumns(table).map(({ name }) => name));
    return names.filter((name) => !own.has(name) && !OPTIONAL.has(name)).map((name) => `${table.name}.${name}`);
  };
  return [...lackOf('counted', transactionColumns), ...lackOf('messageEnds', messageColumns)];
}

/** Columns without which a transaction can still be proven: others contradict them, or nothing depends on them. */
const OPTIONAL: ReadonlySet<string> = new Set([
  ...['emulated', 'installed', 'account_state_status_before', 'account_state_status_after'],
  ...['account_state_balance_before', 'account_state_balance_after', 'opcode', 'msg_hash_norm'],
]);

/** Columns that the proof of content needs, by the role of their tables. */
export const CONTENT_COLUMNS: RoleColumns = {
  counted: transactionColumns.filter((name) => !OPTIONAL.has(name)),
  messageEnds: messageColumns.filter((name) => !OPTIONAL.has(name)),
};
