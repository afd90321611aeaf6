import { type Account, addressOf } from '../chain/accounts.ts';
import type { Body } from '../chain/bodies.ts';
import { ZERO_HASH } from '../chain/cell.ts';
import type { Chain } from '../chain/chain.ts';
import { descriptionOf } from '../chain/description.ts';
import {
  backOf,
  blockRefOf,
  feesIn,
  ltIn,
  type Message,
  type MessageKey,
  masterchainSeqno,
  previousOf,
  stateAt,
  type TransactionRow,
  valueIn,
} from '../chain/model.ts';
import { Verbatim } from './json.ts';

/** The records of transactions and messages. */
export class TransactionRecords {
  readonly #chain: Chain;

  constructor(chain: Chain) {
    this.#chain = chain;
  }

  transaction(row: TransactionRow) {
    const chain = this.#chain;
    const { template, transaction, epoch, lt, now, account } = row;
    const { incoming, outgoing } = transaction;
    const before = previousOf(row);
    const message = (one: Message, at: number) => this.message({ template, message: one, epoch: at });
    return {
      account,
      hash: chain.transactionHash(row),
      lt: String(lt),
      now,
      mc_block_seqno: Math.max(0, masterchainSeqno(row)),
      trace_id: chain.traceId(row),
      prev_trans_hash: before === undefined ? ZERO_HASH : chain.transactionHash(before),
      prev_trans_lt: String(before === undefined ? 0 : ltIn(before)),
      orig_status: transaction.origStatus,
      end_status: transaction.endStatus,
      total_fees: feesIn(row),
      total_fees_extra_currencies: {},
      description: descriptionOf(row, chain.codec),
      block_ref: blockRefOf(row),
      in_msg: incoming && message(incoming, epoch - backOf(incoming)),
      out_msgs: outgoing.map((one) => message(one, epoch)),
      account_state_before: this.#state(row, 'before'),
      account_state_after: this.#state(row, 'after'),
      emulated: false,
      finality: 'finalized',
    };
  }

  /** A message in the epoch of its sender, or of its receiver if it comes from outside. */
  message(key: MessageKey) {
    const chain = this.#chain;
    const { message, epoch } = key;
    const { init } = message;
    const body = message.body.in(epoch);
    const address = (account: Account | undefined) => account && addressOf(account, epoch, chain.codec);
    const created = chain.created(key);
    const isInternal = message.kind === 'internal';
    return {
      hash: chain.messageHash(key),
      source: address(message.source),
      destination: address(message.destination),
      value: isInternal ? valueIn(epoch, message) : null,
      value_extra_currencies: isInternal ? message.extra : null,
      fwd_fee: isInternal ? String(message.fwdFee) : null,
      ihr_fee: isInternal ? '0' : null,
      extra_flags: message.extraFlags,
      created_lt: created && String(created[0]),
      created_at: created && String(created[1]),
      opcode: body.opcode,
      decoded_opcode: body.decodedOpcode,
      ihr_disabled: isInternal || null,
      bounce: isInternal ? message.bounce : null,
      bounced: isInternal ? message.bounced : null,
      import_fee: message.kind === 'external-in' ? String(message.importFee) : null,
      message_content: contentOf(body, body.decoded),
      init_state: init && contentOf(init, 'null'),
      hash_norm: message.normalized ? chain.normalizedHash(key) : undefined,
    };
  }

  #state(row: TransactionRow, side: 'before' | 'after') {
    const { template, transaction, epoch, status, extra } = stateAt(row, side);
    const hash = this.#chain.stateHash(row, side);
    // The past of the first epoch is not indexed.
    if (transaction === undefined || status === 'nonexist' || epoch < 0) return { hash };
    if (transaction.stubbed || !transaction.lastInBlock) return { hash };
    const { balance, frozenHash, data, code } = this.#chain.contentsAfter({ template, transaction, epoch });
    return {
      hash,
      balance: String(balance),
      extra_currencies: extra,
      account_status: status,
      frozen_hash: frozenHash,
      data_hash: data?.hash,
      code_hash: code?.hash,
    };
  }
}

function contentOf(body: Body, decoded: string) {
  return { hash: body.hash, body: body.boc, decoded: new Verbatim(decoded) };
}
