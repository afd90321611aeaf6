/** Names in `supported_action_types` that stand for types and other names. */
const TYPE_SETS: Readonly<Record<string, string>> = {
  v1:
    'call_contract contract_deploy ton_transfer staking dex_deposit_liquidity jettons nft jetton_swap change_dns ' +
    'delete_dns renew_dns subscribe dex_withdraw_liquidity unsubscribe election_deposit election_recover tick_tock',
  v2: 'v1 multisig vesting evaa jvault nft_discovery tonco_deploy_pool coffee coffee_mev_protect_failed_swap unknown',
  v3: 'v2 nft.v3 layerzero',
  v4: 'v3 cocoon',
  latest: 'v4',
  staking: 'stake_deposit stake_withdrawal stake_withdrawal_request',
  jettons: 'jetton_transfer jetton_burn jetton_mint',
  nft: 'nft_transfer nft_mint auction_bid',
  'nft.v3':
    'nft nft_put_on_sale nft_put_on_auction auction_outbid nft_cancel_sale nft_purchase ' +
    'nft_cancel_auction nft_finish_auction teleitem_start_auction teleitem_cancel_auction ' +
    'nft_update_sale dns_purchase dns_release',
  dns: 'change_dns delete_dns renew_dns dns_purchase dns_release',
  'dns.v2': 'dns',
  multisig: 'multisig_create_order multisig_approve multisig_execute',
  vesting: 'vesting_send_message vesting_add_whitelist',
  evaa: 'evaa_supply evaa_withdraw evaa_liquidate',
  jvault: 'jvault_stake jvault_unstake jvault_claim jvault_unstake_request',
  coffee:
    'coffee_create_vault coffee_create_pool_creator coffee_create_pool coffee_mev_protect_hold_funds ' +
    'coffee_staking_claim_rewards coffee_staking_deposit coffee_staking_withdraw',
  tgbtc:
    'tgbtc_dkg_log_fallback tgbtc_new_key tgbtc_new_key_fallback tgbtc_burn tgbtc_burn_fallback ' +
    'tgbtc_mint tgbtc_mint_fallback',
  layerzero: 'layerzero_send layerzero_send_tokens layerzero_receive layerzero_commit_packet layerzero_dvn_verify',
  cocoon:
    'cocoon_worker_payout cocoon_proxy_payout cocoon_proxy_charge cocoon_client_top_up ' +
    'cocoon_register_proxy cocoon_unregister_proxy cocoon_client_register ' +
    'cocoon_client_change_secret_hash cocoon_client_request_refund cocoon_grant_refund ' +
    'cocoon_client_increase_stake cocoon_client_withdraw',
};

/** The types that a request supports: those of `v1`, and those that it names. */
export function supportedTypes(names: readonly string[]): ReadonlySet<string> {
  const types = new Set<string>();
  const visit = (name: string): void => {
    const members = TYPE_SETS[name];
    if (members === undefined) types.add(name);
    else for (const member of members.split(' ')) visit(member);
  };
  for (const name of ['v1', ...(names.length === 0 ? ['latest'] : names)]) visit(name);
  return types;
}
