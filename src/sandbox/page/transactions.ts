import type { Account } from '../chain/accounts.ts';
import type { Body } from '../chain/bodies.ts';
import { type Clock, EPOCH_BLOCKS } from '../chain/clock.ts';
import { remembered } from '../chain/mix.ts';
import type { Bounce, Extra, Message, Template, Transaction } from '../chain/model.ts';
import { actionFee, createdLt } from '../chain/settle.ts';
import { HASH_KIND, type TagCodec } from '../chain/tag.ts';
import { Form, type GappedText, Gaps, json } from './form.ts';
import { jsonText } from './json.ts';

/** Hash of the state of an account that does not exist. */
const NO_STATE_HASH = Buffer.from('90aec8965afabb16ebc3cb9b408ebae71b618d78788bc80d09843593cac98da4', 'hex').toString(
  'base64',
);
const STUB =
  '"balance":null,"extra_currencies":null,"account_status":null,"frozen_hash":null,"data_hash":null,"code_hash":null}';

/** Makes the forms of a template's transactions and messages. */
export class TransactionForms {
  readonly #template: Template;
  readonly #codec: TagCodec;
  readonly #gaps: Gaps;
  readonly #forms = new Map<number, Form>();

  constructor(template: Template, codec: TagCodec, clock: Clock) {
    this.#template = template;
    this.#codec = codec;
    this.#gaps = new Gaps(template, codec, clock);
  }

  /** The form of a transaction; it differs in the first epoch, whose past is not indexed. */
  of(transaction: Transaction, isFirst: boolean): Form {
    const unknownPast = isFirst && transaction.previousBack > 0;
    const key = transaction.id * 2 + (unknownPast ? 1 : 0);
    return remembered(this.#forms, key, () => new Form(this.#transaction(transaction, unknownPast)));
  }

  #transaction(transaction: Transaction, unknownPast: boolean): GappedText {
    const gaps = this.#gaps;
    const {
      id,
      account,
      block,
      lt,
      previous,
      previousBack: back,
      incoming,
      outgoing,
      origStatus,
      endStatus,
    } = transaction;
    const root = transaction.root ?? transaction;
    const slot = this.#slot(transaction);
    const before =
      previous === undefined
        ? json`${'A'.repeat(43)}=","prev_trans_lt":"0`
        : json`${gaps.hash(HASH_KIND.transaction, previous.id, back)}","prev_trans_lt":"${gaps.lt(previous.lt, back)}`;
    return json`
      {"account":"${gaps.address(account)}","hash":"${gaps.hash(HASH_KIND.transaction, id)}","lt":"${gaps.lt(lt)}",
      "now":${gaps.utime(slot)},"mc_block_seqno":${gaps.seqno(slot + block.included - block.slot)},
      "trace_id":"${gaps.hash(HASH_KIND.transaction, root.id, transaction.cycle - root.cycle)}",
      "prev_trans_hash":"${before}","orig_status":"${origStatus}","end_status":"${endStatus}",
      "total_fees":"${gaps.extreme(transaction.fees, transaction.extreme?.fees)}",
      "total_fees_extra_currencies":{},"description":${this.#description(transaction)},
      "block_ref":${gaps.block(block.name)},
      "in_msg":${incoming === undefined ? 'null' : this.message(incoming, backOf(incoming))},
      "out_msgs":[${outgoing.flatMap((message, index) => [index > 0 ? ',' : '', ...this.message(message)])}],
      "account_state_before":${this.#state(transaction, 'before', unknownPast)},
      "account_state_after":${this.#state(transaction, 'after', false)},"emulated":false,"finality":"finalized"}`;
  }

  /** Slots counted from the phase of the template. */
  #slot(transaction: Transaction): number {
    return this.#template.period === EPOCH_BLOCKS ? transaction.slot : 0;
  }

  /** A message, `back` epochs before the record that it is in; `links` are more keys. */
  message(message: Message, back = 0, links = ''): GappedText {
    const gaps = this.#gaps;
    const { id, from, source, destination, body, init, extra, extraFlags } = message;
    const address = (account: Account | undefined): GappedText =>
      account === undefined ? ['null'] : json`"${gaps.address(account, back)}"`;
    const isInternal = message.kind === 'internal';
    const created =
      from === undefined
        ? '"created_lt":null,"created_at":null'
        : json`"created_lt":"${gaps.lt(createdLt(message, from), back)}","created_at":"${gaps.utime(this.#slot(from), back)}"`;
    const norm = message.normalized ? json`,"hash_norm":"${gaps.hash(HASH_KIND.normalized, id, back)}"` : '';
    return json`
      {"hash":"${gaps.hash(HASH_KIND.message, id, back)}","source":${address(source)},"destination":${address(destination)},
      "value":${isInternal ? json`"${gaps.extreme(message.value, message.extremeValue, back)}"` : 'null'},
      "value_extra_currencies":${isInternal ? extraText(extra) : 'null'},
      ${isInternal ? `"fwd_fee":"${message.fwdFee}","ihr_fee":"0"` : '"fwd_fee":null,"ihr_fee":null'},
      "extra_flags":${quoted(extraFlags)},${created},"opcode":${quoted(body.opcode)},
      "decoded_opcode":${quoted(body.decodedOpcode)},"ihr_disabled":${isInternal || 'null'},
      "bounce":${isInternal ? message.bounce : 'null'},"bounced":${isInternal ? message.bounced : 'null'},
      "import_fee":${message.kind === 'external-in' ? `"${message.importFee}"` : 'null'}${links},
      "message_content":${contentText(body, body.decoded)},
      "init_state":${init === undefined ? 'null' : contentText(init, 'null')}${norm}}`;
  }

  #description(transaction: Transaction): GappedText {
    const { outcome, storage, incoming, tickTock, creditDue, bounce } = transaction;
    const storageDue = storage?.due === undefined ? '' : `"storage_fees_due":"${storage.due}",`;
    const due = creditDue === undefined ? '' : `"due_fees_collected":"${creditDue}",`;
    return json`
      {"type":"${tickTock === undefined ? 'ord' : 'tick_tock'}","aborted":${outcome.kind !== 'ok'},
      "destroyed":${transaction.destroyed},
      ${tickTock === undefined ? `"credit_first":${transaction.creditFirst}` : `"is_tock":${tickTock === 'tock'}`}
      ${storage === undefined ? '' : `,"storage_ph":{"storage_fees_collected":"${storage.fee}",${storageDue}"status_change":"${storage.change}"}`}
      ${incoming?.kind === 'internal' ? json`,"credit_ph":{${due}${this.#credit(incoming)}}` : ''}
      ,"compute_ph":${this.#compute(transaction)}${this.#action(transaction)}
      ${bounce === undefined ? '' : `,"bounce":${bounceText(transaction, bounce)}`}}`;
  }

  #credit(incoming: Message): GappedText {
    const { value, extremeValue, extra } = incoming;
    const extras = extra.size > 0 ? `,"credit_extra_currencies":${extraText(extra)}` : '';
    return json`"credit":"${this.#gaps.extreme(value, extremeValue, backOf(incoming))}"${extras}`;
  }

  #compute({ outcome, compute, id, extreme, activated }: Transaction): GappedText {
    const gaps = this.#gaps;
    if (outcome.kind === 'skipped') return json`{"skipped":true,"reason":"${outcome.reason}"}`;
    const failed = outcome.kind === 'failed' ? outcome : undefined;
    return json`
      {"skipped":false,"success":${failed === undefined},"msg_state_used":${activated},"account_activated":${activated},
      "gas_fees":"${gaps.extreme(compute.gasFees, extreme?.gasFees)}",
      "gas_used":"${gaps.extreme(compute.gasUsed, extreme?.gasUsed)}","gas_limit":"${compute.gasLimit}",
      ${compute.gasCredit === undefined ? '' : `"gas_credit":"${compute.gasCredit}",`}
      "mode":${compute.mode},"exit_code":${failed?.exitCode ?? 0},
      ${failed?.exitArg === undefined ? '' : `"exit_arg":${failed.exitArg},`}
      "vm_steps":${compute.vmSteps},"vm_init_state_hash":"${gaps.hash(HASH_KIND.vmInit, id)}",
      "vm_final_state_hash":"${gaps.hash(HASH_KIND.vmFinal, id)}"}`;
  }

  #action({ id, outcome, outgoing, hugeActions, destroyed }: Transaction): GappedText {
    if (outcome.kind === 'skipped' || outcome.kind === 'failed') return [];
    const failed = outcome.kind === 'action-failed' ? outcome : undefined;
    const sent = outgoing.filter((message) => !message.bounced);
    const internal = sent.filter((message) => message.kind === 'internal');
    const kept = internal.reduce((sum, message) => sum + actionFee(message), 0);
    const forwarded = internal.reduce((sum, message) => sum + message.fwdFee, kept);
    const arg = failed === undefined ? (hugeActions ? 2147483647 : undefined) : failed.resultArg;
    const noFunds = failed?.resultCode === 37;
    // The actions before the one that fails are counted but not sent.
    const created = failed === undefined ? sent.length : noFunds ? (failed.resultArg ?? 0) : 0;
    const few = hugeActions ? 65535 : 0;
    const size = hugeActions ? '72057594037927935' : undefined;
    return json`
      ,"action":{"success":${failed === undefined},"valid":${failed === undefined || failed.resultCode < 34},
      "no_funds":${noFunds},"status_change":"${destroyed ? 'deleted' : 'unchanged'}",
      ${internal.length > 0 ? `"total_fwd_fees":"${forwarded}","total_action_fees":"${kept}",` : ''}
      "result_code":${failed?.resultCode ?? (hugeActions ? -2147483648 : 0)},
      ${arg === undefined ? '' : `"result_arg":${arg},`}
      "tot_actions":${hugeActions ? 65535 : failed === undefined ? created : created + 1},
      "spec_actions":${few},"skipped_actions":${few},"msgs_created":${created},
      "action_list_hash":"${this.#gaps.hash(HASH_KIND.actions, id)}",
      "tot_msg_size":{"cells":"${size ?? created * 2}","bits":"${size ?? created * 1024}"}}`;
  }

  #state(transaction: Transaction, side: 'before' | 'after', unknown: boolean): GappedText {
    const gaps = this.#gaps;
    const isAfter = side === 'after';
    const of = isAfter ? transaction : transaction.previous;
    const status = isAfter ? transaction.endStatus : transaction.origStatus;
    if (of === undefined || status === 'nonexist') return [`{"hash":"${NO_STATE_HASH}",${STUB}`];
    const back = isAfter ? 0 : transaction.previousBack;
    const hash = gaps.hash(HASH_KIND.state, of.id, back);
    if (unknown || transaction.stubbed || !of.lastInBlock) return json`{"hash":"${hash}",${STUB}`;
    const { family, drift } = this.#template;
    const frozen =
      status === 'frozen' ? `"${this.#codec.hash(family, HASH_KIND.frozen, of.account.index, 0)}"` : 'null';
    const code =
      status === 'active'
        ? json`"data_hash":"${gaps.hash(HASH_KIND.stateData, of.id, back)}","code_hash":"${of.account.codeHash}"`
        : '"data_hash":null,"code_hash":null';
    return json`
      {"hash":"${hash}","balance":"${gaps.grown(of.balanceAfter, drift.get(transaction.account) ?? 0, back)}",
      "extra_currencies":${extraText(isAfter ? transaction.extraAfter : transaction.extraBefore)},
      "account_status":"${status}","frozen_hash":${frozen},${code}}`;
  }
}

/** Epochs between sending and receiving. */
function backOf({ from, to }: Message): number {
  return from === undefined || to === undefined ? 0 : to.cycle - from.cycle;
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
