/**
 * Details of the action types that no trace of the sandbox has otherwise: fields as `name:kind`, or a name for an address. Values can be
 * null except with `!`, keys can be missing with `~`. `@` is a record, `*` a list of records, `=` one of several words. A type can have
 * the details of another (`=type`), or none if the server sends its raw row instead.
 */
export const DETAILS: Readonly<Record<string, string>> = {
  auction_bid: 'amount:amount bidder auction nft_item nft_collection nft_item_index:index',
  change_dns: 'key:hex value:@ChangeDnsValue source asset nft_collection',
  delete_dns: 'hash:hex source asset nft_collection',
  renew_dns: 'source asset nft_collection',
  dex_deposit_liquidity:
    'dex:=stonfi|stonfi_v2|dedust|tonco|coffee amount_1:amount amount_2:amount asset_1 asset_2 user_jetton_wallet_1 ' +
    'user_jetton_wallet_2 source pool destination_liquidity lp_tokens_minted:amount target_asset_1 target_asset_2 ' +
    'target_amount_1:amount target_amount_2:amount vault_excesses:*LiquidityVaultExcess tick_lower:tick ' +
    'tick_upper:tick nft_index:index nft_address',
  dex_withdraw_liquidity:
    'dex:=stonfi|stonfi_v2|dedust|tonco|coffee amount_1:amount amount_2:amount asset_1 asset_2 user_jetton_wallet_1 ' +
    'user_jetton_wallet_2 lp_tokens_burnt:amount is_refund:bool source pool destination_liquidity ' +
    'burnt_nft_index:index burnt_nft_address tick_lower:tick tick_upper:tick',
  election_recover: 'stake_holder amount:amount~',
  jetton_mint: 'asset receiver receiver_jetton_wallet amount:amount ton_amount:amount',
  nft_mint: 'owner~ nft_item! nft_collection! nft_item_index:index',
  dns_purchase:
    'nft_collection nft_item nft_item_index:index new_owner price:amount query_id:query payout_amount:amount',
  nft_put_on_sale:
    'nft_collection nft_item nft_item_index:index owner listing_address sale_address marketplace_address ' +
    'full_price:amount marketplace_fee:amount royalty_amount:amount marketplace_fee_address royalty_address ' +
    'marketplace:text',
  nft_put_on_auction:
    'nft_collection nft_item nft_item_index:index owner listing_address auction_address marketplace_address ' +
    'marketplace_fee_factor:numeric marketplace_fee_base:numeric royalty_fee_base:numeric max_bid:amount ' +
    'min_bid:amount marketplace_fee_address royalty_address marketplace:text',
  teleitem_start_auction: '=nft_put_on_auction',
  tick_tock: 'account~',
  stake_deposit:
    'provider:=liquid_staking|nominator|ethena stake_holder pool amount:amount tokens_minted:amount asset ' +
    'source_asset~',
  stake_withdrawal:
    'provider:=liquid_staking|nominator|ethena stake_holder pool amount:amount payout_nft tokens_burnt:amount asset',
  stake_withdrawal_request:
    'provider:=liquid_staking|nominator|ethena stake_holder pool payout_nft asset tokens_burnt:amount ' +
    'tokens_minted:amount~',
  subscribe: 'subscriber beneficiary~ subscription amount:amount',
  unsubscribe: 'subscriber beneficiary~ subscription amount:amount~',
  multisig_create_order:
    'query_id:query order_seqno:index is_created_by_signer:bool is_signed_by_creator:bool creator_index:int ' +
    'expiration_date:int order_boc:boc source destination destination_order',
  multisig_approve: 'signer_index:int exit_code:int32 source destination',
  multisig_execute:
    'query_id:query order_seqno:index expiration_date:int approvals_num:int signers_hash:hash order_boc:boc source ' +
    'destination',
  vesting_send_message: 'query_id:query message_boc:boc source vesting destination amount:amount',
  vesting_add_whitelist: 'query_id:query accounts_added:addresses source vesting',
  evaa_supply:
    'sender_jetton_wallet recipient_jetton_wallet master_jetton_wallet master asset_id:hex0x is_ton:bool source ' +
    'source_wallet recipient recipient_contract asset amount:amount',
  evaa_withdraw:
    'recipient_jetton_wallet master_jetton_wallet master fail_reason:text asset_id:hex0x source recipient ' +
    'owner_contract asset amount:amount',
  evaa_liquidate:
    'fail_reason:text debt_amount:amount source borrower borrower_contract collateral:foreign asset_id:hex0x asset ' +
    'is_known_asset:bool! amount:amount',
  jvault_claim: 'claimed_rewards:*JettonAmountPair source stake_wallet pool',
  jvault_stake:
    'period:int minted_stake_jettons:amount stake_wallet source source_jetton_wallet asset pool amount:amount',
  jvault_unstake: 'source stake_wallet pool amount:amount exit_code:int asset staking_asset',
  jvault_unstake_request: '=jvault_unstake',
  nft_discovery: 'source nft_item nft_collection nft_item_index:index',
  tgbtc_mint: 'source destination amount:amount asset bitcoin_tx_id:hex destination_wallet',
  tgbtc_mint_fallback: '=tgbtc_mint',
  tgbtc_burn: 'source source_wallet destination amount:amount asset',
  tgbtc_burn_fallback: '=tgbtc_burn',
  tgbtc_new_key: 'source pubkey:hex coordinator pegout amount:amount asset',
  tgbtc_new_key_fallback: '=tgbtc_new_key',
  tgbtc_dkg_log_fallback: 'coordinator pubkey:hex timestamp:seconds',
  tonco_deploy_pool:
    'source pool router router_jetton_wallet_1 router_jetton_wallet_2 jetton_minter_1 jetton_minter_2 ' +
    'tick_spacing:tick initial_price_x96:numeric protocol_fee:tick lp_fee_base:tick lp_fee_current:tick ' +
    'pool_active:bool',
  coffee_create_pool:
    'source source_jetton_wallet initiator_1 initiator_2 pool pool_creator_contract provided_asset amount:amount ' +
    'asset_1 asset_2 amount_1:amount amount_2:amount lp_tokens_minted:amount',
  coffee_create_pool_creator:
    'source source_jetton_wallet deposit_recipient pool_creator_contract provided_asset asset_1 asset_2 amount:amount',
  coffee_staking_deposit:
    'source source_jetton_wallet pool pool_jetton_wallet asset amount:amount minted_item_address ' +
    'minted_item_index:index',
  coffee_staking_withdraw:
    'source source_jetton_wallet pool pool_jetton_wallet asset amount:amount nft_address nft_index:index ' +
    'points:amount',
  coffee_staking_claim_rewards: 'pool pool_jetton_wallet recipient recipient_jetton_wallet asset amount:amount',
  coffee_mev_protect_hold_funds:
    'source source_jetton_wallet mev_contract mev_contract_jetton_wallet asset amount:amount',
  coffee_create_vault: 'source vault asset value:amount',
  auction_outbid:
    'auction_address bidder new_bidder nft_item nft_collection amount:amount comment:text~ marketplace:text~',
  nft_cancel_sale: 'owner nft_item nft_collection sale_address marketplace_address marketplace:text',
  nft_cancel_auction: 'owner nft_item nft_collection auction_address marketplace_address marketplace:text',
  teleitem_cancel_auction: '=nft_cancel_auction',
  nft_finish_auction: '=nft_cancel_auction',
  dns_release: 'query_id:query source nft_item nft_collection nft_item_index:index value:amount',
  nft_update_sale:
    'source sale_contract nft_address marketplace_address marketplace:text full_price:amount marketplace_fee:amount ' +
    'royalty_amount:amount',
  layerzero_send: 'initiator layerzero_send_data:@LayerZeroSendDetails layerzero_packet_data:@LayerZeroPacket',
  layerzero_send_tokens:
    'sender sender_wallet oapp oapp_wallet asset amount:amount layerzero_send_data:@LayerZeroSendDetails ' +
    'layerzero_packet_data:@LayerZeroPacket',
  layerzero_receive: 'sender oapp channel layerzero_packet_data:@LayerZeroPacket',
  layerzero_commit_packet:
    'sender endpoint uln uln_connection channel msglib_connection layerzero_packet_data:@LayerZeroPacket',
  layerzero_dvn_verify:
    'initiator nonce:int status:=succeeded|nonce_out_of_range|dvn_not_configured|unknown_<code> dvn proxy uln ' +
    'uln_connection',
  cocoon_worker_payout:
    'payout_type:=regular|last query_id:query new_tokens:amount worker_state:int worker_tokens:amount source ' +
    'destination amount:amount',
  cocoon_proxy_payout: 'query_id:query source destination',
  cocoon_proxy_charge: 'query_id:query new_tokens_used:amount expected_address:text source destination',
  cocoon_client_top_up: 'query_id:query source destination amount:amount',
  cocoon_register_proxy: 'query_id:query destination',
  cocoon_unregister_proxy: 'query_id:query seqno:int destination',
  cocoon_client_register: 'query_id:query nonce:query source destination',
  cocoon_client_change_secret_hash: 'query_id:query new_secret_hash:hex source destination',
  cocoon_client_request_refund: 'query_id:query via_wallet:bool source destination',
  cocoon_grant_refund: 'query_id:query new_tokens_used:amount expected_address:text source destination amount:amount',
  cocoon_client_increase_stake: 'query_id:query new_stake:amount source destination amount:amount',
  cocoon_client_withdraw: 'query_id:query withdraw_amount:amount source destination amount:amount',
  unknown: '',
  coffee_mev_protect_failed_swap: '',
};

/** Records in details. */
export const RECORDS: Readonly<Record<string, string>> = {
  ChangeDnsValue:
    'sum_type:=DNSNextResolver|DNSAdnlAddress|DNSSmcAddress|DNSStorageAddress|DNSText dns_smc_address ' +
    'dns_adnl_address:hex dns_text:text dns_next_resolver_address dns_storage_address:hex flags:int',
  LiquidityVaultExcess: 'asset amount:amount',
  JettonAmountPair: 'jetton amount:amount',
  LayerZeroSendDetails:
    'send_request_id:big msglib_manager:text msglib:text uln native_fee:big zro_fee:big endpoint channel',
  LayerZeroPacket: 'src_oapp:hex0x dst_oapp:hex0x src_eid:int32 dst_eid:int32 nonce:int guid:hex0x message:hex0x',
};
