import { type Cast, makeCast } from './accounts.ts';
import { EPOCH_BLOCKS } from './clock.ts';
import { Draft } from './draft.ts';
import { Rng } from './mix.ts';
import type { Template } from './model.ts';
import { airdrop, edges, HOMECOMING_SLOT, life, returnItems, SCENES, type Scene } from './scenes.ts';
import { assignLts, settle } from './settle.ts';
import { AIRDROP_SLOT, planShards, type ShardPlan } from './shards.ts';

/** The template of the ordinary epochs. */
export interface Epoch extends Template {
  readonly shards: ShardPlan;
  readonly cast: Cast;
}

let last: { readonly seed: number; readonly activity: number; readonly epoch: Epoch } | undefined;

/**
 * Makes one epoch: about 16 transactions per block, in bursts; some blocks have only ticks and tocks. A process that starts the same
 * network again gets the same epoch.
 *
 * @param activity multiplier for the number of transactions
 */
export function makeEpoch(seed: number, activity: number): Epoch {
  if (last?.seed !== seed || last.activity !== activity) last = { seed, activity, epoch: playEpoch(seed, activity) };
  return last.epoch;
}

function playEpoch(seed: number, activity: number): Epoch {
  const shards = planShards(seed);
  const cast = makeCast(seed);
  const draft = new Draft(shards, new Rng(seed, 0xe90c));
  for (let slot = 0; slot < EPOCH_BLOCKS; slot += 1) {
    draft.tick(cast.elector, slot, 'tick');
    if (slot % 5 !== 3) draft.tick(cast.config, slot, slot % 2 === 0 ? 'tick' : 'tock');
    draft.tick(cast.elector, slot, 'tock');
  }
  for (let slot = 0; slot < EPOCH_BLOCKS; slot += 1) {
    if (slot === HOMECOMING_SLOT) returnItems(draft, slot);
    playSlot(draft, cast, slot, activity);
  }
  const ends = ['alive', 'destroyed', 'frozen', 'uninit'] as const;
  cast.fresh.forEach((account, index) => {
    life(draft, cast, account, 3 + index * 8, ends[index % ends.length] ?? 'alive');
  });
  for (const slot of [30, 31, 150]) edges(draft, cast, slot);
  airdrop(draft, cast, AIRDROP_SLOT);
  assignLts(draft.transactions, new Rng(seed, 0x17), true);
  const drift = settle(draft.transactions, new Rng(seed, 0xba1), EPOCH_BLOCKS);
  return {
    family: 0,
    period: EPOCH_BLOCKS,
    phase: 0,
    accounts: cast.book.list,
    transactions: draft.transactions,
    messages: draft.messages,
    drift,
    shards,
    cast,
  };
}

function playSlot(draft: Draft, cast: Cast, slot: number, activity: number): void {
  const { rng } = draft;
  const kind = rng.next() % 100;
  const scenes = kind < 14 ? 0 : kind < 88 ? rng.between(1, 5) : kind < 98 ? rng.between(5, 12) : rng.between(20, 45);
  for (let index = 0; index < Math.round(scenes * activity); index += 1) pickScene(draft)(draft, cast, slot);
}

const TOTAL_WEIGHT = SCENES.reduce((sum, [, weight]) => sum + weight, 0);

function pickScene(draft: Draft): Scene {
  let at = draft.rng.below(TOTAL_WEIGHT);
  for (const [scene, weight] of SCENES) {
    if (at < weight) return scene;
    at -= weight;
  }
  throw new Error('sandbox: scene weights do not add up');
}
