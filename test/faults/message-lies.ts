import type { LieKind } from './lie-kinds.ts';

interface ShownMessage {
  readonly hash: string;
  readonly source: string | null;
  readonly destination: string | null;
  readonly bounced: boolean | null;
}

/** What lies read and change in a transaction. */
interface ShownTransaction {
  readonly hash: string;
  readonly description: { readonly type: string };
  readonly in_msg: ShownMessage | null;
  readonly out_msgs: readonly ShownMessage[];
}

/** A lie about the messages of a transaction. */
interface MessageLie {
  /** Whether the lie can be about a transaction; it is about the first one. */
  readonly isAbout: (transaction: ShownTransaction, isReceived: (message: ShownMessage) => boolean) => boolean;
  readonly change: (transaction: ShownTransaction) => unknown;
}

const LIES: Partial<Record<LieKind, MessageLie>> = {
  'in-message-value-wrong': {
    isAbout: ({ in_msg: message }) => message !== null && message.source !== null,
    change: (record) => ({ ...record, in_msg: { ...record.in_msg, value: '77' } }),
  },
  'out-message-to-other': {
    isAbout: ({ out_msgs: [first] }, isReceived) =>
      first !== undefined && first.destination !== null && isReceived(first),
    change: (record) => ({
      ...record,
      out_msgs: record.out_msgs.map((message, at) =>
        at > 0 ? message : { ...message, destination: `0:${'1'.repeat(64)}` },
      ),
    }),
  },
  'in-message-missing': {
    isAbout: ({ in_msg: message }) => message !== null,
    change: (record) => ({ ...record, in_msg: null }),
  },
  'in-message-of-tick-tock': {
    isAbout: ({ description }) => description.type === 'tick_tock',
    change: (record) => ({ ...record, in_msg: fromOutside(record.hash) }),
  },
  'out-message-missing': without(({ destination }) => destination !== null),
  'out-message-twice': {
    isAbout: ({ out_msgs: messages }) => messages.length > 0,
    change: (record) => ({ ...record, out_msgs: [...record.out_msgs.slice(0, 1), ...record.out_msgs] }),
  },
  'out-message-instead': {
    isAbout: ({ out_msgs: messages }) => messages.length > 1,
    change: (record) => ({ ...record, out_msgs: [...record.out_msgs.slice(0, -1), ...record.out_msgs.slice(0, 1)] }),
  },
  'bounce-missing': without(({ bounced }) => bounced === true),
  'log-missing': without(({ destination }) => destination === null),
};

/** Which transaction a lie is about, and its changed text; undefined for lies about something else. */
export function lieAboutMessages(
  kind: LieKind,
  texts: readonly string[],
  isReceived: (hash: string) => boolean,
): { readonly at: number; readonly edit: (text: string) => string } | undefined {
  const lie = LIES[kind];
  if (lie === undefined) return undefined;
  return {
    at: texts.findIndex((text) => lie.isAbout(JSON.parse(text), ({ hash }) => isReceived(hash))),
    edit: (text) =>
      JSON.stringify(lie.change(JSON.parse(text))).replace(
        /[<>&]/g,
        (char) => `\\u${char.charCodeAt(0).toString(16).padStart(4, '0')}`,
      ),
  };
}

/** Leaves out the first matching message. */
function without(isMeant: (message: ShownMessage) => boolean): MessageLie {
  return {
    isAbout: ({ out_msgs: messages }) => messages.some(isMeant),
    change: (record) => {
      const at = record.out_msgs.findIndex(isMeant);
      return { ...record, out_msgs: record.out_msgs.filter((_, index) => index !== at) };
    },
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
