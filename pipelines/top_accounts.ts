import { field, pipeline, reading, snapshot, table } from 'tonlake/pipeline';

export default pipeline({
  name: 'top_accounts',
  doc: 'The richest accounts as they are now. The ranking moves while it is read: it is no list of all accounts.',
  endpoint: 'GET /topAccountsByBalance',
  walk: snapshot({ most: 1000 }),
  ignore: ['address_book', 'metadata'],
  tables: [
    table('top_accounts', {
      grain: 'one account at one reading',
      record: 'AccountBalance',
      rows: { kind: 'records', path: '/rows', shape: 'list' },
      key: ['account', '_read_at'],
      sort: ['account'],
      columns: {
        account: field('/account', 'account').bloomFilter(),
        balance: field('/balance', 'balance'),
        ...reading(),
      },
    }),
  ],
});
