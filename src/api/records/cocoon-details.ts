import { defineRecords } from '../field.ts';

/** `Action.details`: Cocoon. */
export const cocoonDetails = defineRecords({
  ActionDetailsCocoonWorkerPayout: {
    payout_type: 'enum:cocoon_payout_type|null',
    query_id: 'decimal-uint64|null',
    new_tokens: 'decimal-uint120|null',
    worker_state: 'int64-number|null',
    worker_tokens: 'decimal-uint120|null',
    source: 'raw-address|null',
    destination: 'raw-address|null',
    amount: 'decimal-uint120|null',
  },
  ActionDetailsCocoonProxyPayout: {
    query_id: 'decimal-uint64|null',
    source: 'raw-address|null',
    destination: 'raw-address|null',
  },
  ActionDetailsCocoonProxyCharge: {
    query_id: 'decimal-uint64|null',
    new_tokens_used: 'decimal-uint120|null',
    expected_address: 'text|null',
    source: 'raw-address|null',
    destination: 'raw-address|null',
  },
  ActionDetailsCocoonClientTopUp: {
    query_id: 'decimal-uint64|null',
    source: 'raw-address|null',
    destination: 'raw-address|null',
    amount: 'decimal-uint120|null',
  },
  ActionDetailsCocoonRegisterProxy: {
    query_id: 'decimal-uint64|null',
    destination: 'raw-address|null',
  },
  ActionDetailsCocoonUnregisterProxy: {
    query_id: 'decimal-uint64|null',
    seqno: 'int64-number|null',
    destination: 'raw-address|null',
  },
  ActionDetailsCocoonClientRegister: {
    query_id: 'decimal-uint64|null',
    nonce: 'decimal-uint64|null',
    source: 'raw-address|null',
    destination: 'raw-address|null',
  },
  ActionDetailsCocoonClientChangeSecretHash: {
    query_id: 'decimal-uint64|null',
    new_secret_hash: 'hex-unpadded|null',
    source: 'raw-address|null',
    destination: 'raw-address|null',
  },
  ActionDetailsCocoonClientRequestRefund: {
    query_id: 'decimal-uint64|null',
    via_wallet: 'bool|null',
    source: 'raw-address|null',
    destination: 'raw-address|null',
  },
  ActionDetailsCocoonGrantRefund: {
    query_id: 'decimal-uint64|null',
    new_tokens_used: 'decimal-uint120|null',
    expected_address: 'text|null',
    source: 'raw-address|null',
    destination: 'raw-address|null',
    amount: 'decimal-uint120|null',
  },
  ActionDetailsCocoonClientIncreaseStake: {
    query_id: 'decimal-uint64|null',
    new_stake: 'decimal-uint120|null',
    source: 'raw-address|null',
    destination: 'raw-address|null',
    amount: 'decimal-uint120|null',
  },
  ActionDetailsCocoonClientWithdraw: {
    query_id: 'decimal-uint64|null',
    withdraw_amount: 'decimal-uint120|null',
    source: 'raw-address|null',
    destination: 'raw-address|null',
    amount: 'decimal-uint120|null',
  },
});
