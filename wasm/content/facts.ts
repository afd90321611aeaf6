// What must hold for a transaction whatever its hash: its fields among each other, and the balances of its account.

import { Msg, Tx } from '../generated/numbering';
import { amount, flag, has, isText, number } from './columns';
import { messageAt, rowOf } from './message-table';
import { hasCredit } from './phases';

/** Checks a transaction whose messages are `count` from `first` on. */
export function hasSoundFacts(row: u32, first: u32, count: u32): bool {
  return hasSoundFlags(row) && hasSoundStates(row) && hasSoundFees(first, count) && hasSoundBalance(row, first, count);
}

/** A flag of another type of transaction is not set. */
function hasSoundFlags(row: u32): bool {
  if (flag(Tx.is_tock, row) && !isText(Tx.descr, row, 'tick_tock')) return false;
  return !flag(Tx.installed, row) || isText(Tx.descr, row, 'split_install');
}

/** Where the index has a state, its status is that of the transaction. */
function hasSoundStates(row: u32): bool {
  return (
    isSame(Tx.account_state_status_before, Tx.orig_status, row) &&
    isSame(Tx.account_state_status_after, Tx.end_status, row)
  );
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
    if (has(Msg.extra_flags, row) && amount(Msg.ihr_fee, row) != 0) return false;
  }
  return true;
}

/**
 * Checks the new balance: the old one, plus received, minus sent amounts and fees. An account receives the fee of a delivery that did not take
 * place (`ihr_fee`). The blackhole of the masterchain burns what it receives: so the balance may have what was credited instead. This alone
 * would not do, because some servers send a credit phase that is not there. A deleted account loses the rest.
 */
function hasSoundBalance(row: u32, first: u32, count: u32): bool {
  if (!has(Tx.account_state_balance_before, row) || !has(Tx.account_state_balance_after, row)) return true;
  if (
    flag(Tx.destroyed, row) ||
    (has(Tx.storage_status_change, row) && !isText(Tx.storage_status_change, row, 'unchanged'))
  )
    return true;
  let balance = number(Tx.account_state_balance_before, row) - <i64>amount(Tx.total_fees, row);
  let received: i64 = 0;
  for (let message = first; message < first + count; message++) {
    const own = rowOf(message);
    const value = <i64>amount(Msg.value, own) + <i64>amount(Msg.ihr_fee, own);
    if (messageAt(message).isReceived) received += value;
    else balance -= value + <i64>amount(Msg.fwd_fee, own);
  }
  const after = number(Tx.account_state_balance_after, row);
  if (balance + received == after) return true;
  const credited = <i64>amount(Tx.credit, row) + <i64>amount(Tx.credit_due_fees_collected, row);
  return hasCredit(row) && balance + credited == after;
}
