import { atLeastOne, exactlyOne, get, needs, record, rows, rowsWithNames } from '../endpoint.ts';
import { many, need, needMany, one, page, sort } from '../parameter.ts';

const useV2 = one('bool', 'use the API v2 service instead; default false');

/** Accounts, wallets, address book, domains, multisig and vesting contracts. */
export const accountEndpoints = {
  accountStates: get('Accounts', '/accountStates', {
    doc: 'Latest states of accounts, at most 1000; unknown accounts are omitted.',
    parameters: {
      address: needMany('address', 'at most 1000', { most: 1000 }),
      include_boc: one('bool', 'include code and data; default true'),
      code_hash: many('hash', 'additional filter'),
    },
    answer: rows('accounts', 'AccountStateFull'),
  }),
  walletStates: get('Accounts', '/walletStates', {
    doc: 'Latest states of accounts parsed as wallets, at most 1000; unknown accounts are omitted.',
    parameters: {
      address: needMany('address', 'at most 1000', { most: 1000 }),
      code_hash: many('hash', 'additional filter'),
    },
    answer: rows('wallets', 'WalletState'),
  }),
  addressBook: get('Accounts', '/addressBook', {
    doc: 'User-friendly addresses, domains and interfaces, keyed by the requested text.',
    parameters: { address: needMany('text', 'invalid addresses are returned without a user-friendly form') },
    answer: { kind: 'map', record: 'AddressBookRow', key: 'the address as requested' },
  }),
  metadata: get('Accounts', '/metadata', {
    doc: 'Metadata of token contracts, keyed by raw address; other accounts are omitted.',
    parameters: { address: needMany('address') },
    answer: { kind: 'map', record: 'AddressMetadata', key: 'the raw address' },
  }),
  topAccountsByBalance: get('Stats', '/topAccountsByBalance', {
    doc: 'Accounts by balance, highest first; the ranking can change between pages.',
    parameters: { ...page },
    answer: { kind: 'list', record: 'AccountBalance' },
  }),
  addressInformation: get('Legacy (v2)', '/addressInformation', {
    doc: 'Latest state of one account; an unknown account is uninit. accountStates has more fields.',
    parameters: { address: need('address'), use_v2: useV2 },
    answer: record('V2AddressInformation'),
  }),
  walletInformation: get('Legacy (v2)', '/walletInformation', {
    doc: 'Latest state of one wallet; 409 for other contracts. walletStates has more fields.',
    parameters: { address: need('address'), use_v2: useV2 },
    answer: record('V2WalletInformation'),
  }),
  dnsRecords: get('Dns', '/dns/records', {
    doc: 'Domains by name, or by the wallet that they resolve to.',
    parameters: { wallet: one('address'), domain: one('text', 'exact name'), ...page },
    rules: [exactlyOne('wallet', 'domain')],
    answer: rowsWithNames('records', 'DNSRecord'),
  }),
  multisigWallets: get('Multisig', '/multisig/wallets', {
    doc: 'Multisig contracts with their orders, in the order the index discovered them.',
    parameters: {
      address: many('address', 'of the contract'),
      wallet_address: many('address', 'a signer or proposer'),
      include_orders: one('bool', 'default true'),
      ...page,
      sort,
    },
    rules: [atLeastOne('address', 'wallet_address')],
    answer: rowsWithNames('multisigs', 'Multisig'),
  }),
  multisigOrders: get('Multisig', '/multisig/orders', {
    doc: 'Orders of multisig contracts, in the order the index discovered them.',
    parameters: {
      address: many('address', 'of the order'),
      multisig_address: many('address', 'of the contract'),
      parse_actions: one('bool', 'decode the actions of the orders'),
      ...page,
      sort,
    },
    rules: [atLeastOne('address', 'multisig_address')],
    answer: rowsWithNames('orders', 'MultisigOrder'),
  }),
  vesting: get('Vesting', '/vesting', {
    doc: 'Vesting contracts.',
    parameters: {
      contract_address: many('address'),
      wallet_address: many('address', 'owner or sender'),
      check_whitelist: one('bool', 'also match whitelisted addresses of wallet_address'),
      ...page,
    },
    rules: [exactlyOne('contract_address', 'wallet_address'), needs('check_whitelist', 'wallet_address')],
    answer: rowsWithNames('vesting_contracts', 'VestingInfo'),
  }),
};
