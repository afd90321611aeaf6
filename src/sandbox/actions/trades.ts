import type { Account } from '../chain/accounts.ts';
import { marketOf } from '../chain/markets.ts';
import { must, type Rng } from '../chain/mix.ts';
import { type JsonRecord, recordOf } from '../page/json.ts';
import type { DetailsContext } from './details.ts';

const TON = 1_000_000_000;

/** Details of a swap in the pool that the trader called: another direction, amount and price each time, and in each epoch. */
export function swapDetails({ cast, caller, called, tell }: DetailsContext, rng: Rng, epoch: number): JsonRecord {
  const market = marketOf(cast, called);
  const assets = [market.first, market.second].map((at) => (at === undefined ? undefined : cast.masters[at]));
  const isSale = rng.chance(0.5);
  const [given, taken] = isSale ? assets : [...assets].reverse();
  const amount = rng.between(TON, 900 * TON) + epoch * 10_000_019;
  const price = market.price * (100 + ((epoch * 7 + rng.below(11)) % 17));
  const received = Math.round(isSale ? (amount * price) / 100_000 : (amount * 100_000) / price);
  const transfer = (asset: Account | undefined, from: Account, to: Account, units: number): JsonRecord =>
    recordOf('ActionDetailsJettonSwapTransfer', {
      asset: tell(asset),
      source: tell(from),
      destination: tell(to),
      amount: String(units),
    });
  return {
    dex: market.dex,
    sender: tell(caller),
    asset_in: tell(given),
    asset_out: tell(taken),
    dex_incoming_transfer: transfer(given, caller, called, amount),
    dex_outgoing_transfer: transfer(taken, called, caller, received),
    peer_swaps: [],
    ...(market.dex === 'tonco' ? { min_out_amount: String(Math.round(received * 0.99)) } : {}),
  };
}

/** Details of a sale through a marketplace, which keeps 5 % of the price; the seller gets the rest. */
export function purchaseDetails({ cast, caller, called, tell }: DetailsContext, rng: Rng, epoch: number): JsonRecord {
  const item = rng.pick(cast.items);
  const seller = must(item.owner, 'owner');
  const price = (5 + ((rng.below(60) + epoch * 11) % 60)) * TON;
  return recordOf('ActionDetailsNftTransfer', {
    nft_collection: tell(must(item.parent, 'collection')),
    nft_item: tell(item),
    nft_item_index: String(item.index),
    old_owner: tell(called),
    new_owner: tell(caller),
    is_purchase: true,
    price: String(price),
    query_id: String(rng.next()),
    response_destination: tell(seller),
    forward_amount: '1',
    is_encrypted_comment: false,
    marketplace: 'getgems',
    real_old_owner: tell(seller),
    marketplace_address: tell(must(cast.contracts[0], 'contract')),
    payout_amount: String((price / 20) * 19),
    payout_address: tell(seller),
    payout_comment: 'Profit',
    payout_comment_encrypted: false,
    payout_comment_encoded: false,
  });
}
