import { enums } from '../../../api/facts.ts';
import type { Account } from '../chain/accounts.ts';
import { mixOf, must } from '../chain/mix.ts';
import type { SaleKind } from '../chain/quiet-contracts.ts';
import { decimalsOf } from '../page/addresses.ts';
import type { JsonRecord } from '../page/json.ts';
import { demand } from './api-error.ts';
import { type LatestState, versionOf } from './latest-states.ts';
import { type By, byId, rows } from './list.ts';
import type { ParsedRequest } from './parsed-request.ts';
import type { View } from './view.ts';

const SALES_CREATED = 1_777_600_000;
const MAX_SALES = 1000;

function adminOf(view: View, account: Account): Account | undefined {
  const { wallets } = view.chain.epoch.cast;
  return account.index % 4 === 1 ? undefined : wallets[account.index % wallets.length];
}

/** Total supply of a master: of one that acts, the balance of its wallets. */
export function supplyOf(view: View, master: Account): bigint {
  if (master.family === 3)
    return master.index % 9 === 4 ? -1n : BigInt(mixOf(view.chain.seed, master.index)) * 1_000_000_007n;
  return view.latestStates
    .ofRole('jetton-wallet')
    .filter(({ account }) => account.parent === master && account.family === 0)
    .reduce((sum, one) => sum + view.latestStates.jettonsOf(one), 0n);
}

function ownerOfCollection(view: View, { index }: Account): Account | undefined {
  const { wallets } = view.chain.epoch.cast;
  return index % 4 === 2 ? undefined : wallets[index % wallets.length];
}

function collection(state: LatestState, request: ParsedRequest): JsonRecord {
  const { account } = state;
  return {
    address: request.addAccount(account),
    owner_address: request.addAccount(ownerOfCollection(request.view, account)),
    ...versionOf(state),
    next_item_index: nextIndexOf(request.view, account),
    collection_content: { uri: `https://example.com/c${account.index}` },
  };
}

/** The next index of a collection's items; -1 if it numbers them by hash. */
export function nextIndexOf(view: View, account: Account): string {
  if (view.chain.quietContracts.collections[0]?.account === account) return '-1';
  return account.family === 3 ? '220' : String(2n ** 255n);
}

/** The index of an item in its collection. */
export function indexOf({ account, quiet }: LatestState): string {
  return quiet?.index ?? String(account.index);
}

/** The owner that an item has itself: its sale contract if it is on sale. */
export function ownerOf(view: View, item: LatestState): Account | undefined {
  return item.quiet?.sale?.account ?? view.latestStates.ownerOf(item);
}

/** The record of an item, with its collection. */
function itemRecord(state: LatestState, request: ParsedRequest): JsonRecord {
  const { view } = request;
  const { account, quiet } = state;
  const parent = view.latestStates.find(account.parent?.address ?? '');
  const sale = quiet?.sale?.account;
  const isAuction = quiet?.saleKind === 'getgems_auction';
  return {
    address: request.addAccount(account),
    init: true,
    index: indexOf(state),
    collection_address: parent?.address,
    owner_address: request.addAccount(ownerOf(view, state)),
    content: quiet?.domain === undefined ? { uri: `https://example.com/i${account.index}` } : { domain: quiet.domain },
    ...versionOf(state),
    collection: parent && collection(parent, request),
    on_sale: sale !== undefined,
    sale_contract_address: isAuction ? undefined : request.addAccount(sale),
    auction_contract_address: isAuction ? request.addAccount(sale) : undefined,
    real_owner: sale && request.addAccount(view.latestStates.ownerOf(state)),
  };
}

function saleDetails(kind: SaleKind, place: string | null, item: LatestState): JsonRecord {
  const bidder = item.account.owner?.address;
  switch (kind) {
    case 'getgems_sale':
      return {
        is_complete: false,
        full_price: '10000000000',
        marketplace_fee_address: place,
        marketplace_fee: '500000000',
        royalty_address: place,
        royalty_amount: '500000000',
      };
    case 'getgems_auction':
      return {
        end_flag: false,
        end_time: SALES_CREATED + 100_000,
        last_bid: '2000000000',
        last_member: bidder,
        min_step: 5,
        mp_fee_address: place,
        mp_fee_factor: 5,
        mp_fee_base: 100,
        royalty_fee_address: place,
        royalty_fee_factor: 5,
        royalty_fee_base: 100,
        max_bid: '0',
        min_bid: '1000000000',
        last_bid_at: SALES_CREATED + 50,
        is_canceled: false,
      };
    case 'telemint':
      return {
        token_name: `name${item.account.index}`,
        bidder_address: bidder,
        bid: '5000000000',
        bid_ts: String(SALES_CREATED),
        min_bid: '5250000000',
        end_time: SALES_CREATED + 604_800,
        royalty_numerator: 5,
        royalty_denominator: 100,
        royalty_destination: place,
      };
  }
}

/** Latest states of token contracts. */
export const tokenLists = {
  /** By row id; in no order with `address`. */
  'GET /jetton/masters': rows<LatestState>({
    rows: ({ view }) => view.latestStates.ofRole('jetton-master'),
    where: {
      address: ({ address }) => address,
      admin_address: ({ account }, { view }) => adminOf(view, account)?.address,
    },
    order: (request) => (request.has('address') ? [] : [byId(request)]),
    record: (state, request) => {
      const { account } = state;
      const admin = adminOf(request.view, account);
      return {
        address: request.addAccount(account),
        total_supply: String(supplyOf(request.view, account)),
        mintable: admin !== undefined,
        admin_address: request.addAccount(admin),
        jetton_content:
          account.index % 5 === 3
            ? {}
            : {
                decimals: decimalsOf(account),
                name: `Jetton "${account.index}" é <&>`,
                uri: `https://example.com/${account.index}.json`,
              },
        jetton_wallet_code_hash: request.view.chain.epoch.cast.jettonWallets[0]?.code.hash ?? '',
        ...versionOf(state),
      };
    },
  }),
  /** By row id, or by the keys in the request. */
  'GET /jetton/wallets': rows<LatestState>({
    refuse: (request) => {
      const isOne = request.list('jetton_address').length <= 1 || request.list('owner_address').length === 1;
      demand(isOne, 'exactly one owner_address is required for several jetton_address');
    },
    rows: ({ view }) => view.latestStates.ofRole('jetton-wallet'),
    where: {
      address: ({ address }) => address,
      owner_address: ({ account }) => account.owner?.address,
      jetton_address: ({ account }) => account.parent?.address,
    },
    filter: (state, { view, isOn }) =>
      !isOn('exclude_zero_balance') || view.latestStates.jettonsOf(state) !== 0n || state.quiet?.mintless !== undefined,
    order: (request) => {
      if (request.sort !== undefined) return [[(state) => request.view.latestStates.jettonsOf(state), request.sort]];
      if (request.list('jetton_address').length === 1) return [byId(request)];
      if (request.has('owner_address')) return [[({ account }) => account.owner?.address ?? '', 1], byId(request)];
      return request.has('address') ? [[({ address }) => address, 1]] : [byId(request)];
    },
    record: (state, request) => ({
      address: request.addAccount(state.account),
      balance: String(request.view.latestStates.jettonsOf(state)),
      owner: request.addAccount(state.account.owner) ?? '',
      jetton: request.addAccount(state.account.parent) ?? '',
      ...versionOf(state),
      mintless_info:
        state.quiet?.mintless === undefined
          ? undefined
          : {
              amount: state.quiet.mintless,
              start_from: 1_777_000_000,
              expire_at: 1_877_000_000,
              custom_payload_api_uri: ['https://example.com/claim'],
            },
    }),
  }),
  /** By row id; in no order with a filter. */
  'GET /nft/collections': rows<LatestState>({
    rows: ({ view }) => view.latestStates.ofRole('nft-collection'),
    where: {
      collection_address: ({ address }) => address,
      owner_address: ({ account }, { view }) => ownerOfCollection(view, account)?.address,
    },
    order: (request) => (request.has('collection_address', 'owner_address') ? [] : [byId(request)]),
    record: collection,
  }),
  /** By row id, or by the keys in the request. */
  'GET /nft/items': rows<LatestState>({
    refuse: (request) => {
      const [indexes, collections] = [request.list('index'), request.list('collection_address')];
      const isNumbers = indexes.every((index) => /^\d+$/.test(index));
      demand(isNumbers, 'index should contain only digits');
      const isOne = collections.length <= 1 || request.list('owner_address').length === 1;
      demand(isOne, 'exactly one owner_address is required for several collection_address');
      const isWithin = indexes.length === 0 || collections.length > 0;
      demand(isWithin, 'index parameter is not allowed without the collection_address', 500);
    },
    rows: ({ view }) => view.latestStates.ofRole('nft-item'),
    where: {
      address: ({ address }) => address,
      collection_address: ({ account }) => account.parent?.address,
      index: indexOf,
      owner_address: (item, { view, isOn }) =>
        (isOn('include_on_sale') ? view.latestStates.ownerOf(item) : ownerOf(view, item))?.address,
    },
    order: (request) => {
      const byIndex: By<LatestState> = [(item) => BigInt(indexOf(item)), 1];
      if (request.isOn('sort_by_last_transaction_lt')) return [[({ lastLt }) => lastLt, -1]];
      if (request.list('collection_address').length === 1) return [byIndex];
      if (request.has('owner_address')) {
        return [
          [(item) => ownerOf(request.view, item)?.address ?? '', 1],
          [({ account }) => account.parent?.address ?? '', 1],
          byIndex,
        ];
      }
      return request.has('address') ? [] : [byId(request)];
    },
    record: itemRecord,
  }),
  /** Fixed sales, then auctions, then telemint. */
  'GET /nft/sales': rows<LatestState>({
    refuse: (request) => {
      const count = new Set(request.list('address')).size;
      demand(count > 0, 'at least 1 address required');
      demand(count <= MAX_SALES, 'maximum 1000 addresses allowed');
    },
    rows: ({ view }) => view.latestStates.ofRole('nft-item').filter(({ quiet }) => quiet?.saleKind !== undefined),
    where: { address: ({ quiet }) => (quiet?.sale ?? quiet)?.account.address },
    order: () => [[({ quiet }) => enums.nft_sale_type.indexOf(quiet?.saleKind ?? 'telemint'), 1]],
    record: (state, request) => {
      const { latestStates, chain } = request.view;
      const quiet = must(state.quiet, 'item on sale');
      const kind = must(quiet.saleKind, 'kind of sale');
      const contract = latestStates.ofQuiet(quiet.sale ?? quiet);
      const place = request.addAccount(chain.epoch.cast.contracts[0]);
      const item = itemRecord(state, request);
      return {
        type: kind,
        address: contract.address,
        nft_address: state.address,
        nft_owner_address: request.addAccount(state.account.owner),
        marketplace_address: kind === 'telemint' ? undefined : place,
        created_at: kind === 'telemint' ? undefined : SALES_CREATED,
        ...versionOf(contract),
        details: saleDetails(kind, place, state),
        nft_item: kind === 'telemint' ? { ...item, index: `name${state.account.index}` } : item,
      };
    },
  }),
};
