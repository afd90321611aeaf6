import type { Account } from '../chain/accounts.ts';
import type { QuietItem } from '../chain/registry.ts';
import { type OrderedRecord, orderedJson } from '../page/json.ts';
import type { LatestState } from './latest-states.ts';
import { ApiError, type Params } from './params.ts';
import { Reply } from './reply.ts';
import { shuffled, sorted } from './scan.ts';
import { sets } from './tokens.ts';
import type { View } from './view.ts';

/** `/nft/collections`: by row id, in no order when filtered. */
export function nftCollections(view: View, params: Params, shuffle: number): Buffer {
  const [addresses, owners] = [sets(params, 'collection_address'), sets(params, 'owner_address')];
  const { limit, offset } = params.page();
  const found = view.latestStates
    .ofRole('nft-collection')
    .filter(
      (one) =>
        (addresses.size === 0 || addresses.has(one.address)) &&
        (owners.size === 0 || owners.has(ownerOfCollection(view, one.account)?.address ?? '')),
    );
  const rows = addresses.size + owners.size > 0 ? shuffled(found, shuffle) : found;
  const reply = new Reply(view, params);
  const texts = rows.slice(offset, offset + limit).map((one) => orderedJson(collection(view, reply, one)));
  return reply.list('nft_collections', texts, true);
}

function ownerOfCollection(view: View, { index }: Account): Account | undefined {
  const { wallets } = view.chain.epoch.cast;
  return index % 4 === 2 ? undefined : wallets[index % wallets.length];
}

function collection(view: View, reply: Reply, state: LatestState): OrderedRecord {
  const { account } = state;
  const owner = ownerOfCollection(view, account);
  const dns = view.chain.registry.collections[0]?.account === account;
  return {
    address: reply.meet(account),
    owner_address: owner === undefined ? null : reply.meet(owner),
    last_transaction_lt: String(state.lastLt),
    next_item_index: dns ? '-1' : account.family === 3 ? '220' : String(2n ** 255n),
    collection_content: { uri: `https://example.com/c${account.index}` },
    data_hash: state.dataHash ?? '',
    code_hash: account.codeHash,
  };
}

/** An item with what decides its place in a listing. */
export interface ItemRow {
  readonly state: LatestState;
  readonly id: number;
  readonly quiet: QuietItem | undefined;
  readonly index: string;
  /** The sale contract while it is on sale, else the real owner. */
  readonly owner: Account | undefined;
  readonly realOwner: Account | undefined;
}

/** All items in the order of their row ids. */
export function itemRows(view: View): readonly ItemRow[] {
  const known = new Map(view.chain.registry.items.map((item) => [item.account, item]));
  return view.latestStates.ofRole('nft-item').map((state, id) => {
    const quiet = known.get(state.account);
    const real = quiet === undefined ? view.latestStates.ownerOf(state) : quiet.account.owner;
    return {
      state,
      id,
      quiet,
      index: quiet?.index ?? String(state.account.index),
      owner: quiet?.sale?.account ?? real,
      realOwner: real,
    };
  });
}

/** `/nft/items` */
export function nftItems(view: View, params: Params, shuffle: number): Buffer {
  const [addresses, owners, collections] = [
    sets(params, 'address'),
    sets(params, 'owner_address'),
    sets(params, 'collection_address'),
  ];
  const indexes = new Set(params.texts('index'));
  if ([...indexes].some((index) => !/^\d+$/.test(index))) throw new ApiError(422, 'index should contain only digits');
  if (collections.size > 1 && owners.size !== 1) {
    throw new ApiError(422, 'exactly one owner_address is required for several collection_address');
  }
  const { limit, offset } = params.page();
  if (indexes.size > 0 && collections.size === 0) {
    throw new ApiError(500, 'index parameter is not allowed without the collection_address');
  }
  const real = params.bool('include_on_sale') === true;
  const byLt = params.bool('sort_by_last_transaction_lt') === true;
  const found = itemRows(view).filter(({ state, index, owner, realOwner }) => {
    if (addresses.size > 0 && !addresses.has(state.address)) return false;
    if (collections.size > 0 && !collections.has(state.account.parent?.address ?? '')) return false;
    if (indexes.size > 0 && !indexes.has(index)) return false;
    return owners.size === 0 || owners.has((real ? realOwner : owner)?.address ?? '');
  });
  const tieOf = ({ state: { account }, id, index, owner }: ItemRow): string => {
    const place = index.padStart(78, '0');
    if (collections.size === 1) return place;
    if (owners.size > 0) return `${owner?.address} ${account.parent?.address ?? ''} ${place}`;
    return addresses.size > 0 ? '' : String(id).padStart(9, '0');
  };
  const rows = byLt
    ? sorted(found, { keyOf: (row) => row.state.lastLt, sort: -1, shuffle })
    : sorted(found, { keyOf: () => 0, tieOf, sort: 1, shuffle });
  const reply = new Reply(view, params);
  const texts = rows.slice(offset, offset + limit).map((row) => orderedJson(itemRecord(view, reply, row)));
  return reply.list('nft_items', texts, true);
}

/** The record of an item, its collection in it. */
export function itemRecord(
  view: View,
  reply: Reply,
  { state, quiet, index, owner, realOwner }: ItemRow,
): OrderedRecord {
  const { account } = state;
  const parent = account.parent?.address === undefined ? undefined : view.latestStates.find(account.parent.address);
  const sale = quiet?.sale?.account;
  const auction = quiet?.saleKind === 'getgems_auction';
  return {
    address: reply.meet(account),
    init: true,
    index,
    collection_address: parent === undefined ? null : parent.address,
    owner_address: owner === undefined ? null : reply.meet(owner),
    content: quiet?.domain === undefined ? { uri: `https://example.com/i${account.index}` } : { domain: quiet.domain },
    last_transaction_lt: String(state.lastLt),
    code_hash: account.codeHash,
    data_hash: state.dataHash ?? '',
    collection: parent === undefined ? null : collection(view, reply, parent),
    on_sale: sale !== undefined,
    sale_contract_address: sale !== undefined && !auction ? reply.meet(sale) : undefined,
    auction_contract_address: sale !== undefined && auction ? reply.meet(sale) : undefined,
    real_owner: sale !== undefined && realOwner !== undefined ? reply.meet(realOwner) : undefined,
  };
}
