import type { Chain } from '../chain/chain.ts';
import { EPOCH_BLOCKS, ltOf, MASTERCHAIN_LT, SHARD_LT, seqnoOf } from '../chain/clock.ts';
import { mixOf } from '../chain/mix.ts';
import { type BlockRow, includedBy } from '../chain/model.ts';
import { type BlockPlan, MASTERCHAIN_SHARD, seqnoIn } from '../chain/shards.ts';
import { HASH_KIND, type HashKind } from '../chain/tag.ts';

/** Properties of a block by which it is listed. */
interface BlockFacts {
  readonly shard: string;
  readonly seqno: number;
  readonly utime: number;
  readonly startLt: number;
  readonly endLt: number;
  readonly count: number;
}

/** Makes headers. Their counts and lts come from their transactions. */
export class BlockRecords {
  readonly #chain: Chain;
  readonly #ordinary = new Map<number, { readonly count: number; readonly end: number }>();

  constructor(chain: Chain) {
    this.#chain = chain;
  }

  facts(row: BlockRow): BlockFacts {
    const { plan, epoch } = row;
    const slot = epoch * EPOCH_BLOCKS + plan.slot;
    const { count, end } = this.#extent(row);
    return {
      shard: plan.name.shard,
      seqno: seqnoIn(plan.name, epoch),
      utime: this.#chain.clock.utimeOf(slot),
      startLt: ltOf(slot) + startOf(plan),
      endLt: ltOf(slot) + end,
      count,
    };
  }

  #extent(row: BlockRow): { readonly count: number; readonly end: number } {
    const { plan, epoch } = row;
    const giant = this.#chain.isRare(epoch * EPOCH_BLOCKS + plan.slot);
    const known = giant ? undefined : this.#ordinary.get(plan.id);
    if (known !== undefined) return known;
    const rows = this.#chain.inBlock(row);
    const start = ltOf(epoch * EPOCH_BLOCKS + plan.slot);
    const ends = rows.map(({ lt, transaction }) => lt - start + transaction.outgoing.length + 1);
    const extent = { count: rows.length, end: Math.max(startOf(plan) + 4, ...ends) };
    if (!giant) this.#ordinary.set(plan.id, extent);
    return extent;
  }

  record(row: BlockRow) {
    const { plan, epoch } = row;
    const { shard, seqno, utime, startLt, endLt, count } = this.facts(row);
    const { workchain } = plan.name;
    const hash = (kind: HashKind): string => this.#chain.codec.hash(0, kind, plan.id, epoch);
    const made = seqnoOf(epoch * EPOCH_BLOCKS + plan.slot);
    const prevKey = plan.slot === 0 ? made - EPOCH_BLOCKS : made - plan.slot;
    return {
      workchain,
      shard,
      seqno,
      root_hash: hash(HASH_KIND.blockRoot),
      file_hash: hash(HASH_KIND.blockFile),
      global_id: -239,
      version: 0,
      after_merge: plan.afterMerge,
      before_split: plan.beforeSplit,
      after_split: plan.afterSplit,
      want_merge: plan.wantMerge,
      want_split: plan.wantSplit,
      key_block: workchain === -1 && plan.slot === 0,
      vert_seqno_incr: false,
      flags: 1,
      gen_utime: String(utime),
      start_lt: String(startLt),
      end_lt: String(endLt),
      validator_list_hash_short: mixOf(this.#chain.seed, plan.id, epoch) | 0,
      gen_catchain_seqno: 600_000 + epoch,
      min_ref_mc_seqno: Math.max(0, made - 5),
      prev_key_block_seqno: Math.max(0, prevKey),
      vert_seqno: 1,
      master_ref_seqno: workchain === -1 ? 0 : made - 1,
      rand_seed: hash(HASH_KIND.blockRand),
      created_by: hash(HASH_KIND.blockCreator),
      tx_count: count,
      masterchain_block_ref: { workchain: -1, shard: MASTERCHAIN_SHARD, seqno: includedBy(row) },
      prev_blocks: plan.prev.map((name) => ({ ...name, seqno: seqnoIn(name, epoch) })),
    };
  }
}

function startOf(plan: BlockPlan): number {
  if (plan.name.workchain === -1) return MASTERCHAIN_LT;
  return mixOf(plan.id, plan.slot) % SHARD_LT;
}
