import { addressOf } from '../chain/accounts.ts';
import { EPOCH_BLOCKS, FIRST_SEQNO, slotOf } from '../chain/clock.ts';
import type { MessageRow } from '../chain/model.ts';
import { HASH_KIND } from '../chain/tag.ts';
import type { PageWriter } from '../page/writer.ts';
import { ApiError, type Params, within } from './params.ts';
import type { Reply } from './reply.ts';
import { slotsIn, timeout, windowBounds } from './scan.ts';
import type { ListedMessage, View } from './view.ts';

type Direction = 'in' | 'out' | undefined;
type Keep = (row: ListedMessage) => boolean;
/** How many inbound externals the server can sort before its timeout. */
const EXTERNALS_PER_STATEMENT = 150_000;

/** `/messages`: by creation and hash; those without creation come first when descending and last when ascending. */
export function messages(reply: Reply): Buffer {
  const { view, params } = reply;
  const keep = messageFilter(view, params);
  const hashes = params.hashes('msg_hash');
  const single = hashes.length === 0 ? params.lenientHash('hash') : undefined;
  const direction = directionOf(params);
  const { limit, offset } = params.page();
  const sort = params.sort() ?? -1;
  const wanted = offset + limit;
  const named = single === undefined ? hashes : [single];
  if (named.length > 0) {
    const rows = named.flatMap((hash) => view.chain.messageByHash(hash) ?? []);
    const shown = rows.flatMap((row) => resolve(view, row, direction)).filter(keep);
    const found = new Map(shown.map((row) => [row.hash, row]));
    return pageOf(reply, ordered([...found.values()], sort).slice(offset, wanted));
  }
  const { byLt, byTime } = params.bounds();
  const only = params.bool('only_externals') === true;
  const none = params.bool('exclude_externals') === true || byLt || byTime || direction === 'out';
  const externals = (): readonly ListedMessage[] => (none ? [] : inboundExternals(view, keep, sort));
  const internals = (count: number): readonly ListedMessage[] =>
    only || count <= 0 ? [] : scan(view, params, direction, keep, sort, count);
  let rows: readonly ListedMessage[];
  if (sort === -1) {
    const first = externals();
    rows = [...first, ...internals(wanted - first.length)];
  } else {
    const first = internals(wanted);
    rows = first.length >= wanted ? first : [...first, ...externals()];
  }
  return pageOf(reply, rows.slice(offset, wanted));
}

/** @throws {ApiError} 422 if the direction is invalid */
export function directionOf(params: Params): Direction {
  const direction = params.text('direction');
  if (direction === undefined || direction === 'in' || direction === 'out') return direction;
  throw new ApiError(422, 'direction should be one of: in, out');
}

/** A message with the indexed sides that the direction asks for; nothing if there are none. */
function resolve(view: View, row: MessageRow, direction: Direction): readonly ListedMessage[] {
  const { message, template, epoch } = row;
  const { sent, received, consumedIn } = view.sidesOf(row);
  const hashOf = (kind: 1 | 2, id: number, at: number): string => view.chain.codec.hash(template.family, kind, id, at);
  const outbound = sent && direction !== 'in' && message.from && hashOf(HASH_KIND.transaction, message.from.id, epoch);
  const inbound =
    received && direction !== 'out' && message.to && hashOf(HASH_KIND.transaction, message.to.id, consumedIn);
  const sides = { inbound: inbound || undefined, outbound: outbound || undefined };
  return inbound || outbound ? [{ ...row, hash: hashOf(HASH_KIND.message, message.id, epoch), ...sides }] : [];
}

function scan(
  view: View,
  params: Params,
  direction: Direction,
  keep: Keep,
  sort: 1 | -1,
  count: number,
): readonly ListedMessage[] {
  const found: ListedMessage[] = [];
  for (const slot of slotsIn(windowBounds(view, params, -EPOCH_BLOCKS), sort)) {
    const rows = view.chain
      .createdIn(slot)
      .filter((row) => row.message.from !== undefined)
      .flatMap((row) => resolve(view, row, direction))
      .filter(keep);
    found.push(...ordered(rows, sort));
    if (found.length >= count) break;
  }
  return found;
}

/** All inbound externals by hash. They have no time, so the whole chain is read, once for each head. */
function inboundExternals(view: View, keep: Keep, sort: 1 | -1): readonly ListedMessage[] {
  const rows = view.inboundExternals(() => {
    const found: ListedMessage[] = [];
    for (let slot = slotOf(FIRST_SEQNO); slot <= slotOf(view.head()); slot += 1) {
      for (const row of view.chain.createdIn(slot)) {
        if (row.message.from === undefined) found.push(...resolve(view, row, undefined));
      }
      if (found.length > EXTERNALS_PER_STATEMENT) throw timeout();
    }
    return ordered(found, 1);
  });
  const kept = rows.filter(keep);
  return sort === 1 ? kept : kept.reverse();
}

function ordered(rows: readonly ListedMessage[], sort: 1 | -1): readonly ListedMessage[] {
  const key = (row: ListedMessage): number =>
    row.message.from === undefined ? Number.MAX_SAFE_INTEGER : row.createdLt;
  return [...rows].sort((a, b) => sort * (key(a) - key(b) || (a.hash < b.hash ? -1 : 1)));
}

function messageFilter(view: View, params: Params): Keep {
  const opcode = params.opcode('opcode');
  const bodyHash = params.hash('body_hash')?.toString('base64');
  const [source, destination] = [params.addressOrNull('source'), params.addressOrNull('destination')];
  const bounds = params.bounds();
  const matches = (wanted: string | null | undefined, row: ListedMessage, side: 'source' | 'destination'): boolean => {
    if (wanted === undefined) return true;
    const account = row.message[side];
    return account === undefined ? wanted === null : wanted === addressOf(account, row.epoch, view.chain.codec);
  };
  return (row) => {
    const { body, from } = row.message;
    if (opcode !== undefined && body.opcode !== opcode) return false;
    if (bodyHash !== undefined && body.hash !== bodyHash) return false;
    if (!matches(source, row, 'source') || !matches(destination, row, 'destination')) return false;
    if (from === undefined) return !bounds.byLt && !bounds.byTime;
    return within(bounds, row.createdLt, row.createdAt);
  };
}

function pageOf(reply: Reply, rows: readonly ListedMessage[]): Buffer {
  const { view } = reply;
  const records = rows.map((row) => {
    reply.meetMessage(row);
    const inbound = row.inbound === undefined ? '' : `,"in_msg_tx_hash":"${row.inbound}"`;
    const outbound = row.outbound === undefined ? '' : `,"out_msg_tx_hash":"${row.outbound}"`;
    return (page: PageWriter) => view.writeMessage(page, row, inbound + outbound);
  });
  return reply.list('messages', records, true);
}
