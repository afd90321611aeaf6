import type { Message, Transaction, TransactionRow } from '../chain/model.ts';
import { htmlSafe } from '../page/json.ts';
import type { LieKind } from './kinds.ts';

/** A lie about the messages of a transaction. */
interface MessageLie {
  /** Whether the lie can be about a transaction; it is about the first one. */
  readonly isAbout: (transaction: Transaction) => boolean;
  /** Changes the record. */
  readonly change: (record: Shown) => Shown;
}

interface Shown {
  hash: string;
  in_msg: unknown;
  out_msgs: ShownMessage[];
}

interface ShownMessage {
  readonly destination: string | null;
  readonly bounced: boolean | null;
}

const LIES: Partial<Record<LieKind, MessageLie>> = {
  'in-message-value-wrong': {
    isAbout: ({ incoming }) => incoming?.kind === 'internal' && incoming.from !== undefined,
    change: (record) => ({ ...record, in_msg: { ...(record.in_msg as ShownMessage), value: '77' } }),
  },
  'out-message-to-other': {
    isAbout: ({ outgoing }) => outgoing[0]?.kind === 'internal' && outgoing[0].to !== undefined,
    change: (record) => ({
      ...record,
      out_msgs: record.out_msgs.map((message, at) =>
        at > 0 ? message : { ...message, destination: `0:${'1'.repeat(64)}` },
      ),
    }),
  },
  'in-message-missing': {
    isAbout: ({ incoming }) => incoming !== undefined,
    change: (record) => ({ ...record, in_msg: null }),
  },
  'in-message-of-tick-tock': {
    isAbout: ({ tickTock }) => tickTock !== undefined,
    change: (record) => ({ ...record, in_msg: fromOutside(record.hash) }),
  },
  'out-message-missing': {
    isAbout: sends(({ kind }) => kind === 'internal'),
    change: without(({ destination }) => destination !== null),
  },
  'out-message-twice': {
    isAbout: ({ outgoing }) => outgoing.length > 0,
    change: (record) => ({ ...record, out_msgs: [...record.out_msgs.slice(0, 1), ...record.out_msgs] }),
  },
  'out-message-instead': {
    isAbout: ({ outgoing }) => outgoing.length > 1,
    change: (record) => ({ ...record, out_msgs: [...record.out_msgs.slice(0, -1), ...record.out_msgs.slice(0, 1)] }),
  },
  'bounce-missing': {
    isAbout: sends(({ bounced }) => bounced),
    change: without(({ bounced }) => bounced === true),
  },
  'log-missing': {
    isAbout: sends(({ kind }) => kind === 'external-out'),
    change: without(({ destination }) => destination === null),
  },
};

/** The transaction that a lie is about, and its changed record; undefined for lies about something else. */
export function lieAboutMessages(
  kind: LieKind,
  rows: readonly TransactionRow[],
): { readonly about: TransactionRow | undefined; readonly edit: (text: string) => string } | undefined {
  const lie = LIES[kind];
  return (
    lie && {
      about: rows.find(({ transaction }) => lie.isAbout(transaction)),
      edit: (text) => htmlSafe(lie.change(JSON.parse(text))),
    }
  );
}

function sends(isMeant: (message: Message) => boolean): MessageLie['isAbout'] {
  return ({ outgoing }) => outgoing.some(isMeant);
}

/** Leaves out the first matching message. */
function without(isMeant: (message: Shown['out_msgs'][number]) => boolean): MessageLie['change'] {
  return (record) => {
    const at = record.out_msgs.findIndex(isMeant);
    return { ...record, out_msgs: record.out_msgs.filter((_, index) => index !== at) };
  };
}

/** A message from outside that nobody sent. */
function fromOutside(hash: string): unknown {
  const absent = [
    ...['value', 'value_extra_currencies', 'fwd_fee', 'ihr_fee', 'extra_flags', 'created_lt', 'created_at', 'opcode'],
    ...['decoded_opcode', 'ihr_disabled', 'bounce', 'bounced'],
  ];
  return {
    hash,
    source: null,
    destination: `-1:${'3'.repeat(64)}`,
    ...Object.fromEntries(absent.map((key) => [key, null])),
    import_fee: '0',
    message_content: { hash, body: 'te6cckEBAQEAAgAAAEysuc0=', decoded: null },
    init_state: null,
  };
}
