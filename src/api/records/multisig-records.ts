import { defineRecords } from '../field.ts';

/** Multisig wallets, their orders, and the actions of orders. */
export const multisigRecords = defineRecords({
  /** Parsed action of a multisig order. */
  OrderAction: {
    destination: 'raw-address|null',
    value: 'decimal-uint120|null',
    body_raw: 'base64-boc|null',
    parsed: 'bool',
    error: 'text|null',
    parsed_body: 'by:parsed_body_type:parsed_body_by_type|null',
    parsed_body_type: 'enum:parsed_body_type',
    send_mode: 'uint8',
  },
  /** Multisig order, latest state. */
  MultisigOrder: {
    address: 'raw-address',
    multisig_address: 'raw-address',
    order_seqno: 'decimal-uint256|null',
    threshold: 'uint8|null',
    sent_for_execution: 'bool|null',
    approvals_mask: 'decimal-uint256|null',
    approvals_num: 'int32|null',
    expiration_date: 'int64-number|null',
    order_boc: 'base64-boc|null',
    signers: 'raw-address[]|null',
    last_transaction_lt: 'lt',
    code_hash: 'base64-hash|null',
    data_hash: 'base64-hash|null',
    actions: 'OrderAction[]|null',
  },
  /** Multisig contract, latest state. */
  Multisig: {
    address: 'raw-address',
    next_order_seqno: 'decimal-int257|null',
    threshold: 'uint8|null',
    signers: 'raw-address[]|null',
    proposers: 'raw-address[]|null',
    last_transaction_lt: 'lt',
    code_hash: 'base64-hash|null',
    data_hash: 'base64-hash|null',
    orders: 'MultisigOrder[]|null',
  },
  // Variants of OrderAction.parsed_body.
  NFTTransferBody: {
    query_id: 'uint64-number-unsafe',
    new_owner: 'raw-address|null',
    response_destination: 'raw-address|null',
    custom_payload: 'base64-boc|null',
    forward_amount: 'decimal-uint120|null',
    forward_payload: 'base64-boc|null',
  },
  TonTransferMessage: {
    comment: 'text',
    encrypted: 'bool',
  },
  JettonTopUpBody: {
    query_id: 'uint64-number-unsafe',
  },
  JettonChangeAdminBody: {
    query_id: 'uint64-number-unsafe',
    new_admin_address: 'raw-address|null',
  },
  JettonClaimAdminBody: {
    query_id: 'uint64-number-unsafe',
  },
  JettonChangeContentBody: {
    query_id: 'uint64-number-unsafe',
    new_metadata_url: 'text',
  },
  JettonCallToBody: {
    query_id: 'uint64-number-unsafe',
    to_address: 'raw-address|null',
    ton_amount: 'decimal-uint120|null',
    action_type: 'text',
    action_data: 'base64-boc|null',
  },
  JettonSetStatusBody: {
    query_id: 'uint64-number-unsafe',
    new_status: 'uint8',
  },
  JettonTransferBody: {
    query_id: 'uint64-number-unsafe',
    amount: 'decimal-uint120|null',
    destination: 'raw-address|null',
    response: 'raw-address|null',
    custom_payload: 'base64-boc|null',
    forward_amount: 'decimal-uint120|null',
    comment: 'text',
    encrypted_comment: 'bool',
    forward_payload: 'base64-boc|null',
    payload_sum_type: 'enum:payload_sum_type',
    stonfi_swap_body: 'json-object|null',
  },
  JettonBurnBody: {
    query_id: 'uint64-number-unsafe',
    amount: 'decimal-uint120|null',
    response_destination: 'raw-address|null',
  },
  JettonMinterBody: {
    opcode: 'uint32',
    query_id: 'uint64-number-unsafe',
    to_address: 'raw-address|null',
    ton_amount: 'decimal-uint120|null',
    master_msg_query_id: 'uint64-number-unsafe',
    master_msg_jetton_amount: 'decimal-uint120|null',
  },
  JettonMintBody: {
    query_id: 'uint64-number-unsafe',
    to_address: 'raw-address|null',
    ton_amount: 'decimal-uint120|null',
    jetton_amount: 'decimal-uint120|null',
  },
  SingleNominatorWithdrawBody: {
    query_id: 'uint64-number-unsafe',
    coins: 'decimal-uint120|null',
  },
  SingleNominatorChangeValidatorBody: {
    query_id: 'uint64-number-unsafe',
    validator_address: 'raw-address|null',
  },
  VestingInternalTransferBody: {
    query_id: 'uint64-number-unsafe',
    send_mode: 'uint8',
    destination: 'raw-address|null',
    value: 'decimal-uint120|null',
    message_body: 'base64-boc|null',
    comment: 'text',
  },
  MultisigUpdateParamsBody: {
    new_threshold: 'uint8',
    new_signers: 'raw-address[]|null',
    new_proposers: 'raw-address[]|null',
  },
  UnknownMessage: {
    opcode: 'uint32',
    data: 'base64-boc|null',
  },
});
