import type { TransactionRow } from '../chain/chain.ts';
import type { Message, Transaction } from '../chain/model.ts';
import type { LieKind } from './kinds.ts';

/** A transaction whose messages a lie is about, and how its record then reads. */
export interface MessageLie {
  readonly about: TransactionRow | undefined;
  readonly edit: (text: string) => string;
}

interface Shown {
  hash: string;
  in_msg: unknown;
  out_msgs: { readonly destination: string | null; readonly bounced: boolean | null }[];
}

/** What a lie says about the messages of some transactions; undefined for a lie about something else. */
export function lieAboutMessages(kind: LieKind, rows: readonly TransactionRow[]): MessageLie | undefined {
  const first = (isMeant: (transaction: Transaction) => boolean): TransactionRow | undefined =>
    rows.find(({ transaction }) => isMeant(transaction));
  const sender = (isMeant: (message: Message) => boolean): TransactionRow | undefined =>
    first(({ outgoing }) => outgoing.some(isMeant));
  switch (kind) {
    case 'in-message-missing':
      return {
        about: first(({ incoming }) => incoming !== undefined),
        edit: edited((row) => ({ ...row, in_msg: null })),
      };
    case 'in-message-of-tick-tock':
      return {
        about: first(({ tickTock }) => tickTock !== undefined),
        edit: edited((row) => ({ ...row, in_msg: fromOutside(row.hash) })),
      };
    case 'out-message-missing':
      return {
        about: sender((message) => message.kind === 'internal'),
        edit: without((message) => message.destination !== null),
      };
    case 'out-message-twice':
      return {
        about: first(({ outgoing }) => outgoing.length > 0),
        edit: edited((row) => ({ ...row, out_msgs: [...row.out_msgs.slice(0, 1), ...row.out_msgs] })),
      };
    case 'out-message-instead':
      return {
        about: first(({ outgoing }) => outgoing.length > 1),
        edit: edited((row) => ({ ...row, out_msgs: [...row.out_msgs.slice(0, -1), ...row.out_msgs.slice(0, 1)] })),
      };
    case 'bounce-missing':
      return {
        about: sender(({ bounced }) => bounced),
        edit: without((message) => message.bounced === true),
      };
    case 'log-missing':
      return {
        about: sender((message) => message.kind === 'external-out'),
        edit: without((message) => message.destination === null),
      };
    default:
      return undefined;
  }
}

/** Changes a record, and writes it as the server does. */
function edited(change: (row: Shown) => Shown): (text: string) => string {
  return (text) =>
    JSON.stringify(change(JSON.parse(text))).replace(
      /[<>&]/g,
      (char) => `\\u${char.charCodeAt(0).toString(16).padStart(4, '0')}`,
    );
}

/** Leaves out the first message of a kind. */
function without(isMeant: (message: Shown['out_msgs'][number]) => boolean): (text: string) => string {
  return edited((row) => {
    const at = row.out_msgs.findIndex(isMeant);
    return { ...row, out_msgs: row.out_msgs.filter((_, index) => index !== at) };
  });
}

/** A message from outside that nobody sent. */
function fromOutside(hash: string): unknown {
  const empty = 'te6cckEBAQEAAgAAAEysuc0=';
  return {
    ...{ hash, source: null, destination: `-1:${'3'.repeat(64)}`, value: null, value_extra_currencies: null },
    ...{ fwd_fee: null, ihr_fee: null, extra_flags: null, created_lt: null, created_at: null, opcode: null },
    ...{ decoded_opcode: null, ihr_disabled: null, bounce: null, bounced: null, import_fee: '0' },
    message_content: { hash, body: empty, decoded: null },
    init_state: null,
  };
}
