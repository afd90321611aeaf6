import { atMostOne, get, needs, type Rule, rows } from '../endpoint.ts';
import { bounds, choice, many, needMany, one, page, sort } from '../parameter.ts';

const direction = choice(['in', 'out'], 'seen from owner_address');
const ownerAlias = one('address', 'another name of owner_address, one value');

function severalNeedOneOwner(name: string): Rule {
  return { kind: 'several-need-one', name, with: 'owner_address' };
}

/** Jettons and NFTs. */
export const tokenEndpoints = {
  jettonMasters: get('/jetton/masters', {
    group: 'Jettons',
    doc: 'Jettons, in the order of first sighting; with address there is no order.',
    parameters: { address: many('address'), admin_address: many('address'), ...page },
    answer: rows('jetton_masters', 'JettonMaster'),
  }),
  jettonWallets: get('/jetton/wallets', {
    group: 'Jettons',
    doc: 'Jetton wallets with their balances.',
    parameters: {
      address: many('address', 'of the jetton wallet'),
      owner_address: many('address'),
      jetton_address: many('address', 'several need exactly one owner_address'),
      exclude_zero_balance: one('bool'),
      ...page,
      sort: choice(['asc', 'desc'], 'by balance: not to be paged with'),
    },
    rules: [severalNeedOneOwner('jetton_address')],
    answer: rows('jetton_wallets', 'JettonWallet'),
  }),
  jettonTransfers: get('/jetton/transfers', {
    group: 'Jettons',
    doc: 'Transfer orders, told by the transaction on the wallet of the sender; aborted ones are left out.',
    parameters: {
      owner_address: many('address', 'sender or receiver'),
      address: ownerAlias,
      jetton_wallet: many('address', 'of the sender'),
      jetton_master: one('address'),
      direction,
      ...bounds('transaction_now', 'transaction_lt'),
      ...page,
      sort,
    },
    rules: [atMostOne('owner_address', 'address'), needs('direction', 'owner_address', 'address')],
    answer: rows('jetton_transfers', 'JettonTransfer'),
  }),
  jettonBurns: get('/jetton/burns', {
    group: 'Jettons',
    doc: 'Burn orders, told by the transaction on the jetton wallet; aborted ones are listed too.',
    parameters: {
      owner_address: many('address'),
      address: ownerAlias,
      jetton_wallet: many('address'),
      jetton_master: one('address'),
      ...bounds('transaction_now', 'transaction_lt'),
      ...page,
      sort,
    },
    rules: [atMostOne('owner_address', 'address')],
    answer: rows('jetton_burns', 'JettonBurn'),
  }),
  nftCollections: get('/nft/collections', {
    group: 'NFTs',
    doc: 'NFT collections, in the order of first sighting; filtered there is no order.',
    parameters: { collection_address: many('address'), owner_address: many('address'), ...page },
    answer: rows('nft_collections', 'NFTCollection'),
  }),
  nftItems: get('/nft/items', {
    group: 'NFTs',
    doc: 'NFT items; of one collection in the order of index.',
    parameters: {
      address: many('address'),
      owner_address: many('address'),
      collection_address: many('address', 'several need exactly one owner_address'),
      index: many('digits', 'needs collection_address'),
      include_on_sale: one('bool', 'owner_address then means the real owner'),
      sort_by_last_transaction_lt: one('bool'),
      ...page,
    },
    rules: [severalNeedOneOwner('collection_address'), needs('index', 'collection_address')],
    answer: rows('nft_items', 'NFTItem'),
  }),
  nftTransfers: get('/nft/transfers', {
    group: 'NFTs',
    doc: 'NFT transfer orders; aborted ones are listed too.',
    parameters: {
      owner_address: many('address', 'old or new owner'),
      address: ownerAlias,
      item_address: many('address'),
      collection_address: one('address'),
      direction,
      ...bounds('transaction_now', 'transaction_lt'),
      ...page,
      sort,
    },
    rules: [atMostOne('owner_address', 'address'), needs('direction', 'owner_address', 'address')],
    answer: rows('nft_transfers', 'NFTTransfer'),
  }),
  nftSales: get('/nft/sales', {
    group: 'NFTs',
    doc: 'Sales and auctions by the address of their contract.',
    parameters: { address: needMany('address', 'sale, auction or telemint item; at most 1000', { most: 1000 }) },
    answer: rows('nft_sales', 'NFTSale'),
  }),
};
