/** Fields of a raw action in their order, as the server has them: `Prefix(A, B)` is `PrefixA` and `PrefixB`. */
const FIELDS = `
  TraceId ActionId StartLt EndLt StartUtime EndUtime TraceEndLt TraceEndUtime TraceMcSeqnoEnd Source SourceSecondary
  Destination DestinationSecondary Asset AssetSecondary Asset2 Asset2Secondary Opcode TxHashes Type TonTransferContent
  TonTransferEncrypted Value Amount JettonTransfer(ResponseDestination, ForwardAmount, QueryId, CustomPayload,
  ForwardPayload, Comment, IsEncryptedComment) NFTTransfer(IsPurchase, Price, QueryId, CustomPayload, ForwardPayload,
  ForwardAmount, ResponseDestination, NFTItemIndex, Marketplace, RealPrevOwner, MarketplaceAddress, PayoutAmount,
  PayoutCommentEncrypted, PayoutCommentEncoded, PayoutComment, RoyaltyAmount) NFTListing(NFTItemIndex, FullPrice,
  MarketplaceFee, RoyaltyAmount, MarketplaceFeeFactor, MarketplaceFeeBase, RoyaltyFeeBase, MaxBid, MinBid,
  MarketplaceFeeAddress, RoyaltyAddress, Marketplace) JettonSwapDex JettonSwapSender
  JettonSwapDexIncomingTransfer(Amount, Asset, Source, Destination, SourceJettonWallet, DestinationJettonWallet)
  JettonSwapDexOutgoingTransfer(Amount, Asset, Source, Destination, SourceJettonWallet, DestinationJettonWallet)
  JettonSwapPeerSwaps JettonSwapMinOutAmount ChangeDNSRecord(Key, ValueSchema, Value, Flags) NFTMintNFTItemIndex
  DexWithdrawLiquidityData(Dex, Amount1, Amount2, Asset1Out, Asset2Out, UserJettonWallet1, UserJettonWallet2,
  DexJettonWallet1, DexJettonWallet2, LpTokensBurnt, BurnedNFTIndex, BurnedNFTAddress, TickLower, TickUpper)
  DexDepositLiquidityData(Dex, Amount1, Amount2, Asset1, Asset2, UserJettonWallet1, UserJettonWallet2, LpTokensMinted,
  TargetAsset1, TargetAsset2, TargetAmount1, TargetAmount2, VaultExcesses, TickLower, TickUpper, NFTIndex, NFTAddress)
  StakingData(Provider, TsNft, TokensBurnt, TokensMinted) Success Finality TraceExternalHash TraceExternalHashNorm
  ExtraCurrencies MultisigCreateOrder(QueryId, OrderSeqno, IsCreatedBySigner, IsSignedByCreator, CreatorIndex,
  ExpirationDate, OrderBoc) MultisigApprove(SignerIndex, ExitCode) MultisigExecute(QueryId, OrderSeqno, ExpirationDate,
  ApprovalsNum, SignersHash, OrderBoc) VestingSendMessage(QueryId, MessageBoc) VestingAddWhitelist(QueryId,
  AccountsAdded) EvaaSupply(SenderJettonWallet, RecipientJettonWallet, MasterJettonWallet, Master, AssetId, IsTon)
  EvaaWithdraw(RecipientJettonWallet, MasterJettonWallet, Master, FailReason, AssetId) EvaaLiquidate(FailReason,
  DebtAmount, AssetId) JvaultClaim(ClaimedJettons, ClaimedAmounts) JvaultStake(Period, MintedStakeJettons, StakeWallet)
  ToncoDeployPool(Jetton0RouterWallet, Jetton1RouterWallet, Jetton0Minter, Jetton1Minter, TickSpacing, InitialPriceX96,
  ProtocolFee, LpFeeBase, LpFeeCurrent, PoolActive) CoffeeCreatePool(Amount1, Amount2, Initiator1, Initiator2,
  ProvidedAsset, LpTokensMinted, PoolCreatorContract) CoffeeStaking(DepositMintedItemAddress, DepositMintedItemIndex,
  WithdrawNftAddress, WithdrawNftIndex, WithdrawPoints) LayerzeroSend(SendRequestId, MsglibManager, Msglib, Uln,
  NativeFee, ZroFee, Endpoint, Channel) LayerzeroPacket(SrcOapp, DstOapp, SrcEid, DstEid, Nonce, Guid, Message)
  LayerzeroDvnVerify(Nonce, Status, Dvn, Proxy, Uln, UlnConnection) CocoonWorkerPayout(PayoutType, QueryId, NewTokens,
  WorkerState, WorkerTokens) CocoonProxyPayoutQueryId CocoonProxyCharge(QueryId, NewTokensUsed, ExpectedAddress)
  CocoonClientTopUpQueryId CocoonRegisterProxyQueryId CocoonUnregisterProxy(QueryId, Seqno)
  CocoonClient(RegisterQueryId, RegisterNonce, ChangeSecretHashQueryId, ChangeSecretHashNewSecretHash,
  RequestRefundQueryId, RequestRefundViaWallet) CocoonGrantRefund(QueryId, NewTokensUsed, ExpectedAddress)
  CocoonClient(IncreaseStakeQueryId, IncreaseStakeNewStake, WithdrawQueryId, WithdrawWithdrawAmount) AncestorType
  Accounts`;

export const RAW_FIELDS: readonly string[] = [...FIELDS.matchAll(/(\w+)(?:\(([^)]*)\))?/g)].flatMap(
  ([, name = '', rest]) => rest?.split(/,\s*/).map((each) => name + each) ?? [name],
);
