import type { BlockRow } from '../chain/chain.ts';
import { FIRST_SEQNO, slotOf, slotOfLt, slotsOfUtime } from '../chain/clock.ts';
import { must, Rng } from '../chain/mix.ts';
import { HASH_KIND } from '../chain/tag.ts';
import { includedBy } from '../lies/tampered-chain.ts';
import { breakText, isOfHeader } from './broken.ts';
import { ApiError, type Params } from './params.ts';
import type { View } from './view.ts';

/** More slots than one statement of the server could read in its time. */
export const SLOTS_PER_STATEMENT = 400_000;

/** `/masterchainInfo`; `lag` blocks behind the head. */
export function masterchainInfo(view: View, lag: number): string {
  const text = (seqno: number): string => view.blocks.text(must(view.chain.blocksOf(seqno)[0], 'masterchain block'));
  return `{"last":${text(Math.max(FIRST_SEQNO, view.head() - lag))},"first":${text(FIRST_SEQNO)}}`;
}

/** `/masterchainBlockShards` */
export function masterchainBlockShards(view: View, params: Params, shuffle: number): string {
  const seqno = params.requiredSeqno('seqno');
  const { limit, offset } = params.page();
  const sort = params.sort();
  const rows = view.isIndexed(seqno)
    ? view.cutBlocks(ordered(view, view.told.blocksOf(seqno), sort, shuffle).slice(offset, offset + limit))
    : [];
  if (rows.length === 0) throw new ApiError(404, 'blocks not found');
  return listText(view, rows);
}

/** `/masterchainBlockShardState`: by workchain, signed shard id, seqno. */
export function masterchainBlockShardState(view: View, params: Params): string {
  const seqno = params.requiredSeqno('seqno');
  const state = view.isIndexed(seqno) ? view.told.stateOf(seqno) : undefined;
  if (state === undefined) throw new ApiError(404, 'blocks not found');
  const rows = [...state].sort((a, b) => {
    const [x, y] = [signedShard(a), signedShard(b)];
    return a.plan.name.workchain - b.plan.name.workchain || (x < y ? -1 : x > y ? 1 : 0);
  });
  return listText(view, rows);
}

function signedShard(row: BlockRow): bigint {
  return BigInt.asIntN(64, BigInt(`0x${row.plan.name.shard}`));
}

/** `/blocks`: no order unless one is asked for, and then only by time. */
export function blocks(view: View, params: Params, shuffle: number): string {
  const mcSeqno = params.int32('mc_seqno');
  const keep = blockFilter(view, params);
  const hashes = [
    { hash: params.hash('root_hash'), kind: HASH_KIND.blockRoot },
    { hash: params.hash('file_hash'), kind: HASH_KIND.blockFile },
  ].filter(({ hash }) => hash !== undefined);
  const { limit, offset } = params.page();
  const sort = params.sort();
  const wanted = offset + limit;
  const found: BlockRow[] = [];
  if (hashes.length > 0) {
    const rows = hashes.map(({ hash, kind }) => (hash === undefined ? undefined : view.chain.blockByHash(hash, kind)));
    const [row] = rows;
    const same = rows.every((other) => other !== undefined && other.plan === row?.plan && other.epoch === row.epoch);
    if (row !== undefined && same && isIndexed(view, row)) found.push(...view.told.shownBlock(row).filter(keep));
  } else if (mcSeqno !== undefined) {
    if (view.isIndexed(mcSeqno)) found.push(...view.told.blocksOf(mcSeqno).filter(keep));
  } else {
    const { first, last } = slotBounds(view, params);
    const step = sort === -1 ? -1 : 1;
    let scanned = 0;
    for (let slot = step === 1 ? first : last; slot >= first && slot <= last; slot += step) {
      scanned += 1;
      if (scanned > SLOTS_PER_STATEMENT) throw new ApiError(500, 'timeout: context deadline exceeded');
      // Blocks made in one second are ties, so a second is read whole before the page may end.
      if (found.length >= wanted && view.chain.secondEnds(slot, step)) break;
      for (const row of view.told.blocksMadeIn(slot)) if (isIndexed(view, row) && keep(row)) found.push(row);
    }
  }
  return listText(view, view.cutBlocks(ordered(view, found, sort, shuffle).slice(offset, wanted)));
}

function isIndexed(view: View, row: BlockRow): boolean {
  return view.isIndexed(includedBy(row));
}

/** Ties of equal time come in another order with each request. */
function ordered(
  view: View,
  rows: readonly BlockRow[],
  sort: 1 | -1 | undefined,
  shuffle: number,
): readonly BlockRow[] {
  const rng = new Rng(shuffle, 0x71e5);
  const shuffled = rows.map((row) => ({ row, utime: view.blocks.facts(row).utime, chance: rng.next() }));
  if (sort === undefined) return rows;
  return shuffled.sort((a, b) => (a.utime - b.utime) * sort || a.chance - b.chance).map(({ row }) => row);
}

function listText(view: View, rows: readonly BlockRow[]): string {
  const broken = view.faults().broken.filter(isOfHeader);
  const texts = rows.map((row) => {
    const text = view.blocks.text(row);
    const flaw = broken.find(({ seqno, index }) => {
      const flawed = seqno === includedBy(row) ? view.chain.blocksOf(seqno)[index] : undefined;
      return flawed?.plan === row.plan && flawed.epoch === row.epoch;
    });
    return flaw === undefined ? text : breakText(text, flaw.kind);
  });
  return `{"blocks":[${texts.join(',')}]}`;
}

function blockFilter(view: View, params: Params): (row: BlockRow) => boolean {
  const workchain = params.int32('workchain');
  const shard = params.shard('shard');
  const seqno = params.int32('seqno');
  const [startLt, endLt] = [params.lt('start_lt'), params.lt('end_lt')];
  const [startUtime, endUtime] = [params.utime('start_utime'), params.utime('end_utime')];
  return (row) => {
    if (workchain !== undefined && row.plan.name.workchain !== workchain) return false;
    const facts = view.blocks.facts(row);
    if (shard !== undefined && facts.shard !== shard) return false;
    return (
      (seqno === undefined || facts.seqno === seqno) &&
      (startLt === undefined || facts.startLt >= startLt) &&
      (endLt === undefined || facts.startLt <= endLt) &&
      (startUtime === undefined || facts.utime >= startUtime) &&
      (endUtime === undefined || facts.utime <= endUtime)
    );
  };
}

/** The slots in which what the bounds of a request allow can be made. */
export function slotBounds(view: View, params: Params, least = -1): { readonly first: number; readonly last: number } {
  const window = windowBounds(view, params, least);
  const lt = params.lt('lt');
  const seqno = params.int32('seqno');
  const named = seqno === undefined ? undefined : view.told.slotsOfSeqno(seqno);
  return {
    first: Math.max(window.first, slotOfLt(lt ?? 0), named?.first ?? least),
    last: Math.min(window.last, slotOfLt(lt ?? Number.MAX_SAFE_INTEGER), named?.last ?? Number.MAX_SAFE_INTEGER),
  };
}

/** The slots that the bounds of lt and time allow. */
export function windowBounds(
  view: View,
  params: Params,
  least = -1,
): { readonly first: number; readonly last: number } {
  const [startLt, endLt] = [params.lt('start_lt'), params.lt('end_lt')];
  const [startUtime, endUtime] = [params.utime('start_utime'), params.utime('end_utime')];
  const time = slotsOfUtime(startUtime ?? 0, endUtime ?? 4294967295);
  return {
    first: Math.max(least, time.first, slotOfLt(startLt ?? 0)),
    last: Math.min(slotOf(view.head()), time.last, slotOfLt(endLt ?? Number.MAX_SAFE_INTEGER)),
  };
}
