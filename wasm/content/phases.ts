// Cells of a transaction's description: its phases.

import { close, open, put, putBit, putHash, putInt, putRef, putUint, setMisfit } from '../cells/builder';
import { NONE } from '../cells/cell-table';
import { flag, has, isText, number, putAmount, readHash } from './columns';
import { putExtra } from './extra-currencies';
import {
  TX_ABORTED,
  TX_ACTION_BITS,
  TX_ACTION_CELLS,
  TX_ACTION_FEES,
  TX_ACTION_LIST,
  TX_ACTION_STATUS,
  TX_ACTION_SUCCESS,
  TX_ACTION_VALID,
  TX_ACTIONS,
  TX_ACTIVATED,
  TX_BOUNCE,
  TX_BOUNCE_BITS,
  TX_BOUNCE_CELLS,
  TX_BOUNCE_FWD_FEES,
  TX_BOUNCE_MSG_FEES,
  TX_BOUNCE_REQUIRED,
  TX_CREDIT,
  TX_CREDIT_DUE,
  TX_CREDIT_FIRST,
  TX_DESTROYED,
  TX_EXIT_ARG,
  TX_EXIT_CODE,
  TX_EXTRA_CREDIT,
  TX_FWD_FEES,
  TX_GAS_CREDIT,
  TX_GAS_FEES,
  TX_GAS_LIMIT,
  TX_GAS_USED,
  TX_IS_TOCK,
  TX_MODE,
  TX_MSGS_CREATED,
  TX_NO_FUNDS,
  TX_RESULT_ARG,
  TX_RESULT_CODE,
  TX_SKIP_REASON,
  TX_SKIPPED,
  TX_SKIPPED_ACTIONS,
  TX_SPEC_ACTIONS,
  TX_SPLIT_DEPTH,
  TX_SPLIT_PREFIX,
  TX_SPLIT_SIBLING,
  TX_SPLIT_THIS,
  TX_STATE_USED,
  TX_STORAGE_DUE,
  TX_STORAGE_FEES,
  TX_STORAGE_STATUS,
  TX_SUCCESS,
  TX_TYPE,
  TX_VM_FINAL,
  TX_VM_INIT,
  TX_VM_STEPS,
} from './fields';

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
  if (isText(TX_TYPE, row, 'ord')) return ORDINARY;
  if (isText(TX_TYPE, row, 'tick_tock')) return TICK_TOCK;
  if (isText(TX_TYPE, row, 'storage')) return STORAGE;
  if (isText(TX_TYPE, row, 'split_prepare')) return SPLIT_PREPARE;
  if (isText(TX_TYPE, row, 'merge_prepare')) return MERGE_PREPARE;
  return isText(TX_TYPE, row, 'split_install') || isText(TX_TYPE, row, 'merge_install') ? INSTALL : UNKNOWN_TYPE;
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
  putAmount(TX_STORAGE_FEES, row, 4);
  putMaybeCoins(TX_STORAGE_DUE, row);
  putStatusChange(TX_STORAGE_STATUS, row);
}

function putMaybeStorage(row: u32): void {
  putBit(has(TX_STORAGE_FEES, row));
  if (has(TX_STORAGE_FEES, row)) putStorage(row);
}

export function hasCredit(row: u32): bool {
  return has(TX_CREDIT, row) || has(TX_CREDIT_DUE, row) || has(TX_EXTRA_CREDIT, row);
}

function putMaybeCredit(row: u32, isLeftOut: bool, extra: u32): void {
  if (!hasCredit(row) || isLeftOut) {
    putBit(false);
    return;
  }
  putBit(true);
  putMaybeCoins(TX_CREDIT_DUE, row);
  putAmount(TX_CREDIT, row, 4);
  putExtra(extra);
}

/** True if the compute phase ran. */
export function hasRun(row: u32): bool {
  return has(TX_SKIPPED, row) ? !flag(TX_SKIPPED, row) : has(TX_GAS_USED, row);
}

/** The cell of the details of a compute phase that ran; NONE for another. */
function buildDetails(row: u32, cell: u32, isGasSwapped: bool): u32 {
  if (!hasRun(row)) return NONE;
  open(cell);
  putAmount(isGasSwapped ? TX_GAS_FEES : TX_GAS_USED, row, 3);
  putAmount(TX_GAS_LIMIT, row, 3);
  putBit(has(TX_GAS_CREDIT, row));
  if (has(TX_GAS_CREDIT, row)) putAmount(TX_GAS_CREDIT, row, 2);
  putInt(number(TX_MODE, row), 8);
  putInt(number(TX_EXIT_CODE, row), 32);
  putBit(has(TX_EXIT_ARG, row));
  if (has(TX_EXIT_ARG, row)) putInt(number(TX_EXIT_ARG, row), 32);
  putUint(number(TX_VM_STEPS, row), 32);
  putColumnHash(TX_VM_INIT, row);
  putColumnHash(TX_VM_FINAL, row);
  return close();
}

/** True if neither the columns of a compute phase that ran nor of one that was skipped are there: servers of 2024 name them otherwise. */
export function lacksCompute(row: u32): bool {
  if (has(TX_SKIPPED, row) || has(TX_GAS_USED, row)) return false;
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
  putBit(flag(TX_SUCCESS, row));
  putBit(flag(TX_STATE_USED, row));
  putBit(flag(TX_ACTIVATED, row));
  putAmount(isGasSwapped ? TX_GAS_USED : TX_GAS_FEES, row, 4);
  putRef(details);
}

/** `no_state` 00, `bad_state` 01, `no_gas` 10, `suspended` 110. */
function putSkipReason(row: u32): void {
  if (isText(TX_SKIP_REASON, row, 'no_state')) put(0, 2);
  else if (isText(TX_SKIP_REASON, row, 'bad_state')) put(1, 2);
  else if (isText(TX_SKIP_REASON, row, 'no_gas')) put(2, 2);
  else if (isText(TX_SKIP_REASON, row, 'suspended')) put(6, 3);
  else setMisfit();
}

/** The cell of the action phase; NONE if there was none. */
function buildAction(row: u32, cell: u32): u32 {
  if (!has(TX_ACTION_SUCCESS, row)) return NONE;
  open(cell);
  putBit(flag(TX_ACTION_SUCCESS, row));
  putBit(flag(TX_ACTION_VALID, row));
  putBit(flag(TX_NO_FUNDS, row));
  putStatusChange(TX_ACTION_STATUS, row);
  putMaybeCoins(TX_FWD_FEES, row);
  putMaybeCoins(TX_ACTION_FEES, row);
  putInt(number(TX_RESULT_CODE, row), 32);
  putBit(has(TX_RESULT_ARG, row));
  if (has(TX_RESULT_ARG, row)) putInt(number(TX_RESULT_ARG, row), 32);
  putUint(number(TX_ACTIONS, row), 16);
  putUint(number(TX_SPEC_ACTIONS, row), 16);
  putUint(number(TX_SKIPPED_ACTIONS, row), 16);
  putUint(number(TX_MSGS_CREATED, row), 16);
  putColumnHash(TX_ACTION_LIST, row);
  putSize(TX_ACTION_CELLS, TX_ACTION_BITS, row);
  return close();
}

function putMaybeAction(action: u32): void {
  putBit(action != NONE);
  if (action != NONE) putRef(action);
}

/** `negfunds` 00, `nofunds` 01, `ok` 1. */
function putMaybeBounce(row: u32): void {
  putBit(has(TX_BOUNCE, row));
  if (!has(TX_BOUNCE, row)) return;
  if (isText(TX_BOUNCE, row, 'negfunds')) put(0, 2);
  else if (isText(TX_BOUNCE, row, 'nofunds')) {
    put(1, 2);
    putSize(TX_BOUNCE_CELLS, TX_BOUNCE_BITS, row);
    putAmount(TX_BOUNCE_REQUIRED, row, 4);
  } else if (isText(TX_BOUNCE, row, 'ok')) {
    put(1, 1);
    putSize(TX_BOUNCE_CELLS, TX_BOUNCE_BITS, row);
    putAmount(TX_BOUNCE_MSG_FEES, row, 4);
    putAmount(TX_BOUNCE_FWD_FEES, row, 4);
  } else setMisfit();
}

function putSplitInfo(row: u32): void {
  putUint(number(TX_SPLIT_PREFIX, row), 6);
  putUint(number(TX_SPLIT_DEPTH, row), 6);
  putColumnHash(TX_SPLIT_THIS, row);
  putColumnHash(TX_SPLIT_SIBLING, row);
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
    putBit(flag(TX_IS_TOCK, row));
    putStorage(row);
  } else {
    put(type, 4);
    if (type == ORDINARY) {
      putBit(flag(TX_CREDIT_FIRST, row));
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
    putMaybeAction(action);
  }
  putBit(flag(TX_ABORTED, row));
  if (type == ORDINARY) putMaybeBounce(row);
  if (type != MERGE_PREPARE) putBit(flag(TX_DESTROYED, row));
  return close();
}
