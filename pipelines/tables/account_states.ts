import { base64Hash, boc, int32, json, lt, nanoton, rawAddress, table, text, unixSeconds } from 'tonlake/pipeline';

const state = '/account_state_after';

export const accountStates = table('account_states', {
  grain: 'the state of one account after one transaction, where the index holds more of it than the hash',
  rows: {
    kind: 'projection',
    of: 'transactions',
    anyOf: ['balance', 'extra_currencies', 'account_status', 'frozen_hash', 'data_hash', 'code_hash'],
  },
  key: ['account', 'last_trans_lt'],
  sort: ['last_trans_lt', 'account'],
  time: 'timestamp',
  columns: {
    account: rawAddress('/account', 'the account'),
    hash: base64Hash(`${state}/hash`, 'hash of the state'),
    balance: nanoton(`${state}/balance`, 'balance').nullable(),
    extra_currencies: json(`${state}/extra_currencies`, 'currency id to amount').nullable(),
    account_status: text(`${state}/account_status`, 'uninit, frozen, active').nullable(),
    timestamp: unixSeconds('/now', 'time of the transaction').unit('seconds'),
    last_trans_hash: base64Hash('/hash', 'the transaction'),
    last_trans_lt: lt('/lt', 'logical time of the transaction'),
    mc_block_seqno: int32('/mc_block_seqno', 'masterchain block of the transaction'),
    frozen_hash: base64Hash(`${state}/frozen_hash`, 'hash of the frozen state').nullable(),
    data_hash: base64Hash(`${state}/data_hash`, 'hash of the data').nullable(),
    code_hash: base64Hash(`${state}/code_hash`, 'hash of the code').nullable(),
    data_boc: boc(`${state}/data_boc`, 'the data; not sent with transactions').nullable(),
    code_boc: boc(`${state}/code_boc`, 'the code; not sent with transactions').nullable(),
  },
});
