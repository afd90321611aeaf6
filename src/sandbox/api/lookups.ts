import { type Account, addressOf } from '../chain/accounts.ts';
import { slotOf } from '../chain/clock.ts';
import type { Message, MessageRow, Transaction, TransactionRow } from '../chain/model.ts';
import { directionOf } from './messages.ts';
import { demand } from './params.ts';
import type { Reply } from './reply.ts';
import { slotsIn } from './scan.ts';
import type { View } from './view.ts';

/** `/transactionsByMessage`: a transaction once for each matching message; only its last copy has messages. */
export function transactionsByMessage(reply: Reply): Buffer {
  const { view, params } = reply;
  const hashes = params.hashes('msg_hash');
  const bodyHash = params.hash('body_hash')?.toString('base64');
  const opcode = params.opcode('opcode');
  const given = directionOf(params);
  const isNamed = hashes.length > 0 || bodyHash !== undefined || opcode !== undefined;
  demand(isNamed, 'at least one of msg_hash, body_hash, opcode should be specified');
  const { limit, offset } = params.page();
  const sort = params.sort() ?? -1;
  const direction = opcode === undefined ? given : 'in';
  const [source] = params.firstAddress('source');
  const [destination] = params.firstAddress('destination');
  const keep = ({ message, epoch }: MessageRow): boolean => {
    const side = (wanted: string | undefined, account: Account | undefined): boolean =>
      wanted === undefined || (account !== undefined && addressOf(account, epoch, view.chain.codec) === wanted);
    return (
      (bodyHash === undefined || message.body.hash === bodyHash) &&
      (opcode === undefined || message.body.opcode === opcode) &&
      side(source, message.source) &&
      side(destination, message.destination)
    );
  };
  const messages =
    hashes.length > 0
      ? hashes.flatMap((hash) => view.chain.messageByHash(hash) ?? []).filter(keep)
      : scan(view, keep, sort, offset + limit);
  const matches = messages
    .flatMap((one) => sides(view, one, direction))
    .sort((a, b) => sort * (a.lt - b.lt) || (a.account < b.account ? -1 : 1));
  return copies(reply, matches.slice(offset, offset + limit));
}

/** Messages in the order of their senders, until there are more than enough. */
function scan(view: View, keep: (row: MessageRow) => boolean, sort: 1 | -1, wanted: number): readonly MessageRow[] {
  const found: MessageRow[] = [];
  let more = 20;
  for (const slot of slotsIn({ first: 0, last: slotOf(view.head()) }, sort)) {
    found.push(...view.chain.createdIn(slot).filter(keep));
    // The receiver of a message runs some blocks after its sender.
    if (found.length >= wanted) more -= 1;
    if (more === 0) break;
  }
  return found;
}

/** The transactions that sent and received a message. */
function sides(view: View, one: MessageRow, direction: string | undefined): readonly TransactionRow[] {
  const { template, message, epoch } = one;
  const { sent, received, consumedIn } = view.sidesOf(one);
  const found: TransactionRow[] = [];
  if (received && direction !== 'out' && message.to) found.push(view.chain.row(template, message.to, consumedIn));
  if (sent && direction !== 'in' && message.from) found.push(view.chain.row(template, message.from, epoch));
  return found;
}

function copies(reply: Reply, rows: readonly TransactionRow[]): Buffer {
  const hashes = rows.map((row) => reply.view.transactionHash(row));
  const texts = rows.map((row, index) => {
    const text = reply.transactionText(row);
    if (hashes.lastIndexOf(hashes[index] ?? '') === index) return text;
    const start = text.indexOf(',"in_msg":');
    return `${text.slice(0, start)},"in_msg":null,"out_msgs":[]${text.slice(text.lastIndexOf(',"account_state_before":'))}`;
  });
  return reply.list('transactions', texts, false);
}

/** `/adjacentTransactions`: the sender of the message that a transaction received, and the receivers of its messages. */
export function adjacentTransactions(reply: Reply): Buffer {
  const { view, params } = reply;
  const hash = params.hash('hash');
  const direction = params.text('direction');
  const row = hash && view.chain.transactionByHash(hash);
  const found: TransactionRow[] = [];
  if (row !== undefined && view.isVisible(row)) {
    const { template, transaction, epoch } = row;
    const { incoming, outgoing } = transaction;
    const senders = direction === 'out' ? [] : [incoming?.from];
    const receivers = direction === 'in' ? [] : outgoing.map(({ to }: Message) => to);
    const near = [...senders, ...receivers].filter((other): other is Transaction => other !== undefined);
    found.push(...near.map((other) => view.chain.row(template, other, epoch + other.cycle - transaction.cycle)));
  }
  const texts = found
    .filter((next) => view.isVisible(next))
    .sort((a, b) => a.lt - b.lt)
    .map((next) => reply.transactionText(next));
  demand(texts.length > 0, 'adjacent transactions not found', 404);
  return reply.list('transactions', texts, false);
}
