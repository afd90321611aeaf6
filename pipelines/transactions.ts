import { field, masterchain, pipeline, table } from 'tonlake/pipeline';
import { messages } from './tables/messages.ts';
import { transactions } from './tables/transactions.ts';

const state = '/account_state_after';

export default pipeline({
  name: 'transactions',
  doc: 'Transactions with their messages and the account states after them.',
  endpoint: 'GET /transactionsByMasterchainBlock',
  parameters: { sort: 'asc' },
  walk: masterchain({
    seqno: 'seqno',
    proof: 'tx_count',
    windows: { path: '/transactions', column: 'lt', order: 'total' },
  }),
  needs: ['blocks'],
  example: 'select descr, count(*) as transactions, sum(total_fees) / 1e9 as fees_ton from transactions group by all',
  tables: [
    transactions,
    messages,
    table('account_states', {
      grain: 'the state of one account after one transaction, if the index has more than its hash',
      record: 'Transaction',
      rows: {
        kind: 'projection',
        of: 'transactions',
        anyOf: ['balance', 'extra_currencies', 'account_status', 'frozen_hash', 'data_hash', 'code_hash'],
      },
      key: ['account', 'last_trans_lt'],
      sort: ['last_trans_lt', 'account'],
      time: 'timestamp',
      columns: {
        account: field('/account', 'account').bloomFilter(),
        hash: field(`${state}/hash`, 'hash of the state'),
        balance: field(`${state}/balance`, 'balance'),
        extra_currencies: field(`${state}/extra_currencies`, 'extra currencies: amount by currency id'),
        account_status: field(`${state}/account_status`, 'uninit, frozen, active'),
        timestamp: field('/now', 'time of the transaction'),
        last_trans_hash: field('/hash', 'hash of the transaction').bloomFilter(),
        last_trans_lt: field('/lt', 'logical time of the transaction'),
        mc_block_seqno: field('/mc_block_seqno', 'masterchain block of the transaction'),
        frozen_hash: field(`${state}/frozen_hash`, 'hash of the frozen state'),
        data_hash: field(`${state}/data_hash`, 'hash of the data'),
        code_hash: field(`${state}/code_hash`, 'hash of the code'),
        data_boc: field(`${state}/data_boc`, 'data; not sent with transactions'),
        code_boc: field(`${state}/code_boc`, 'code; not sent with transactions'),
      },
    }),
  ],
});
