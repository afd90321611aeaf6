import { atLeastOne, exactlyOne, get, needs, record, rows, rowsWithNames } from '../endpoint.ts';
import { many, need, needMany, one, page, sort } from '../parameter.ts';

const useV2 = one('bool', 'ask another service; default false');

/** Accounts, wallets, names, domains, multisig and vesting contracts. */
export const accountEndpoints = {
  accountStates: get('/accountStates', {
    group: 'Accounts',
    doc: 'Latest states of accounts; unknown ones are left out, at most 1000 rows come.',
    parameters: {
      address: needMany('address', 'at most 1000', { most: 1000 }),
      include_boc: one('bool', 'code and data; default true'),
      code_hash: many('hash', 'a further filter'),
    },
    answer: rows('accounts', 'AccountStateFull'),
  }),
  walletStates: get('/walletStates', {
    group: 'Accounts',
    doc: 'Latest states of accounts read as wallets; unknown ones are left out, at most 1000 rows come.',
    parameters: {
      address: needMany('address', 'at most 1000', { most: 1000 }),
      code_hash: many('hash', 'a further filter'),
    },
    answer: rows('wallets', 'WalletState'),
  }),
  addressBook: get('/addressBook', {
    group: 'Accounts',
    doc: 'User-friendly forms, domains and interfaces, by the text asked for.',
    parameters: { address: needMany('text', 'what is no address comes back without a user-friendly form') },
    answer: { kind: 'map', record: 'AddressBookRow', key: 'the address as asked' },
  }),
  metadata: get('/metadata', {
    group: 'Accounts',
    doc: 'Facts about token contracts, by raw address; other accounts are left out.',
    parameters: { address: needMany('address') },
    answer: { kind: 'map', record: 'AddressMetadata', key: 'the raw address' },
  }),
  topAccountsByBalance: get('/topAccountsByBalance', {
    group: 'Stats',
    doc: 'Accounts by balance, the richest first; the ranking moves while it is paged.',
    parameters: { ...page },
    answer: { kind: 'list', record: 'AccountBalance' },
  }),
  addressInformation: get('/addressInformation', {
    group: 'Legacy (v2)',
    doc: 'Latest state of one account; an unknown one is uninit with nothing. accountStates says more.',
    parameters: { address: need('address'), use_v2: useV2 },
    answer: record('V2AddressInformation'),
  }),
  walletInformation: get('/walletInformation', {
    group: 'Legacy (v2)',
    doc: 'Latest state of one wallet; 409 for other contracts. walletStates says more.',
    parameters: { address: need('address'), use_v2: useV2 },
    answer: record('V2WalletInformation'),
  }),
  dnsRecords: get('/dns/records', {
    group: 'Dns',
    doc: 'Domains by name, or by the wallet that they stand for.',
    parameters: { wallet: one('address'), domain: one('text', 'exact'), ...page },
    rules: [exactlyOne('wallet', 'domain')],
    answer: rowsWithNames('records', 'DNSRecord'),
  }),
  multisigWallets: get('/multisig/wallets', {
    group: 'Multisig',
    doc: 'Multisig contracts with their orders, in the order of first sighting.',
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
  multisigOrders: get('/multisig/orders', {
    group: 'Multisig',
    doc: 'Orders of multisig contracts, in the order of first sighting.',
    parameters: {
      address: many('address', 'of the order'),
      multisig_address: many('address', 'of the contract'),
      parse_actions: one('bool', 'read what the order carries'),
      ...page,
      sort,
    },
    rules: [atLeastOne('address', 'multisig_address')],
    answer: rowsWithNames('orders', 'MultisigOrder'),
  }),
  vesting: get('/vesting', {
    group: 'Vesting',
    doc: 'Vesting contracts.',
    parameters: {
      contract_address: many('address'),
      wallet_address: many('address', 'owner or sender'),
      check_whitelist: one('bool', 'wallet_address may also be a whitelisted one'),
      ...page,
    },
    rules: [exactlyOne('contract_address', 'wallet_address'), needs('check_whitelist', 'wallet_address')],
    answer: rowsWithNames('vesting_contracts', 'VestingInfo'),
  }),
};
