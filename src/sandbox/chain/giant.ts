import { AccountBook } from './accounts.ts';
import { jettonInternalBody, jettonTransferBody, signedBody } from './bodies.ts';
import { GIANT_PERIOD, GIANT_SEQNO, LT_STEP, slotOf } from './clock.ts';
import { COMMENTS } from './comments.ts';
import { Draft } from './draft.ts';
import type { Epoch } from './epoch.ts';
import { must, Rng } from './mix.ts';
import type { Template } from './model.ts';
import { assignLts, settle } from './settle.ts';
import { GIANT_SLOT } from './shards.ts';

/** Wallets that act in a giant block; each gives three transactions. */
const GIANT_TRACES = 850;

/** The template of the giant blocks: jetton transfers in every shard at only three logical times. */
export function makeGiant(seed: number, epoch: Epoch): Template {
  const rng = new Rng(seed, 0x61a7);
  const book = new AccountBook(seed, 1);
  const draft = new Draft(epoch.shards, rng);
  const master = must(epoch.cast.masters[0], 'master');
  const comments = COMMENTS.filter((comment) => comment.length < 60);
  for (let index = 0; index < GIANT_TRACES; index += 1) {
    const firstByte = rng.below(256);
    const owner = book.add('wallet', { firstByte });
    const from = book.add('jetton-wallet', { firstByte, owner, parent: master });
    const to = book.add('jetton-wallet', { firstByte, owner, parent: master });
    const order = { queryId: BigInt(index), amount: BigInt(rng.next()) + 1n, forward: 0, comment: rng.pick(comments) };
    const root = draft.external(owner, GIANT_SLOT, signedBody(rng));
    const ask = jettonTransferBody({ ...order, first: owner, second: owner });
    const first = draft.receive(draft.send(root, from, 50_000_000, ask), { prompt: true });
    const inside = jettonInternalBody({ ...order, first: owner, second: owner });
    draft.receive(draft.send(first, to, 40_000_000, inside), { prompt: true });
  }
  assignLts(draft.transactions, rng, false);
  for (const transaction of draft.transactions) transaction.lt -= GIANT_SLOT * LT_STEP;
  const drift = settle(draft.transactions, rng, GIANT_PERIOD);
  return {
    family: 1,
    period: GIANT_PERIOD,
    phase: slotOf(GIANT_SEQNO),
    accounts: book.list,
    transactions: draft.transactions,
    messages: draft.messages,
    drift,
  };
}
