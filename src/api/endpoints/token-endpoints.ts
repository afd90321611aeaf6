import { atMostOne, get, needs, type Rule, rows } from '../endpoint.ts';
import { bounds, choice, many, needMany, one, page, sort } from '../parameter.ts';

const direction = choice(['in', 'out'], 'relative to owner_address');
const ownerAlias = one('address', 'alias of owner_address, one value');

function severalNeedOneOwner(name: string): Rule {
  return { kind: 'several-need-one', name, with: 'owner_address' };
}

/** Jettons and NFTs. */
export const tokenEndpoints = {
  jettonMasters: get('Jettons', '/jetton/masters', {
    doc: 'Jettons, in the order the index discovered them; in no order with address.',
    parameters: { address: many('address'), admin_address: many('address'), ...page },
    answer: rows('jetton_masters', 'JettonMaster'),
  }),
  jettonWallets: get('Jettons', '/jetton/wallets', {
    doc: 'Jetton wallets with their balances.',
    parameters: {
      address: many('address', 'of the jetton wallet'),
      owner_address: many('address'),
      jetton_address: many('address', 'several need exactly one owner_address'),
      exclude_zero_balance: one('bool'),
      ...page,
      sort: choice(['asc', 'desc'], 'by balance; do not page with it'),
    },
    rules: [severalNeedOneOwner('jetton_address')],
    answer: rows('jetton_wallets', 'JettonWallet'),
  }),
  jettonTransfers: get('Jettons', '/jetton/transfers', {
    doc: 'Jetton transfers by their transaction on the wallet of the sender; aborted ones are omitted.',
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
  jettonBurns: get('Jettons', '/jetton/burns', {
    doc: 'Jetton burns by their transaction on the jetton wallet; aborted ones are included.',
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
  nftCollections: get('NFTs', '/nft/collections', {
    doc: 'NFT collections, in the order the index discovered them; in no order with a filter.',
    parameters: { collection_address: many('address'), owner_address: many('address'), ...page },
    answer: rows('nft_collections', 'NFTCollection'),
  }),
  nftItems: get('NFTs', '/nft/items', {
    doc: 'NFT items; those of one collection are ordered by index.',
    parameters: {
      address: many('address'),
      owner_address: many('address'),
      collection_address: many('address', 'several need exactly one owner_address'),
      index: many('digits', 'needs collection_address'),
      include_on_sale: one('bool', 'match owner_address with the real owner of items on sale'),
      sort_by_last_transaction_lt: one('bool'),
      ...page,
    },
    rules: [severalNeedOneOwner('collection_address'), needs('index', 'collection_address')],
    answer: rows('nft_items', 'NFTItem'),
  }),
  nftTransfers: get('NFTs', '/nft/transfers', {
    doc: 'NFT transfers; aborted ones are included.',
    parameters: {
      owner_address: many('address', 'previous or new owner'),
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
  nftSales: get('NFTs', '/nft/sales', {
    doc: 'Sales and auctions by contract address.',
    parameters: { address: needMany('address', 'sale, auction or telemint item; at most 1000', { most: 1000 }) },
    answer: rows('nft_sales', 'NFTSale'),
  }),
};
