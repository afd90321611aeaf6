import { groupBy } from '../../core/group-by.ts';
import { EPOCH_BLOCKS, GIANT_SEQNO, slotOf } from './clock.ts';
import { must, Rng } from './mix.ts';

/** Slot of every epoch that can have a giant block. */
const GIANT_SLOT = slotOf(GIANT_SEQNO) % EPOCH_BLOCKS;

/** Reference to a block whose seqno grows by a fixed amount each epoch. */
export interface BlockName {
  readonly workchain: number;
  /** Upper-case hex without padding. */
  readonly shard: string;
  /** Seqno in epoch 0. */
  readonly seqno: number;
  /** Added to it by each epoch. */
  readonly step: number;
}

export function seqnoIn({ seqno, step }: BlockName, epoch: number): number {
  return seqno + step * epoch;
}

/** A block of the epoch template. */
export interface BlockPlan {
  readonly id: number;
  readonly name: BlockName;
  /** Leading bits of the accounts it holds. */
  readonly prefix: string;
  /** Slot in which it is made. */
  readonly slot: number;
  /** Slot of the masterchain block that includes it. */
  readonly included: number;
  readonly prev: readonly BlockName[];
  readonly beforeSplit: boolean;
  readonly afterSplit: boolean;
  readonly afterMerge: boolean;
  readonly wantSplit: boolean;
  readonly wantMerge: boolean;
}

/** The shard blocks of an epoch. */
export interface ShardPlan {
  readonly blocks: readonly BlockPlan[];
  /** The block of a slot for accounts with these leading bits, if their shard makes one. */
  readonly blockAt: (slot: number, workchain: number, idBits: string) => BlockPlan | undefined;
  /** Newest block of every shard that the masterchain block of a slot knows. */
  readonly stateAt: (slot: number) => readonly BlockPlan[];
}

export const MASTERCHAIN_SHARD = '8000000000000000';
const FIRST_SEQNOS = [43_000_000, 41_000_000];

/** Slot of every epoch in which one account pays hundreds of others. */
export const AIRDROP_SLOT = 60;
/** Slots in which every shard makes a block and none is late. */
const STEADY = new Set([0, EPOCH_BLOCKS - 1, GIANT_SLOT, AIRDROP_SLOT, AIRDROP_SLOT + 1]);

type Change = { readonly kind: 'split' | 'merge'; readonly prefix: string };

/** Splits and merges by slot. An epoch begins and ends with two shards; the shard 0000 has an id of 15 digits. */
const CHANGES: ReadonlyMap<number, Change> = new Map([
  [16, { kind: 'split', prefix: '0' }],
  [22, { kind: 'split', prefix: '1' }],
  [90, { kind: 'merge', prefix: '1' }],
  [100, { kind: 'split', prefix: '00' }],
  [104, { kind: 'split', prefix: '000' }],
  [110, { kind: 'merge', prefix: '000' }],
  [116, { kind: 'merge', prefix: '00' }],
  [130, { kind: 'split', prefix: '1' }],
  [200, { kind: 'merge', prefix: '0' }],
  [230, { kind: 'merge', prefix: '1' }],
] as const);

/** Shard id of the accounts with these leading bits. */
function shardOf(prefix: string): string {
  return BigInt(`0b${`${prefix}1`.padEnd(64, '0')}`)
    .toString(16)
    .toUpperCase();
}

interface Made {
  readonly prefix: string;
  readonly slot: number;
  readonly relative: number;
  readonly late: boolean;
  readonly parents: readonly Made[];
  readonly afterSplit: boolean;
  readonly afterMerge: boolean;
}

/** Makes the shard blocks of one epoch; about a quarter are included one block late. */
export function planShards(seed: number): ShardPlan {
  const halves = [0, 1].map((half) => makeHalf(half, new Rng(seed, 0x5a4d, half)));
  const steps = halves.map((made) => must(made.at(-1), 'shard block').relative + 1);
  const blocks: BlockPlan[] = masterchainBlocks();
  halves.forEach((made, half) => {
    const first = must(FIRST_SEQNOS[half], 'first seqno');
    const step = must(steps[half], 'step');
    const nameOf = (prefix: string, relative: number): BlockName => ({
      workchain: 0,
      shard: shardOf(prefix),
      seqno: first + relative,
      step,
    });
    for (const block of made) {
      const change = CHANGES.get(block.slot + 1);
      const soon = CHANGES.get(block.slot + 2) ?? change;
      const parents = block.parents.map((parent) => nameOf(parent.prefix, parent.relative));
      blocks.push({
        id: blocks.length,
        name: nameOf(block.prefix, block.relative),
        prefix: block.prefix,
        slot: block.slot,
        included: block.slot + (block.late ? 1 : 0),
        prev: parents.length > 0 ? parents : [nameOf(block.prefix, -1)],
        beforeSplit: change?.kind === 'split' && change.prefix === block.prefix,
        afterSplit: block.afterSplit,
        afterMerge: block.afterMerge,
        wantSplit: soon?.kind === 'split' && soon.prefix === block.prefix,
        wantMerge: block.prefix.length > 1 && (soon?.kind !== 'split' || soon.prefix !== block.prefix),
      });
    }
  });
  return { blocks, blockAt: finder(blocks), stateAt: stater(blocks) };
}

function masterchainBlocks(): BlockPlan[] {
  return Array.from({ length: EPOCH_BLOCKS }, (_, slot) => ({
    id: slot,
    name: { workchain: -1, shard: MASTERCHAIN_SHARD, seqno: slot + 1, step: EPOCH_BLOCKS },
    prefix: '',
    slot,
    included: slot,
    prev: [{ workchain: -1, shard: MASTERCHAIN_SHARD, seqno: slot, step: EPOCH_BLOCKS }],
    beforeSplit: false,
    afterSplit: false,
    afterMerge: false,
    wantSplit: false,
    wantMerge: true,
  }));
}

function makeHalf(half: number, rng: Rng): Made[] {
  const root = String(half);
  const made: Made[] = [];
  let last = new Map<string, Made | undefined>([[root, undefined]]);
  for (let slot = 0; slot < EPOCH_BLOCKS; slot += 1) {
    const change = CHANGES.get(slot);
    const fresh = change?.prefix.startsWith(root) ? applyChange(last, change) : undefined;
    if (fresh !== undefined) last = fresh.shards;
    const next = CHANGES.get(slot + 1);
    const steady = next?.prefix.startsWith(root) || STEADY.has(slot);
    for (const [prefix, before] of [...last].sort(([a], [b]) => (a < b ? -1 : 1))) {
      const changed = fresh?.born.get(prefix);
      const forced = steady || changed !== undefined;
      if (!forced && !rng.chance(0.86)) continue;
      const parents = changed ?? (before === undefined ? [] : [before]);
      const block: Made = {
        prefix,
        slot,
        relative: Math.max(-1, ...parents.map((parent) => parent.relative)) + 1,
        late: !forced && rng.chance(0.3),
        parents,
        afterSplit: changed?.length === 1,
        afterMerge: changed?.length === 2,
      };
      made.push(block);
      last.set(prefix, block);
    }
  }
  return made;
}

function applyChange(shards: ReadonlyMap<string, Made | undefined>, change: Change) {
  const result = new Map(shards);
  const born = new Map<string, readonly Made[]>();
  const children = [`${change.prefix}0`, `${change.prefix}1`];
  const gone = change.kind === 'split' ? [change.prefix] : children;
  const parents = gone.map((prefix) => must(shards.get(prefix), `block of shard ${prefix}`));
  for (const prefix of gone) result.delete(prefix);
  for (const prefix of change.kind === 'split' ? children : [change.prefix]) {
    result.set(prefix, undefined);
    born.set(prefix, parents);
  }
  return { shards: result, born };
}

function finder(blocks: readonly BlockPlan[]): ShardPlan['blockAt'] {
  const bySlot = groupBy(blocks, ({ slot }) => slot);
  return (slot, workchain, idBits) =>
    bySlot.get(slot)?.find((block) => block.name.workchain === workchain && idBits.startsWith(block.prefix));
}

/** Blocks of each half are in the order in which they were made, so a later one replaces its ancestors. */
function stater(blocks: readonly BlockPlan[]): ShardPlan['stateAt'] {
  const states: BlockPlan[][] = [];
  const current = new Map<string, BlockPlan>();
  for (let slot = 0; slot < EPOCH_BLOCKS; slot += 1) {
    for (const block of blocks) {
      if (block.included !== slot || block.name.workchain !== 0) continue;
      for (const [prefix, { slot: made }] of [...current]) {
        const isRelated = prefix.startsWith(block.prefix) || block.prefix.startsWith(prefix);
        if (isRelated && made !== block.slot) current.delete(prefix);
      }
      current.set(block.prefix, block);
    }
    states.push([...current.values()]);
  }
  return (slot) => states[slot] ?? [];
}
