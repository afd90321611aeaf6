import type { Account } from '../chain/accounts.ts';
import type { QuietItem } from '../chain/registry.ts';
import type { JsonRecord } from '../page/json.ts';
import type { LatestState } from './latest-states.ts';
import { contains, demand } from './params.ts';
import type { Reply } from './reply.ts';
import { shuffled, sorted } from './scan.ts';
import type { View } from './view.ts';

/** `/nft/collections`: by row id; in no order with a filter. */
export function nftCollections(reply: Reply): Buffer {
  const { view, params, shuffle } = reply;
  const [addresses, owners] = [params.addressSet('collection_address'), params.addressSet('owner_address')];
  const { limit, offset } = params.page();
  const found = view.latestStates
    .ofRole('nft-collection')
    .filter(
      (one) => contains(addresses, one.address) && contains(owners, ownerOfCollection(view, one.account)?.address),
    );
  const rows = addresses.size + owners.size > 0 ? shuffled(found, shuffle) : found;
  const records = rows.slice(offset, offset + limit).map((one) => collection(reply, one));
  return reply.list('nft_collections', records, true);
}

function ownerOfCollection(view: View, { index }: Account): Account | undefined {
  const { wallets } = view.chain.epoch.cast;
  return index % 4 === 2 ? undefined : wallets[index % wallets.length];
}

function collection(reply: Reply, state: LatestState): JsonRecord {
  const { view } = reply;
  const { account } = state;
  const dns = view.chain.registry.collections[0]?.account === account;
  return {
    address: reply.meet(account),
    owner_address: reply.meetOrNull(ownerOfCollection(view, account)),
    last_transaction_lt: String(state.lastLt),
    next_item_index: dns ? '-1' : account.family === 3 ? '220' : String(2n ** 255n),
    collection_content: { uri: `https://example.com/c${account.index}` },
    data_hash: state.dataHash ?? '',
    code_hash: account.codeHash,
  };
}

/** An item and its sort keys. */
export interface ItemRow {
  readonly state: LatestState;
  readonly id: number;
  readonly quiet: QuietItem | undefined;
  readonly index: string;
  /** The sale contract if the item is on sale, else the real owner. */
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
export function nftItems(reply: Reply): Buffer {
  const { view, params, shuffle } = reply;
  const [addresses, owners, collections] = [
    params.addressSet('address'),
    params.addressSet('owner_address'),
    params.addressSet('collection_address'),
  ];
  const indexes = new Set(params.texts('index'));
  const isNumbers = [...indexes].every((index) => /^\d+$/.test(index));
  demand(isNumbers, 'index should contain only digits');
  const isOne = collections.size <= 1 || owners.size === 1;
  demand(isOne, 'exactly one owner_address is required for several collection_address');
  const { limit, offset } = params.page();
  const isWithin = indexes.size === 0 || collections.size > 0;
  demand(isWithin, 'index parameter is not allowed without the collection_address', 500);
  const real = params.bool('include_on_sale') === true;
  const byLt = params.bool('sort_by_last_transaction_lt') === true;
  const found = itemRows(view).filter(({ state, index, owner, realOwner }) => {
    if (!contains(addresses, state.address) || !contains(collections, state.account.parent?.address)) return false;
    return contains(indexes, index) && contains(owners, (real ? realOwner : owner)?.address);
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
  const records = rows.slice(offset, offset + limit).map((row) => itemRecord(reply, row));
  return reply.list('nft_items', records, true);
}

/** The record of an item, with its collection. */
export function itemRecord(reply: Reply, { state, quiet, index, owner, realOwner }: ItemRow): JsonRecord {
  const { account } = state;
  const parent = reply.view.latestStates.find(account.parent?.address ?? '');
  const sale = quiet?.sale?.account;
  const auction = quiet?.saleKind === 'getgems_auction';
  return {
    address: reply.meet(account),
    init: true,
    index,
    collection_address: parent?.address ?? null,
    owner_address: reply.meetOrNull(owner),
    content: quiet?.domain === undefined ? { uri: `https://example.com/i${account.index}` } : { domain: quiet.domain },
    last_transaction_lt: String(state.lastLt),
    code_hash: account.codeHash,
    data_hash: state.dataHash ?? '',
    collection: parent === undefined ? null : collection(reply, parent),
    on_sale: sale !== undefined,
    sale_contract_address: sale !== undefined && !auction ? reply.meet(sale) : undefined,
    auction_contract_address: sale !== undefined && auction ? reply.meet(sale) : undefined,
    real_owner: sale !== undefined && realOwner !== undefined ? reply.meet(realOwner) : undefined,
  };
}
