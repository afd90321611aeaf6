/** Fields of a raw action, in their order; what an action does not use is null. */
export const RAW_FIELDS: readonly string[] = (
  'TraceId ActionId StartLt EndLt StartUtime EndUtime TraceEndLt TraceEndUtime TraceMcSeqnoEnd Source ' +
  'SourceSecondary Destination DestinationSecondary Asset AssetSecondary Asset2 Asset2Secondary ' +
  'Opcode TxHashes Type TonTransferContent TonTransferEncrypted Value Amount ' +
  'JettonTransferResponseDestination JettonTransferForwardAmount JettonTransferQueryId ' +
  'JettonTransferCustomPayload JettonTransferForwardPayload JettonTransferComment ' +
  'JettonTransferIsEncryptedComment NFTTransferIsPurchase NFTTransferPrice NFTTransferQueryId ' +
  'NFTTransferCustomPayload NFTTransferForwardPayload NFTTransferForwardAmount ' +
  'NFTTransferResponseDestination NFTTransferNFTItemIndex NFTTransferMarketplace ' +
  'NFTTransferRealPrevOwner NFTTransferMarketplaceAddress NFTTransferPayoutAmount ' +
  'NFTTransferPayoutCommentEncrypted NFTTransferPayoutCommentEncoded NFTTransferPayoutComment ' +
  'NFTTransferRoyaltyAmount NFTListingNFTItemIndex NFTListingFullPrice NFTListingMarketplaceFee ' +
  'NFTListingRoyaltyAmount NFTListingMarketplaceFeeFactor NFTListingMarketplaceFeeBase ' +
  'NFTListingRoyaltyFeeBase NFTListingMaxBid NFTListingMinBid NFTListingMarketplaceFeeAddress ' +
  'NFTListingRoyaltyAddress NFTListingMarketplace JettonSwapDex JettonSwapSender ' +
  'JettonSwapDexIncomingTransferAmount JettonSwapDexIncomingTransferAsset ' +
  'JettonSwapDexIncomingTransferSource JettonSwapDexIncomingTransferDestination ' +
  'JettonSwapDexIncomingTransferSourceJettonWallet ' +
  'JettonSwapDexIncomingTransferDestinationJettonWallet JettonSwapDexOutgoingTransferAmount ' +
  'JettonSwapDexOutgoingTransferAsset JettonSwapDexOutgoingTransferSource ' +
  'JettonSwapDexOutgoingTransferDestination JettonSwapDexOutgoingTransferSourceJettonWallet ' +
  'JettonSwapDexOutgoingTransferDestinationJettonWallet JettonSwapPeerSwaps JettonSwapMinOutAmount ' +
  'ChangeDNSRecordKey ChangeDNSRecordValueSchema ChangeDNSRecordValue ChangeDNSRecordFlags ' +
  'NFTMintNFTItemIndex DexWithdrawLiquidityDataDex DexWithdrawLiquidityDataAmount1 ' +
  'DexWithdrawLiquidityDataAmount2 DexWithdrawLiquidityDataAsset1Out ' +
  'DexWithdrawLiquidityDataAsset2Out DexWithdrawLiquidityDataUserJettonWallet1 ' +
  'DexWithdrawLiquidityDataUserJettonWallet2 DexWithdrawLiquidityDataDexJettonWallet1 ' +
  'DexWithdrawLiquidityDataDexJettonWallet2 DexWithdrawLiquidityDataLpTokensBurnt ' +
  'DexWithdrawLiquidityDataBurnedNFTIndex DexWithdrawLiquidityDataBurnedNFTAddress ' +
  'DexWithdrawLiquidityDataTickLower DexWithdrawLiquidityDataTickUpper DexDepositLiquidityDataDex ' +
  'DexDepositLiquidityDataAmount1 DexDepositLiquidityDataAmount2 DexDepositLiquidityDataAsset1 ' +
  'DexDepositLiquidityDataAsset2 DexDepositLiquidityDataUserJettonWallet1 ' +
  'DexDepositLiquidityDataUserJettonWallet2 DexDepositLiquidityDataLpTokensMinted ' +
  'DexDepositLiquidityDataTargetAsset1 DexDepositLiquidityDataTargetAsset2 ' +
  'DexDepositLiquidityDataTargetAmount1 DexDepositLiquidityDataTargetAmount2 ' +
  'DexDepositLiquidityDataVaultExcesses DexDepositLiquidityDataTickLower ' +
  'DexDepositLiquidityDataTickUpper DexDepositLiquidityDataNFTIndex DexDepositLiquidityDataNFTAddress ' +
  'StakingDataProvider StakingDataTsNft StakingDataTokensBurnt StakingDataTokensMinted Success ' +
  'Finality TraceExternalHash TraceExternalHashNorm ExtraCurrencies MultisigCreateOrderQueryId ' +
  'MultisigCreateOrderOrderSeqno MultisigCreateOrderIsCreatedBySigner ' +
  'MultisigCreateOrderIsSignedByCreator MultisigCreateOrderCreatorIndex ' +
  'MultisigCreateOrderExpirationDate MultisigCreateOrderOrderBoc MultisigApproveSignerIndex ' +
  'MultisigApproveExitCode MultisigExecuteQueryId MultisigExecuteOrderSeqno ' +
  'MultisigExecuteExpirationDate MultisigExecuteApprovalsNum MultisigExecuteSignersHash ' +
  'MultisigExecuteOrderBoc VestingSendMessageQueryId VestingSendMessageMessageBoc ' +
  'VestingAddWhitelistQueryId VestingAddWhitelistAccountsAdded EvaaSupplySenderJettonWallet ' +
  'EvaaSupplyRecipientJettonWallet EvaaSupplyMasterJettonWallet EvaaSupplyMaster EvaaSupplyAssetId ' +
  'EvaaSupplyIsTon EvaaWithdrawRecipientJettonWallet EvaaWithdrawMasterJettonWallet ' +
  'EvaaWithdrawMaster EvaaWithdrawFailReason EvaaWithdrawAssetId EvaaLiquidateFailReason ' +
  'EvaaLiquidateDebtAmount EvaaLiquidateAssetId JvaultClaimClaimedJettons JvaultClaimClaimedAmounts ' +
  'JvaultStakePeriod JvaultStakeMintedStakeJettons JvaultStakeStakeWallet ' +
  'ToncoDeployPoolJetton0RouterWallet ToncoDeployPoolJetton1RouterWallet ToncoDeployPoolJetton0Minter ' +
  'ToncoDeployPoolJetton1Minter ToncoDeployPoolTickSpacing ToncoDeployPoolInitialPriceX96 ' +
  'ToncoDeployPoolProtocolFee ToncoDeployPoolLpFeeBase ToncoDeployPoolLpFeeCurrent ' +
  'ToncoDeployPoolPoolActive CoffeeCreatePoolAmount1 CoffeeCreatePoolAmount2 ' +
  'CoffeeCreatePoolInitiator1 CoffeeCreatePoolInitiator2 CoffeeCreatePoolProvidedAsset ' +
  'CoffeeCreatePoolLpTokensMinted CoffeeCreatePoolPoolCreatorContract ' +
  'CoffeeStakingDepositMintedItemAddress CoffeeStakingDepositMintedItemIndex ' +
  'CoffeeStakingWithdrawNftAddress CoffeeStakingWithdrawNftIndex CoffeeStakingWithdrawPoints ' +
  'LayerzeroSendSendRequestId LayerzeroSendMsglibManager LayerzeroSendMsglib LayerzeroSendUln ' +
  'LayerzeroSendNativeFee LayerzeroSendZroFee LayerzeroSendEndpoint LayerzeroSendChannel ' +
  'LayerzeroPacketSrcOapp LayerzeroPacketDstOapp LayerzeroPacketSrcEid LayerzeroPacketDstEid ' +
  'LayerzeroPacketNonce LayerzeroPacketGuid LayerzeroPacketMessage LayerzeroDvnVerifyNonce ' +
  'LayerzeroDvnVerifyStatus LayerzeroDvnVerifyDvn LayerzeroDvnVerifyProxy LayerzeroDvnVerifyUln ' +
  'LayerzeroDvnVerifyUlnConnection CocoonWorkerPayoutPayoutType CocoonWorkerPayoutQueryId ' +
  'CocoonWorkerPayoutNewTokens CocoonWorkerPayoutWorkerState CocoonWorkerPayoutWorkerTokens ' +
  'CocoonProxyPayoutQueryId CocoonProxyChargeQueryId CocoonProxyChargeNewTokensUsed ' +
  'CocoonProxyChargeExpectedAddress CocoonClientTopUpQueryId CocoonRegisterProxyQueryId ' +
  'CocoonUnregisterProxyQueryId CocoonUnregisterProxySeqno CocoonClientRegisterQueryId ' +
  'CocoonClientRegisterNonce CocoonClientChangeSecretHashQueryId ' +
  'CocoonClientChangeSecretHashNewSecretHash CocoonClientRequestRefundQueryId ' +
  'CocoonClientRequestRefundViaWallet CocoonGrantRefundQueryId CocoonGrantRefundNewTokensUsed ' +
  'CocoonGrantRefundExpectedAddress CocoonClientIncreaseStakeQueryId ' +
  'CocoonClientIncreaseStakeNewStake CocoonClientWithdrawQueryId CocoonClientWithdrawWithdrawAmount ' +
  'AncestorType Accounts'
).split(' ');
