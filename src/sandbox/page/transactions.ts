import type { Body } from '../chain/bodies.ts';
import { EPOCH_BLOCKS } from '../chain/clock.ts';
import type { Bounce, Extra, Message, Status, Template, Transaction } from '../chain/model.ts';
import { actionFee, createdLt } from '../chain/settle.ts';
import { HASH_KIND, type TagCodec } from '../chain/tag.ts';
import { Form } from './form.ts';
import { jsonText } from './json.ts';

/** Hash of the state of an account that does not exist. */
const NO_STATE_HASH = Buffer.from('90aec8965afabb16ebc3cb9b408ebae71b618d78788bc80d09843593cac98da4', 'hex').toString(
  'base64',
);
const STUB =
  '"balance":null,"extra_currencies":null,"account_status":null,"frozen_hash":null,"data_hash":null,"code_hash":null}';

/** Whether the first indexed repetition shows the record differently from all later ones. */
export type Age = 'first' | 'later';

/** Makes the forms of a template's transactions and messages. */
export class TransactionForms {
  readonly #template: Template;
  readonly #codec: TagCodec;
  readonly #forms = new Map<number, Form>();

  constructor(template: Template, codec: TagCodec) {
    this.#template = template;
    this.#codec = codec;
  }

  /** The form of a transaction; made when it is first asked for. */
  of(transaction: Transaction, age: Age): Form {
    const key = transaction.id * 2 + (age === 'first' && transaction.previousBack > 0 ? 1 : 0);
    const known = this.#forms.get(key);
    if (known !== undefined) return known;
    const made = this.#make(transaction, key % 2 === 1);
    this.#forms.set(key, made);
    return made;
  }

  #make(transaction: Transaction, unknownPast: boolean): Form {
    const form = new Form(this.#template, this.#codec);
    const { account, previous, previousBack } = transaction;
    form.text('{"account":"').address(account).text('","hash":"').hash(HASH_KIND.transaction, transaction.id);
    form.text('","lt":"').lt(transaction.lt).text('","now":').utime(this.#slot(transaction));
    form
      .text(',"mc_block_seqno":')
      .seqno(this.#slot(transaction) + transaction.block.included - transaction.block.slot);
    const root = transaction.root ?? transaction;
    form.text(',"trace_id":"').hash(HASH_KIND.transaction, root.id, transaction.cycle - root.cycle);
    form.text('","prev_trans_hash":"');
    if (previous === undefined) form.text(`${'A'.repeat(43)}=","prev_trans_lt":"0`);
    else
      form
        .hash(HASH_KIND.transaction, previous.id, previousBack)
        .text('","prev_trans_lt":"')
        .lt(previous.lt, previousBack);
    form.text(`","orig_status":"${transaction.origStatus}","end_status":"${transaction.endStatus}"`);
    form.text(',"total_fees":"').extreme(transaction.fees, transaction.extreme?.fees);
    form.text(`","total_fees_extra_currencies":${extraText(transaction.feeExtra)},"description":`);
    this.#description(form, transaction);
    form.text(',"block_ref":').block(transaction.block.name, EPOCH_BLOCKS).text(',"in_msg":');
    if (transaction.incoming === undefined) form.text('null');
    else this.message(form, transaction.incoming, this.#back(transaction.incoming));
    form.text(',"out_msgs":[');
    transaction.outgoing.forEach((message, index) => {
      if (index > 0) form.text(',');
      this.message(form, message, 0);
    });
    form.text('],"account_state_before":');
    this.#state(form, transaction, 'before', unknownPast);
    form.text(',"account_state_after":');
    this.#state(form, transaction, 'after', false);
    return form.text(',"emulated":false,"finality":"finalized"}').seal();
  }

  /** Slots counted from the phase of the template. */
  #slot(transaction: Transaction): number {
    return this.#template.period === EPOCH_BLOCKS ? transaction.slot : 0;
  }

  #back(message: Message): number {
    const { from, to } = message;
    return from === undefined || to === undefined ? 0 : to.cycle - from.cycle;
  }

  /** Adds a message; `back` epochs before the record it stands in. Between content and end others may add keys. */
  message(form: Form, message: Message, back: number, links: () => void = () => {}): void {
    const { from } = message;
    const internal = message.kind === 'internal';
    form.text('{"hash":"').hash(HASH_KIND.message, message.id, back).text('","source":');
    addressOrNull(form, message.source, back);
    form.text(',"destination":');
    addressOrNull(form, message.destination, back);
    if (internal) form.text(',"value":"').extreme(message.value, message.extremeValue, back).text('"');
    else form.text(',"value":null');
    form.text(`,"value_extra_currencies":${internal ? extraText(message.extra) : 'null'}`);
    form.text(internal ? `,"fwd_fee":"${message.fwdFee}","ihr_fee":"0"` : ',"fwd_fee":null,"ihr_fee":null');
    form.text(`,"extra_flags":${message.extraFlags === null ? 'null' : `"${message.extraFlags}"`}`);
    if (from === undefined) form.text(',"created_lt":null,"created_at":null');
    else {
      form.text(',"created_lt":"').lt(createdLt(message, from), back);
      form.text('","created_at":"').utime(this.#slot(from), back).text('"');
    }
    const { opcode, decodedOpcode } = message.body;
    form.text(`,"opcode":${opcode === null ? 'null' : `"${opcode}"`}`);
    form.text(`,"decoded_opcode":${decodedOpcode === null ? 'null' : jsonText(decodedOpcode)}`);
    const flags = internal
      ? `true,"bounce":${message.bounce},"bounced":${message.bounced}`
      : 'null,"bounce":null,"bounced":null';
    form.text(`,"ihr_disabled":${flags}`);
    form.text(`,"import_fee":${message.kind === 'external-in' ? `"${message.importFee}"` : 'null'}`);
    links();
    form.text(`,"message_content":${contentText(message.body, message.body.decoded)}`);
    form.text(`,"init_state":${message.init === undefined ? 'null' : contentText(message.init, 'null')}`);
    if (message.normalized) form.text(',"hash_norm":"').hash(HASH_KIND.normalized, message.id, back).text('"');
    form.text('}');
  }

  #description(form: Form, transaction: Transaction): void {
    const { outcome, storage, incoming } = transaction;
    form.text(
      `{"type":"${transaction.tickTock === undefined ? 'ord' : 'tick_tock'}","aborted":${outcome.kind !== 'ok'}`,
    );
    form.text(`,"destroyed":${transaction.destroyed}`);
    if (transaction.tickTock === undefined) form.text(`,"credit_first":${transaction.creditFirst}`);
    else form.text(`,"is_tock":${transaction.tickTock === 'tock'}`);
    if (storage !== undefined) {
      const due = storage.due === undefined ? '' : `"storage_fees_due":"${storage.due}",`;
      form.text(`,"storage_ph":{"storage_fees_collected":"${storage.fee}",${due}"status_change":"${storage.change}"}`);
    }
    if (incoming?.kind === 'internal') {
      const due = transaction.creditDue === undefined ? '' : `"due_fees_collected":"${transaction.creditDue}",`;
      form.text(`,"credit_ph":{${due}"credit":"`);
      form.extreme(incoming.value, incoming.extremeValue, this.#back(incoming));
      form.text(incoming.extra.size > 0 ? `","credit_extra_currencies":${extraText(incoming.extra)}}` : '"}');
    }
    this.#compute(form, transaction);
    this.#action(form, transaction);
    if (transaction.bounce !== undefined) form.text(`,"bounce":${bounceText(transaction, transaction.bounce)}`);
    form.text('}');
  }

  #compute(form: Form, transaction: Transaction): void {
    const { outcome, compute, id, extreme } = transaction;
    if (outcome.kind === 'skipped') {
      form.text(`,"compute_ph":{"skipped":true,"reason":"${outcome.reason}"}`);
      return;
    }
    const success = outcome.kind !== 'failed';
    form.text(`,"compute_ph":{"skipped":false,"success":${success},"msg_state_used":${transaction.activated}`);
    form.text(`,"account_activated":${transaction.activated},"gas_fees":"`).extreme(compute.gasFees, extreme?.gasFees);
    form.text('","gas_used":"').extreme(compute.gasUsed, extreme?.gasUsed);
    form.text(`","gas_limit":"${compute.gasLimit}"`);
    if (compute.gasCredit !== undefined) form.text(`,"gas_credit":"${compute.gasCredit}"`);
    form.text(`,"mode":${compute.mode},"exit_code":${outcome.kind === 'failed' ? outcome.exitCode : 0}`);
    if (outcome.kind === 'failed' && outcome.exitArg !== undefined) form.text(`,"exit_arg":${outcome.exitArg}`);
    form.text(`,"vm_steps":${compute.vmSteps},"vm_init_state_hash":"`).hash(HASH_KIND.vmInit, id);
    form.text('","vm_final_state_hash":"').hash(HASH_KIND.vmFinal, id).text('"}');
  }

  #action(form: Form, transaction: Transaction): void {
    const { outcome, outgoing, hugeActions } = transaction;
    if (outcome.kind === 'skipped' || outcome.kind === 'failed') return;
    const failed = outcome.kind === 'action-failed';
    const sent = outgoing.filter((message) => !message.bounced);
    const internal = sent.filter((message) => message.kind === 'internal');
    const change = transaction.destroyed ? 'deleted' : 'unchanged';
    form.text(
      `,"action":{"success":${!failed},"valid":${!failed || outcome.resultCode < 34},"no_funds":${failed && outcome.resultCode === 37}`,
    );
    form.text(`,"status_change":"${change}"`);
    if (internal.length > 0) {
      const kept = internal.reduce((sum, message) => sum + actionFee(message), 0);
      const forwarded = internal.reduce((sum, message) => sum + message.fwdFee, kept);
      form.text(`,"total_fwd_fees":"${forwarded}","total_action_fees":"${kept}"`);
    }
    form.text(`,"result_code":${failed ? outcome.resultCode : hugeActions ? -2147483648 : 0}`);
    if (failed && outcome.resultArg !== undefined) form.text(`,"result_arg":${outcome.resultArg}`);
    else if (hugeActions) form.text(',"result_arg":2147483647');
    // Actions are done one by one: what comes before the one that fails is counted, and not sent.
    const created = failed ? (outcome.resultCode === 37 ? (outcome.resultArg ?? 0) : 0) : sent.length;
    const actions = hugeActions ? 65535 : failed ? created + 1 : created;
    form.text(
      `,"tot_actions":${actions},"spec_actions":${hugeActions ? 65535 : 0},"skipped_actions":${hugeActions ? 65535 : 0}`,
    );
    form.text(`,"msgs_created":${created},"action_list_hash":"`).hash(HASH_KIND.actions, transaction.id);
    const size = hugeActions ? ['72057594037927935', '72057594037927935'] : [created * 2, created * 1024];
    form.text(`","tot_msg_size":{"cells":"${size[0]}","bits":"${size[1]}"}}`);
  }

  #state(form: Form, transaction: Transaction, side: 'before' | 'after', unknown: boolean): void {
    const { previous } = transaction;
    const of = side === 'after' ? transaction : previous;
    const status = side === 'after' ? transaction.endStatus : transaction.origStatus;
    form.text('{"hash":"');
    if (of === undefined || status === 'nonexist') {
      form.text(`${NO_STATE_HASH}",${STUB}`);
      return;
    }
    const back = side === 'after' ? 0 : transaction.previousBack;
    form.hash(HASH_KIND.state, of.id, back).text('",');
    if (unknown || transaction.stubbed || !of.lastInBlock) {
      form.text(STUB);
      return;
    }
    const step = this.#template.drift.get(transaction.account) ?? 0;
    form.text('"balance":"').grown(of.balanceAfter, step, back);
    form.text(`","extra_currencies":${extraText(side === 'after' ? transaction.extraAfter : transaction.extraBefore)}`);
    this.#code(form, of, status, back);
  }

  #code(form: Form, of: Transaction, status: Status, back: number): void {
    form.text(`,"account_status":"${status}","frozen_hash":`);
    if (status === 'frozen')
      form.text(`"${this.#codec.hash(this.#template.family, HASH_KIND.frozen, of.account.index, 0)}"`);
    else form.text('null');
    if (status !== 'active') {
      form.text(',"data_hash":null,"code_hash":null}');
      return;
    }
    form.text(',"data_hash":"').hash(HASH_KIND.stateData, of.id, back).text(`","code_hash":"${of.account.codeHash}"}`);
  }
}

function addressOrNull(form: Form, account: Message['source'], back: number): void {
  if (account === undefined) form.text('null');
  else form.text('"').address(account, back).text('"');
}

function contentText(body: Body, decoded: string): string {
  return `{"hash":"${body.hash}","body":"${body.boc}","decoded":${decoded}}`;
}

/** A map of amounts, its keys sorted as text. */
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
