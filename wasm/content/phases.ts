// Cells of a transaction's description: its phases.

import { close, open, put, putBit, putHash, putInt, putMaybeRef, putRef, putUint, setMisfit } from '../cells/builder';
import { NONE } from '../cells/cell-table';
import { Tx } from '../generated/numbering';
import { flag, has, isText, number, putAmount, readHash } from './columns';

export const ORDINARY: u32 = 0;
export const STORAGE: u32 = 1;
export const TICK_TOCK: u32 = 2;
export const SPLIT_PREPARE: u32 = 4;
export const MERGE_PREPARE: u32 = 6;
/** Types that contain another transaction, which the API does not give: split_install and merge_install. */
export const INSTALL: u32 = 5;
export const UNKNOWN_TYPE: u32 = 255;

/** The type of a transaction, by its name. */
export function typeOf(row: u32): u32 {
  if (isText(Tx.descr, row, 'ord')) return ORDINARY;
  if (isText(Tx.descr, row, 'tick_tock')) return TICK_TOCK;
  if (isText(Tx.descr, row, 'storage')) return STORAGE;
  if (isText(Tx.descr, row, 'split_prepare')) return SPLIT_PREPARE;
  if (isText(Tx.descr, row, 'merge_prepare')) return MERGE_PREPARE;
  return isText(Tx.descr, row, 'split_install') || isText(Tx.descr, row, 'merge_install') ? INSTALL : UNKNOWN_TYPE;
}

const hash: usize = memory.data(32, 16);

/** 32 bytes of a column with base64. */
export function putColumnHash(name: u32, row: u32): void {
  if (readHash(name, row, hash)) putHash(hash);
  else setMisfit();
}

/** A Maybe, and an amount. */
function putMaybeCoins(name: u32, row: u32): void {
  putBit(has(name, row));
  if (has(name, row)) putAmount(name, row, 4);
}

/** `unchanged` 0, `frozen` 10, `deleted` 11. */
function putStatusChange(name: u32, row: u32): void {
  if (isText(name, row, 'unchanged')) put(0, 1);
  else if (isText(name, row, 'frozen')) put(2, 2);
  else if (isText(name, row, 'deleted')) put(3, 2);
  else setMisfit();
}

function putSize(cells: u32, bits: u32, row: u32): void {
  putAmount(cells, row, 3);
  putAmount(bits, row, 3);
}

function putStorage(row: u32): void {
  putAmount(Tx.storage_fees_collected, row, 4);
  putMaybeCoins(Tx.storage_fees_due, row);
  putStatusChange(Tx.storage_status_change, row);
}

function putMaybeStorage(row: u32): void {
  putBit(has(Tx.storage_fees_collected, row));
  if (has(Tx.storage_fees_collected, row)) putStorage(row);
}

export function hasCredit(row: u32): bool {
  return has(Tx.credit, row) || has(Tx.credit_due_fees_collected, row) || has(Tx.credit_extra_currencies, row);
}

function putMaybeCredit(row: u32, isLeftOut: bool, extra: u32): void {
  if (!hasCredit(row) || isLeftOut) {
    putBit(false);
    return;
  }
  putBit(true);
  putMaybeCoins(Tx.credit_due_fees_collected, row);
  putAmount(Tx.credit, row, 4);
  putMaybeRef(extra);
}

/** True if the compute phase ran. */
export function hasRun(row: u32): bool {
  return has(Tx.compute_skipped, row) ? !flag(Tx.compute_skipped, row) : has(Tx.compute_gas_used, row);
}

/** The cell of the details of a compute phase that ran; NONE for another. */
function buildDetails(row: u32, cell: u32, isGasSwapped: bool): u32 {
  if (!hasRun(row)) return NONE;
  open(cell);
  putAmount(isGasSwapped ? Tx.compute_gas_fees : Tx.compute_gas_used, row, 3);
  putAmount(Tx.compute_gas_limit, row, 3);
  putBit(has(Tx.compute_gas_credit, row));
  if (has(Tx.compute_gas_credit, row)) putAmount(Tx.compute_gas_credit, row, 2);
  putInt(number(Tx.compute_mode, row), 8);
  putInt(number(Tx.compute_exit_code, row), 32);
  putBit(has(Tx.compute_exit_arg, row));
  if (has(Tx.compute_exit_arg, row)) putInt(number(Tx.compute_exit_arg, row), 32);
  putUint(number(Tx.compute_vm_steps, row), 32);
  putColumnHash(Tx.compute_vm_init_state_hash, row);
  putColumnHash(Tx.compute_vm_final_state_hash, row);
  return close();
}

/** True if neither the columns of a compute phase that ran nor of one that was skipped are there: servers of 2024 name them otherwise. */
export function lacksCompute(row: u32): bool {
  if (has(Tx.compute_skipped, row) || has(Tx.compute_gas_used, row)) return false;
  const type = typeOf(row);
  return type != STORAGE && type != MERGE_PREPARE;
}

function putCompute(row: u32, details: u32, isGasSwapped: bool, reason: u32): void {
  putBit(details != NONE);
  if (details == NONE) {
    if (reason == NONE) putSkipReason(row);
    else if (reason == 3) put(6, 3);
    else put(reason, 2);
    return;
  }
  putBit(flag(Tx.compute_success, row));
  putBit(flag(Tx.compute_msg_state_used, row));
  putBit(flag(Tx.compute_account_activated, row));
  putAmount(isGasSwapped ? Tx.compute_gas_used : Tx.compute_gas_fees, row, 4);
  putRef(details);
}

/** `no_state` 00, `bad_state` 01, `no_gas` 10, `suspended` 110. */
function putSkipReason(row: u32): void {
  if (isText(Tx.skipped_reason, row, 'no_state')) put(0, 2);
  else if (isText(Tx.skipped_reason, row, 'bad_state')) put(1, 2);
  else if (isText(Tx.skipped_reason, row, 'no_gas')) put(2, 2);
  else if (isText(Tx.skipped_reason, row, 'suspended')) put(6, 3);
  else setMisfit();
}

/** The cell of the action phase; NONE if there was none. */
function buildAction(row: u32, cell: u32): u32 {
  if (!has(Tx.action_success, row)) return NONE;
  open(cell);
  putBit(flag(Tx.action_success, row));
  putBit(flag(Tx.action_valid, row));
  putBit(flag(Tx.action_no_funds, row));
  putStatusChange(Tx.action_status_change, row);
  putMaybeCoins(Tx.action_total_fwd_fees, row);
  putMaybeCoins(Tx.action_total_action_fees, row);
  putInt(number(Tx.action_result_code, row), 32);
  putBit(has(Tx.action_result_arg, row));
  if (has(Tx.action_result_arg, row)) putInt(number(Tx.action_result_arg, row), 32);
  putUint(number(Tx.action_tot_actions, row), 16);
  putUint(number(Tx.action_spec_actions, row), 16);
  putUint(number(Tx.action_skipped_actions, row), 16);
  putUint(number(Tx.action_msgs_created, row), 16);
  putColumnHash(Tx.action_action_list_hash, row);
  putSize(Tx.action_tot_msg_size_cells, Tx.action_tot_msg_size_bits, row);
  return close();
}

/** `negfunds` 00, `nofunds` 01, `ok` 1. */
function putMaybeBounce(row: u32): void {
  putBit(has(Tx.bounce, row));
  if (!has(Tx.bounce, row)) return;
  if (isText(Tx.bounce, row, 'negfunds')) put(0, 2);
  else if (isText(Tx.bounce, row, 'nofunds')) {
    put(1, 2);
    putSize(Tx.bounce_msg_size_cells, Tx.bounce_msg_size_bits, row);
    putAmount(Tx.bounce_req_fwd_fees, row, 4);
  } else if (isText(Tx.bounce, row, 'ok')) {
    put(1, 1);
    putSize(Tx.bounce_msg_size_cells, Tx.bounce_msg_size_bits, row);
    putAmount(Tx.bounce_msg_fees, row, 4);
    putAmount(Tx.bounce_fwd_fees, row, 4);
  } else setMisfit();
}

function putSplitInfo(row: u32): void {
  putUint(number(Tx.split_info_cur_shard_pfx_len, row), 6);
  putUint(number(Tx.split_info_acc_split_depth, row), 6);
  putColumnHash(Tx.split_info_this_addr, row);
  putColumnHash(Tx.split_info_sibling_addr, row);
}

/** Builds the description in three cells from `first` on. Returns the last one.
 *
 * @param extra root of the extra currencies that were credited
 * @param reason why the compute phase was skipped, if no column says it; else NONE
 */
export function buildDescription(
  row: u32,
  first: u32,
  extra: u32,
  isGasSwapped: bool,
  isCreditLeftOut: bool,
  reason: u32,
): u32 {
  const details = buildDetails(row, first, isGasSwapped);
  const action = buildAction(row, first + 1);
  const type = typeOf(row);
  open(first + 2);
  if (type == TICK_TOCK) {
    put(1, 3);
    putBit(flag(Tx.is_tock, row));
    putStorage(row);
  } else {
    put(type, 4);
    if (type == ORDINARY) {
      putBit(flag(Tx.credit_first, row));
      putMaybeStorage(row);
      putMaybeCredit(row, isCreditLeftOut, extra);
    } else if (type == STORAGE) putStorage(row);
    else {
      putSplitInfo(row);
      if (type == MERGE_PREPARE) putStorage(row);
      else putMaybeStorage(row);
    }
  }
  if (type == STORAGE) return close();
  if (type != MERGE_PREPARE) {
    putCompute(row, details, isGasSwapped, reason);
    putMaybeRef(action);
  }
  putBit(flag(Tx.aborted, row));
  if (type == ORDINARY) putMaybeBounce(row);
  if (type != MERGE_PREPARE) putBit(flag(Tx.destroyed, row));
  return close();
}
