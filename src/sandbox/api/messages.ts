import { addressOf } from '../chain/accounts.ts';
import type { MessageRow } from '../chain/chain.ts';
import { EPOCH_BLOCKS, FIRST_SEQNO, slotOf } from '../chain/clock.ts';
import { HASH_KIND } from '../chain/tag.ts';
import type { Met } from '../page/addresses.ts';
import { SLOTS_PER_STATEMENT, windowBounds } from './blocks.ts';
import { ApiError, type Params } from './params.ts';
import type { ListedMessage, View } from './view.ts';

type Direction = 'in' | 'out' | undefined;
/** How many inbound externals the server can sort within its time. */
const EXTERNALS_PER_STATEMENT = 150_000;

/** `/messages`: by creation and hash, those without creation first when descending and last when ascending. */
export function messages(view: View, params: Params): Buffer {
  const direction = params.text('direction');
  const keep = messageFilter(view, params);
  const hashes = params.hashes('msg_hash');
  const single = hashes.length === 0 ? params.lenientHash('hash') : undefined;
  if (direction !== undefined && direction !== 'in' && direction !== 'out') {
    throw new ApiError(422, 'direction should be one of: in, out');
  }
  const { limit, offset } = params.page();
  const sort = params.sort() ?? -1;
  const wanted = offset + limit;
  const asked = single === undefined ? hashes : [single];
  if (asked.length > 0) {
    const rows = asked.map((hash) => view.chain.messageByHash(hash)).filter((row) => row !== undefined);
    const found = new Map(
      rows
        .flatMap((row) => resolve(view, row, direction))
        .filter(keep)
        .map((row) => [row.hash, row]),
    );
    return pageOf(view, params, ordered([...found.values()], sort).slice(offset, wanted));
  }
  const only = params.bool('only_externals') === true;
  const none = params.bool('exclude_externals') === true || hasBounds(params);
  const externals = (): readonly ListedMessage[] =>
    none || direction === 'out' ? [] : inboundExternals(view, keep, sort);
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
  return pageOf(view, params, rows.slice(offset, wanted));
}

function hasBounds(params: Params): boolean {
  return ['start_lt', 'end_lt', 'start_utime', 'end_utime'].some((name) => params.has(name));
}

/** A message as far as it is indexed: nothing when neither side is, and only the side that is asked for. */
function resolve(view: View, row: MessageRow, direction: Direction): readonly ListedMessage[] {
  const { message, template, epoch } = row;
  const { sent, received, consumedIn } = view.sidesOf(row);
  const { codec } = view.chain;
  const hashOf = (id: number, at: number): string => codec.hash(template.family, HASH_KIND.transaction, id, at);
  const outbound =
    sent && direction !== 'in' && message.from !== undefined ? hashOf(message.from.id, epoch) : undefined;
  const inbound =
    received && direction !== 'out' && message.to !== undefined ? hashOf(message.to.id, consumedIn) : undefined;
  if (outbound === undefined && inbound === undefined) return [];
  return [{ ...row, hash: codec.hash(template.family, HASH_KIND.message, message.id, epoch), inbound, outbound }];
}

function scan(
  view: View,
  params: Params,
  direction: Direction,
  keep: (row: ListedMessage) => boolean,
  sort: 1 | -1,
  count: number,
): readonly ListedMessage[] {
  const { first, last } = windowBounds(view, params, -EPOCH_BLOCKS);
  const found: ListedMessage[] = [];
  let scanned = 0;
  for (let slot = sort === 1 ? first : last; slot >= first && slot <= last && found.length < count; slot += sort) {
    scanned += 1;
    if (scanned > SLOTS_PER_STATEMENT) throw new ApiError(500, 'timeout: context deadline exceeded');
    const rows = view.chain
      .createdIn(slot)
      .filter((row) => row.message.from !== undefined)
      .flatMap((row) => resolve(view, row, direction))
      .filter(keep);
    found.push(...ordered(rows, sort));
  }
  return found;
}

/** All inbound externals by hash. They have no time, so the whole chain is read, once for each state of it. */
function inboundExternals(view: View, keep: (row: ListedMessage) => boolean, sort: 1 | -1): readonly ListedMessage[] {
  const rows = view.inboundExternals(() => {
    const found: ListedMessage[] = [];
    for (let slot = slotOf(FIRST_SEQNO); slot <= slotOf(view.head()); slot += 1) {
      for (const row of view.chain.createdIn(slot)) {
        if (row.message.from === undefined) found.push(...resolve(view, row, undefined));
      }
      if (found.length > EXTERNALS_PER_STATEMENT) throw new ApiError(500, 'timeout: context deadline exceeded');
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

function messageFilter(view: View, params: Params): (row: ListedMessage) => boolean {
  const opcode = params.opcode('opcode');
  const bodyHash = params.hash('body_hash')?.toString('base64');
  const [source, destination] = [params.addressOrNull('source'), params.addressOrNull('destination')];
  const [startLt, endLt] = [params.lt('start_lt'), params.lt('end_lt')];
  const [startUtime, endUtime] = [params.utime('start_utime'), params.utime('end_utime')];
  const matches = (wanted: string | null | undefined, row: ListedMessage, side: 'source' | 'destination'): boolean => {
    if (wanted === undefined) return true;
    const account = row.message[side];
    return account === undefined ? wanted === null : wanted === addressOf(account, row.epoch, view.chain.codec);
  };
  const timed = startUtime !== undefined || endUtime !== undefined;
  return (row) => {
    if (opcode !== undefined && row.message.body.opcode !== opcode) return false;
    if (bodyHash !== undefined && row.message.body.hash !== bodyHash) return false;
    if (!matches(source, row, 'source') || !matches(destination, row, 'destination')) return false;
    if (startLt !== undefined && row.createdLt < startLt) return false;
    if (endLt !== undefined && (row.createdLt > endLt || row.createdLt < 0)) return false;
    if (!timed) return true;
    if (row.message.from === undefined) return false;
    const at = view.createdAt(row);
    return (startUtime === undefined || at >= startUtime) && (endUtime === undefined || at <= endUtime);
  };
}

function pageOf(view: View, params: Params, rows: readonly ListedMessage[]): Buffer {
  const page = view.borrow();
  page.text('{"messages":[');
  rows.forEach((row, index) => {
    if (index > 0) page.text(',');
    const inbound = row.inbound === undefined ? '' : `,"in_msg_tx_hash":"${row.inbound}"`;
    const outbound = row.outbound === undefined ? '' : `,"out_msg_tx_hash":"${row.outbound}"`;
    view.writeMessage(page, row, inbound + outbound);
  });
  page.text('],');
  const met: Met = new Map();
  for (const row of rows) view.addresses.meetMessage(met, row.message, row.epoch);
  view.addresses.writeBook(page, params.flag('X-No-Address-Book', 'x_no_address_book') ? new Map() : met);
  page.text(',');
  view.addresses.writeMetadata(page, params.flag('X-No-Metadata', 'x_no_metadata') ? new Map() : met);
  page.text('}');
  const bytes = Buffer.from(page.finish());
  view.giveBack(page);
  return bytes;
}
