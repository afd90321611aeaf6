import type { TransactionRow } from '../chain/chain.ts';
import { EPOCH_BLOCKS, epochOf } from '../chain/clock.ts';
import type { Met } from '../page/addresses.ts';
import { SLOTS_PER_STATEMENT, slotBounds } from './blocks.ts';
import { breakText, isOfHeader } from './broken.ts';
import { ApiError, type Params } from './params.ts';
import type { View } from './view.ts';

type Keep = (row: TransactionRow) => boolean;

/** `/transactionsByMasterchainBlock` */
export function transactionsByMasterchainBlock(view: View, params: Params): Buffer {
  const seqno = params.requiredSeqno('seqno');
  if (!view.hasTransactions(seqno)) throw new ApiError(404, `masterchain block ${seqno} not found`);
  const { limit, offset } = params.page();
  const rows = directed(view.told.includedIn(seqno), params.sort() ?? -1);
  return pageOf(view, params, rows.slice(offset, offset + limit));
}

/** `/transactions` */
export function transactions(view: View, params: Params): Buffer {
  const mcSeqno = params.int32('mc_seqno');
  const hashes = params.hashes('hash');
  const lt = params.lt('lt');
  const keep = transactionFilter(view, params);
  if (mcSeqno !== undefined && !view.hasTransactions(mcSeqno))
    throw new ApiError(404, `masterchain block ${mcSeqno} not found`);
  const { limit, offset } = params.page();
  const sort = params.sort() ?? -1;
  if (hashes.length > 0) {
    const keys = new Map<string, TransactionRow>();
    for (const hash of hashes) {
      const known = view.chain.transactionByHash(hash);
      const row = known && view.told.shown(known);
      const wrong = mcSeqno !== undefined && row !== undefined && view.masterchainSeqno(row) !== mcSeqno;
      if (row !== undefined && !wrong && view.isVisible(row) && keep(row)) keys.set(hash.toString('base64'), row);
    }
    const sorted = [...keys].sort(([a], [b]) => (a < b ? -sort : sort)).map(([, row]) => row);
    return pageOf(view, params, sorted.slice(offset, offset + limit));
  }
  if (mcSeqno !== undefined) {
    const rows = view.told.includedIn(mcSeqno).filter(keep);
    return pageOf(view, params, directed(rows, sort, lt !== undefined).slice(offset, offset + limit));
  }
  return pageOf(view, params, scan(view, params, keep, sort, lt !== undefined, offset, limit));
}

/** Reads slot by slot: slots have disjoint ranges of lt and time, so their order is the order of the answer. */
function scan(
  view: View,
  params: Params,
  keep: Keep,
  sort: 1 | -1,
  byLt: boolean,
  offset: number,
  limit: number,
): readonly TransactionRow[] {
  const { first, last } = slotBounds(view, params);
  const places = accountPlaces(view, params.addresses('account'));
  const plain = isUnfiltered(params) && view.told.isPlain;
  const found: TransactionRow[] = [];
  let skip = offset;
  let scanned = 0;
  for (let slot = sort === 1 ? first : last; slot >= first && slot <= last; slot += sort) {
    if (places !== undefined && !places(slot)) continue;
    scanned += 1;
    if (scanned > SLOTS_PER_STATEMENT) throw new ApiError(500, 'timeout: context deadline exceeded');
    if (plain && skip > 0 && view.isIndexed(slot + 1) && view.isIndexed(slot + 2)) {
      const count = view.chain.countMadeIn(slot);
      if (count <= skip) {
        skip -= count;
        continue;
      }
    }
    const rows = view.told.madeIn(slot).filter((row) => keep(row) && view.isVisible(row));
    for (const row of directed(rows, sort, byLt)) {
      if (skip > 0) skip -= 1;
      else found.push(row);
    }
    if (found.length >= limit) break;
  }
  return found.slice(0, limit);
}

const FILTERS = ['workchain', 'shard', 'seqno', 'account', 'lt', 'start_lt', 'end_lt', 'start_utime', 'end_utime'];

function isUnfiltered(params: Params): boolean {
  return FILTERS.every((name) => !params.has(name));
}

/** Whether a slot can hold transactions of the accounts; undefined when no account is asked for. */
function accountPlaces(view: View, addresses: readonly string[]): ((slot: number) => boolean) | undefined {
  if (addresses.length === 0) return undefined;
  const places = new Set<number>();
  const epochs = new Set<number | undefined>();
  const rare = new Set<number>();
  for (const address of addresses) {
    const known = view.chain.accountOf(address);
    if (known === undefined) continue;
    epochs.add(known.epoch);
    if (known.account.family > 0) rare.add(known.account.family);
    else for (const { account, slot } of view.chain.epoch.transactions) if (account === known.account) places.add(slot);
  }
  return (slot) => {
    if (rare.size > 0 && view.chain.isRare(slot)) return true;
    const epoch = epochOf(slot);
    return places.has(slot - epoch * EPOCH_BLOCKS) && (epochs.has(undefined) || epochs.has(epoch));
  };
}

function transactionFilter(view: View, params: Params): Keep {
  const workchain = params.int32('workchain');
  const shard = params.shard('shard');
  const seqno = params.int32('seqno');
  const inBlock = workchain !== undefined || shard !== undefined || seqno !== undefined;
  const accounts = new Set(params.addresses('account'));
  params.addresses('exclude_account');
  const lt = params.lt('lt');
  const [startLt, endLt] = [params.lt('start_lt'), params.lt('end_lt')];
  const [startUtime, endUtime] = [params.utime('start_utime'), params.utime('end_utime')];
  return (row) => {
    if (accounts.size > 0 && !accounts.has(row.account)) return false;
    if (lt !== undefined && row.lt !== lt) return false;
    if ((startLt !== undefined && row.lt < startLt) || (endLt !== undefined && row.lt > endLt)) return false;
    if (inBlock) {
      const ref = view.told.refOf(row);
      if (workchain !== undefined && ref.workchain !== workchain) return false;
      if (shard !== undefined && ref.shard !== shard) return false;
      if (seqno !== undefined && ref.seqno !== seqno) return false;
    }
    const now = view.nowOf(row);
    return (startUtime === undefined || now >= startUtime) && (endUtime === undefined || now <= endUtime);
  };
}

/** By lt in the asked direction and account ascending; with one lt, by account in the asked direction. */
function directed(rows: readonly TransactionRow[], sort: 1 | -1, byLt = false): readonly TransactionRow[] {
  if (sort === 1) return rows;
  if (byLt) return [...rows].reverse();
  return [...rows].sort((a, b) => b.lt - a.lt || (a.account < b.account ? -1 : 1));
}

function pageOf(view: View, params: Params, all: readonly TransactionRow[]): Buffer {
  const rows = view.cutTransactions(all);
  const page = view.borrow();
  page.text('{"transactions":[');
  const broken = view.faults().broken.filter((one) => !isOfHeader(one));
  rows.forEach((row, index) => {
    if (index > 0) page.text(',');
    const seqno = broken.length > 0 ? view.masterchainSeqno(row) : -1;
    const flaw = broken.find((one) => one.seqno === seqno && sameRow(view.chain.includedIn(seqno)[one.index], row));
    if (flaw === undefined) view.writeTransaction(page, row);
    else page.text(breakText(view.transactionText(row), flaw.kind));
  });
  page.text('],');
  const met: Met = new Map();
  if (!params.flag('X-No-Address-Book', 'x_no_address_book')) {
    for (const row of rows) view.addresses.meetTransaction(met, row.transaction, row.epoch);
  }
  view.addresses.writeBook(page, met);
  page.text('}');
  const bytes = Buffer.from(page.finish());
  view.giveBack(page);
  return bytes;
}

function sameRow(a: TransactionRow | undefined, b: TransactionRow): boolean {
  return a?.transaction === b.transaction && a.epoch === b.epoch;
}
