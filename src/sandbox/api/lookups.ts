import { addressOf } from '../chain/accounts.ts';
import type { MessageRow, TransactionRow } from '../chain/chain.ts';
import { slotOf } from '../chain/clock.ts';
import type { Message, Transaction } from '../chain/model.ts';
import { SLOTS_PER_STATEMENT } from './blocks.ts';
import { ApiError, type Params } from './params.ts';
import { Reply } from './reply.ts';
import type { View } from './view.ts';

/** A transaction that a message led to. */
interface Match {
  readonly row: TransactionRow;
  readonly message: Message;
}

/** `/transactionsByMessage`: once for each message that matches; only the last copy has its messages. */
export function transactionsByMessage(view: View, params: Params): Buffer {
  const hashes = params.hashes('msg_hash');
  const bodyHash = params.hash('body_hash')?.toString('base64');
  const opcode = params.opcode('opcode');
  const given = params.text('direction');
  if (given !== undefined && given !== 'in' && given !== 'out') {
    throw new ApiError(422, 'direction should be one of: in, out');
  }
  if (hashes.length === 0 && bodyHash === undefined && opcode === undefined) {
    throw new ApiError(422, 'at least one of msg_hash, body_hash, opcode should be specified');
  }
  const { limit, offset } = params.page();
  const sort = params.sort() ?? -1;
  const direction = opcode === undefined ? given : 'in';
  const [source] = params.firstAddress('source');
  const [destination] = params.firstAddress('destination');
  const keep = (one: MessageRow): boolean => {
    const { message, epoch } = one;
    const side = (wanted: string | undefined, account: Message['source']): boolean =>
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
    .sort((a, b) => sort * (a.row.lt - b.row.lt) || (a.row.account < b.row.account ? -1 : 1));
  return copies(view, params, matches.slice(offset, offset + limit));
}

/** Messages in the order of their senders, until more than enough are found. */
function scan(view: View, keep: (row: MessageRow) => boolean, sort: 1 | -1, wanted: number): readonly MessageRow[] {
  const found: MessageRow[] = [];
  const last = slotOf(view.head());
  let enough = Number.POSITIVE_INFINITY;
  for (let count = 0; count <= last && count < enough; count += 1) {
    if (count > SLOTS_PER_STATEMENT) throw new ApiError(500, 'timeout: context deadline exceeded');
    found.push(...view.chain.createdIn(sort === 1 ? count : last - count).filter(keep));
    // What consumes a message runs some blocks after what sent it.
    if (found.length >= wanted && enough === Number.POSITIVE_INFINITY) enough = count + 20;
  }
  return found;
}

function sides(view: View, one: MessageRow, direction: string | undefined): readonly Match[] {
  const { template, message, epoch } = one;
  const { sent, received, consumedIn } = view.sidesOf(one);
  const found: Match[] = [];
  const add = (transaction: Transaction | undefined, at: number): void => {
    if (transaction !== undefined) found.push({ row: view.chain.row(template, transaction, at), message });
  };
  if (received && direction !== 'out') add(message.to, consumedIn);
  if (sent && direction !== 'in') add(message.from, epoch);
  return found;
}

function copies(view: View, params: Params, matches: readonly Match[]): Buffer {
  const reply = new Reply(view, params);
  const last = new Map(matches.map((match, index) => [view.transactionHash(match.row), index]));
  const texts = matches.map(({ row }, index) => {
    view.addresses.meetTransaction(reply.met, row.transaction, row.epoch);
    const text = view.transactionText(row);
    if (last.get(view.transactionHash(row)) === index) return text;
    const start = text.indexOf(',"in_msg":');
    return `${text.slice(0, start)},"in_msg":null,"out_msgs":[]${text.slice(text.lastIndexOf(',"account_state_before":'))}`;
  });
  return reply.list('transactions', texts, false);
}

/** `/adjacentTransactions`: what sent the message that a transaction consumed, and what consumed those that it sent. */
export function adjacentTransactions(view: View, params: Params): Buffer {
  const hash = params.hash('hash');
  const direction = params.text('direction');
  const row = hash === undefined ? undefined : view.chain.transactionByHash(hash);
  const found: TransactionRow[] = [];
  if (row !== undefined && view.isVisible(row)) {
    const { template, transaction, epoch } = row;
    const { incoming, outgoing } = transaction;
    const near = (other: Transaction | undefined): void => {
      if (other === undefined) return;
      const next = view.chain.row(template, other, epoch + other.cycle - transaction.cycle);
      if (view.isVisible(next)) found.push(next);
    };
    if (direction !== 'out') near(incoming?.from);
    if (direction !== 'in') for (const message of outgoing) near(message.to);
  }
  if (found.length === 0) throw new ApiError(404, 'adjacent transactions not found');
  const reply = new Reply(view, params);
  const texts = found
    .sort((a, b) => a.lt - b.lt)
    .map((one) => {
      view.addresses.meetTransaction(reply.met, one.transaction, one.epoch);
      return view.transactionText(one);
    });
  return reply.list('transactions', texts, false);
}
