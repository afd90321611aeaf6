// What must hold for a transaction whatever its hash: its fields among each other, and the balances of its account.

import { amount, flag, has, isText, number } from './columns';
import {
  MSG_EXTRA_FLAGS,
  MSG_FWD_FEE,
  MSG_IHR_FEE,
  MSG_VALUE,
  TX_BALANCE_AFTER,
  TX_BALANCE_BEFORE,
  TX_DESTROYED,
  TX_END_STATUS,
  TX_INSTALLED,
  TX_IS_TOCK,
  TX_ORIG_STATUS,
  TX_STATUS_AFTER,
  TX_STATUS_BEFORE,
  TX_STORAGE_STATUS,
  TX_TOTAL_FEES,
  TX_TYPE,
} from './fields';
import { isReceived, rowOf } from './message-table';

/** Checks a transaction whose messages are `count` from `first` on. */
export function hasSoundFacts(row: u32, first: u32, count: u32): bool {
  return hasSoundFlags(row) && hasSoundStates(row) && hasSoundFees(first, count) && hasSoundBalance(row, first, count);
}

/** A flag of another type of transaction is not set. */
function hasSoundFlags(row: u32): bool {
  if (flag(TX_IS_TOCK, row) && !isText(TX_TYPE, row, 'tick_tock')) return false;
  return !flag(TX_INSTALLED, row) || isText(TX_TYPE, row, 'split_install');
}

/** Where the index has a state, its status is that of the transaction. */
function hasSoundStates(row: u32): bool {
  return isSame(TX_STATUS_BEFORE, TX_ORIG_STATUS, row) && isSame(TX_STATUS_AFTER, TX_END_STATUS, row);
}
function isSame(state: u32, status: u32, row: u32): bool {
  if (!has(state, row)) return true;
  if (isText(state, row, 'active')) return isText(status, row, 'active');
  if (isText(state, row, 'uninit')) return isText(status, row, 'uninit');
  if (isText(state, row, 'frozen')) return isText(status, row, 'frozen');
  return isText(state, row, 'nonexist') && isText(status, row, 'nonexist');
}

/** A message with extra flags has no other value in the field that they took. */
function hasSoundFees(first: u32, count: u32): bool {
  for (let message = first; message < first + count; message++) {
    const row = rowOf(message);
    if (has(MSG_EXTRA_FLAGS, row) && amount(MSG_IHR_FEE, row) != 0) return false;
  }
  return true;
}

/** Checks the new balance: the old one, plus received, minus sent amounts and fees. A deleted account loses the rest. */
function hasSoundBalance(row: u32, first: u32, count: u32): bool {
  if (!has(TX_BALANCE_BEFORE, row) || !has(TX_BALANCE_AFTER, row)) return true;
  if (flag(TX_DESTROYED, row) || (has(TX_STORAGE_STATUS, row) && !isText(TX_STORAGE_STATUS, row, 'unchanged')))
    return true;
  let balance = number(TX_BALANCE_BEFORE, row) - <i64>amount(TX_TOTAL_FEES, row);
  for (let message = first; message < first + count; message++) {
    const own = rowOf(message);
    const value = <i64>amount(MSG_VALUE, own);
    if (isReceived(message)) balance += value;
    else balance -= value + <i64>amount(MSG_FWD_FEE, own) + <i64>amount(MSG_IHR_FEE, own);
  }
  return balance == number(TX_BALANCE_AFTER, row);
}
