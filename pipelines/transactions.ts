import { masterchain, pipeline } from 'tonlake/pipeline';
import { accountStates } from './tables/account_states.ts';
import { messages } from './tables/messages.ts';
import { transactions } from './tables/transactions.ts';

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
  tables: [transactions, messages, accountStates],
});
