import { atMostOne, endpoint, needs, type Rule } from '../endpoint.ts';

const direction = 'relative to owner_address';
const ownerAlias = 'alias of owner_address, one value';

function severalNeedOneOwner(name: string): Rule {
  return { kind: 'several-need-one', name, with: 'owner_address' };
}

/** Jettons and NFTs. */
export const tokenEndpoints = {
  jettonMasters: endpoint('GET /jetton/masters', {
    doc: 'Jettons, in the order the index discovered them; in no order with address.',
  }),
  jettonWallets: endpoint('GET /jetton/wallets', {
    doc: 'Jetton wallets with their balances.',
    parameters: {
      address: 'of the jetton wallet',
      jetton_address: 'several need exactly one owner_address',
      sort: 'by balance; do not page with it',
    },
    rules: [severalNeedOneOwner('jetton_address')],
  }),
  jettonTransfers: endpoint('GET /jetton/transfers', {
    doc: 'Jetton transfers by their transaction on the wallet of the sender; aborted ones are omitted.',
    parameters: {
      owner_address: 'sender or receiver',
      address: ownerAlias,
      jetton_wallet: 'of the sender',
      direction,
    },
    rules: [atMostOne('owner_address', 'address'), needs('direction', 'owner_address', 'address')],
  }),
  jettonBurns: endpoint('GET /jetton/burns', {
    doc: 'Jetton burns by their transaction on the jetton wallet; aborted ones are included.',
    parameters: { address: ownerAlias },
    rules: [atMostOne('owner_address', 'address')],
  }),
  nftCollections: endpoint('GET /nft/collections', {
    doc: 'NFT collections, in the order the index discovered them; in no order with a filter.',
  }),
  nftItems: endpoint('GET /nft/items', {
    doc: 'NFT items; those of one collection are ordered by index.',
    parameters: {
      collection_address: 'several need exactly one owner_address',
      index: { kind: 'digits', note: 'needs collection_address' },
      include_on_sale: 'match owner_address with the real owner of items on sale',
    },
    rules: [severalNeedOneOwner('collection_address'), needs('index', 'collection_address')],
  }),
  nftTransfers: endpoint('GET /nft/transfers', {
    doc: 'NFT transfers; aborted ones are included.',
    parameters: { owner_address: 'previous or new owner', address: ownerAlias, direction },
    rules: [atMostOne('owner_address', 'address'), needs('direction', 'owner_address', 'address')],
  }),
  nftSales: endpoint('GET /nft/sales', {
    doc: 'Sales and auctions by contract address.',
    parameters: { address: { note: 'sale, auction or telemint item; at most 1000', most: 1000 } },
  }),
};
