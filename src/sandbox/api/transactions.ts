import { EPOCH_BLOCKS, epochOf } from '../chain/clock.ts';
import { blockRefOf, masterchainSeqno, type TransactionRow } from '../chain/model.ts';
import type { PageWriter } from '../page/writer.ts';
import { type Params, within } from './params.ts';
import type { Reply } from './reply.ts';
import { slotBounds, slotsIn } from './scan.ts';
import type { View } from './view.ts';

type Keep = (row: TransactionRow) => boolean;

/** `/transactionsByMasterchainBlock` */
export function transactionsByMasterchainBlock(reply: Reply): Buffer {
  const { view, params } = reply;
  const seqno = params.requiredSeqno('seqno');
  view.requireTransactions(seqno);
  const { limit, offset } = params.page();
  const rows = directed(view.chain.includedIn(seqno), params.sort() ?? -1);
  return pageOf(reply, rows.slice(offset, offset + limit));
}

/** `/transactions` */
export function transactions(reply: Reply): Buffer {
  const { view, params } = reply;
  const mcSeqno = params.int32('mc_seqno');
  const hashes = params.hashes('hash');
  const byLt = params.lt('lt') !== undefined;
  const keep = transactionFilter(params);
  if (mcSeqno !== undefined) view.requireTransactions(mcSeqno);
  const { limit, offset } = params.page();
  const sort = params.sort() ?? -1;
  if (hashes.length > 0) {
    const keys = new Map<string, TransactionRow>();
    for (const hash of hashes) {
      const row = view.chain.transactionByHash(hash);
      const wrong = mcSeqno !== undefined && row !== undefined && masterchainSeqno(row) !== mcSeqno;
      if (row !== undefined && !wrong && view.isVisible(row) && keep(row)) keys.set(hash.toString('base64'), row);
    }
    const sorted = [...keys].sort(([a], [b]) => (a < b ? -sort : sort)).map(([, row]) => row);
    return pageOf(reply, sorted.slice(offset, offset + limit));
  }
  const rows =
    mcSeqno === undefined
      ? scan(view, params, keep, byLt)
      : directed(view.chain.includedIn(mcSeqno).filter(keep), sort, byLt).slice(offset, offset + limit);
  return pageOf(reply, rows);
}

/** Reads slot by slot: each slot has its own range of lt and time, so their order is the order of the response. */
function scan(view: View, params: Params, keep: Keep, byLt: boolean): readonly TransactionRow[] {
  const { limit, offset } = params.page();
  const sort = params.sort() ?? -1;
  const plain = isUnfiltered(params);
  const found: TransactionRow[] = [];
  let skip = offset;
  for (const slot of slotsIn(slotBounds(view, params), sort, accountPlaces(view, params.addresses('account')))) {
    if (plain && skip > 0 && view.isIndexed(slot + 1) && view.isIndexed(slot + 2)) {
      const count = view.chain.countMadeIn(slot);
      if (count <= skip) {
        skip -= count;
        continue;
      }
    }
    const rows = view.chain.madeIn(slot).filter((row) => keep(row) && view.isVisible(row));
    found.push(...directed(rows, sort, byLt).slice(skip));
    skip = Math.max(0, skip - rows.length);
    if (found.length >= limit) break;
  }
  return found.slice(0, limit);
}

const FILTERS = ['workchain', 'shard', 'seqno', 'account', 'lt', 'start_lt', 'end_lt', 'start_utime', 'end_utime'];

function isUnfiltered(params: Params): boolean {
  return FILTERS.every((name) => !params.has(name));
}

/** Whether a slot can have transactions of the accounts; undefined if there are none. */
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

function transactionFilter(params: Params): Keep {
  const workchain = params.int32('workchain');
  const shard = params.shard('shard');
  const seqno = params.int32('seqno');
  const inBlock = workchain !== undefined || shard !== undefined || seqno !== undefined;
  const accounts = new Set(params.addresses('account'));
  params.addresses('exclude_account');
  const lt = params.lt('lt');
  const bounds = params.bounds();
  return (row) => {
    if (accounts.size > 0 && !accounts.has(row.account)) return false;
    if (lt !== undefined && row.lt !== lt) return false;
    if (inBlock) {
      const ref = blockRefOf(row);
      if (workchain !== undefined && ref.workchain !== workchain) return false;
      if (shard !== undefined && ref.shard !== shard) return false;
      if (seqno !== undefined && ref.seqno !== seqno) return false;
    }
    return within(bounds, row.lt, row.now);
  };
}

/** By lt in the given direction, then by account ascending; if all have one lt, by account in the given direction. */
function directed(rows: readonly TransactionRow[], sort: 1 | -1, byLt = false): readonly TransactionRow[] {
  if (sort === 1) return rows;
  if (byLt) return [...rows].reverse();
  return [...rows].sort((a, b) => b.lt - a.lt || (a.account < b.account ? -1 : 1));
}

function pageOf(reply: Reply, rows: readonly TransactionRow[]): Buffer {
  const writers = rows.map((row) => {
    reply.meetTransaction(row);
    return (page: PageWriter) => reply.view.writeTransaction(page, row);
  });
  return reply.list('transactions', writers, false);
}
