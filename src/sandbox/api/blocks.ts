import { FIRST_SEQNO } from '../chain/clock.ts';
import { must } from '../chain/mix.ts';
import { type BlockRow, includedBy } from '../chain/model.ts';
import { HASH_KIND } from '../chain/tag.ts';
import { demand, type Params, within } from './params.ts';
import type { Reply } from './reply.ts';
import { slotBounds, slotsIn, sorted } from './scan.ts';
import type { View } from './view.ts';

/** `/masterchainInfo` */
export function masterchainInfo(view: View): string {
  const text = (seqno: number): string => view.blocks.text(must(view.chain.blocksOf(seqno)[0], 'masterchain block'));
  return `{"last":${text(view.head())},"first":${text(FIRST_SEQNO)}}`;
}

/** `/masterchainBlockShards` */
export function masterchainBlockShards(reply: Reply): string {
  const { view, params } = reply;
  const seqno = params.requiredSeqno('seqno');
  const { limit, offset } = params.page();
  const blocks = ordered(reply, view.isIndexed(seqno) ? view.chain.blocksOf(seqno) : []);
  const rows = blocks.slice(offset, offset + limit);
  demand(rows.length > 0, 'blocks not found', 404);
  return listText(view, rows);
}

/** `/masterchainBlockShardState`: by workchain, signed shard id, seqno. */
export function masterchainBlockShardState({ view, params }: Reply): string {
  const seqno = params.requiredSeqno('seqno');
  demand(view.isIndexed(seqno), 'blocks not found', 404);
  const rows = [...view.chain.stateOf(seqno)].sort((a, b) => {
    const [x, y] = [signedShard(a), signedShard(b)];
    return a.plan.name.workchain - b.plan.name.workchain || (x < y ? -1 : x > y ? 1 : 0);
  });
  return listText(view, rows);
}

function signedShard(row: BlockRow): bigint {
  return BigInt.asIntN(64, BigInt(`0x${row.plan.name.shard}`));
}

/** `/blocks`: in no order, or by time with `sort`. */
export function blocks(reply: Reply): string {
  const { view, params } = reply;
  const mcSeqno = params.int32('mc_seqno');
  const keep = blockFilter(view, params);
  const hashes = [
    { hash: params.hash('root_hash'), kind: HASH_KIND.blockRoot },
    { hash: params.hash('file_hash'), kind: HASH_KIND.blockFile },
  ];
  const { limit, offset } = params.page();
  const step = params.sort() ?? 1;
  const wanted = offset + limit;
  const found: BlockRow[] = [];
  const named = hashes.flatMap(({ hash, kind }) => (hash === undefined ? [] : [view.chain.blockByHash(hash, kind)]));
  if (named.length > 0) {
    const [row] = named;
    const same = named.every((other) => other !== undefined && other.plan === row?.plan && other.epoch === row.epoch);
    if (row !== undefined && same && isIndexed(view, row)) found.push(...[row].filter(keep));
  } else if (mcSeqno !== undefined) {
    if (view.isIndexed(mcSeqno)) found.push(...view.chain.blocksOf(mcSeqno).filter(keep));
  } else {
    for (const slot of slotsIn(slotBounds(view, params), step)) {
      // Blocks of the same second are ties, so a second is read completely before the page ends.
      if (found.length >= wanted && view.chain.secondEnds(slot, step)) break;
      found.push(...view.chain.blocksMadeIn(slot).filter((row) => isIndexed(view, row) && keep(row)));
    }
  }
  return listText(view, ordered(reply, found).slice(offset, wanted));
}

function isIndexed(view: View, row: BlockRow): boolean {
  return view.isIndexed(includedBy(row));
}

/** Blocks of the same second come in an order that differs between requests. */
function ordered({ view, params, shuffle }: Reply, rows: readonly BlockRow[]): readonly BlockRow[] {
  const sort = params.sort();
  return sort === undefined ? rows : sorted(rows, { keyOf: (row) => view.blocks.facts(row).utime, sort, shuffle });
}

function listText(view: View, rows: readonly BlockRow[]): string {
  return `{"blocks":[${rows.map((row) => view.blocks.text(row)).join(',')}]}`;
}

function blockFilter(view: View, params: Params): (row: BlockRow) => boolean {
  const workchain = params.int32('workchain');
  const shard = params.shard('shard');
  const seqno = params.int32('seqno');
  const bounds = params.bounds();
  return (row) => {
    if (workchain !== undefined && row.plan.name.workchain !== workchain) return false;
    const facts = view.blocks.facts(row);
    if (shard !== undefined && facts.shard !== shard) return false;
    return (seqno === undefined || facts.seqno === seqno) && within(bounds, facts.startLt, facts.utime);
  };
}
