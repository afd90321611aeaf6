/**
 * Details of the action types that no trace of the sandbox has by itself: fields as `name:kind`, `?` when null is possible,
 * `~` when the key may be missing, `@` a record, `*` a list of records, `=` one of the words.
 */
export const RECORDS: Readonly<Record<string, string>> = {
  AuctionBid:
    'amount:amount? bidder:address? auction:address? nft_item:address? nft_collection:address? ' +
    'nft_item_index:index?',
  ChangeDnsValue:
    'sum_type:=DNSNextResolver|DNSAdnlAddress|DNSSmcAddress|DNSStorageAddress|DNSText? ' +
    'dns_smc_address:address? dns_adnl_address:hex? dns_text:text? dns_next_resolver_address:address? ' +
    'dns_storage_address:hex? flags:int?',
  ChangeDns: 'key:hex? value:@ChangeDnsValue source:address? asset:address? nft_collection:address?',
  DeleteDns: 'hash:hex? source:address? asset:address? nft_collection:address?',
  RenewDns: 'source:address? asset:address? nft_collection:address?',
  LiquidityVaultExcess: 'asset:address? amount:amount?',
  DexDepositLiquidity:
    'dex:=stonfi|stonfi_v2|dedust|tonco|coffee? amount_1:amount? amount_2:amount? asset_1:address? ' +
    'asset_2:address? user_jetton_wallet_1:address? user_jetton_wallet_2:address? source:address? ' +
    'pool:address? destination_liquidity:address? lp_tokens_minted:amount? target_asset_1:address? ' +
    'target_asset_2:address? target_amount_1:amount? target_amount_2:amount? ' +
    'vault_excesses:*LiquidityVaultExcess tick_lower:tick? tick_upper:tick? nft_index:index? ' +
    'nft_address:address?',
  DexWithdrawLiquidity:
    'dex:=stonfi|stonfi_v2|dedust|tonco|coffee? amount_1:amount? amount_2:amount? asset_1:address? ' +
    'asset_2:address? user_jetton_wallet_1:address? user_jetton_wallet_2:address? lp_tokens_burnt:amount? ' +
    'is_refund:bool? source:address? pool:address? destination_liquidity:address? burnt_nft_index:index? ' +
    'burnt_nft_address:address? tick_lower:tick? tick_upper:tick?',
  ElectionRecover: 'stake_holder:address? amount:amount~',
  JettonSwapTransfer:
    'asset:address? source:address? destination:address? source_jetton_wallet:address? ' +
    'destination_jetton_wallet:address? amount:amount?',
  JettonSwapPeerSwap: 'asset_in:address? amount_in:amount? asset_out:address? amount_out:amount?',
  JettonSwap:
    'dex:=stonfi|stonfi_v2|dedust|tonco|coffee? sender:address? asset_in:address? asset_out:address? ' +
    'dex_incoming_transfer:@JettonSwapTransfer dex_outgoing_transfer:@JettonSwapTransfer ' +
    'peer_swaps:*JettonSwapPeerSwap',
  ToncoJettonSwap:
    'dex:=stonfi|stonfi_v2|dedust|tonco|coffee? sender:address? asset_in:address? asset_out:address? ' +
    'dex_incoming_transfer:@JettonSwapTransfer dex_outgoing_transfer:@JettonSwapTransfer ' +
    'peer_swaps:*JettonSwapPeerSwap min_out_amount:amount?',
  JettonMint: 'asset:address? receiver:address? receiver_jetton_wallet:address? amount:amount? ton_amount:amount?',
  NftMint: 'owner:address~ nft_item:address? nft_collection:address? nft_item_index:index?',
  NftTransfer:
    'nft_collection:address? nft_item:address? nft_item_index:index? old_owner:address~ ' +
    'new_owner:address? is_purchase:bool? price:amount~ query_id:query? response_destination:address? ' +
    'custom_payload:boc? forward_payload:boc? forward_amount:amount? comment:text? ' +
    'is_encrypted_comment:bool? marketplace:text? real_old_owner:address? marketplace_address:address? ' +
    'payout_amount:amount? payout_address:address? payout_comment:text? payout_comment_encrypted:bool? ' +
    'payout_comment_encoded:bool? royalty_amount:amount? royalty_address:address?',
  DnsPurchase:
    'nft_collection:address? nft_item:address? nft_item_index:index? new_owner:address? price:amount? ' +
    'query_id:query? payout_amount:amount?',
  NftPutOnSale:
    'nft_collection:address? nft_item:address? nft_item_index:index? owner:address? ' +
    'listing_address:address? sale_address:address? marketplace_address:address? full_price:amount? ' +
    'marketplace_fee:amount? royalty_amount:amount? marketplace_fee_address:address? ' +
    'royalty_address:address? marketplace:text?',
  NftPutOnAuction:
    'nft_collection:address? nft_item:address? nft_item_index:index? owner:address? ' +
    'listing_address:address? auction_address:address? marketplace_address:address? ' +
    'marketplace_fee_factor:numeric? marketplace_fee_base:numeric? royalty_fee_base:numeric? ' +
    'max_bid:amount? min_bid:amount? marketplace_fee_address:address? royalty_address:address? ' +
    'marketplace:text?',
  TickTock: 'account:address~',
  StakeDeposit:
    'provider:=liquid_staking|nominator|ethena? stake_holder:address? pool:address? amount:amount? ' +
    'tokens_minted:amount? asset:address? source_asset:address~',
  WithdrawStake:
    'provider:=liquid_staking|nominator|ethena? stake_holder:address? pool:address? amount:amount? ' +
    'payout_nft:address? tokens_burnt:amount? asset:address?',
  WithdrawStakeRequest:
    'provider:=liquid_staking|nominator|ethena? stake_holder:address? pool:address? payout_nft:address? ' +
    'asset:address? tokens_burnt:amount? tokens_minted:amount~',
  Subscribe: 'subscriber:address? beneficiary:address~ subscription:address? amount:amount?',
  Unsubscribe: 'subscriber:address? beneficiary:address~ subscription:address? amount:amount~',
  MultisigCreateOrder:
    'query_id:query? order_seqno:index? is_created_by_signer:bool? is_signed_by_creator:bool? ' +
    'creator_index:int? expiration_date:int? order_boc:boc? source:address? destination:address? ' +
    'destination_order:address?',
  MultisigApprove: 'signer_index:int? exit_code:int32? source:address? destination:address?',
  MultisigExecute:
    'query_id:query? order_seqno:index? expiration_date:int? approvals_num:int? signers_hash:hash? ' +
    'order_boc:boc? source:address? destination:address?',
  VestingSendMessage:
    'query_id:query? message_boc:boc? source:address? vesting:address? destination:address? ' + 'amount:amount?',
  VestingAddWhitelist: 'query_id:query? accounts_added:addresses? source:address? vesting:address?',
  EvaaSupply:
    'sender_jetton_wallet:address? recipient_jetton_wallet:address? master_jetton_wallet:address? ' +
    'master:address? asset_id:hex0x? is_ton:bool? source:address? source_wallet:address? ' +
    'recipient:address? recipient_contract:address? asset:address? amount:amount?',
  EvaaWithdraw:
    'recipient_jetton_wallet:address? master_jetton_wallet:address? master:address? fail_reason:text? ' +
    'asset_id:hex0x? source:address? recipient:address? owner_contract:address? asset:address? ' +
    'amount:amount?',
  EvaaLiquidate:
    'fail_reason:text? debt_amount:amount? source:address? borrower:address? borrower_contract:address? ' +
    'collateral:foreign? asset_id:hex0x? asset:address? is_known_asset:bool amount:amount?',
  JettonAmountPair: 'jetton:address? amount:amount?',
  JvaultClaim: 'claimed_rewards:*JettonAmountPair source:address? stake_wallet:address? pool:address?',
  JvaultStake:
    'period:int? minted_stake_jettons:amount? stake_wallet:address? source:address? ' +
    'source_jetton_wallet:address? asset:address? pool:address? amount:amount?',
  JvaultUnstake:
    'source:address? stake_wallet:address? pool:address? amount:amount? exit_code:int? asset:address? ' +
    'staking_asset:address?',
  JvaultUnstakeRequest:
    'source:address? stake_wallet:address? pool:address? amount:amount? exit_code:int? asset:address? ' +
    'staking_asset:address?',
  NftDiscovery: 'source:address? nft_item:address? nft_collection:address? nft_item_index:index?',
  TgbtcMint:
    'source:address? destination:address? amount:amount? asset:address? bitcoin_tx_id:hex? ' +
    'destination_wallet:address?',
  TgbtcBurn: 'source:address? source_wallet:address? destination:address? amount:amount? asset:address?',
  TgbtcNewKey: 'source:address? pubkey:hex? coordinator:address? pegout:address? amount:amount? asset:address?',
  DkgLogFallback: 'coordinator:address? pubkey:hex? timestamp:seconds?',
  ToncoDeployPool:
    'source:address? pool:address? router:address? router_jetton_wallet_1:address? ' +
    'router_jetton_wallet_2:address? jetton_minter_1:address? jetton_minter_2:address? tick_spacing:tick? ' +
    'initial_price_x96:numeric? protocol_fee:tick? lp_fee_base:tick? lp_fee_current:tick? ' +
    'pool_active:bool?',
  CoffeeCreatePool:
    'source:address? source_jetton_wallet:address? initiator_1:address? initiator_2:address? ' +
    'pool:address? pool_creator_contract:address? provided_asset:address? amount:amount? asset_1:address? ' +
    'asset_2:address? amount_1:amount? amount_2:amount? lp_tokens_minted:amount?',
  CoffeeCreatePoolCreator:
    'source:address? source_jetton_wallet:address? deposit_recipient:address? ' +
    'pool_creator_contract:address? provided_asset:address? asset_1:address? asset_2:address? ' +
    'amount:amount?',
  CoffeeStakingDeposit:
    'source:address? source_jetton_wallet:address? pool:address? pool_jetton_wallet:address? ' +
    'asset:address? amount:amount? minted_item_address:address? minted_item_index:index?',
  CoffeeStakingWithdraw:
    'source:address? source_jetton_wallet:address? pool:address? pool_jetton_wallet:address? ' +
    'asset:address? amount:amount? nft_address:address? nft_index:index? points:amount?',
  CoffeeStakingClaimRewards:
    'pool:address? pool_jetton_wallet:address? recipient:address? recipient_jetton_wallet:address? ' +
    'asset:address? amount:amount?',
  CoffeeMevProtectHoldFunds:
    'source:address? source_jetton_wallet:address? mev_contract:address? ' +
    'mev_contract_jetton_wallet:address? asset:address? amount:amount?',
  CoffeeCreateVault: 'source:address? vault:address? asset:address? value:amount?',
  AuctionOutbid:
    'auction_address:address? bidder:address? new_bidder:address? nft_item:address? ' +
    'nft_collection:address? amount:amount? comment:text~ marketplace:text~',
  NftCancelSale:
    'owner:address? nft_item:address? nft_collection:address? sale_address:address? ' +
    'marketplace_address:address? marketplace:text?',
  NftCancelAuction:
    'owner:address? nft_item:address? nft_collection:address? auction_address:address? ' +
    'marketplace_address:address? marketplace:text?',
  NftFinishAuction:
    'owner:address? nft_item:address? nft_collection:address? auction_address:address? ' +
    'marketplace_address:address? marketplace:text?',
  DnsRelease:
    'query_id:query? source:address? nft_item:address? nft_collection:address? nft_item_index:index? ' +
    'value:amount?',
  NftUpdateSale:
    'source:address? sale_contract:address? nft_address:address? marketplace_address:address? ' +
    'marketplace:text? full_price:amount? marketplace_fee:amount? royalty_amount:amount?',
  LayerZeroSendDetails:
    'send_request_id:big? msglib_manager:text? msglib:text? uln:address? native_fee:big? zro_fee:big? ' +
    'endpoint:address? channel:address?',
  LayerZeroPacket:
    'src_oapp:hex0x? dst_oapp:hex0x? src_eid:int32? dst_eid:int32? nonce:int? guid:hex0x? message:hex0x?',
  LayerZeroSend: 'initiator:address? layerzero_send_data:@LayerZeroSendDetails layerzero_packet_data:@LayerZeroPacket',
  LayerZeroSendTokens:
    'sender:address? sender_wallet:address? oapp:address? oapp_wallet:address? asset:address? ' +
    'amount:amount? layerzero_send_data:@LayerZeroSendDetails layerzero_packet_data:@LayerZeroPacket',
  LayerZeroReceive: 'sender:address? oapp:address? channel:address? layerzero_packet_data:@LayerZeroPacket',
  LayerZeroCommitPacket:
    'sender:address? endpoint:address? uln:address? uln_connection:address? channel:address? ' +
    'msglib_connection:address? layerzero_packet_data:@LayerZeroPacket',
  LayerZeroDvnVerify:
    'initiator:address? nonce:int? ' +
    'status:=succeeded|nonce_out_of_range|dvn_not_configured|unknown_<code>? dvn:address? proxy:address? ' +
    'uln:address? uln_connection:address?',
  CocoonWorkerPayout:
    'payout_type:=regular|last? query_id:query? new_tokens:amount? worker_state:int? ' +
    'worker_tokens:amount? source:address? destination:address? amount:amount?',
  CocoonProxyPayout: 'query_id:query? source:address? destination:address?',
  CocoonProxyCharge:
    'query_id:query? new_tokens_used:amount? expected_address:text? source:address? destination:address?',
  CocoonClientTopUp: 'query_id:query? source:address? destination:address? amount:amount?',
  CocoonRegisterProxy: 'query_id:query? destination:address?',
  CocoonUnregisterProxy: 'query_id:query? seqno:int? destination:address?',
  CocoonClientRegister: 'query_id:query? nonce:query? source:address? destination:address?',
  CocoonClientChangeSecretHash: 'query_id:query? new_secret_hash:hex? source:address? destination:address?',
  CocoonClientRequestRefund: 'query_id:query? via_wallet:bool? source:address? destination:address?',
  CocoonGrantRefund:
    'query_id:query? new_tokens_used:amount? expected_address:text? source:address? destination:address? ' +
    'amount:amount?',
  CocoonClientIncreaseStake: 'query_id:query? new_stake:amount? source:address? destination:address? amount:amount?',
  CocoonClientWithdraw: 'query_id:query? withdraw_amount:amount? source:address? destination:address? amount:amount?',
};

/** The record of each such type; no record where the server sends its raw row instead. */
export const TYPES: Readonly<Record<string, string>> = {
  auction_bid: 'AuctionBid',
  change_dns: 'ChangeDns',
  delete_dns: 'DeleteDns',
  renew_dns: 'RenewDns',
  dex_deposit_liquidity: 'DexDepositLiquidity',
  dex_withdraw_liquidity: 'DexWithdrawLiquidity',
  election_recover: 'ElectionRecover',
  jetton_swap: 'JettonSwap',
  jetton_mint: 'JettonMint',
  nft_mint: 'NftMint',
  nft_purchase: 'NftTransfer',
  dns_purchase: 'DnsPurchase',
  nft_put_on_sale: 'NftPutOnSale',
  nft_put_on_auction: 'NftPutOnAuction',
  teleitem_start_auction: 'NftPutOnAuction',
  tick_tock: 'TickTock',
  stake_deposit: 'StakeDeposit',
  stake_withdrawal: 'WithdrawStake',
  stake_withdrawal_request: 'WithdrawStakeRequest',
  subscribe: 'Subscribe',
  unsubscribe: 'Unsubscribe',
  multisig_create_order: 'MultisigCreateOrder',
  multisig_approve: 'MultisigApprove',
  multisig_execute: 'MultisigExecute',
  vesting_send_message: 'VestingSendMessage',
  vesting_add_whitelist: 'VestingAddWhitelist',
  evaa_supply: 'EvaaSupply',
  evaa_withdraw: 'EvaaWithdraw',
  evaa_liquidate: 'EvaaLiquidate',
  jvault_claim: 'JvaultClaim',
  jvault_stake: 'JvaultStake',
  jvault_unstake: 'JvaultUnstake',
  jvault_unstake_request: 'JvaultUnstakeRequest',
  nft_discovery: 'NftDiscovery',
  tgbtc_mint: 'TgbtcMint',
  tgbtc_mint_fallback: 'TgbtcMint',
  tgbtc_burn: 'TgbtcBurn',
  tgbtc_burn_fallback: 'TgbtcBurn',
  tgbtc_new_key: 'TgbtcNewKey',
  tgbtc_new_key_fallback: 'TgbtcNewKey',
  tgbtc_dkg_log_fallback: 'DkgLogFallback',
  tonco_deploy_pool: 'ToncoDeployPool',
  coffee_create_pool: 'CoffeeCreatePool',
  coffee_create_pool_creator: 'CoffeeCreatePoolCreator',
  coffee_staking_deposit: 'CoffeeStakingDeposit',
  coffee_staking_withdraw: 'CoffeeStakingWithdraw',
  coffee_staking_claim_rewards: 'CoffeeStakingClaimRewards',
  coffee_mev_protect_hold_funds: 'CoffeeMevProtectHoldFunds',
  coffee_create_vault: 'CoffeeCreateVault',
  auction_outbid: 'AuctionOutbid',
  nft_cancel_sale: 'NftCancelSale',
  nft_cancel_auction: 'NftCancelAuction',
  teleitem_cancel_auction: 'NftCancelAuction',
  nft_finish_auction: 'NftFinishAuction',
  dns_release: 'DnsRelease',
  nft_update_sale: 'NftUpdateSale',
  layerzero_send: 'LayerZeroSend',
  layerzero_send_tokens: 'LayerZeroSendTokens',
  layerzero_receive: 'LayerZeroReceive',
  layerzero_commit_packet: 'LayerZeroCommitPacket',
  layerzero_dvn_verify: 'LayerZeroDvnVerify',
  cocoon_worker_payout: 'CocoonWorkerPayout',
  cocoon_proxy_payout: 'CocoonProxyPayout',
  cocoon_proxy_charge: 'CocoonProxyCharge',
  cocoon_client_top_up: 'CocoonClientTopUp',
  cocoon_register_proxy: 'CocoonRegisterProxy',
  cocoon_unregister_proxy: 'CocoonUnregisterProxy',
  cocoon_client_register: 'CocoonClientRegister',
  cocoon_client_change_secret_hash: 'CocoonClientChangeSecretHash',
  cocoon_client_request_refund: 'CocoonClientRequestRefund',
  cocoon_grant_refund: 'CocoonGrantRefund',
  cocoon_client_increase_stake: 'CocoonClientIncreaseStake',
  cocoon_client_withdraw: 'CocoonClientWithdraw',
  unknown: '',
  coffee_mev_protect_failed_swap: '',
};
