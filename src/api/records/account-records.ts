import { defineRecords, each } from '../field.ts';

/** Accounts, wallets, names of addresses, domains and vesting contracts. */
export const accountRecords = defineRecords({
  /** Balance row (elements of a bare array). */
  AccountBalance: {
    account: 'raw-address',
    balance: 'nanoton',
  },
  /** Latest state of an account. */
  AccountStateFull: {
    address: 'raw-address|null',
    account_state_hash: 'base64-hash',
    balance: 'nanoton|null',
    extra_currencies: 'extra-currency-map|null',
    status: 'enum:account_status|null',
    frozen_hash: 'base64-hash?',
    last_transaction_hash: 'base64-hash|null',
    last_transaction_lt: 'lt|null',
    data_hash: 'base64-hash?',
    code_hash: 'base64-hash?',
    data_boc: 'base64-boc?',
    code_boc: 'base64-boc?',
    contract_methods: 'uint32[]|null',
    interfaces: 'text[]|null',
  },
  /** Latest state of an account parsed as wallet. */
  WalletState: {
    address: 'raw-address',
    is_wallet: 'bool',
    wallet_type: 'enum:wallet_type?',
    seqno: 'uint32?',
    wallet_id: 'uint32?',
    balance: 'nanoton?',
    extra_currencies: 'extra-currency-map?',
    is_signature_allowed: 'bool?',
    status: 'enum:account_status?',
    code_hash: 'base64-hash?',
    last_transaction_hash: 'base64-hash|null',
    last_transaction_lt: 'lt|null',
  },
  /** DNS item. */
  DNSRecord: {
    nft_item_address: 'raw-address',
    nft_item_owner: 'raw-address|null',
    domain: 'text',
    dns_next_resolver: 'raw-address|null',
    dns_wallet: 'raw-address|null',
    dns_site_adnl: 'base64-hash|null',
    dns_storage_bag_id: 'base64-hash|null',
  },
  /** Value of the address_book map; the key is the raw address, on /addressBook the text as asked. */
  AddressBookRow: {
    user_friendly: 'text|null',
    domain: 'text|null',
    interfaces: 'text[]|null',
  },
  /** Value of the metadata map; the key is a raw address. Token contracts only, and the masters of listed wallets. */
  AddressMetadata: {
    is_indexed: 'bool',
    token_info: 'TokenInfo[]|null',
  },
  /** Token facts of an address. */
  TokenInfo: {
    valid: 'bool?',
    type: 'enum:token_info_type?',
    ...each('text?', 'name', 'symbol', 'description', 'image'),
    nft_index: 'decimal-int257?',
    is_nsfw: 'bool?',
    is_scam: 'bool?',
    extra: 'json-object?',
  },
  /** Vesting contract, latest state. */
  VestingInfo: {
    address: 'raw-address|null',
    start_time: 'unix-seconds|null',
    ...each('int64-number|null', 'total_duration', 'unlock_period', 'cliff_duration'),
    sender_address: 'raw-address|null',
    owner_address: 'raw-address|null',
    total_amount: 'decimal-uint120|null',
    whitelist: 'raw-address[]',
  },
});
