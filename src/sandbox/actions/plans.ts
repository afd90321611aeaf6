import { variants } from '../../../api/facts.ts';
import type { Account, Cast } from '../chain/accounts.ts';
import { payloadOf } from '../chain/bodies.ts';
import { hasAny } from '../chain/description.ts';
import { isPayout, marketOf } from '../chain/markets.ts';
import { must, Rng } from '../chain/mix.ts';
import { type Message, type Transaction, valueIn } from '../chain/model.ts';
import type { TracePlan } from '../chain/trace-index.ts';
import { type JsonRecord, recordOf } from '../page/json.ts';
import { type AddAccount, type DetailsContext, makeDetails } from './details.ts';

/** An action of a trace. */
export interface ActionPlan {
  readonly id: number;
  /** Type as stored and as shown. */
  readonly type: string;
  readonly shownType: string;
  /** Types of the actions that contain it. */
  readonly ancestors: readonly string[];
  readonly members: readonly Transaction[];
  readonly success: boolean;
  /** Undefined if the server does not support the details and sends its raw row. */
  readonly details: ((addAccount: AddAccount, epoch: number) => JsonRecord) | undefined;
}

/** Names of the details of each type. */
const DETAILS: Readonly<Record<string, string>> = variants.action_details_by_type;
/** The details of types whose raw rows the server sends instead. */
const UNSUPPORTED = 'FreeFormUnsupportedDetails';

/** Types that traces of the sandbox have by themselves. */
const NATURAL: ReadonlySet<string> = new Set([
  'call_contract',
  'contract_deploy',
  'ton_transfer',
  'extra_currency_transfer',
  'election_deposit',
  'jetton_transfer',
  'jetton_burn',
  'jetton_swap',
  'nft_transfer',
  'nft_purchase',
]);

/** The other types. They are assigned to traces in turn: sales often, the others once a round. */
const MADE_UP = Object.keys(DETAILS)
  .filter((type) => !NATURAL.has(type))
  .flatMap((type, at) => (at % 3 === 0 ? ['nft_purchase', type] : [type]));

const TON = 1_000_000_000;
/** Exit code of pools that refuse a swap. */
const REFUSED = 65535;

const TRADES: Readonly<Record<string, typeof swapDetails>> = {
  jetton_swap: swapDetails,
  nft_purchase: purchaseDetails,
};

/** Decides the actions of all traces of a template. */
export function planActions(
  plans: readonly TracePlan[],
  cast: Cast,
  seed: number,
): ReadonlyMap<TracePlan, readonly ActionPlan[]> {
  let turn = 0;
  let id = 0;
  const nextMadeUp = (): string | undefined => {
    turn += 1;
    return turn % 4 === 0 ? undefined : MADE_UP[(turn - 1 - Math.floor(turn / 4)) % MADE_UP.length];
  };
  const found = new Map<TracePlan, readonly ActionPlan[]>();
  for (const plan of plans) {
    if (plan.root.tickTock !== undefined && plan.members.length === 1) continue;
    const actions = naturalActions(plan, () => id++);
    const called = actions.length === 1 && actions[0]?.type === 'call_contract' ? actions[0] : undefined;
    if (called !== undefined && plan.root.account.role === 'wallet') {
      const type = isSwap(plan) ? 'jetton_swap' : nextMadeUp();
      if (type !== undefined) {
        const compound = madeUp(plan, type, id++, cast, seed);
        found.set(plan, [compound, { ...called, ancestors: [type] }]);
        continue;
      }
    }
    found.set(plan, actions);
  }
  return found;
}

/** A pool paid, or refused. */
function isSwap({ members }: TracePlan): boolean {
  return members.some(
    ({ incoming, outcome }) =>
      isPayout(incoming?.body.opcode) || (outcome.kind === 'failed' && outcome.exitCode === REFUSED),
  );
}

function madeUp(plan: TracePlan, type: string, id: number, cast: Cast, seed: number): ActionPlan {
  const called = plan.members.find((member) => member !== plan.root)?.account ?? plan.root.account;
  const name = DETAILS[type] ?? UNSUPPORTED;
  const details: ActionPlan['details'] = (addAccount, epoch) => {
    const context = { cast, caller: plan.root.account, called, addAccount };
    const rng = new Rng(seed, 0xde7a, plan.template.family, id);
    return TRADES[type]?.(context, rng, epoch) ?? makeDetails(name, context, rng);
  };
  return actionOf(id, type, plan.members, name === UNSUPPORTED ? undefined : details);
}

function actionOf(
  id: number,
  type: string,
  members: readonly Transaction[],
  details: ActionPlan['details'],
  shownType = type,
): ActionPlan {
  const success = members.every(({ outcome }) => outcome.kind === 'ok');
  return { id, type, shownType, ancestors: [], members, success, details };
}

function naturalActions(plan: TracePlan, nextId: () => number): readonly ActionPlan[] {
  const { root } = plan;
  const actions: ActionPlan[] = [];
  const add = (
    type: string,
    members: readonly Transaction[],
    details: ActionPlan['details'],
    shownType = type,
  ): void => {
    actions.push(actionOf(nextId(), type, members, details, shownType));
  };
  if (root.activated) {
    add('contract_deploy', [root], (addAccount) => ({ destination: addAccount(root.account) ?? '' }));
  }
  for (const message of root.outgoing) {
    if (message.kind !== 'internal' || message.to === undefined) continue;
    const { decodedOpcode, decoded } = message.body;
    const members = below(plan, message.to);
    const orderDetails = ORDERS[decodedOpcode ?? ''];
    if (orderDetails !== undefined)
      add(decodedOpcode ?? '', members, (addAccount) => orderDetails(message, addAccount));
    else if (decodedOpcode === 'elector_new_stake') {
      add('election_deposit', members, (addAccount) => ({
        stake_holder: addAccount(root.account),
        amount: String(message.value),
      }));
    } else {
      const plain = decodedOpcode === 'text_comment' || decoded.includes('"empty_cell"');
      const type = plain ? 'ton_transfer' : 'call_contract';
      const details = plain ? tonTransfer : callContract;
      add(
        type,
        [root, message.to],
        (addAccount, epoch) => details(message, addAccount, epoch),
        hasAny(message.extra) ? 'extra_currency_transfer' : type,
      );
    }
  }
  if (actions.length === 0) add('unknown', plan.members, undefined);
  return actions;
}

/** A transaction and all its descendants. */
function below(plan: TracePlan, top: Transaction): readonly Transaction[] {
  const found = new Set([top]);
  for (const member of plan.members) {
    const from = member.incoming?.from;
    if (from !== undefined && found.has(from)) found.add(member);
  }
  return [...found];
}

function tonTransfer(message: Message, addAccount: AddAccount, epoch: number): JsonRecord {
  return {
    source: addAccount(message.source),
    destination: addAccount(message.destination),
    value: valueIn(epoch, message),
    value_extra_currencies: message.extra,
    comment: message.body.values.comment ?? null,
    encrypted: false,
  };
}

function callContract(message: Message, addAccount: AddAccount, epoch: number): JsonRecord {
  return recordOf('ActionDetailsCallContract', {
    opcode: message.body.opcode,
    source: addAccount(message.source),
    destination: addAccount(message.destination),
    value: valueIn(epoch, message),
    extra_currencies: hasAny(message.extra) ? message.extra : null,
  });
}

/** The jetton wallet that a transfer went to. */
function receiverWallet(message: Message): Account | undefined {
  return message.to?.outgoing.find((sent) => sent.destination?.role === 'jetton-wallet')?.destination;
}

function jettonTransfer(message: Message, addAccount: AddAccount): JsonRecord {
  const order = message.body.values;
  return recordOf('ActionDetailsJettonTransfer', {
    asset: addAccount(message.destination?.parent),
    sender: addAccount(message.source),
    receiver: addAccount(order.to),
    sender_jetton_wallet: addAccount(message.destination),
    receiver_jetton_wallet: addAccount(receiverWallet(message)),
    amount: String(order.amount ?? 0),
    comment: order.comment,
    is_encrypted_comment: order.comment === undefined ? null : false,
    query_id: String(order.queryId ?? 0),
    response_destination: addAccount(order.sender),
    forward_payload: payloadOf(order),
    forward_amount: String(order.forward ?? 0),
  });
}

function jettonBurn(message: Message, addAccount: AddAccount): JsonRecord {
  return {
    owner: addAccount(message.source),
    owner_jetton_wallet: addAccount(message.destination),
    asset: addAccount(message.destination?.parent),
    amount: String(message.body.values.amount ?? 0),
  };
}

function nftTransfer(message: Message, addAccount: AddAccount): JsonRecord {
  const order = message.body.values;
  return recordOf('ActionDetailsNftTransfer', {
    nft_collection: addAccount(message.destination?.parent),
    nft_item: addAccount(message.destination),
    nft_item_index: String(message.destination?.index ?? 0),
    old_owner: addAccount(message.source),
    new_owner: addAccount(order.to),
    is_purchase: false,
    query_id: String(order.queryId ?? 0),
    response_destination: addAccount(order.sender),
    forward_amount: String(order.forward ?? 0),
  });
}

/** Details of orders to token contracts, by the name of their opcode. */
const ORDERS: Readonly<Record<string, (message: Message, addAccount: AddAccount) => JsonRecord>> = {
  jetton_transfer: jettonTransfer,
  jetton_burn: jettonBurn,
  nft_transfer: nftTransfer,
};

/** Details of a swap in the pool that the trader called. Direction, amount and price differ each time, and in each epoch. */
function swapDetails({ cast, caller, called, addAccount }: DetailsContext, rng: Rng, epoch: number): JsonRecord {
  const market = marketOf(cast, called);
  const assets = [market.first, market.second].map((at) => (at === undefined ? undefined : cast.masters[at]));
  const isSale = rng.chance(0.5);
  const [given, taken] = isSale ? assets : [...assets].reverse();
  const amount = rng.between(TON, 900 * TON) + epoch * 10_000_019;
  const price = market.price * (100 + ((epoch * 7 + rng.below(11)) % 17));
  const received = Math.round(isSale ? (amount * price) / 100_000 : (amount * 100_000) / price);
  const transfer = (asset: Account | undefined, from: Account, to: Account, units: number): JsonRecord =>
    recordOf('ActionDetailsJettonSwapTransfer', {
      asset: addAccount(asset),
      source: addAccount(from),
      destination: addAccount(to),
      amount: String(units),
    });
  return {
    dex: market.dex,
    sender: addAccount(caller),
    asset_in: addAccount(given),
    asset_out: addAccount(taken),
    dex_incoming_transfer: transfer(given, caller, called, amount),
    dex_outgoing_transfer: transfer(taken, called, caller, received),
    peer_swaps: [],
    ...(market.dex === 'tonco' ? { min_out_amount: String(Math.round(received * 0.99)) } : {}),
  };
}

/** Details of a sale through a marketplace, which keeps 5 % of the price; the seller gets the rest. */
function purchaseDetails({ cast, caller, called, addAccount }: DetailsContext, rng: Rng, epoch: number): JsonRecord {
  const item = rng.pick(cast.items);
  const seller = must(item.owner, 'owner');
  const price = (5 + ((rng.below(60) + epoch * 11) % 60)) * TON;
  return recordOf('ActionDetailsNftTransfer', {
    nft_collection: addAccount(must(item.parent, 'collection')),
    nft_item: addAccount(item),
    nft_item_index: String(item.index),
    old_owner: addAccount(called),
    new_owner: addAccount(caller),
    is_purchase: true,
    price: String(price),
    query_id: String(rng.next()),
    response_destination: addAccount(seller),
    forward_amount: '1',
    is_encrypted_comment: false,
    marketplace: 'getgems',
    real_old_owner: addAccount(seller),
    marketplace_address: addAccount(must(cast.contracts[0], 'contract')),
    payout_amount: String((price / 20) * 19),
    payout_address: addAccount(seller),
    payout_comment: 'Profit',
    payout_comment_encrypted: false,
    payout_comment_encoded: false,
  });
}
