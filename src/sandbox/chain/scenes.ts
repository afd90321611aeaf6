import type { Account, Cast } from './accounts.ts';
import {
  bounceBody,
  commentBody,
  emptyBody,
  operation,
  shortBody,
  signedBody,
  stateInit,
  unknownBody,
} from './bodies.ts';
import { COMMENTS } from './comments.ts';
import type { Draft } from './draft.ts';
import { marketOf } from './markets.ts';
import { must } from './mix.ts';
import type { Bounce, Outcome, Transaction } from './model.ts';

/** Makes a trace that begins in a slot. */
export type Scene = (draft: Draft, cast: Cast, slot: number) => void;

const TON = 1_000_000_000;

function amount(draft: Draft): number {
  return draft.rng.between(TON / 20, 5 * TON);
}

function newQueryId(draft: Draft): bigint {
  if (draft.rng.chance(0.05)) return 18446744073709551615n;
  return (BigInt(draft.rng.next()) << 32n) | BigInt(draft.rng.next());
}

/** Some amounts of one jetton are the greatest that a message can hold; other jettons have readable sums. */
function jettons(draft: Draft, cast: Cast, wallet: Account): bigint {
  const round = 1_000_000_000_000n;
  const amount = draft.rng.chance(0.03) ? round : BigInt(draft.rng.next()) * BigInt(draft.rng.between(1, 1_000_000));
  const isExtreme = wallet.parent === cast.masters[0] && amount % 10n === 0n;
  return isExtreme ? 1329227995784915872903807060280344575n : amount;
}

/** Sends back the rest of a value. */
function refund(draft: Draft, from: Transaction, to: Account, value: number, queryId: bigint): void {
  draft.call(from, to, value, operation('excess', { queryId }), { bounce: false });
}

/** Begins a trace with a message that a wallet signs. */
function open(draft: Draft, account: Account, slot: number): Transaction {
  return draft.external(account, slot, signedBody(draft.rng));
}

const transfer: Scene = (draft, cast, slot) => {
  const { rng } = draft;
  const root = open(draft, rng.pick(cast.wallets), slot);
  const body = rng.chance(0.75) ? commentBody(rng.pick(COMMENTS)) : rng.chance(0.5) ? emptyBody() : shortBody(rng);
  draft.call(root, rng.pick(cast.wallets), amount(draft), body, { bounce: rng.chance(0.5) });
};

const jettonTransfer: Scene = (draft, cast, slot) => {
  const { rng } = draft;
  const from = rng.pick(cast.jettonWallets);
  const to = rng.pick(cast.jettonWallets.filter((wallet) => wallet.parent === from.parent && wallet !== from));
  const sender = must(from.owner, 'owner');
  const receiver = must(to.owner, 'owner');
  const order = {
    queryId: newQueryId(draft),
    amount: jettons(draft, cast, from),
    to: receiver,
    sender,
    forward: 1,
    comment: rng.chance(0.5) ? rng.pick(COMMENTS) : undefined,
  };
  const root = open(draft, sender, slot);
  const first = draft.call(root, from, 60_000_000, operation('jetton_transfer', order));
  if (rng.chance(0.08)) return fail(draft, first, { kind: 'failed', exitCode: 706 }, 'ok');
  const second = draft.call(first, to, 42_000_000, operation('jetton_internal_transfer', order));
  draft.call(second, receiver, 1, operation('jetton_notify', order), { bounce: false });
  refund(draft, second, sender, 27_000_000, order.queryId);
};

const jettonBurn: Scene = (draft, cast, slot) => {
  const wallet = draft.rng.pick(cast.jettonWallets);
  const owner = must(wallet.owner, 'owner');
  const order = { queryId: newQueryId(draft), amount: jettons(draft, cast, wallet), sender: owner };
  const root = open(draft, owner, slot);
  const burn = draft.call(root, wallet, 50_000_000, operation('jetton_burn', order));
  if (draft.rng.chance(0.15)) return fail(draft, burn, { kind: 'failed', exitCode: 709 }, 'ok');
  const notice = operation('jetton_burn_notification', order);
  const master = draft.call(burn, must(wallet.parent, 'master'), 35_000_000, notice);
  refund(draft, master, owner, 20_000_000, order.queryId);
};

const nftTransfer: Scene = (draft, cast, slot) => {
  const item = draft.rng.pick(cast.items);
  if (slot <= HOMECOMING_SLOT - MOVE_SLOTS)
    moveItem(draft, item, draft.rng.pick(cast.wallets), slot, draft.rng.chance(0.2));
};

/** Slot in which NFT items return to their first owners until the epoch ends. */
export const HOMECOMING_SLOT = 225;
/** Slots that a transfer of an item may take. */
const MOVE_SLOTS = 14;

/** Returns all NFT items, so that every epoch begins with the same owners. */
export function returnItems(draft: Draft, slot: number): void {
  for (const [item, { owner }] of draft.holders) {
    if (owner !== item.owner) moveItem(draft, item, must(item.owner, 'owner'), slot, false);
  }
}

function moveItem(draft: Draft, item: Account, to: Account, slot: number, fails: boolean): void {
  const { owner, free } = draft.holders.get(item) ?? { owner: must(item.owner, 'owner'), free: MOVE_SLOTS };
  if (slot < free || owner === to) return;
  draft.holders.set(item, { owner: fails ? owner : to, free: slot + MOVE_SLOTS });
  const order = { queryId: newQueryId(draft), to, sender: owner, forward: 1 };
  const move = draft.call(open(draft, owner, slot), item, 50_000_000, operation('nft_transfer', order));
  if (fails) return fail(draft, move, { kind: 'failed', exitCode: 401 }, 'ok');
  draft.call(move, to, 1, operation('nft_ownership_assigned', order), { bounce: false });
  refund(draft, move, owner, 30_000_000, order.queryId);
}

/** Lets a transaction fail, and bounce its message. */
function fail(draft: Draft, at: Transaction, outcome: Outcome, bounce: Bounce | undefined): void {
  at.outcome = outcome;
  at.bounce = bounce;
  const cause = must(at.incoming, 'message');
  if (bounce !== 'ok') return;
  const back = Math.max(0, cause.value - (outcome.kind === 'skipped' ? 0 : Number(at.compute.gasFees)) - 1_000_000);
  const options = { bounce: false, bounced: true, extra: cause.extra };
  draft.call(at, must(cause.source, 'source'), back, bounceBody(cause.body), options);
}

const noAccount: Scene = (draft, cast, slot) => {
  const root = open(draft, draft.rng.pick(cast.wallets), slot);
  const at = draft.call(root, draft.rng.pick(cast.ghosts), 30_000_000 + draft.rng.below(TON), unknownBody(draft.rng));
  fail(draft, at, { kind: 'skipped', reason: 'no_state' }, 'ok');
};

const skips: Scene = (draft, cast, slot) => {
  const { rng } = draft;
  const root = open(draft, rng.pick(cast.wallets), slot);
  const frozen = rng.chance(0.4);
  const to = frozen ? rng.pick(cast.frozen) : rng.pick(cast.contracts);
  const reason = frozen ? 'bad_state' : rng.pick(['no_gas', 'no_gas', 'suspended'] as const);
  const value = frozen ? TON : rng.between(1, 500_000);
  const at = draft.call(root, to, value, rng.chance(0.3) ? emptyBody() : unknownBody(rng));
  if (reason === 'no_gas') at.storage = { fee: 0, due: rng.between(1, 900), change: 'unchanged' };
  fail(draft, at, { kind: 'skipped', reason }, frozen ? 'ok' : rng.chance(0.5) ? 'nofunds' : undefined);
};

const contractFails: Scene = (draft, cast, slot) => {
  const { rng } = draft;
  const root = open(draft, rng.pick(cast.wallets), slot);
  const at = draft.call(root, rng.pick(cast.contracts), 20_000_000 + rng.below(TON), unknownBody(rng));
  const exitCode = rng.pick([9, 13, -14, 35, 65535, 0xfffe, -2147483648, 2147483647]);
  fail(
    draft,
    at,
    rng.chance(0.5) ? { kind: 'failed', exitCode } : { kind: 'failed', exitCode, exitArg: rng.next() | 0 },
    rng.pick(['ok', 'ok', 'nofunds', 'negfunds'] as const),
  );
};

const actionFails: Scene = (draft, cast, slot) => {
  const { rng } = draft;
  if (rng.chance(0.5)) {
    const root = open(draft, rng.pick(cast.wallets), slot);
    root.outcome = { kind: 'action-failed', resultCode: rng.pick([37, 38, 34, 40]), resultArg: rng.below(4) };
    return;
  }
  const root = open(draft, rng.pick(cast.wallets), slot);
  const at = draft.call(root, rng.pick(cast.contracts), 3 * TON, unknownBody(rng));
  fail(draft, at, { kind: 'action-failed', resultCode: 37 }, undefined);
};

const swap: Scene = (draft, cast, slot) => callWithLog(draft, cast, slot, (pool) => marketOf(cast, pool).payout);

const otherCall: Scene = (draft, cast, slot) => callWithLog(draft, cast, slot, () => 0xffff0001);

/** A wallet calls a contract, which logs the call, and calls another contract with a given opcode. */
function callWithLog(draft: Draft, cast: Cast, slot: number, opcodeOf: (called: Account) => number): void {
  const { rng } = draft;
  const wallet = rng.pick(cast.wallets);
  const root = open(draft, wallet, slot);
  const at = draft.call(root, rng.pick(cast.contracts), amount(draft), unknownBody(rng));
  draft.log(at, rng.chance(0.2) ? emptyBody() : unknownBody(rng, rng.chance(0.5) ? 0x9c610de3 : 0x80000001));
  const next = draft.call(at, rng.pick(cast.contracts), 90_000_000, unknownBody(rng, opcodeOf(at.account)));
  if (rng.chance(0.5)) draft.log(next, shortBody(rng));
  refund(draft, next, wallet, 40_000_000, newQueryId(draft));
}

const extraCurrencies: Scene = (draft, cast, slot) => {
  const { rng } = draft;
  const extra: Record<string, string> = { '100': String(5 + rng.below(1000)) };
  if (rng.chance(0.4)) extra['239'] = String(1n << BigInt(rng.between(60, 200)));
  const root = open(draft, must(cast.wallets[rng.below(4)], 'wallet'), slot);
  const body = commentBody('extra currency there and back');
  const at = draft.call(root, must(cast.contracts[0], 'contract'), 80_000_000, body, { extra });
  draft.call(at, root.account, 60_000_000, emptyBody(), { extra, bounce: false });
};

const stake: Scene = (draft, cast, slot) => {
  const wallet = draft.rng.pick(cast.wallets);
  const order = { queryId: newQueryId(draft) };
  const at = draft.call(open(draft, wallet, slot), cast.elector, 3 * TON, operation('elector_new_stake', order));
  draft.call(at, wallet, TON, operation('elector_new_stake_ok', order), { bounce: false });
};

/** Scenes and their relative frequencies. */
export const SCENES: readonly (readonly [Scene, number])[] = [
  [transfer, 30],
  [jettonTransfer, 26],
  [swap, 4],
  [otherCall, 6],
  [nftTransfer, 8],
  [jettonBurn, 6],
  [noAccount, 5],
  [contractFails, 5],
  [skips, 4],
  [actionFails, 3],
  [extraCurrencies, 3],
  [stake, 2],
];

/** Creates, deploys and removes an account within an epoch, up to a certain end. */
export function life(
  draft: Draft,
  cast: Cast,
  account: Account,
  slot: number,
  end: 'destroyed' | 'frozen' | 'alive' | 'uninit',
): void {
  const { rng } = draft;
  const funder = rng.pick(cast.wallets);
  const born = draft.call(open(draft, funder, slot), account, TON, emptyBody(), { bounce: false });
  born.origStatus = 'nonexist';
  born.endStatus = 'uninit';
  born.outcome = { kind: 'skipped', reason: 'no_state' };
  if (end === 'uninit') return;
  const deployed = draft.external(account, slot + 12, signedBody(rng), stateInit(rng));
  deployed.origStatus = 'uninit';
  deployed.activated = true;
  draft.call(deployed, funder, TON / 4, commentBody('first words'));
  if (end === 'alive') return;
  const last = draft.call(open(draft, funder, slot + 24), account, TON / 100, emptyBody(), { bounce: false });
  if (end === 'frozen') {
    last.endStatus = 'frozen';
    last.storage = { fee: 4_000_000, due: 7_000_000, change: 'frozen' };
    last.outcome = { kind: 'skipped', reason: 'no_state' };
    return;
  }
  last.endStatus = 'nonexist';
  last.destroyed = true;
  draft.call(last, cast.bank, 0, commentBody('all that is left'), { bounce: false });
}

/**
 * Values at the limits of their types, on accounts whose balances are not shown. Values that are likely to be summed appear from
 * `EXTREME_EPOCH` on.
 */
export function edges(draft: Draft, cast: Cast, slot: number): void {
  const [one, two, three] = cast.edges;
  const first = open(draft, must(one, 'edge'), slot);
  first.compute = {
    ...first.compute,
    gasLimit: '72057594037927935',
    gasCredit: '16777215',
    mode: -128,
    vmSteps: 4294967295,
  };
  first.extreme = { fees: '9223372036854775807', gasFees: '9223372036854775807', gasUsed: '72057594037927935' };
  const extra = { '4294967295': String((1n << 248n) - 1n) };
  const second = draft.call(first, must(two, 'edge'), 0, unknownBody(draft.rng, 0xfffffffe), {
    extremeValue: '9223372036854775807',
    extraFlags: '1329227995784915872903807060280344575',
    extra,
  });
  second.compute = { gasUsed: '0', gasFees: '0', gasLimit: '0', gasCredit: '0', mode: 127, vmSteps: 0 };
  second.hugeActions = true;
  draft.call(second, must(one, 'edge'), 0, unknownBody(draft.rng, 0), { extra });
  const failed = draft.call(second, must(three, 'edge'), 1, unknownBody(draft.rng, 0x7fffffff));
  failed.outcome = { kind: 'failed', exitCode: -2147483648, exitArg: 2147483647 };
  failed.bounce = 'negfunds';
}

/** One transaction pays many accounts, with as many messages as it can send. */
export function airdrop(draft: Draft, cast: Cast, slot: number): void {
  const root = open(draft, cast.bank, slot);
  cast.holders.forEach((holder, index) => {
    const body = index % 3 === 0 ? emptyBody() : commentBody(must(COMMENTS[index % COMMENTS.length], 'comment'));
    draft.receive(draft.send(root, holder, TON / 100 + index, body, { bounce: false }), true);
  });
}
