import { defineRecords, each } from '../field.ts';

/** Responses of endpoints that compute something or forward the request. */
export const serviceRecords = defineRecords({
  /** Decoder output. */
  DecodeResponse: {
    opcodes: 'text[]|null',
    bodies: 'decoded-body[]|null',
  },
  // Responses of the API v2 endpoints.
  V2AddressInformation: {
    balance: 'nanoton',
    code: 'base64-boc|null',
    data: 'base64-boc|null',
    last_transaction_lt: 'lt|null',
    last_transaction_hash: 'base64-hash|null',
    frozen_hash: 'base64-hash|null',
    status: 'enum:account_status',
  },
  V2WalletInformation: {
    balance: 'nanoton',
    wallet_type: 'enum:wallet_type?',
    seqno: 'uint32?',
    wallet_id: 'uint32?',
    last_transaction_lt: 'lt',
    last_transaction_hash: 'base64-hash',
    status: 'enum:account_status',
  },
  V2SendMessageResult: {
    message_hash: 'base64-hash?',
    message_hash_norm: 'base64-hash?',
  },
  /** TVM stack entry. */
  V2StackEntity: {
    type: 'enum:stack_entry_type',
    value: 'any',
  },
  V2RunGetMethodResult: {
    gas_used: 'int64-number',
    exit_code: 'int64-number',
    stack: 'V2StackEntity[]',
  },
  V2EstimatedFee: {
    ...each('uint64-number-unsafe', 'in_fwd_fee', 'storage_fee', 'gas_fee', 'fwd_fee'),
  },
  V2EstimateFeeResult: {
    source_fees: 'V2EstimatedFee',
    destination_fees: 'V2EstimatedFee[]|null',
  },
});
