import { AccountBook } from './accounts.ts';
import { operation, signedBody } from './bodies.ts';
import { EPOCH_BLOCKS, epochOf, GIANT_PERIOD, GIANT_SEQNO, LT_STEP, slotOf } from './clock.ts';
import { COMMENTS } from './comments.ts';
import { Draft } from './draft.ts';
import type { Epoch } from './epoch.ts';
import { must, Rng } from './mix.ts';
import type { Template } from './model.ts';
import { assignLts, settle } from './settle.ts';
import type { BlockPlan } from './shards.ts';

/** Wallets that act in a giant block, with three transactions each. */
const GIANT_TRACES = 850;
/** Jetton transfers that share one logical time. */
const TIE_TRACES = 3100;

/** Makes the template of giant blocks: jetton transfers in every shard at only three logical times. */
export function makeGiant(seed: number, epoch: Epoch): Template {
  return makeCrowd(seed, epoch, { family: 1, phase: slotOf(GIANT_SEQNO), traces: GIANT_TRACES });
}

/** Makes the template of the block in which more jetton transfers share a logical time than fit on a page. */
export function makeTies(seed: number, epoch: Epoch, tieSeqno: number): Template {
  const block = tieBlock(epoch, slotOf(tieSeqno));
  const phase = epochOf(slotOf(tieSeqno)) * EPOCH_BLOCKS + block.slot;
  return makeCrowd(seed, epoch, { family: 2, phase, traces: TIE_TRACES, prefix: block.prefix });
}

/** The newest shard block that the masterchain block of a slot includes, or the next one that includes any. */
function tieBlock(epoch: Epoch, slot: number): BlockPlan {
  const at = slot % EPOCH_BLOCKS;
  return must(
    epoch.shards.blocks
      .filter((block) => block.name.workchain === 0 && block.included >= at)
      .sort((a, b) => a.included - b.included || b.slot - a.slot)[0],
    'shard block',
  );
}

interface Crowd {
  readonly family: number;
  readonly phase: number;
  readonly traces: number;
  /** Leading bits of all accounts. */
  readonly prefix?: string;
}

function makeCrowd(seed: number, epoch: Epoch, { family, phase, traces, prefix = '' }: Crowd): Template {
  const rng = new Rng(seed, 0x61a7 + family - 1);
  const book = new AccountBook(seed, family);
  const draft = new Draft(epoch.shards, rng);
  const slot = phase % EPOCH_BLOCKS;
  const master = must(epoch.cast.masters[0], 'master');
  const comments = COMMENTS.filter((comment) => comment.length < 60);
  for (let index = 0; index < traces; index += 1) {
    const firstByte = rng.below(256 >> prefix.length) | Number.parseInt(prefix.padEnd(8, '0'), 2);
    const owner = book.add('wallet', { firstByte });
    const from = book.add('jetton-wallet', { firstByte, owner, parent: master });
    const to = book.add('jetton-wallet', { firstByte, owner, parent: master });
    const amount = BigInt(rng.next()) + 1n;
    const order = { queryId: BigInt(index), amount, to: owner, sender: owner, comment: rng.pick(comments) };
    const root = draft.external(owner, slot, signedBody(rng));
    const first = draft.receive(draft.send(root, from, 50_000_000, operation('jetton_transfer', order)), true);
    draft.receive(draft.send(first, to, 40_000_000, operation('jetton_internal_transfer', order)), true);
  }
  assignLts(draft.transactions, rng, false);
  for (const transaction of draft.transactions) transaction.lt -= slot * LT_STEP;
  const drift = settle(draft.transactions, rng, GIANT_PERIOD);
  return {
    family,
    period: GIANT_PERIOD,
    phase,
    accounts: book.list,
    transactions: draft.transactions,
    messages: draft.messages,
    drift,
  };
}
