import { type Account, addressOf } from '../chain/accounts.ts';
import type { Body } from '../chain/bodies.ts';
import type { Chain } from '../chain/chain.ts';
import { remembered } from '../chain/mix.ts';
import {
  type Bounce,
  backOf,
  blockRefOf,
  type Extra,
  extremesIn,
  feesIn,
  gasIn,
  ltIn,
  type Message,
  type MessageKey,
  masterchainSeqno,
  type Template,
  type Transaction,
  type TransactionKey,
  type TransactionRow,
  valueIn,
} from '../chain/model.ts';
import { actionFee, actionOf } from '../chain/settle.ts';
import { HASH_KIND, type HashKind } from '../chain/tag.ts';
import { jsonText } from './json.ts';

const STUB =
  '"balance":null,"extra_currencies":null,"account_status":null,"frozen_hash":null,"data_hash":null,"code_hash":null}';

/** Hashes of the transactions of a message, for the endpoints that show them. */
interface Sides {
  readonly in?: string | undefined;
  readonly out?: string | undefined;
}

/** The JSON of transactions and messages. */
export class TransactionTexts {
  readonly #chain: Chain;
  /** Descriptions, which differ between epochs only if they have extreme values. */
  readonly #descriptions = new Map<Template, Map<number, string>>();

  constructor(chain: Chain) {
    this.#chain = chain;
  }

  transaction(row: TransactionRow): string {
    const chain = this.#chain;
    const { template, transaction, epoch, lt, now, account } = row;
    const { previous, previousBack: back, incoming, outgoing } = transaction;
    const before =
      previous === undefined
        ? `"prev_trans_hash":"${'A'.repeat(43)}=","prev_trans_lt":"0"`
        : `"prev_trans_hash":"${chain.transactionHash({ template, transaction: previous, epoch: epoch - back })}"` +
          `,"prev_trans_lt":"${ltIn({ template, transaction: previous, epoch: epoch - back })}"`;
    const { workchain, shard, seqno } = blockRefOf(row);
    const message = (one: Message, at: number): string => this.message({ template, message: one, epoch: at });
    return (
      `{"account":"${account}","hash":"${chain.transactionHash(row)}","lt":"${lt}","now":${now}` +
      `,"mc_block_seqno":${Math.max(0, masterchainSeqno(row))},"trace_id":"${chain.traceId(row)}",${before}` +
      `,"orig_status":"${transaction.origStatus}","end_status":"${transaction.endStatus}"` +
      `,"total_fees":"${feesIn(row)}","total_fees_extra_currencies":{},"description":${this.#description(row)}` +
      `,"block_ref":{"workchain":${workchain},"shard":"${shard}","seqno":${seqno}}` +
      `,"in_msg":${incoming === undefined ? 'null' : message(incoming, epoch - backOf(incoming))}` +
      `,"out_msgs":[${outgoing.map((one) => message(one, epoch)).join(',')}]` +
      `,"account_state_before":${this.#state(row, 'before')},"account_state_after":${this.#state(row, 'after')}` +
      ',"emulated":false,"finality":"finalized"}'
    );
  }

  /** A hash that is the same in every epoch. */
  #hash({ template }: TransactionKey, kind: HashKind, id: number): string {
    return this.#chain.codec.hash(template.family, kind, id, 0);
  }

  /** A message in the epoch of its sender, or of its receiver if it comes from outside. */
  message({ template, message, epoch }: MessageKey, sides: Sides = {}): string {
    const chain = this.#chain;
    const { from, source, destination, init } = message;
    const body = message.body.in(epoch);
    const address = (account: Account | undefined): string =>
      account === undefined ? 'null' : `"${addressOf(account, epoch, chain.codec)}"`;
    const sender = from && { template, transaction: from, epoch };
    const created = sender && { lt: ltIn(sender) + message.order, at: chain.timeOf(sender) };
    const value =
      message.kind === 'internal'
        ? `"value":"${valueIn(epoch, message)}","value_extra_currencies":${extraText(message.extra)}` +
          `,"fwd_fee":"${message.fwdFee}","ihr_fee":"0"`
        : '"value":null,"value_extra_currencies":null,"fwd_fee":null,"ihr_fee":null';
    const isInternal = message.kind === 'internal';
    const importFee = message.kind === 'external-in' ? `"${message.importFee}"` : 'null';
    const key = { template, message, epoch };
    return (
      `{"hash":"${chain.messageHash(key)}","source":${address(source)},"destination":${address(destination)},${value}` +
      `,"extra_flags":${quoted(message.extraFlags)}` +
      `,"created_lt":${created ? `"${created.lt}"` : 'null'},"created_at":${created ? `"${created.at}"` : 'null'}` +
      `,"opcode":${quoted(body.opcode)},"decoded_opcode":${quoted(body.decodedOpcode)}` +
      `,"ihr_disabled":${isInternal || 'null'},"bounce":${isInternal ? message.bounce : 'null'}` +
      `,"bounced":${isInternal ? message.bounced : 'null'},"import_fee":${importFee}` +
      (sides.in === undefined ? '' : `,"in_msg_tx_hash":"${sides.in}"`) +
      (sides.out === undefined ? '' : `,"out_msg_tx_hash":"${sides.out}"`) +
      `,"message_content":${contentText(body, body.decoded)}` +
      `,"init_state":${init === undefined ? 'null' : contentText(init, 'null')}` +
      (message.normalized ? `,"hash_norm":"${chain.normalizedHash(key)}"}` : '}')
    );
  }

  #description(row: TransactionKey): string {
    const known = remembered(this.#descriptions, row.template, () => new Map<number, string>());
    return remembered(known, row.transaction.id * 4 + extremesIn(row), () => this.#describe(row));
  }

  #describe(row: TransactionKey): string {
    const { transaction, epoch } = row;
    const { outcome, storage, incoming, tickTock, creditDue, bounce } = transaction;
    const due = creditDue === undefined ? '' : `"due_fees_collected":"${creditDue}",`;
    const extras = incoming && incoming.extra.size > 0 ? `,"credit_extra_currencies":${extraText(incoming.extra)}` : '';
    const value = incoming && valueIn(epoch - backOf(incoming), incoming);
    const credit = incoming?.kind === 'internal' ? `,"credit_ph":{${due}"credit":"${value}"${extras}}` : '';
    return (
      `{"type":"${tickTock === undefined ? 'ord' : 'tick_tock'}","aborted":${outcome.kind !== 'ok'}` +
      `,"destroyed":${transaction.destroyed}` +
      (tickTock === undefined ? `,"credit_first":${transaction.creditFirst}` : `,"is_tock":${tickTock === 'tock'}`) +
      (storage === undefined ? '' : `,"storage_ph":${storageText(storage)}`) +
      `${credit},"compute_ph":${this.#compute(row)}${this.#action(row)}` +
      (bounce === undefined ? '}' : `,"bounce":${bounceText(transaction, bounce)}}`)
    );
  }

  #compute(row: TransactionKey): string {
    const { outcome, compute, id, activated } = row.transaction;
    if (outcome.kind === 'skipped') return `{"skipped":true,"reason":"${outcome.reason}"}`;
    const failed = outcome.kind === 'failed' ? outcome : undefined;
    const { gasFees, gasUsed } = gasIn(row);
    return (
      `{"skipped":false,"success":${failed === undefined},"msg_state_used":${activated}` +
      `,"account_activated":${activated},"gas_fees":"${gasFees}","gas_used":"${gasUsed}"` +
      `,"gas_limit":"${compute.gasLimit}",` +
      (compute.gasCredit === undefined ? '' : `"gas_credit":"${compute.gasCredit}",`) +
      `"mode":${compute.mode},"exit_code":${failed?.exitCode ?? 0},` +
      (failed?.exitArg === undefined ? '' : `"exit_arg":${failed.exitArg},`) +
      `"vm_steps":${compute.vmSteps},"vm_init_state_hash":"${this.#hash(row, HASH_KIND.vmInit, id)}"` +
      `,"vm_final_state_hash":"${this.#hash(row, HASH_KIND.vmFinal, id)}"}`
    );
  }

  #action(row: TransactionKey): string {
    const action = actionOf(row.transaction);
    if (action === undefined) return '';
    const { forwarded, kept, cells } = action;
    return (
      `,"action":{"success":${action.success},"valid":${action.valid},"no_funds":${action.noFunds}` +
      `,"status_change":"${row.transaction.destroyed ? 'deleted' : 'unchanged'}",` +
      (forwarded === undefined ? '' : `"total_fwd_fees":"${forwarded}","total_action_fees":"${kept}",`) +
      `"result_code":${action.resultCode},` +
      (action.resultArg === undefined ? '' : `"result_arg":${action.resultArg},`) +
      `"tot_actions":${action.total},"spec_actions":${action.special},"skipped_actions":${action.special}` +
      `,"msgs_created":${action.created},"action_list_hash":"${this.#hash(row, HASH_KIND.actions, row.transaction.id)}"` +
      `,"tot_msg_size":{"cells":"${cells}","bits":"${action.bits}"}}`
    );
  }

  #state({ template, transaction, epoch }: TransactionRow, side: 'before' | 'after'): string {
    const isAfter = side === 'after';
    const of = isAfter ? transaction : transaction.previous;
    const status = isAfter ? transaction.endStatus : transaction.origStatus;
    const hash = this.#chain.stateHash({ template, transaction, epoch }, side);
    if (of === undefined || status === 'nonexist') return `{"hash":"${hash}",${STUB}`;
    const row = { template, transaction: of, epoch: epoch - (isAfter ? 0 : transaction.previousBack) };
    // The past of the first epoch is not indexed.
    const isUnknown = !isAfter && epoch === 0 && transaction.previousBack > 0;
    if (isUnknown || transaction.stubbed || !of.lastInBlock) return `{"hash":"${hash}",${STUB}`;
    const frozen = status === 'frozen' ? `"${this.#hash(row, HASH_KIND.frozen, of.account.index)}"` : 'null';
    const code =
      status === 'active'
        ? `"data_hash":"${this.#chain.dataOf(template.family, of.id).hash}","code_hash":"${of.account.codeHash}"`
        : '"data_hash":null,"code_hash":null';
    const balance = Math.max(0, of.balanceAfter + (template.drift.get(of.account) ?? 0) * row.epoch);
    return (
      `{"hash":"${hash}","balance":"${balance}"` +
      `,"extra_currencies":${extraText(isAfter ? transaction.extraAfter : transaction.extraBefore)}` +
      `,"account_status":"${status}","frozen_hash":${frozen},${code}}`
    );
  }
}

function storageText({ fee, due, change }: NonNullable<Transaction['storage']>): string {
  const shown = due === undefined ? '' : `"storage_fees_due":"${due}",`;
  return `{"storage_fees_collected":"${fee}",${shown}"status_change":"${change}"}`;
}

function quoted(text: string | null): string {
  return text === null ? 'null' : jsonText(text);
}

function contentText(body: Body, decoded: string): string {
  return `{"hash":"${body.hash}","body":"${body.boc}","decoded":${decoded}}`;
}

/** Amounts by currency, sorted by key. */
function extraText(extra: Extra): string {
  const keys = [...extra.keys()].sort();
  return `{${keys.map((key) => `"${key}":"${extra.get(key)}"`).join(',')}}`;
}

function bounceText(transaction: Transaction, bounce: Bounce): string {
  if (bounce === 'negfunds') return '{"type":"negfunds"}';
  if (bounce === 'nofunds') return '{"type":"nofunds","msg_size":{"cells":"0","bits":"0"},"req_fwd_fees":"400000"}';
  const back = transaction.outgoing.find((message) => message.bounced);
  const fees = back === undefined ? 0 : actionFee(back);
  return `{"type":"ok","msg_size":{"cells":"1","bits":"287"},"msg_fees":"${fees}","fwd_fees":"${back?.fwdFee ?? 0}"}`;
}
