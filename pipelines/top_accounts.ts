import { field, pipeline, reading, snapshot, table } from 'tonlake/pipeline';

export default pipeline({
  name: 'top_accounts',
  doc: 'Accounts with the highest balances now. The ranking changes while it is read, and is not a list of all accounts.',
  endpoint: 'GET /topAccountsByBalance',
  walk: snapshot({ most: 1000 }),
  tables: [
    table('top_accounts', {
      grain: 'one account at one reading',
      key: ['account', '_read_at'],
      columns: {
        account: field('/account', 'account').bloomFilter(),
        balance: field('/balance', 'balance'),
        ...reading(),
      },
    }),
  ],
});
