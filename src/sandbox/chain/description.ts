import { backOf, type Extra, gasIn, type Transaction, type TransactionKey, valueIn } from './model.ts';
import { actionFee } from './settle.ts';
import { HASH_KIND, type HashKind, type TagCodec } from './tag.ts';

/** The description of a transaction as a record of the API, from which its cells and its JSON follow. */
export type Description = ReturnType<typeof descriptionOf>;

export function descriptionOf(key: TransactionKey, codec: TagCodec) {
  const { template, transaction, epoch } = key;
  const { tickTock, storage, incoming, creditDue, outcome } = transaction;
  /** A hash that is the same in every epoch. */
  const hash = (kind: HashKind): string => codec.hash(template.family, kind, transaction.id, 0);
  return {
    type: tickTock === undefined ? 'ord' : 'tick_tock',
    aborted: outcome.kind !== 'ok',
    destroyed: transaction.destroyed,
    credit_first: tickTock === undefined ? transaction.creditFirst : undefined,
    is_tock: tickTock && tickTock === 'tock',
    storage_ph: storage && {
      storage_fees_collected: String(storage.fee),
      storage_fees_due: storage.due === undefined ? undefined : String(storage.due),
      status_change: storage.change,
    },
    credit_ph:
      incoming?.kind !== 'internal'
        ? undefined
        : {
            due_fees_collected: creditDue === undefined ? undefined : String(creditDue),
            credit: valueIn(epoch - backOf(incoming), incoming),
            credit_extra_currencies: hasAny(incoming.extra) ? incoming.extra : undefined,
          },
    compute_ph: computeOf(key, hash),
    action: actionOf(transaction, hash),
    bounce: bounceOf(transaction),
  } as const;
}

/** True if there is an amount of any extra currency. */
export function hasAny(extra: Extra): boolean {
  return Object.keys(extra).length > 0;
}

function computeOf(key: TransactionKey, hash: (kind: HashKind) => string) {
  const { outcome, compute, activated } = key.transaction;
  if (outcome.kind === 'skipped') return { skipped: true, reason: outcome.reason } as const;
  const failed = outcome.kind === 'failed' ? outcome : undefined;
  const { gasFees, gasUsed } = gasIn(key);
  return {
    skipped: false,
    success: failed === undefined,
    msg_state_used: activated,
    account_activated: activated,
    gas_fees: gasFees,
    gas_used: gasUsed,
    gas_limit: compute.gasLimit,
    gas_credit: compute.gasCredit,
    mode: compute.mode,
    exit_code: failed?.exitCode ?? 0,
    exit_arg: failed?.exitArg,
    vm_steps: compute.vmSteps,
    vm_init_state_hash: hash(HASH_KIND.vmInit),
    vm_final_state_hash: hash(HASH_KIND.vmFinal),
  } as const;
}

function actionOf({ outcome, outgoing, hugeActions, destroyed }: Transaction, hash: (kind: HashKind) => string) {
  if (outcome.kind === 'skipped' || outcome.kind === 'failed') return undefined;
  const failed = outcome.kind === 'action-failed' ? outcome : undefined;
  const sent = outgoing.filter((message) => !message.bounced);
  const internal = sent.filter((message) => message.kind === 'internal');
  const own = internal.reduce((sum, message) => sum + actionFee(message), 0);
  const forwarded = internal.reduce((sum, message) => sum + message.fwdFee, own);
  const noFunds = failed?.resultCode === 37;
  // The actions before the one that fails are counted but not sent.
  const created = failed === undefined ? sent.length : noFunds ? (failed.resultArg ?? 0) : 0;
  return {
    success: failed === undefined,
    valid: failed === undefined || failed.resultCode < 34,
    no_funds: noFunds,
    status_change: destroyed ? 'deleted' : 'unchanged',
    total_fwd_fees: internal.length > 0 ? String(forwarded) : undefined,
    total_action_fees: internal.length > 0 ? String(own) : undefined,
    result_code: failed?.resultCode ?? 0,
    result_arg: failed?.resultArg,
    tot_actions: failed === undefined ? created : created + 1,
    spec_actions: 0,
    skipped_actions: 0,
    msgs_created: created,
    action_list_hash: hash(HASH_KIND.actions),
    tot_msg_size: { cells: String(created * 2), bits: String(created * 1024) },
    ...(hugeActions ? HUGE_ACTIONS : undefined),
  } as const;
}

/** The greatest counters that the chain allows. */
const HUGE_ACTIONS = {
  result_code: -2147483648,
  result_arg: 2147483647,
  tot_actions: 65535,
  spec_actions: 65535,
  skipped_actions: 65535,
  tot_msg_size: { cells: '72057594037927935', bits: '72057594037927935' },
} as const;

function bounceOf({ bounce, outgoing }: Transaction) {
  if (bounce === undefined || bounce === 'negfunds') return bounce && ({ type: bounce } as const);
  if (bounce === 'nofunds') {
    return { type: bounce, msg_size: { cells: '0', bits: '0' }, req_fwd_fees: '400000' } as const;
  }
  const back = outgoing.find((message) => message.bounced);
  return {
    type: bounce,
    msg_size: { cells: '1', bits: '287' },
    msg_fees: String(back === undefined ? 0 : actionFee(back)),
    fwd_fees: String(back?.fwdFee ?? 0),
  } as const;
}
