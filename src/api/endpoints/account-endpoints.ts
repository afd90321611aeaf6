import { atLeastOne, endpoint, exactlyOne, needs } from '../endpoint.ts';

const useV2 = 'use the API v2 service instead; default false';
const atMost1000 = { note: 'at most 1000', most: 1000 };

/** Accounts, wallets, address book, domains, multisig and vesting contracts. */
export const accountEndpoints = {
  accountStates: endpoint('GET /accountStates', {
    doc: 'Latest states of accounts, at most 1000; unknown accounts are omitted.',
    parameters: {
      address: atMost1000,
      include_boc: 'include code and data; default true',
      code_hash: 'additional filter',
    },
  }),
  walletStates: endpoint('GET /walletStates', {
    doc: 'Latest states of accounts parsed as wallets, at most 1000; unknown accounts are omitted.',
    parameters: { address: atMost1000, code_hash: 'additional filter' },
  }),
  addressBook: endpoint('GET /addressBook', {
    doc: 'User-friendly addresses, domains and interfaces, keyed by the requested text.',
    parameters: { address: 'invalid addresses are returned without a user-friendly form' },
  }),
  metadata: endpoint('GET /metadata', {
    doc: 'Metadata of token contracts, keyed by raw address; other accounts are omitted.',
    parameters: { address: { kind: 'address' } },
  }),
  topAccountsByBalance: endpoint('GET /topAccountsByBalance', {
    doc: 'Accounts by balance, highest first; the ranking can change between pages.',
  }),
  addressInformation: endpoint('GET /addressInformation', {
    doc: 'Latest state of one account; an unknown account is uninit. accountStates has more fields.',
    parameters: { use_v2: useV2 },
  }),
  walletInformation: endpoint('GET /walletInformation', {
    doc: 'Latest state of one wallet; 409 for other contracts. walletStates has more fields.',
    parameters: { use_v2: useV2 },
  }),
  dnsRecords: endpoint('GET /dns/records', {
    doc: 'Domains by name, or by the wallet that they resolve to.',
    parameters: { domain: 'exact name' },
    rules: [exactlyOne('wallet', 'domain')],
  }),
  multisigWallets: endpoint('GET /multisig/wallets', {
    doc: 'Multisig contracts with their orders, in the order the index discovered them.',
    parameters: {
      address: 'of the contract',
      wallet_address: 'a signer or proposer',
      include_orders: 'default true',
    },
    rules: [atLeastOne('address', 'wallet_address')],
  }),
  multisigOrders: endpoint('GET /multisig/orders', {
    doc: 'Orders of multisig contracts, in the order the index discovered them.',
    parameters: {
      address: 'of the order',
      multisig_address: 'of the contract',
      parse_actions: 'decode the actions of the orders',
    },
    rules: [atLeastOne('address', 'multisig_address')],
  }),
  vesting: endpoint('GET /vesting', {
    doc: 'Vesting contracts.',
    parameters: {
      wallet_address: 'owner or sender',
      check_whitelist: 'also match whitelisted addresses of wallet_address',
    },
    rules: [exactlyOne('contract_address', 'wallet_address'), needs('check_whitelist', 'wallet_address')],
  }),
};
