// Generated from api/endpoints.json and api/records.json by `npm run docs`.
/** Every endpoint: its parameters as `type`, `[]` for lists, `!` if required, `=default`; and its response. */
export const endpointFacts = {
  'GET /accountStates': {
    shape: 'object', rows: 'accounts', record: 'AccountStateFull',
    maps: ['address_book', 'metadata'], refused: 422,
    params: {
      address: 'address[]!', include_boc: 'bool=true', code_hash: 'hash[]',
    },
  },
  'GET /addressBook': {
    shape: 'map', rows: null, record: 'AddressBookRow',
    maps: [], refused: 500,
    params: {
      address: 'string[]!',
    },
  },
  'GET /metadata': {
    shape: 'map', rows: null, record: 'AddressMetadata',
    maps: [], refused: 500,
    params: {
      address: 'string[]!',
    },
  },
  'GET /walletStates': {
    shape: 'object', rows: 'wallets', record: 'WalletState',
    maps: ['address_book', 'metadata'], refused: 422,
    params: {
      address: 'address[]!', code_hash: 'hash[]',
    },
  },
  'GET /actions': {
    shape: 'object', rows: 'actions', record: 'Action',
    maps: ['address_book', 'metadata'], refused: 500,
    params: {
      account: 'address', tx_hash: 'hash[]', msg_hash: 'hash[]', action_id: 'hash[]', trace_id: 'hash[]',
      mc_seqno: 'int32', start_utime: 'unix-seconds', end_utime: 'unix-seconds', start_lt: 'uint64', end_lt: 'uint64',
      action_type: 'string[]', exclude_action_type: 'string[]', supported_action_types: 'string[]',
      include_accounts: 'bool=false', include_transactions: 'bool=false', limit: 'int32=100', offset: 'int32=0',
      sort: 'asc|desc=desc',
    },
  },
  'GET /pendingActions': {
    shape: 'object', rows: 'actions', record: 'Action',
    maps: ['address_book', 'metadata'], refused: 500,
    params: {
      account: 'address', ext_msg_hash: 'hash[]', supported_action_types: 'string[]', include_transactions: 'bool=false',
    },
  },
  'GET /pendingTraces': {
    shape: 'object', rows: 'traces', record: 'Trace',
    maps: ['address_book', 'metadata'], refused: 500,
    params: {
      account: 'address', ext_msg_hash: 'hash[]', supported_action_types: 'string[]',
    },
  },
  'GET /traces': {
    shape: 'object', rows: 'traces', record: 'Trace',
    maps: ['address_book', 'metadata'], refused: 500,
    params: {
      account: 'address', trace_id: 'hash[]', tx_hash: 'hash[]', msg_hash: 'hash[]', mc_seqno: 'int32',
      start_utime: 'unix-seconds', end_utime: 'unix-seconds', start_lt: 'uint64', end_lt: 'uint64',
      include_actions: 'bool=false', supported_action_types: 'string[]', limit: 'int32=100', offset: 'int32=0',
      sort: 'asc|desc=desc',
    },
  },
  'GET /adjacentTransactions': {
    shape: 'object', rows: 'transactions', record: 'Transaction',
    maps: ['address_book'], refused: 500,
    params: {
      hash: 'hash!', direction: 'in|out',
    },
  },
  'GET /blocks': {
    shape: 'object', rows: 'blocks', record: 'Block',
    maps: [], refused: 500,
    params: {
      workchain: 'int32', shard: 'shard', seqno: 'int32', root_hash: 'hash', file_hash: 'hash', mc_seqno: 'int32',
      start_utime: 'unix-seconds', end_utime: 'unix-seconds', start_lt: 'uint64', end_lt: 'uint64', limit: 'int32=100',
      offset: 'int32=0', sort: 'asc|desc',
    },
  },
  'GET /masterchainBlockShardState': {
    shape: 'object', rows: 'blocks', record: 'Block',
    maps: [], refused: 500,
    params: {
      seqno: 'int32!',
    },
  },
  'GET /masterchainBlockShards': {
    shape: 'object', rows: 'blocks', record: 'Block',
    maps: [], refused: 500,
    params: {
      seqno: 'int32!', limit: 'int32=100', offset: 'int32=0', sort: 'asc|desc',
    },
  },
  'GET /masterchainInfo': {
    shape: 'record', rows: null, record: 'MasterchainInfo',
    maps: [], refused: 500,
    params: {
    },
  },
  'GET /messages': {
    shape: 'object', rows: 'messages', record: 'Message',
    maps: ['address_book', 'metadata'], refused: 500,
    params: {
      msg_hash: 'hash[]', hash: 'hash', body_hash: 'hash', source: 'address-or-null', destination: 'address-or-null',
      opcode: 'opcode', start_utime: 'unix-seconds', end_utime: 'unix-seconds', start_lt: 'uint64', end_lt: 'uint64',
      direction: 'in|out', exclude_externals: 'bool=false', only_externals: 'bool=false', limit: 'int32=100',
      offset: 'int32=0', sort: 'asc|desc=desc',
    },
  },
  'GET /pendingTransactions': {
    shape: 'object', rows: 'transactions', record: 'Transaction',
    maps: ['address_book'], refused: 500,
    params: {
      account: 'address[]!', trace_id: 'hash[]',
    },
  },
  'GET /transactions': {
    shape: 'object', rows: 'transactions', record: 'Transaction',
    maps: ['address_book'], refused: 500,
    params: {
      workchain: 'int32', shard: 'shard', seqno: 'int32', mc_seqno: 'int32', account: 'address[]',
      exclude_account: 'address[]', hash: 'hash[]', lt: 'uint64', start_utime: 'unix-seconds', end_utime: 'unix-seconds',
      start_lt: 'uint64', end_lt: 'uint64', limit: 'int32=100', offset: 'int32=0', sort: 'asc|desc=desc',
    },
  },
  'GET /transactionsByMasterchainBlock': {
    shape: 'object', rows: 'transactions', record: 'Transaction',
    maps: ['address_book'], refused: 500,
    params: {
      seqno: 'int32!', limit: 'int32=100', offset: 'int32=0', sort: 'asc|desc=desc',
    },
  },
  'GET /transactionsByMessage': {
    shape: 'object', rows: 'transactions', record: 'Transaction',
    maps: ['address_book'], refused: 500,
    params: {
      msg_hash: 'hash[]', body_hash: 'hash', opcode: 'opcode', direction: 'in|out', source: 'address',
      destination: 'address', limit: 'int32=100', offset: 'int32=0', sort: 'asc|desc=desc',
    },
  },
  'GET /jetton/burns': {
    shape: 'object', rows: 'jetton_burns', record: 'JettonBurn',
    maps: ['address_book', 'metadata'], refused: 500,
    params: {
      owner_address: 'address[]', address: 'address', jetton_wallet: 'address[]', jetton_master: 'address',
      start_utime: 'unix-seconds', end_utime: 'unix-seconds', start_lt: 'uint64', end_lt: 'uint64', limit: 'int32=100',
      offset: 'int32=0', sort: 'asc|desc=desc',
    },
  },
  'GET /jetton/masters': {
    shape: 'object', rows: 'jetton_masters', record: 'JettonMaster',
    maps: ['address_book', 'metadata'], refused: 500,
    params: {
      address: 'address[]', admin_address: 'address[]', limit: 'int32=100', offset: 'int32=0',
    },
  },
  'GET /jetton/transfers': {
    shape: 'object', rows: 'jetton_transfers', record: 'JettonTransfer',
    maps: ['address_book', 'metadata'], refused: 500,
    params: {
      owner_address: 'address[]', address: 'address', jetton_wallet: 'address[]', jetton_master: 'address',
      direction: 'in|out', start_utime: 'unix-seconds', end_utime: 'unix-seconds', start_lt: 'uint64', end_lt: 'uint64',
      limit: 'int32=100', offset: 'int32=0', sort: 'asc|desc=desc',
    },
  },
  'GET /jetton/wallets': {
    shape: 'object', rows: 'jetton_wallets', record: 'JettonWallet',
    maps: ['address_book', 'metadata'], refused: 500,
    params: {
      address: 'address[]', owner_address: 'address[]', jetton_address: 'address[]', exclude_zero_balance: 'bool=false',
      limit: 'int32=100', offset: 'int32=0', sort: 'asc|desc',
    },
  },
  'GET /nft/collections': {
    shape: 'object', rows: 'nft_collections', record: 'NFTCollection',
    maps: ['address_book', 'metadata'], refused: 500,
    params: {
      collection_address: 'address[]', owner_address: 'address[]', limit: 'int32=100', offset: 'int32=0',
    },
  },
  'GET /nft/items': {
    shape: 'object', rows: 'nft_items', record: 'NFTItem',
    maps: ['address_book', 'metadata'], refused: 500,
    params: {
      address: 'address[]', owner_address: 'address[]', collection_address: 'address[]', index: 'string[]',
      include_on_sale: 'bool=false', sort_by_last_transaction_lt: 'bool=false', limit: 'int32=100', offset: 'int32=0',
    },
  },
  'GET /nft/transfers': {
    shape: 'object', rows: 'nft_transfers', record: 'NFTTransfer',
    maps: ['address_book', 'metadata'], refused: 500,
    params: {
      owner_address: 'address[]', address: 'address', item_address: 'address[]', collection_address: 'address',
      direction: 'in|out', start_utime: 'unix-seconds', end_utime: 'unix-seconds', start_lt: 'uint64', end_lt: 'uint64',
      limit: 'int32=100', offset: 'int32=0', sort: 'asc|desc=desc',
    },
  },
  'GET /dns/records': {
    shape: 'object', rows: 'records', record: 'DNSRecord',
    maps: ['address_book'], refused: 422,
    params: {
      wallet: 'address', domain: 'string', limit: 'int32=100', offset: 'int32=0',
    },
  },
  'GET /multisig/orders': {
    shape: 'object', rows: 'orders', record: 'MultisigOrder',
    maps: ['address_book'], refused: 500,
    params: {
      address: 'address[]', multisig_address: 'address[]', parse_actions: 'bool=false', limit: 'int32=100',
      offset: 'int32=0', sort: 'asc|desc=desc',
    },
  },
  'GET /multisig/wallets': {
    shape: 'object', rows: 'multisigs', record: 'Multisig',
    maps: ['address_book'], refused: 500,
    params: {
      address: 'address[]', wallet_address: 'address[]', include_orders: 'bool=true', limit: 'int32=100',
      offset: 'int32=0', sort: 'asc|desc=desc',
    },
  },
  'GET /vesting': {
    shape: 'object', rows: 'vesting_contracts', record: 'VestingInfo',
    maps: ['address_book'], refused: 422,
    params: {
      contract_address: 'address[]', wallet_address: 'address[]', check_whitelist: 'bool=false', limit: 'int32=100',
      offset: 'int32=0',
    },
  },
  'GET /topAccountsByBalance': {
    shape: 'array', rows: null, record: 'AccountBalance',
    maps: [], refused: 422,
    params: {
      limit: 'int32=100', offset: 'int32=0',
    },
  },
  'GET /decode': {
    shape: 'record', rows: null, record: 'DecodeResponse',
    maps: [], refused: 500,
    params: {
      opcodes: 'string[]', bodies: 'string[]',
    },
  },
  'GET /addressInformation': {
    shape: 'record', rows: null, record: 'V2AddressInformation',
    maps: [], refused: 500,
    params: {
      address: 'address!', use_v2: 'bool=false',
    },
  },
  'POST /estimateFee': {
    shape: 'record', rows: null, record: 'V2EstimateFeeResult',
    maps: [], refused: 500,
    params: {
      address: 'string!', body: 'boc', init_code: 'boc', init_data: 'boc', ignore_chksig: 'bool',
    },
  },
  'POST /message': {
    shape: 'record', rows: null, record: 'V2SendMessageResult',
    maps: [], refused: 500,
    params: {
      boc: 'boc!',
    },
  },
  'POST /runGetMethod': {
    shape: 'record', rows: null, record: 'V2RunGetMethodResult',
    maps: [], refused: 500,
    params: {
      address: 'string!', method: 'string!', stack: 'stack',
    },
  },
  'GET /walletInformation': {
    shape: 'record', rows: null, record: 'V2WalletInformation',
    maps: [], refused: 500,
    params: {
      address: 'address!', use_v2: 'bool=false',
    },
  },
  'GET /nft/sales': {
    shape: 'object', rows: 'nft_sales', record: 'NFTSale',
    maps: ['address_book', 'metadata'], refused: 500,
    params: {
      address: 'address[]!',
    },
  },
  'POST /decode': {
    shape: 'record', rows: null, record: 'DecodeResponse',
    maps: [], refused: 500,
    params: {
      opcodes: 'string[]', bodies: 'string[]',
    },
  },
} as const;

/** Every record of the API. */
export const records = {
  ActionDetailsCallContract: {
    opcode: 'opcode-hex?', source: 'raw-address?', destination: 'raw-address?', value: 'decimal-uint120?',
    extra_currencies: 'extra-currency-map|null',
  },
  ActionDetailsContractDeploy: {
    opcode: 'opcode-hex?', source: 'raw-address?', destination: 'raw-address?', value: 'decimal-uint120?',
  },
  ActionDetailsTonTransfer: {
    source: 'raw-address|null', destination: 'raw-address|null', value: 'decimal-uint120|null',
    value_extra_currencies: 'extra-currency-map|null', comment: 'text|null', encrypted: 'bool|null',
  },
  ActionDetailsAuctionBid: {
    amount: 'decimal-uint120|null', bidder: 'raw-address|null', auction: 'raw-address|null',
    nft_item: 'raw-address|null', nft_collection: 'raw-address|null', nft_item_index: 'decimal-uint256|null',
  },
  ActionDetailsChangeDnsValue: {
    sum_type: 'enum:dns_sum_type|null', dns_smc_address: 'raw-address|null', dns_adnl_address: 'hex-unpadded|null',
    dns_text: 'text|null', dns_next_resolver_address: 'raw-address|null', dns_storage_address: 'hex-unpadded|null',
    flags: 'int64-number|null',
  },
  ActionDetailsChangeDns: {
    key: 'hex-unpadded|null', value: 'ActionDetailsChangeDnsValue', source: 'raw-address|null',
    asset: 'raw-address|null', nft_collection: 'raw-address|null',
  },
  ActionDetailsDeleteDns: {
    hash: 'hex-unpadded|null', source: 'raw-address|null', asset: 'raw-address|null',
    nft_collection: 'raw-address|null',
  },
  ActionDetailsRenewDns: {
    source: 'raw-address|null', asset: 'raw-address|null', nft_collection: 'raw-address|null',
  },
  ActionDetailsElectionDeposit: {
    stake_holder: 'raw-address|null', amount: 'decimal-uint120?',
  },
  ActionDetailsElectionRecover: {
    stake_holder: 'raw-address|null', amount: 'decimal-uint120?',
  },
  ActionDetailsJettonBurn: {
    owner: 'raw-address|null', owner_jetton_wallet: 'raw-address|null', asset: 'raw-address|null',
    amount: 'decimal-uint120|null',
  },
  ActionDetailsJettonSwapTransfer: {
    asset: 'raw-address|null', source: 'raw-address|null', destination: 'raw-address|null',
    source_jetton_wallet: 'raw-address|null', destination_jetton_wallet: 'raw-address|null',
    amount: 'decimal-uint120|null',
  },
  ActionDetailsJettonSwapPeerSwap: {
    asset_in: 'raw-address|null', amount_in: 'decimal-uint120|null', asset_out: 'raw-address|null',
    amount_out: 'decimal-uint120|null',
  },
  ActionDetailsJettonSwap: {
    dex: 'enum:dex|null', sender: 'raw-address|null', asset_in: 'raw-address|null', asset_out: 'raw-address|null',
    dex_incoming_transfer: 'ActionDetailsJettonSwapTransfer', dex_outgoing_transfer: 'ActionDetailsJettonSwapTransfer',
    peer_swaps: 'ActionDetailsJettonSwapPeerSwap[]',
  },
  ActionDetailsToncoJettonSwap: {
    dex: 'enum:dex|null', sender: 'raw-address|null', asset_in: 'raw-address|null', asset_out: 'raw-address|null',
    dex_incoming_transfer: 'ActionDetailsJettonSwapTransfer', dex_outgoing_transfer: 'ActionDetailsJettonSwapTransfer',
    peer_swaps: 'ActionDetailsJettonSwapPeerSwap[]', min_out_amount: 'decimal-uint120|null',
  },
  ActionDetailsLayerZeroSendDetails: {
    send_request_id: 'uint64-number-unsafe|null', msglib_manager: 'text|null', msglib: 'text|null',
    uln: 'raw-address|null', native_fee: 'uint64-number-unsafe|null', zro_fee: 'uint64-number-unsafe|null',
    endpoint: 'raw-address|null', channel: 'raw-address|null',
  },
  ActionDetailsLayerZeroPacket: {
    src_oapp: 'hex-0x-unpadded|null', dst_oapp: 'hex-0x-unpadded|null', src_eid: 'int32|null', dst_eid: 'int32|null',
    nonce: 'int64-number|null', guid: 'hex-0x-unpadded|null', message: 'hex-0x-unpadded|null',
  },
  ActionDetailsLayerZeroSend: {
    initiator: 'raw-address|null', layerzero_send_data: 'ActionDetailsLayerZeroSendDetails',
    layerzero_packet_data: 'ActionDetailsLayerZeroPacket',
  },
  ActionDetailsLayerZeroReceive: {
    sender: 'raw-address|null', oapp: 'raw-address|null', channel: 'raw-address|null',
    layerzero_packet_data: 'ActionDetailsLayerZeroPacket',
  },
  ActionDetailsLayerZeroCommitPacket: {
    sender: 'raw-address|null', endpoint: 'raw-address|null', uln: 'raw-address|null',
    uln_connection: 'raw-address|null', channel: 'raw-address|null', msglib_connection: 'raw-address|null',
    layerzero_packet_data: 'ActionDetailsLayerZeroPacket',
  },
  ActionDetailsLayerZeroDvnVerify: {
    initiator: 'raw-address|null', nonce: 'int64-number|null', status: 'enum:layerzero_dvn_status|null',
    dvn: 'raw-address|null', proxy: 'raw-address|null', uln: 'raw-address|null', uln_connection: 'raw-address|null',
  },
  ActionDetailsLayerZeroSendTokens: {
    sender: 'raw-address|null', sender_wallet: 'raw-address|null', oapp: 'raw-address|null',
    oapp_wallet: 'raw-address|null', asset: 'raw-address|null', amount: 'decimal-uint120|null',
    layerzero_send_data: 'ActionDetailsLayerZeroSendDetails', layerzero_packet_data: 'ActionDetailsLayerZeroPacket',
  },
  ActionDetailsJettonTransfer: {
    asset: 'raw-address|null', sender: 'raw-address|null', receiver: 'raw-address|null',
    sender_jetton_wallet: 'raw-address|null', receiver_jetton_wallet: 'raw-address|null',
    amount: 'decimal-uint120|null', comment: 'text|null', is_encrypted_comment: 'bool|null',
    query_id: 'decimal-uint64|null', response_destination: 'raw-address|null', custom_payload: 'base64-boc|null',
    forward_payload: 'base64-boc|null', forward_amount: 'decimal-uint120|null',
  },
  ActionDetailsJettonMint: {
    asset: 'raw-address|null', receiver: 'raw-address|null', receiver_jetton_wallet: 'raw-address|null',
    amount: 'decimal-uint120|null', ton_amount: 'decimal-uint120|null',
  },
  ActionDetailsNftMint: {
    owner: 'raw-address?', nft_item: 'raw-address|null', nft_collection: 'raw-address|null',
    nft_item_index: 'decimal-uint256|null',
  },
  ActionDetailsNftTransfer: {
    nft_collection: 'raw-address|null', nft_item: 'raw-address|null', nft_item_index: 'decimal-uint256|null',
    old_owner: 'raw-address?', new_owner: 'raw-address|null', is_purchase: 'bool|null', price: 'decimal-uint120?',
    query_id: 'decimal-uint64|null', response_destination: 'raw-address|null', custom_payload: 'base64-boc|null',
    forward_payload: 'base64-boc|null', forward_amount: 'decimal-uint120|null', comment: 'text|null',
    is_encrypted_comment: 'bool|null', marketplace: 'text|null', real_old_owner: 'raw-address|null',
    marketplace_address: 'raw-address|null', payout_amount: 'decimal-uint120|null', payout_address: 'raw-address|null',
    payout_comment: 'text|null', payout_comment_encrypted: 'bool|null', payout_comment_encoded: 'bool|null',
    royalty_amount: 'decimal-uint120|null', royalty_address: 'raw-address|null',
  },
  ActionDetailsDnsPurchase: {
    nft_collection: 'raw-address|null', nft_item: 'raw-address|null', nft_item_index: 'decimal-uint256|null',
    new_owner: 'raw-address|null', price: 'decimal-uint120|null', query_id: 'decimal-uint64|null',
    payout_amount: 'decimal-uint120|null',
  },
  ActionDetailsNftPutOnSale: {
    nft_collection: 'raw-address|null', nft_item: 'raw-address|null', nft_item_index: 'decimal-uint256|null',
    owner: 'raw-address|null', listing_address: 'raw-address|null', sale_address: 'raw-address|null',
    marketplace_address: 'raw-address|null', full_price: 'decimal-uint120|null',
    marketplace_fee: 'decimal-uint120|null', royalty_amount: 'decimal-uint120|null',
    marketplace_fee_address: 'raw-address|null', royalty_address: 'raw-address|null', marketplace: 'text|null',
  },
  ActionDetailsNftPutOnAuction: {
    nft_collection: 'raw-address|null', nft_item: 'raw-address|null', nft_item_index: 'decimal-uint256|null',
    owner: 'raw-address|null', listing_address: 'raw-address|null', auction_address: 'raw-address|null',
    marketplace_address: 'raw-address|null', marketplace_fee_factor: 'decimal-numeric|null',
    marketplace_fee_base: 'decimal-numeric|null', royalty_fee_base: 'decimal-numeric|null',
    max_bid: 'decimal-uint120|null', min_bid: 'decimal-uint120|null', marketplace_fee_address: 'raw-address|null',
    royalty_address: 'raw-address|null', marketplace: 'text|null',
  },
  ActionDetailsTickTock: {
    account: 'raw-address?',
  },
  ActionDetailsSubscribe: {
    subscriber: 'raw-address|null', beneficiary: 'raw-address?', subscription: 'raw-address|null',
    amount: 'decimal-uint120|null',
  },
  ActionDetailsUnsubscribe: {
    subscriber: 'raw-address|null', beneficiary: 'raw-address?', subscription: 'raw-address|null',
    amount: 'decimal-uint120?',
  },
  ActionDetailsLiquidityVaultExcess: {
    asset: 'raw-address|null', amount: 'decimal-uint120|null',
  },
  ActionDetailsDexDepositLiquidity: {
    dex: 'enum:dex|null', amount_1: 'decimal-uint120|null', amount_2: 'decimal-uint120|null',
    asset_1: 'raw-address|null', asset_2: 'raw-address|null', user_jetton_wallet_1: 'raw-address|null',
    user_jetton_wallet_2: 'raw-address|null', source: 'raw-address|null', pool: 'raw-address|null',
    destination_liquidity: 'raw-address|null', lp_tokens_minted: 'decimal-uint120|null',
    target_asset_1: 'raw-address|null', target_asset_2: 'raw-address|null', target_amount_1: 'decimal-uint120|null',
    target_amount_2: 'decimal-uint120|null', vault_excesses: 'ActionDetailsLiquidityVaultExcess[]',
    tick_lower: 'decimal-int32|null', tick_upper: 'decimal-int32|null', nft_index: 'decimal-uint256|null',
    nft_address: 'raw-address|null',
  },
  ActionDetailsDexWithdrawLiquidity: {
    dex: 'enum:dex|null', amount_1: 'decimal-uint120|null', amount_2: 'decimal-uint120|null',
    asset_1: 'raw-address|null', asset_2: 'raw-address|null', user_jetton_wallet_1: 'raw-address|null',
    user_jetton_wallet_2: 'raw-address|null', lp_tokens_burnt: 'decimal-uint120|null', is_refund: 'bool|null',
    source: 'raw-address|null', pool: 'raw-address|null', destination_liquidity: 'raw-address|null',
    burnt_nft_index: 'decimal-uint256|null', burnt_nft_address: 'raw-address|null', tick_lower: 'decimal-int32|null',
    tick_upper: 'decimal-int32|null',
  },
  ActionDetailsToncoDeployPool: {
    source: 'raw-address|null', pool: 'raw-address|null', router: 'raw-address|null',
    router_jetton_wallet_1: 'raw-address|null', router_jetton_wallet_2: 'raw-address|null',
    jetton_minter_1: 'raw-address|null', jetton_minter_2: 'raw-address|null', tick_spacing: 'decimal-int32|null',
    initial_price_x96: 'decimal-numeric|null', protocol_fee: 'decimal-int32|null', lp_fee_base: 'decimal-int32|null',
    lp_fee_current: 'decimal-int32|null', pool_active: 'bool|null',
  },
  ActionDetailsStakeDeposit: {
    provider: 'enum:staking_provider|null', stake_holder: 'raw-address|null', pool: 'raw-address|null',
    amount: 'decimal-uint120|null', tokens_minted: 'decimal-uint120|null', asset: 'raw-address|null',
    source_asset: 'raw-address?',
  },
  ActionDetailsWithdrawStake: {
    provider: 'enum:staking_provider|null', stake_holder: 'raw-address|null', pool: 'raw-address|null',
    amount: 'decimal-uint120|null', payout_nft: 'raw-address|null', tokens_burnt: 'decimal-uint120|null',
    asset: 'raw-address|null',
  },
  ActionDetailsWithdrawStakeRequest: {
    provider: 'enum:staking_provider|null', stake_holder: 'raw-address|null', pool: 'raw-address|null',
    payout_nft: 'raw-address|null', asset: 'raw-address|null', tokens_burnt: 'decimal-uint120|null',
    tokens_minted: 'decimal-uint120?',
  },
  Action: {
    trace_id: 'base64-hash|null', action_id: 'base64-hash', start_lt: 'lt', end_lt: 'lt', start_utime: 'unix-seconds',
    end_utime: 'unix-seconds', trace_end_lt: 'lt', trace_end_utime: 'unix-seconds', trace_mc_seqno_end: 'seqno',
    transactions: 'base64-hash[]|null', success: 'bool|null', type: 'enum:action_type',
    details: 'by:type:action_details_by_type', raw_action: 'RawAction?', trace_external_hash: 'base64-hash?',
    trace_external_hash_norm: 'base64-hash?', accounts: 'raw-address[]?', transactions_full: 'Transaction[]?',
    finality: 'enum:finality',
  },
  ActionDetailsMultisigCreateOrder: {
    query_id: 'decimal-uint64|null', order_seqno: 'decimal-uint256|null', is_created_by_signer: 'bool|null',
    is_signed_by_creator: 'bool|null', creator_index: 'int64-number|null', expiration_date: 'int64-number|null',
    order_boc: 'base64-boc|null', source: 'raw-address|null', destination: 'raw-address|null',
    destination_order: 'raw-address|null',
  },
  ActionDetailsMultisigApprove: {
    signer_index: 'int64-number|null', exit_code: 'int32|null', source: 'raw-address|null',
    destination: 'raw-address|null',
  },
  ActionDetailsMultisigExecute: {
    query_id: 'decimal-uint64|null', order_seqno: 'decimal-uint256|null', expiration_date: 'int64-number|null',
    approvals_num: 'int64-number|null', signers_hash: 'base64-hash|null', order_boc: 'base64-boc|null',
    source: 'raw-address|null', destination: 'raw-address|null',
  },
  ActionDetailsVestingSendMessage: {
    query_id: 'decimal-uint64|null', message_boc: 'base64-boc|null', source: 'raw-address|null',
    vesting: 'raw-address|null', destination: 'raw-address|null', amount: 'decimal-uint120|null',
  },
  ActionDetailsVestingAddWhitelist: {
    query_id: 'decimal-uint64|null', accounts_added: 'raw-address[]|null', source: 'raw-address|null',
    vesting: 'raw-address|null',
  },
  ActionDetailsEvaaSupply: {
    sender_jetton_wallet: 'raw-address|null', recipient_jetton_wallet: 'raw-address|null',
    master_jetton_wallet: 'raw-address|null', master: 'raw-address|null', asset_id: 'hex-0x-unpadded|null',
    is_ton: 'bool|null', source: 'raw-address|null', source_wallet: 'raw-address|null', recipient: 'raw-address|null',
    recipient_contract: 'raw-address|null', asset: 'raw-address|null', amount: 'decimal-uint120|null',
  },
  ActionDetailsEvaaWithdraw: {
    recipient_jetton_wallet: 'raw-address|null', master_jetton_wallet: 'raw-address|null', master: 'raw-address|null',
    fail_reason: 'text|null', asset_id: 'hex-0x-unpadded|null', source: 'raw-address|null',
    recipient: 'raw-address|null', owner_contract: 'raw-address|null', asset: 'raw-address|null',
    amount: 'decimal-uint120|null',
  },
  ActionDetailsEvaaLiquidate: {
    fail_reason: 'text|null', debt_amount: 'decimal-uint120|null', source: 'raw-address|null',
    borrower: 'raw-address|null', borrower_contract: 'raw-address|null', collateral: 'address-or-foreign-text|null',
    asset_id: 'hex-0x-unpadded|null', asset: 'raw-address|null', is_known_asset: 'bool', amount: 'decimal-uint120|null',
  },
  JettonAmountPair: {
    jetton: 'raw-address|null', amount: 'decimal-uint120|null',
  },
  ActionDetailsJvaultClaim: {
    claimed_rewards: 'JettonAmountPair[]', source: 'raw-address|null', stake_wallet: 'raw-address|null',
    pool: 'raw-address|null',
  },
  ActionDetailsJvaultStake: {
    period: 'int64-number|null', minted_stake_jettons: 'decimal-uint120|null', stake_wallet: 'raw-address|null',
    source: 'raw-address|null', source_jetton_wallet: 'raw-address|null', asset: 'raw-address|null',
    pool: 'raw-address|null', amount: 'decimal-uint120|null',
  },
  ActionDetailsJvaultUnstake: {
    source: 'raw-address|null', stake_wallet: 'raw-address|null', pool: 'raw-address|null',
    amount: 'decimal-uint120|null', exit_code: 'int64-number|null', asset: 'raw-address|null',
    staking_asset: 'raw-address|null',
  },
  ActionDetailsJvaultUnstakeRequest: {
    source: 'raw-address|null', stake_wallet: 'raw-address|null', pool: 'raw-address|null',
    amount: 'decimal-uint120|null', exit_code: 'int64-number|null', asset: 'raw-address|null',
    staking_asset: 'raw-address|null',
  },
  ActionDetailsNftDiscovery: {
    source: 'raw-address|null', nft_item: 'raw-address|null', nft_collection: 'raw-address|null',
    nft_item_index: 'decimal-uint256|null',
  },
  ActionDetailsTgbtcMint: {
    source: 'raw-address|null', destination: 'raw-address|null', amount: 'decimal-uint120|null',
    asset: 'raw-address|null', bitcoin_tx_id: 'hex-unpadded|null', destination_wallet: 'raw-address|null',
  },
  ActionDetailsTgbtcBurn: {
    source: 'raw-address|null', source_wallet: 'raw-address|null', destination: 'raw-address|null',
    amount: 'decimal-uint120|null', asset: 'raw-address|null',
  },
  ActionDetailsTgbtcNewKey: {
    source: 'raw-address|null', pubkey: 'hex-unpadded|null', coordinator: 'raw-address|null',
    pegout: 'raw-address|null', amount: 'decimal-uint120|null', asset: 'raw-address|null',
  },
  ActionDetailsDkgLogFallback: {
    coordinator: 'raw-address|null', pubkey: 'hex-unpadded|null', timestamp: 'unix-seconds-string|null',
  },
  ActionDetailsCoffeeCreatePool: {
    source: 'raw-address|null', source_jetton_wallet: 'raw-address|null', initiator_1: 'raw-address|null',
    initiator_2: 'raw-address|null', pool: 'raw-address|null', pool_creator_contract: 'raw-address|null',
    provided_asset: 'raw-address|null', amount: 'decimal-uint120|null', asset_1: 'raw-address|null',
    asset_2: 'raw-address|null', amount_1: 'decimal-uint120|null', amount_2: 'decimal-uint120|null',
    lp_tokens_minted: 'decimal-uint120|null',
  },
  ActionDetailsCoffeeCreatePoolCreator: {
    source: 'raw-address|null', source_jetton_wallet: 'raw-address|null', deposit_recipient: 'raw-address|null',
    pool_creator_contract: 'raw-address|null', provided_asset: 'raw-address|null', asset_1: 'raw-address|null',
    asset_2: 'raw-address|null', amount: 'decimal-uint120|null',
  },
  ActionDetailsCoffeeStakingDeposit: {
    source: 'raw-address|null', source_jetton_wallet: 'raw-address|null', pool: 'raw-address|null',
    pool_jetton_wallet: 'raw-address|null', asset: 'raw-address|null', amount: 'decimal-uint120|null',
    minted_item_address: 'raw-address|null', minted_item_index: 'decimal-uint256|null',
  },
  ActionDetailsCoffeeStakingWithdraw: {
    source: 'raw-address|null', source_jetton_wallet: 'raw-address|null', pool: 'raw-address|null',
    pool_jetton_wallet: 'raw-address|null', asset: 'raw-address|null', amount: 'decimal-uint120|null',
    nft_address: 'raw-address|null', nft_index: 'decimal-uint256|null', points: 'decimal-uint120|null',
  },
  ActionDetailsCoffeeStakingClaimRewards: {
    pool: 'raw-address|null', pool_jetton_wallet: 'raw-address|null', recipient: 'raw-address|null',
    recipient_jetton_wallet: 'raw-address|null', asset: 'raw-address|null', amount: 'decimal-uint120|null',
  },
  ActionDetailsCoffeeMevProtectHoldFunds: {
    source: 'raw-address|null', source_jetton_wallet: 'raw-address|null', mev_contract: 'raw-address|null',
    mev_contract_jetton_wallet: 'raw-address|null', asset: 'raw-address|null', amount: 'decimal-uint120|null',
  },
  ActionDetailsCoffeeCreateVault: {
    source: 'raw-address|null', vault: 'raw-address|null', asset: 'raw-address|null', value: 'decimal-uint120|null',
  },
  ActionDetailsAuctionOutbid: {
    auction_address: 'raw-address|null', bidder: 'raw-address|null', new_bidder: 'raw-address|null',
    nft_item: 'raw-address|null', nft_collection: 'raw-address|null', amount: 'decimal-uint120|null', comment: 'text?',
    marketplace: 'text?',
  },
  ActionDetailsNftCancelSale: {
    owner: 'raw-address|null', nft_item: 'raw-address|null', nft_collection: 'raw-address|null',
    sale_address: 'raw-address|null', marketplace_address: 'raw-address|null', marketplace: 'text|null',
  },
  ActionDetailsNftCancelAuction: {
    owner: 'raw-address|null', nft_item: 'raw-address|null', nft_collection: 'raw-address|null',
    auction_address: 'raw-address|null', marketplace_address: 'raw-address|null', marketplace: 'text|null',
  },
  ActionDetailsNftFinishAuction: {
    owner: 'raw-address|null', nft_item: 'raw-address|null', nft_collection: 'raw-address|null',
    auction_address: 'raw-address|null', marketplace_address: 'raw-address|null', marketplace: 'text|null',
  },
  ActionDetailsDnsRelease: {
    query_id: 'decimal-uint64|null', source: 'raw-address|null', nft_item: 'raw-address|null',
    nft_collection: 'raw-address|null', nft_item_index: 'decimal-uint256|null', value: 'decimal-uint120|null',
  },
  ActionDetailsNftUpdateSale: {
    source: 'raw-address|null', sale_contract: 'raw-address|null', nft_address: 'raw-address|null',
    marketplace_address: 'raw-address|null', marketplace: 'text|null', full_price: 'decimal-uint120|null',
    marketplace_fee: 'decimal-uint120|null', royalty_amount: 'decimal-uint120|null',
  },
  ActionDetailsCocoonWorkerPayout: {
    payout_type: 'enum:cocoon_payout_type|null', query_id: 'decimal-uint64|null', new_tokens: 'decimal-uint120|null',
    worker_state: 'int64-number|null', worker_tokens: 'decimal-uint120|null', source: 'raw-address|null',
    destination: 'raw-address|null', amount: 'decimal-uint120|null',
  },
  ActionDetailsCocoonProxyPayout: {
    query_id: 'decimal-uint64|null', source: 'raw-address|null', destination: 'raw-address|null',
  },
  ActionDetailsCocoonProxyCharge: {
    query_id: 'decimal-uint64|null', new_tokens_used: 'decimal-uint120|null', expected_address: 'text|null',
    source: 'raw-address|null', destination: 'raw-address|null',
  },
  ActionDetailsCocoonClientTopUp: {
    query_id: 'decimal-uint64|null', source: 'raw-address|null', destination: 'raw-address|null',
    amount: 'decimal-uint120|null',
  },
  ActionDetailsCocoonRegisterProxy: {
    query_id: 'decimal-uint64|null', destination: 'raw-address|null',
  },
  ActionDetailsCocoonUnregisterProxy: {
    query_id: 'decimal-uint64|null', seqno: 'int64-number|null', destination: 'raw-address|null',
  },
  ActionDetailsCocoonClientRegister: {
    query_id: 'decimal-uint64|null', nonce: 'decimal-uint64|null', source: 'raw-address|null',
    destination: 'raw-address|null',
  },
  ActionDetailsCocoonClientChangeSecretHash: {
    query_id: 'decimal-uint64|null', new_secret_hash: 'hex-unpadded|null', source: 'raw-address|null',
    destination: 'raw-address|null',
  },
  ActionDetailsCocoonClientRequestRefund: {
    query_id: 'decimal-uint64|null', via_wallet: 'bool|null', source: 'raw-address|null',
    destination: 'raw-address|null',
  },
  ActionDetailsCocoonGrantRefund: {
    query_id: 'decimal-uint64|null', new_tokens_used: 'decimal-uint120|null', expected_address: 'text|null',
    source: 'raw-address|null', destination: 'raw-address|null', amount: 'decimal-uint120|null',
  },
  ActionDetailsCocoonClientIncreaseStake: {
    query_id: 'decimal-uint64|null', new_stake: 'decimal-uint120|null', source: 'raw-address|null',
    destination: 'raw-address|null', amount: 'decimal-uint120|null',
  },
  ActionDetailsCocoonClientWithdraw: {
    query_id: 'decimal-uint64|null', withdraw_amount: 'decimal-uint120|null', source: 'raw-address|null',
    destination: 'raw-address|null', amount: 'decimal-uint120|null',
  },
  OrderAction: {
    destination: 'raw-address|null', value: 'decimal-uint120|null', body_raw: 'base64-boc|null', parsed: 'bool',
    error: 'text|null', parsed_body: 'by:parsed_body_type:parsed_body_by_type|null',
    parsed_body_type: 'enum:parsed_body_type', send_mode: 'uint8',
  },
  BlockId: {
    workchain: 'workchain', shard: 'hex-shard', seqno: 'seqno',
  },
  AccountState: {
    hash: 'base64-hash', balance: 'nanoton|null', extra_currencies: 'extra-currency-map|null',
    account_status: 'enum:account_status|null', frozen_hash: 'base64-hash|null', data_hash: 'base64-hash|null',
    code_hash: 'base64-hash|null', data_boc: 'base64-boc?', code_boc: 'base64-boc?',
  },
  AccountBalance: {
    account: 'raw-address', balance: 'nanoton',
  },
  AccountStateFull: {
    address: 'raw-address|null', account_state_hash: 'base64-hash', balance: 'nanoton|null',
    extra_currencies: 'extra-currency-map|null', status: 'enum:account_status|null', frozen_hash: 'base64-hash?',
    last_transaction_hash: 'base64-hash|null', last_transaction_lt: 'lt|null', data_hash: 'base64-hash?',
    code_hash: 'base64-hash?', data_boc: 'base64-boc?', code_boc: 'base64-boc?', contract_methods: 'uint32[]|null',
    interfaces: 'text[]|null',
  },
  WalletState: {
    address: 'raw-address', is_wallet: 'bool', wallet_type: 'enum:wallet_type?', seqno: 'uint32?', wallet_id: 'uint32?',
    balance: 'nanoton?', extra_currencies: 'extra-currency-map?', is_signature_allowed: 'bool?',
    status: 'enum:account_status?', code_hash: 'base64-hash?', last_transaction_hash: 'base64-hash|null',
    last_transaction_lt: 'lt|null',
  },
  Block: {
    workchain: 'workchain', shard: 'hex-shard', seqno: 'seqno', root_hash: 'base64-hash', file_hash: 'base64-hash',
    global_id: 'int32', version: 'int64-number', after_merge: 'bool', before_split: 'bool', after_split: 'bool',
    want_merge: 'bool', want_split: 'bool', key_block: 'bool', vert_seqno_incr: 'bool', flags: 'int32',
    gen_utime: 'unix-seconds-string', start_lt: 'lt', end_lt: 'lt', validator_list_hash_short: 'int32',
    gen_catchain_seqno: 'int32', min_ref_mc_seqno: 'int32', prev_key_block_seqno: 'int32', vert_seqno: 'int32',
    master_ref_seqno: 'int32', rand_seed: 'base64-hash', created_by: 'base64-hash', tx_count: 'int64-number',
    masterchain_block_ref: 'BlockId', prev_blocks: 'BlockId[]|null',
  },
  MessageContent: {
    hash: 'base64-hash|null', body: 'base64-boc|null', decoded: 'decoded-body|null',
  },
  Message: {
    hash: 'base64-hash', source: 'raw-address|null', destination: 'raw-address|null', value: 'nanoton|null',
    value_extra_currencies: 'extra-currency-map|null', fwd_fee: 'nanoton|null', ihr_fee: 'nanoton|null',
    extra_flags: 'decimal-uint120|null', created_lt: 'lt|null', created_at: 'unix-seconds-string|null',
    opcode: 'opcode-hex|null', decoded_opcode: 'text|null', ihr_disabled: 'bool|null', bounce: 'bool|null',
    bounced: 'bool|null', import_fee: 'nanoton|null', in_msg_tx_hash: 'base64-hash?', out_msg_tx_hash: 'base64-hash?',
    message_content: 'MessageContent|null', init_state: 'MessageContent|null', hash_norm: 'base64-hash?',
  },
  MsgSize: {
    cells: 'decimal-uint56|null', bits: 'decimal-uint56|null',
  },
  StoragePhase: {
    storage_fees_collected: 'nanoton?', storage_fees_due: 'nanoton?', status_change: 'enum:storage_status_change?',
  },
  CreditPhase: {
    due_fees_collected: 'nanoton?', credit: 'nanoton?', credit_extra_currencies: 'extra-currency-map?',
  },
  ComputePhase: {
    skipped: 'bool?', reason: 'enum:compute_skip_reason?', success: 'bool?', msg_state_used: 'bool?',
    account_activated: 'bool?', gas_fees: 'nanoton?', gas_used: 'decimal-uint56?', gas_limit: 'decimal-uint56?',
    gas_credit: 'decimal-uint24?', mode: 'int8?', exit_code: 'int32?', exit_arg: 'int32?', vm_steps: 'uint32?',
    vm_init_state_hash: 'base64-hash?', vm_final_state_hash: 'base64-hash?',
  },
  ActionPhase: {
    success: 'bool?', valid: 'bool?', no_funds: 'bool?', status_change: 'enum:action_status_change?',
    total_fwd_fees: 'nanoton?', total_action_fees: 'nanoton?', result_code: 'int32?', result_arg: 'int32?',
    tot_actions: 'uint16?', spec_actions: 'uint16?', skipped_actions: 'uint16?', msgs_created: 'uint16?',
    action_list_hash: 'base64-hash?', tot_msg_size: 'MsgSize?',
  },
  BouncePhase: {
    type: 'enum:bounce_type|null', msg_size: 'MsgSize?', req_fwd_fees: 'nanoton?', msg_fees: 'nanoton?',
    fwd_fees: 'nanoton?',
  },
  SplitInfo: {
    cur_shard_pfx_len: 'uint8?', acc_split_depth: 'uint8?', this_addr: 'base64-hash?', sibling_addr: 'base64-hash?',
  },
  TransactionDescr: {
    type: 'enum:description_type', aborted: 'bool?', destroyed: 'bool?', credit_first: 'bool?', is_tock: 'bool?',
    installed: 'bool?', storage_ph: 'StoragePhase?', credit_ph: 'CreditPhase?', compute_ph: 'ComputePhase?',
    action: 'ActionPhase?', bounce: 'BouncePhase?', split_info: 'SplitInfo?',
  },
  Transaction: {
    account: 'raw-address', hash: 'base64-hash', lt: 'lt', now: 'unix-seconds', mc_block_seqno: 'seqno',
    trace_id: 'base64-hash?', trace_external_hash: 'base64-hash?', prev_trans_hash: 'base64-hash', prev_trans_lt: 'lt',
    orig_status: 'enum:account_status', end_status: 'enum:account_status', total_fees: 'nanoton',
    total_fees_extra_currencies: 'extra-currency-map|null', description: 'TransactionDescr', block_ref: 'BlockId',
    in_msg: 'Message|null', out_msgs: 'Message[]', account_state_before: 'AccountState',
    account_state_after: 'AccountState', emulated: 'bool', finality: 'enum:finality',
  },
  DNSRecord: {
    nft_item_address: 'raw-address', nft_item_owner: 'raw-address|null', domain: 'text',
    dns_next_resolver: 'raw-address|null', dns_wallet: 'raw-address|null', dns_site_adnl: 'base64-hash|null',
    dns_storage_bag_id: 'base64-hash|null',
  },
  JettonMaster: {
    address: 'raw-address', total_supply: 'decimal-int257', mintable: 'bool', admin_address: 'raw-address|null',
    jetton_content: 'string-map|null', jetton_wallet_code_hash: 'base64-hash', code_hash: 'base64-hash',
    data_hash: 'base64-hash', last_transaction_lt: 'lt',
  },
  JettonWalletMintlessInfo: {
    amount: 'decimal-uint120|null', start_from: 'unix-seconds|null', expire_at: 'unix-seconds|null',
    custom_payload_api_uri: 'text[]|null',
  },
  JettonWallet: {
    address: 'raw-address', balance: 'decimal-int257', owner: 'raw-address', jetton: 'raw-address',
    last_transaction_lt: 'lt', code_hash: 'base64-hash|null', data_hash: 'base64-hash|null',
    mintless_info: 'JettonWalletMintlessInfo?',
  },
  JettonTransfer: {
    query_id: 'decimal-uint64', source: 'raw-address', destination: 'raw-address', amount: 'decimal-uint120',
    source_wallet: 'raw-address', jetton_master: 'raw-address', transaction_hash: 'base64-hash', transaction_lt: 'lt',
    transaction_now: 'unix-seconds', transaction_aborted: 'bool', response_destination: 'raw-address|null',
    custom_payload: 'base64-boc|null', decoded_custom_payload: 'decoded-body|null',
    forward_ton_amount: 'decimal-uint120|null', forward_payload: 'base64-boc|null',
    decoded_forward_payload: 'decoded-body|null', trace_id: 'base64-hash|null',
  },
  JettonBurn: {
    query_id: 'decimal-uint64', owner: 'raw-address', jetton_wallet: 'raw-address', jetton_master: 'raw-address',
    transaction_hash: 'base64-hash', transaction_lt: 'lt', transaction_now: 'unix-seconds', transaction_aborted: 'bool',
    amount: 'decimal-uint120', response_destination: 'raw-address|null', custom_payload: 'base64-boc|null',
    decoded_custom_payload: 'decoded-body|null', trace_id: 'base64-hash|null',
  },
  MultisigOrder: {
    address: 'raw-address', multisig_address: 'raw-address', order_seqno: 'decimal-uint256|null',
    threshold: 'uint8|null', sent_for_execution: 'bool|null', approvals_mask: 'decimal-uint256|null',
    approvals_num: 'int32|null', expiration_date: 'int64-number|null', order_boc: 'base64-boc|null',
    signers: 'raw-address[]|null', last_transaction_lt: 'lt', code_hash: 'base64-hash|null',
    data_hash: 'base64-hash|null', actions: 'OrderAction[]|null',
  },
  Multisig: {
    address: 'raw-address', next_order_seqno: 'decimal-int257|null', threshold: 'uint8|null',
    signers: 'raw-address[]|null', proposers: 'raw-address[]|null', last_transaction_lt: 'lt',
    code_hash: 'base64-hash|null', data_hash: 'base64-hash|null', orders: 'MultisigOrder[]|null',
  },
  NFTCollection: {
    address: 'raw-address', owner_address: 'raw-address|null', last_transaction_lt: 'lt',
    next_item_index: 'decimal-int257', collection_content: 'string-map|null', data_hash: 'base64-hash',
    code_hash: 'base64-hash',
  },
  NFTItem: {
    address: 'raw-address', init: 'bool', index: 'decimal-int257', collection_address: 'raw-address|null',
    owner_address: 'raw-address|null', content: 'string-map|null', last_transaction_lt: 'lt', code_hash: 'base64-hash',
    data_hash: 'base64-hash', collection: 'NFTCollection|null', on_sale: 'bool', sale_contract_address: 'raw-address?',
    auction_contract_address: 'raw-address?', real_owner: 'raw-address?',
  },
  NFTTransfer: {
    query_id: 'decimal-uint64', nft_address: 'raw-address', nft_collection: 'raw-address',
    transaction_hash: 'base64-hash', transaction_lt: 'lt', transaction_now: 'unix-seconds', transaction_aborted: 'bool',
    old_owner: 'raw-address', new_owner: 'raw-address', response_destination: 'raw-address|null',
    custom_payload: 'base64-boc|null', decoded_custom_payload: 'decoded-body|null',
    forward_amount: 'decimal-uint120|null', forward_payload: 'base64-boc|null',
    decoded_forward_payload: 'decoded-body|null', trace_id: 'base64-hash|null',
  },
  NFTSaleDetailsGetgemsSale: {
    is_complete: 'bool?', full_price: 'decimal-uint120?', marketplace_fee_address: 'raw-address?',
    marketplace_fee: 'decimal-uint120?', royalty_address: 'raw-address?', royalty_amount: 'decimal-uint120?',
  },
  NFTSaleDetailsGetgemsAuction: {
    end_flag: 'bool?', end_time: 'unix-seconds?', last_bid: 'decimal-uint120?', last_member: 'raw-address?',
    min_step: 'int64-number?', mp_fee_address: 'raw-address?', mp_fee_factor: 'int64-number?',
    mp_fee_base: 'int64-number?', royalty_fee_address: 'raw-address?', royalty_fee_factor: 'int64-number?',
    royalty_fee_base: 'int64-number?', max_bid: 'decimal-uint120?', min_bid: 'decimal-uint120?',
    last_bid_at: 'unix-seconds?', is_canceled: 'bool?',
  },
  NFTSaleDetailsTeleitem: {
    token_name: 'text?', bidder_address: 'raw-address?', bid: 'decimal-uint120?', bid_ts: 'unix-seconds-string?',
    min_bid: 'decimal-uint120?', end_time: 'unix-seconds?', beneficiary_address: 'raw-address?',
    initial_min_bid: 'decimal-uint120?', max_bid: 'decimal-uint120?', min_bid_step: 'decimal-uint120?',
    min_extend_time: 'decimal-numeric?', duration: 'decimal-numeric?', royalty_numerator: 'int32?',
    royalty_denominator: 'int32?', royalty_destination: 'raw-address?',
  },
  NFTSale: {
    type: 'enum:nft_sale_type', address: 'raw-address', nft_address: 'raw-address?', nft_owner_address: 'raw-address?',
    marketplace_address: 'raw-address?', created_at: 'unix-seconds?', last_transaction_lt: 'lt?',
    code_hash: 'base64-hash?', data_hash: 'base64-hash?', details: 'by:type:nft_sale_details_by_type',
    nft_item: 'NFTItem?',
  },
  NFTTransferBody: {
    query_id: 'uint64-number-unsafe', new_owner: 'raw-address|null', response_destination: 'raw-address|null',
    custom_payload: 'base64-boc|null', forward_amount: 'decimal-uint120|null', forward_payload: 'base64-boc|null',
  },
  TonTransferMessage: {
    comment: 'text', encrypted: 'bool',
  },
  JettonTopUpBody: {
    query_id: 'uint64-number-unsafe',
  },
  JettonChangeAdminBody: {
    query_id: 'uint64-number-unsafe', new_admin_address: 'raw-address|null',
  },
  JettonClaimAdminBody: {
    query_id: 'uint64-number-unsafe',
  },
  JettonChangeContentBody: {
    query_id: 'uint64-number-unsafe', new_metadata_url: 'text',
  },
  JettonCallToBody: {
    query_id: 'uint64-number-unsafe', to_address: 'raw-address|null', ton_amount: 'decimal-uint120|null',
    action_type: 'text', action_data: 'base64-boc|null',
  },
  JettonSetStatusBody: {
    query_id: 'uint64-number-unsafe', new_status: 'uint8',
  },
  JettonTransferBody: {
    query_id: 'uint64-number-unsafe', amount: 'decimal-uint120|null', destination: 'raw-address|null',
    response: 'raw-address|null', custom_payload: 'base64-boc|null', forward_amount: 'decimal-uint120|null',
    comment: 'text', encrypted_comment: 'bool', forward_payload: 'base64-boc|null',
    payload_sum_type: 'enum:payload_sum_type', stonfi_swap_body: 'json-object|null',
  },
  JettonBurnBody: {
    query_id: 'uint64-number-unsafe', amount: 'decimal-uint120|null', response_destination: 'raw-address|null',
  },
  JettonMinterBody: {
    opcode: 'uint32', query_id: 'uint64-number-unsafe', to_address: 'raw-address|null',
    ton_amount: 'decimal-uint120|null', master_msg_query_id: 'uint64-number-unsafe',
    master_msg_jetton_amount: 'decimal-uint120|null',
  },
  JettonMintBody: {
    query_id: 'uint64-number-unsafe', to_address: 'raw-address|null', ton_amount: 'decimal-uint120|null',
    jetton_amount: 'decimal-uint120|null',
  },
  SingleNominatorWithdrawBody: {
    query_id: 'uint64-number-unsafe', coins: 'decimal-uint120|null',
  },
  SingleNominatorChangeValidatorBody: {
    query_id: 'uint64-number-unsafe', validator_address: 'raw-address|null',
  },
  VestingInternalTransferBody: {
    query_id: 'uint64-number-unsafe', send_mode: 'uint8', destination: 'raw-address|null',
    value: 'decimal-uint120|null', message_body: 'base64-boc|null', comment: 'text',
  },
  MultisigUpdateParamsBody: {
    new_threshold: 'uint8', new_signers: 'raw-address[]|null', new_proposers: 'raw-address[]|null',
  },
  UnknownMessage: {
    opcode: 'uint32', data: 'base64-boc|null',
  },
  MasterchainInfo: {
    last: 'Block|null', first: 'Block|null',
  },
  DecodeResponse: {
    opcodes: 'text[]|null', bodies: 'decoded-body[]|null',
  },
  TraceMeta: {
    trace_state: 'enum:trace_state', messages: 'int64-number', transactions: 'int64-number',
    pending_messages: 'int64-number', classification_state: 'enum:classification_state',
  },
  TraceNode: {
    tx_hash: 'base64-hash?', in_msg_hash: 'base64-hash?', transaction: 'Transaction?', in_msg: 'Message?',
    children: 'TraceNode[]|null',
  },
  Trace: {
    trace_id: 'base64-hash|null', external_hash: 'base64-hash|null', mc_seqno_start: 'seqno-as-string',
    mc_seqno_end: 'seqno-as-string', start_lt: 'lt', start_utime: 'unix-seconds', end_lt: 'lt|null',
    end_utime: 'unix-seconds|null', trace_info: 'TraceMeta', is_incomplete: 'bool', warning: 'text?',
    actions: 'Action[]?', trace: 'TraceNode?', transactions_order: 'base64-hash[]?', transactions: 'Transaction{}?',
  },
  AddressBookRow: {
    user_friendly: 'text|null', domain: 'text|null', interfaces: 'text[]|null',
  },
  AddressMetadata: {
    is_indexed: 'bool', token_info: 'TokenInfo[]|null',
  },
  TokenInfo: {
    valid: 'bool?', type: 'enum:token_info_type?', name: 'text?', symbol: 'text?', description: 'text?', image: 'text?',
    nft_index: 'decimal-int257?', is_nsfw: 'bool?', is_scam: 'bool?', extra: 'json-object?',
  },
  V2AddressInformation: {
    balance: 'nanoton', code: 'base64-boc|null', data: 'base64-boc|null', last_transaction_lt: 'lt|null',
    last_transaction_hash: 'base64-hash|null', frozen_hash: 'base64-hash|null', status: 'enum:account_status',
  },
  V2WalletInformation: {
    balance: 'nanoton', wallet_type: 'enum:wallet_type?', seqno: 'uint32?', wallet_id: 'uint32?',
    last_transaction_lt: 'lt', last_transaction_hash: 'base64-hash', status: 'enum:account_status',
  },
  V2SendMessageResult: {
    message_hash: 'base64-hash?', message_hash_norm: 'base64-hash?',
  },
  V2StackEntity: {
    type: 'enum:stack_entry_type', value: 'any',
  },
  V2RunGetMethodResult: {
    gas_used: 'int64-number', exit_code: 'int64-number', stack: 'V2StackEntity[]',
  },
  V2EstimatedFee: {
    in_fwd_fee: 'uint64-number-unsafe', storage_fee: 'uint64-number-unsafe', gas_fee: 'uint64-number-unsafe',
    fwd_fee: 'uint64-number-unsafe',
  },
  V2EstimateFeeResult: {
    source_fees: 'V2EstimatedFee', destination_fees: 'V2EstimatedFee[]|null',
  },
  VestingInfo: {
    address: 'raw-address|null', start_time: 'unix-seconds|null', total_duration: 'int64-number|null',
    unlock_period: 'int64-number|null', cliff_duration: 'int64-number|null', sender_address: 'raw-address|null',
    owner_address: 'raw-address|null', total_amount: 'decimal-uint120|null', whitelist: 'raw-address[]',
  },
  RawActionJettonSwapPeerSwap: {
    AssetIn: 'raw-address|null', AmountIn: 'decimal-uint120|null', AssetOut: 'raw-address|null',
    AmountOut: 'decimal-uint120|null',
  },
  RawActionVaultExcessEntry: {
    Asset: 'raw-address|null', Amount: 'decimal-uint120|null',
  },
  RawAction: {
    TraceId: 'base64-hash|null', ActionId: 'base64-hash', StartLt: 'int64-number', EndLt: 'int64-number',
    StartUtime: 'int64-number', EndUtime: 'int64-number', TraceEndLt: 'int64-number', TraceEndUtime: 'int64-number',
    TraceMcSeqnoEnd: 'int32', Source: 'raw-address|null', SourceSecondary: 'raw-address|null',
    Destination: 'raw-address|null', DestinationSecondary: 'raw-address|null', Asset: 'raw-address|null',
    AssetSecondary: 'raw-address|null', Asset2: 'raw-address|null', Asset2Secondary: 'raw-address|null',
    Opcode: 'opcode-hex|null', TxHashes: 'base64-hash[]|null', Type: 'text', TonTransferContent: 'text|null',
    TonTransferEncrypted: 'bool|null', Value: 'text|null', Amount: 'text|null',
    JettonTransferResponseDestination: 'raw-address|null', JettonTransferForwardAmount: 'text|null',
    JettonTransferQueryId: 'text|null', JettonTransferCustomPayload: 'text|null',
    JettonTransferForwardPayload: 'text|null', JettonTransferComment: 'text|null',
    JettonTransferIsEncryptedComment: 'bool|null', NFTTransferIsPurchase: 'bool|null', NFTTransferPrice: 'text|null',
    NFTTransferQueryId: 'text|null', NFTTransferCustomPayload: 'text|null', NFTTransferForwardPayload: 'text|null',
    NFTTransferForwardAmount: 'text|null', NFTTransferResponseDestination: 'raw-address|null',
    NFTTransferNFTItemIndex: 'text|null', NFTTransferMarketplace: 'text|null',
    NFTTransferRealPrevOwner: 'raw-address|null', NFTTransferMarketplaceAddress: 'raw-address|null',
    NFTTransferPayoutAmount: 'text|null', NFTTransferPayoutCommentEncrypted: 'bool|null',
    NFTTransferPayoutCommentEncoded: 'bool|null', NFTTransferPayoutComment: 'text|null',
    NFTTransferRoyaltyAmount: 'text|null', NFTListingNFTItemIndex: 'text|null', NFTListingFullPrice: 'text|null',
    NFTListingMarketplaceFee: 'text|null', NFTListingRoyaltyAmount: 'text|null',
    NFTListingMarketplaceFeeFactor: 'text|null', NFTListingMarketplaceFeeBase: 'text|null',
    NFTListingRoyaltyFeeBase: 'text|null', NFTListingMaxBid: 'text|null', NFTListingMinBid: 'text|null',
    NFTListingMarketplaceFeeAddress: 'raw-address|null', NFTListingRoyaltyAddress: 'raw-address|null',
    NFTListingMarketplace: 'text|null', JettonSwapDex: 'text|null', JettonSwapSender: 'raw-address|null',
    JettonSwapDexIncomingTransferAmount: 'text|null', JettonSwapDexIncomingTransferAsset: 'raw-address|null',
    JettonSwapDexIncomingTransferSource: 'raw-address|null',
    JettonSwapDexIncomingTransferDestination: 'raw-address|null',
    JettonSwapDexIncomingTransferSourceJettonWallet: 'raw-address|null',
    JettonSwapDexIncomingTransferDestinationJettonWallet: 'raw-address|null',
    JettonSwapDexOutgoingTransferAmount: 'text|null', JettonSwapDexOutgoingTransferAsset: 'raw-address|null',
    JettonSwapDexOutgoingTransferSource: 'raw-address|null',
    JettonSwapDexOutgoingTransferDestination: 'raw-address|null',
    JettonSwapDexOutgoingTransferSourceJettonWallet: 'raw-address|null',
    JettonSwapDexOutgoingTransferDestinationJettonWallet: 'raw-address|null',
    JettonSwapPeerSwaps: 'RawActionJettonSwapPeerSwap[]|null', JettonSwapMinOutAmount: 'text|null',
    ChangeDNSRecordKey: 'text|null', ChangeDNSRecordValueSchema: 'text|null', ChangeDNSRecordValue: 'text|null',
    ChangeDNSRecordFlags: 'int64-number|null', NFTMintNFTItemIndex: 'text|null',
    DexWithdrawLiquidityDataDex: 'text|null', DexWithdrawLiquidityDataAmount1: 'text|null',
    DexWithdrawLiquidityDataAmount2: 'text|null', DexWithdrawLiquidityDataAsset1Out: 'raw-address|null',
    DexWithdrawLiquidityDataAsset2Out: 'raw-address|null',
    DexWithdrawLiquidityDataUserJettonWallet1: 'raw-address|null',
    DexWithdrawLiquidityDataUserJettonWallet2: 'raw-address|null',
    DexWithdrawLiquidityDataDexJettonWallet1: 'raw-address|null',
    DexWithdrawLiquidityDataDexJettonWallet2: 'raw-address|null', DexWithdrawLiquidityDataLpTokensBurnt: 'text|null',
    DexWithdrawLiquidityDataBurnedNFTIndex: 'text|null', DexWithdrawLiquidityDataBurnedNFTAddress: 'raw-address|null',
    DexWithdrawLiquidityDataTickLower: 'text|null', DexWithdrawLiquidityDataTickUpper: 'text|null',
    DexDepositLiquidityDataDex: 'text|null', DexDepositLiquidityDataAmount1: 'text|null',
    DexDepositLiquidityDataAmount2: 'text|null', DexDepositLiquidityDataAsset1: 'raw-address|null',
    DexDepositLiquidityDataAsset2: 'raw-address|null', DexDepositLiquidityDataUserJettonWallet1: 'raw-address|null',
    DexDepositLiquidityDataUserJettonWallet2: 'raw-address|null', DexDepositLiquidityDataLpTokensMinted: 'text|null',
    DexDepositLiquidityDataTargetAsset1: 'raw-address|null', DexDepositLiquidityDataTargetAsset2: 'raw-address|null',
    DexDepositLiquidityDataTargetAmount1: 'text|null', DexDepositLiquidityDataTargetAmount2: 'text|null',
    DexDepositLiquidityDataVaultExcesses: 'RawActionVaultExcessEntry[]|null',
    DexDepositLiquidityDataTickLower: 'text|null', DexDepositLiquidityDataTickUpper: 'text|null',
    DexDepositLiquidityDataNFTIndex: 'text|null', DexDepositLiquidityDataNFTAddress: 'raw-address|null',
    StakingDataProvider: 'text|null', StakingDataTsNft: 'raw-address|null', StakingDataTokensBurnt: 'text|null',
    StakingDataTokensMinted: 'text|null', Success: 'bool|null', Finality: 'enum:finality',
    TraceExternalHash: 'base64-hash|null', TraceExternalHashNorm: 'base64-hash|null',
    ExtraCurrencies: 'extra-currency-map|null', MultisigCreateOrderQueryId: 'text|null',
    MultisigCreateOrderOrderSeqno: 'text|null', MultisigCreateOrderIsCreatedBySigner: 'bool|null',
    MultisigCreateOrderIsSignedByCreator: 'bool|null', MultisigCreateOrderCreatorIndex: 'int64-number|null',
    MultisigCreateOrderExpirationDate: 'int64-number|null', MultisigCreateOrderOrderBoc: 'text|null',
    MultisigApproveSignerIndex: 'int64-number|null', MultisigApproveExitCode: 'int32|null',
    MultisigExecuteQueryId: 'text|null', MultisigExecuteOrderSeqno: 'text|null',
    MultisigExecuteExpirationDate: 'int64-number|null', MultisigExecuteApprovalsNum: 'int64-number|null',
    MultisigExecuteSignersHash: 'text|null', MultisigExecuteOrderBoc: 'text|null',
    VestingSendMessageQueryId: 'text|null', VestingSendMessageMessageBoc: 'text|null',
    VestingAddWhitelistQueryId: 'text|null', VestingAddWhitelistAccountsAdded: 'raw-address[]|null',
    EvaaSupplySenderJettonWallet: 'raw-address|null', EvaaSupplyRecipientJettonWallet: 'raw-address|null',
    EvaaSupplyMasterJettonWallet: 'raw-address|null', EvaaSupplyMaster: 'raw-address|null',
    EvaaSupplyAssetId: 'text|null', EvaaSupplyIsTon: 'bool|null', EvaaWithdrawRecipientJettonWallet: 'raw-address|null',
    EvaaWithdrawMasterJettonWallet: 'raw-address|null', EvaaWithdrawMaster: 'raw-address|null',
    EvaaWithdrawFailReason: 'text|null', EvaaWithdrawAssetId: 'text|null', EvaaLiquidateFailReason: 'text|null',
    EvaaLiquidateDebtAmount: 'text|null', EvaaLiquidateAssetId: 'text|null',
    JvaultClaimClaimedJettons: 'raw-address[]|null', JvaultClaimClaimedAmounts: 'text[]|null',
    JvaultStakePeriod: 'int64-number|null', JvaultStakeMintedStakeJettons: 'text|null',
    JvaultStakeStakeWallet: 'raw-address|null', ToncoDeployPoolJetton0RouterWallet: 'raw-address|null',
    ToncoDeployPoolJetton1RouterWallet: 'raw-address|null', ToncoDeployPoolJetton0Minter: 'raw-address|null',
    ToncoDeployPoolJetton1Minter: 'raw-address|null', ToncoDeployPoolTickSpacing: 'text|null',
    ToncoDeployPoolInitialPriceX96: 'text|null', ToncoDeployPoolProtocolFee: 'text|null',
    ToncoDeployPoolLpFeeBase: 'text|null', ToncoDeployPoolLpFeeCurrent: 'text|null',
    ToncoDeployPoolPoolActive: 'bool|null', CoffeeCreatePoolAmount1: 'text|null', CoffeeCreatePoolAmount2: 'text|null',
    CoffeeCreatePoolInitiator1: 'raw-address|null', CoffeeCreatePoolInitiator2: 'raw-address|null',
    CoffeeCreatePoolProvidedAsset: 'raw-address|null', CoffeeCreatePoolLpTokensMinted: 'text|null',
    CoffeeCreatePoolPoolCreatorContract: 'raw-address|null', CoffeeStakingDepositMintedItemAddress: 'raw-address|null',
    CoffeeStakingDepositMintedItemIndex: 'text|null', CoffeeStakingWithdrawNftAddress: 'raw-address|null',
    CoffeeStakingWithdrawNftIndex: 'text|null', CoffeeStakingWithdrawPoints: 'text|null',
    LayerzeroSendSendRequestId: 'uint64-number-unsafe|null', LayerzeroSendMsglibManager: 'text|null',
    LayerzeroSendMsglib: 'text|null', LayerzeroSendUln: 'raw-address|null',
    LayerzeroSendNativeFee: 'uint64-number-unsafe|null', LayerzeroSendZroFee: 'uint64-number-unsafe|null',
    LayerzeroSendEndpoint: 'raw-address|null', LayerzeroSendChannel: 'raw-address|null',
    LayerzeroPacketSrcOapp: 'text|null', LayerzeroPacketDstOapp: 'text|null', LayerzeroPacketSrcEid: 'int32|null',
    LayerzeroPacketDstEid: 'int32|null', LayerzeroPacketNonce: 'int64-number|null', LayerzeroPacketGuid: 'text|null',
    LayerzeroPacketMessage: 'text|null', LayerzeroDvnVerifyNonce: 'int64-number|null',
    LayerzeroDvnVerifyStatus: 'text|null', LayerzeroDvnVerifyDvn: 'raw-address|null',
    LayerzeroDvnVerifyProxy: 'raw-address|null', LayerzeroDvnVerifyUln: 'raw-address|null',
    LayerzeroDvnVerifyUlnConnection: 'raw-address|null', CocoonWorkerPayoutPayoutType: 'text|null',
    CocoonWorkerPayoutQueryId: 'text|null', CocoonWorkerPayoutNewTokens: 'text|null',
    CocoonWorkerPayoutWorkerState: 'int64-number|null', CocoonWorkerPayoutWorkerTokens: 'text|null',
    CocoonProxyPayoutQueryId: 'text|null', CocoonProxyChargeQueryId: 'text|null',
    CocoonProxyChargeNewTokensUsed: 'text|null', CocoonProxyChargeExpectedAddress: 'text|null',
    CocoonClientTopUpQueryId: 'text|null', CocoonRegisterProxyQueryId: 'text|null',
    CocoonUnregisterProxyQueryId: 'text|null', CocoonUnregisterProxySeqno: 'int64-number|null',
    CocoonClientRegisterQueryId: 'text|null', CocoonClientRegisterNonce: 'text|null',
    CocoonClientChangeSecretHashQueryId: 'text|null', CocoonClientChangeSecretHashNewSecretHash: 'text|null',
    CocoonClientRequestRefundQueryId: 'text|null', CocoonClientRequestRefundViaWallet: 'bool|null',
    CocoonGrantRefundQueryId: 'text|null', CocoonGrantRefundNewTokensUsed: 'text|null',
    CocoonGrantRefundExpectedAddress: 'text|null', CocoonClientIncreaseStakeQueryId: 'text|null',
    CocoonClientIncreaseStakeNewStake: 'text|null', CocoonClientWithdrawQueryId: 'text|null',
    CocoonClientWithdrawWithdrawAmount: 'text|null', AncestorType: 'text[]|null', Accounts: 'text[]|null',
  },
  FreeFormUnsupportedDetails: {
    error: 'text',
  },
} as const;

/** Record type of a field by the value of another field; several if a third field decides. */
export const variants = {
  action_details_by_type: {
    call_contract: 'ActionDetailsCallContract', contract_deploy: 'ActionDetailsContractDeploy',
    ton_transfer: 'ActionDetailsTonTransfer', auction_bid: 'ActionDetailsAuctionBid',
    change_dns: 'ActionDetailsChangeDns', delete_dns: 'ActionDetailsDeleteDns', renew_dns: 'ActionDetailsRenewDns',
    dex_deposit_liquidity: 'ActionDetailsDexDepositLiquidity',
    dex_withdraw_liquidity: 'ActionDetailsDexWithdrawLiquidity', election_deposit: 'ActionDetailsElectionDeposit',
    election_recover: 'ActionDetailsElectionRecover', jetton_burn: 'ActionDetailsJettonBurn',
    jetton_swap: 'ActionDetailsJettonSwap|ActionDetailsToncoJettonSwap', jetton_transfer: 'ActionDetailsJettonTransfer',
    jetton_mint: 'ActionDetailsJettonMint', nft_mint: 'ActionDetailsNftMint', nft_transfer: 'ActionDetailsNftTransfer',
    nft_purchase: 'ActionDetailsNftTransfer', dns_purchase: 'ActionDetailsDnsPurchase',
    nft_put_on_sale: 'ActionDetailsNftPutOnSale', nft_put_on_auction: 'ActionDetailsNftPutOnAuction',
    teleitem_start_auction: 'ActionDetailsNftPutOnAuction', tick_tock: 'ActionDetailsTickTock',
    stake_deposit: 'ActionDetailsStakeDeposit', stake_withdrawal: 'ActionDetailsWithdrawStake',
    stake_withdrawal_request: 'ActionDetailsWithdrawStakeRequest', subscribe: 'ActionDetailsSubscribe',
    unsubscribe: 'ActionDetailsUnsubscribe', multisig_create_order: 'ActionDetailsMultisigCreateOrder',
    multisig_approve: 'ActionDetailsMultisigApprove', multisig_execute: 'ActionDetailsMultisigExecute',
    vesting_send_message: 'ActionDetailsVestingSendMessage', vesting_add_whitelist: 'ActionDetailsVestingAddWhitelist',
    evaa_supply: 'ActionDetailsEvaaSupply', evaa_withdraw: 'ActionDetailsEvaaWithdraw',
    evaa_liquidate: 'ActionDetailsEvaaLiquidate', jvault_claim: 'ActionDetailsJvaultClaim',
    jvault_stake: 'ActionDetailsJvaultStake', jvault_unstake: 'ActionDetailsJvaultUnstake',
    jvault_unstake_request: 'ActionDetailsJvaultUnstakeRequest', nft_discovery: 'ActionDetailsNftDiscovery',
    tgbtc_mint: 'ActionDetailsTgbtcMint', tgbtc_mint_fallback: 'ActionDetailsTgbtcMint',
    tgbtc_burn: 'ActionDetailsTgbtcBurn', tgbtc_burn_fallback: 'ActionDetailsTgbtcBurn',
    tgbtc_new_key: 'ActionDetailsTgbtcNewKey', tgbtc_new_key_fallback: 'ActionDetailsTgbtcNewKey',
    tgbtc_dkg_log_fallback: 'ActionDetailsDkgLogFallback', tonco_deploy_pool: 'ActionDetailsToncoDeployPool',
    coffee_create_pool: 'ActionDetailsCoffeeCreatePool',
    coffee_create_pool_creator: 'ActionDetailsCoffeeCreatePoolCreator',
    coffee_staking_deposit: 'ActionDetailsCoffeeStakingDeposit',
    coffee_staking_withdraw: 'ActionDetailsCoffeeStakingWithdraw',
    coffee_staking_claim_rewards: 'ActionDetailsCoffeeStakingClaimRewards',
    coffee_mev_protect_hold_funds: 'ActionDetailsCoffeeMevProtectHoldFunds',
    coffee_create_vault: 'ActionDetailsCoffeeCreateVault', auction_outbid: 'ActionDetailsAuctionOutbid',
    nft_cancel_sale: 'ActionDetailsNftCancelSale', nft_cancel_auction: 'ActionDetailsNftCancelAuction',
    teleitem_cancel_auction: 'ActionDetailsNftCancelAuction', nft_finish_auction: 'ActionDetailsNftFinishAuction',
    dns_release: 'ActionDetailsDnsRelease', nft_update_sale: 'ActionDetailsNftUpdateSale',
    layerzero_send: 'ActionDetailsLayerZeroSend', layerzero_send_tokens: 'ActionDetailsLayerZeroSendTokens',
    layerzero_receive: 'ActionDetailsLayerZeroReceive', layerzero_commit_packet: 'ActionDetailsLayerZeroCommitPacket',
    layerzero_dvn_verify: 'ActionDetailsLayerZeroDvnVerify', cocoon_worker_payout: 'ActionDetailsCocoonWorkerPayout',
    cocoon_proxy_payout: 'ActionDetailsCocoonProxyPayout', cocoon_proxy_charge: 'ActionDetailsCocoonProxyCharge',
    cocoon_client_top_up: 'ActionDetailsCocoonClientTopUp', cocoon_register_proxy: 'ActionDetailsCocoonRegisterProxy',
    cocoon_unregister_proxy: 'ActionDetailsCocoonUnregisterProxy',
    cocoon_client_register: 'ActionDetailsCocoonClientRegister',
    cocoon_client_change_secret_hash: 'ActionDetailsCocoonClientChangeSecretHash',
    cocoon_client_request_refund: 'ActionDetailsCocoonClientRequestRefund',
    cocoon_grant_refund: 'ActionDetailsCocoonGrantRefund',
    cocoon_client_increase_stake: 'ActionDetailsCocoonClientIncreaseStake',
    cocoon_client_withdraw: 'ActionDetailsCocoonClientWithdraw',
    extra_currency_transfer: 'ActionDetailsTonTransfer|ActionDetailsCallContract',
    unknown: 'FreeFormUnsupportedDetails', coffee_mev_protect_failed_swap: 'FreeFormUnsupportedDetails',
  },
  parsed_body_by_type: {
    jetton_transfer: 'JettonTransferBody', jetton_burn: 'JettonBurnBody', jetton_mint: 'JettonMinterBody',
    nft_transfer: 'NFTTransferBody', ton_transfer: 'TonTransferMessage', jetton_top_up: 'JettonTopUpBody',
    jetton_change_admin: 'JettonChangeAdminBody', jetton_claim_admin: 'JettonClaimAdminBody',
    jetton_change_content: 'JettonChangeContentBody', jetton_call_to: 'JettonCallToBody',
    jetton_set_status: 'JettonSetStatusBody', single_nominator_withdraw: 'SingleNominatorWithdrawBody',
    single_nominator_change_validator: 'SingleNominatorChangeValidatorBody',
    vesting_internal_transfer: 'VestingInternalTransferBody', multisig_update_params: 'MultisigUpdateParamsBody',
    unknown: 'UnknownMessage',
  },
  nft_sale_details_by_type: {
    getgems_sale: 'NFTSaleDetailsGetgemsSale', getgems_auction: 'NFTSaleDetailsGetgemsAuction',
    telemint: 'NFTSaleDetailsTeleitem',
  },
} as const;

/** Known values of fields; newer servers may send others. */
export const enums = {
  account_status: [
    'uninit', 'frozen', 'active', 'nonexist',
  ],
  storage_status_change: [
    'unchanged', 'frozen', 'deleted',
  ],
  action_status_change: [
    'unchanged', 'frozen', 'deleted',
  ],
  compute_skip_reason: [
    'no_state', 'bad_state', 'no_gas', 'suspended',
  ],
  bounce_type: [
    'negfunds', 'nofunds', 'ok',
  ],
  description_type: [
    'ord', 'storage', 'tick_tock', 'split_prepare', 'split_install', 'merge_prepare', 'merge_install',
  ],
  finality: [
    'pending', 'confirmed', 'finalized',
  ],
  trace_state: [
    'complete', 'pending', 'broken',
  ],
  classification_state: [
    'unclassified', 'ok', 'failed', 'broken',
  ],
  token_info_type: [
    'nft_items', 'nft_collections', 'jetton_masters', 'jetton_wallets',
  ],
  wallet_type: [
    'wallet v1 r1', 'wallet v1 r2', 'wallet v1 r3', 'wallet v2 r1', 'wallet v2 r2', 'wallet v3 r1', 'wallet v3 r2',
    'wallet v4 r1', 'wallet v4 r2', 'wallet v5 beta', 'wallet v5 r1',
  ],
  nft_sale_type: [
    'getgems_sale', 'getgems_auction', 'telemint',
  ],
  dex: [
    'stonfi', 'stonfi_v2', 'dedust', 'tonco', 'coffee',
  ],
  staking_provider: [
    'liquid_staking', 'nominator', 'ethena',
  ],
  dns_sum_type: [
    'DNSNextResolver', 'DNSAdnlAddress', 'DNSSmcAddress', 'DNSStorageAddress', 'DNSText',
  ],
  layerzero_dvn_status: [
    'succeeded', 'nonce_out_of_range', 'dvn_not_configured', 'unknown_<code>',
  ],
  cocoon_payout_type: [
    'regular', 'last',
  ],
  parsed_body_type: [
    'jetton_transfer', 'jetton_burn', 'jetton_mint', 'nft_transfer', 'ton_transfer', 'jetton_top_up',
    'jetton_change_admin', 'jetton_claim_admin', 'jetton_change_content', 'jetton_call_to', 'jetton_set_status',
    'single_nominator_withdraw', 'single_nominator_change_validator', 'vesting_internal_transfer',
    'multisig_update_params', 'unknown',
  ],
  payload_sum_type: [
    'TextComment', 'EncryptedTextComment', 'StonfiSwap', 'Unknown', '',
  ],
  stack_entry_type: [
    'num', 'cell', 'slice', 'tuple', 'list',
  ],
} as const;

/** Action types by the names that `supported_action_types` gives them; names can contain each other. */
export const actionTypeSets = {
  v1: [
    'call_contract', 'contract_deploy', 'ton_transfer', 'stake_deposit', 'stake_withdrawal', 'stake_withdrawal_request',
    'dex_deposit_liquidity', 'jetton_transfer', 'nft_transfer', 'nft_mint', 'jetton_burn', 'jetton_mint', 'jetton_swap',
    'change_dns', 'delete_dns', 'renew_dns', 'subscribe', 'dex_withdraw_liquidity', 'unsubscribe', 'election_deposit',
    'election_recover', 'auction_bid', 'tick_tock',
  ],
  v2: [
    'call_contract', 'contract_deploy', 'ton_transfer', 'stake_deposit', 'stake_withdrawal', 'stake_withdrawal_request',
    'dex_deposit_liquidity', 'jetton_transfer', 'nft_transfer', 'nft_mint', 'jetton_burn', 'jetton_mint', 'jetton_swap',
    'change_dns', 'delete_dns', 'renew_dns', 'subscribe', 'dex_withdraw_liquidity', 'unsubscribe', 'election_deposit',
    'election_recover', 'auction_bid', 'tick_tock', 'multisig_create_order', 'multisig_approve', 'multisig_execute',
    'vesting_send_message', 'vesting_add_whitelist', 'evaa_supply', 'evaa_withdraw', 'evaa_liquidate', 'jvault_stake',
    'jvault_unstake', 'jvault_claim', 'jvault_unstake_request', 'nft_discovery', 'tonco_deploy_pool',
    'coffee_create_vault', 'coffee_create_pool_creator', 'coffee_create_pool', 'coffee_mev_protect_hold_funds',
    'coffee_mev_protect_failed_swap', 'coffee_staking_claim_rewards', 'coffee_staking_deposit',
    'coffee_staking_withdraw', 'unknown',
  ],
  v3: [
    'v2', 'nft_put_on_sale', 'nft_put_on_auction', 'auction_outbid', 'nft_cancel_sale', 'nft_purchase',
    'nft_cancel_auction', 'nft_finish_auction', 'teleitem_start_auction', 'teleitem_cancel_auction', 'nft_update_sale',
    'dns_purchase', 'dns_release', 'layerzero_send', 'layerzero_send_tokens', 'layerzero_receive',
    'layerzero_commit_packet', 'layerzero_dvn_verify',
  ],
  v4: [
    'v3', 'cocoon_worker_payout', 'cocoon_proxy_payout', 'cocoon_proxy_charge', 'cocoon_client_top_up',
    'cocoon_register_proxy', 'cocoon_unregister_proxy', 'cocoon_client_register', 'cocoon_client_change_secret_hash',
    'cocoon_client_request_refund', 'cocoon_grant_refund', 'cocoon_client_increase_stake', 'cocoon_client_withdraw',
  ],
  latest: [
    'v4',
  ],
  staking: [
    'stake_deposit', 'stake_withdrawal', 'stake_withdrawal_request',
  ],
  jettons: [
    'jetton_transfer', 'jetton_burn', 'jetton_mint',
  ],
  nft: [
    'nft_transfer', 'nft_mint', 'auction_bid',
  ],
  'nft.v3': [
    'nft', 'nft_put_on_sale', 'nft_put_on_auction', 'auction_outbid', 'nft_cancel_sale', 'nft_purchase',
    'nft_cancel_auction', 'nft_finish_auction', 'teleitem_start_auction', 'teleitem_cancel_auction', 'nft_update_sale',
    'dns_purchase', 'dns_release',
  ],
  dns: [
    'change_dns', 'delete_dns', 'renew_dns', 'dns_purchase', 'dns_release',
  ],
  'dns.v2': [
    'dns', 'dns_purchase', 'dns_release',
  ],
  multisig: [
    'multisig_create_order', 'multisig_approve', 'multisig_execute',
  ],
  vesting: [
    'vesting_send_message', 'vesting_add_whitelist',
  ],
  evaa: [
    'evaa_supply', 'evaa_withdraw', 'evaa_liquidate',
  ],
  jvault: [
    'jvault_stake', 'jvault_unstake', 'jvault_claim', 'jvault_unstake_request',
  ],
  coffee: [
    'coffee_create_vault', 'coffee_create_pool_creator', 'coffee_create_pool', 'coffee_mev_protect_hold_funds',
    'coffee_staking_claim_rewards', 'coffee_staking_deposit', 'coffee_staking_withdraw',
  ],
  tgbtc: [
    'tgbtc_dkg_log_fallback', 'tgbtc_new_key', 'tgbtc_new_key_fallback', 'tgbtc_burn', 'tgbtc_burn_fallback',
    'tgbtc_mint', 'tgbtc_mint_fallback',
  ],
  layerzero: [
    'layerzero_send', 'layerzero_send_tokens', 'layerzero_receive', 'layerzero_commit_packet', 'layerzero_dvn_verify',
  ],
  cocoon: [
    'cocoon_worker_payout', 'cocoon_proxy_payout', 'cocoon_proxy_charge', 'cocoon_client_top_up',
    'cocoon_register_proxy', 'cocoon_unregister_proxy', 'cocoon_client_register', 'cocoon_client_change_secret_hash',
    'cocoon_client_request_refund', 'cocoon_grant_refund', 'cocoon_client_increase_stake', 'cocoon_client_withdraw',
  ],
} as const;
