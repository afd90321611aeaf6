import {
  decimal38,
  int64Number,
  json,
  lookup,
  pipeline,
  rawAddress,
  reading,
  table,
  unixSeconds,
} from 'tonlake/pipeline';

export default pipeline({
  name: 'vesting',
  doc: 'Vesting contracts that the accounts of transactions own, or gave.',
  endpoint: 'GET /vesting',
  walk: lookup({
    keys: ['wallet_address'],
    batch: 100,
    limit: 1000,
    query: `SELECT account AS wallet_address, max(mc_block_seqno) AS seqno FROM transactions
    WHERE mc_block_seqno BETWEEN $from AND $to GROUP BY account`,
  }),
  needs: ['transactions'],
  ignore: ['address_book', 'metadata'],
  tables: [
    table('vesting', {
      grain: 'one vesting contract at one reading',
      rows: { kind: 'records', path: '/vesting_contracts' },
      key: ['address', '_read_at'],
      sort: ['address'],
      columns: {
        address: rawAddress('/address', 'contract'),
        start_time: unixSeconds('/start_time', 'when it begins').unit('seconds').nullable(),
        total_duration: int64Number('/total_duration', 'how long it takes').unit('seconds').nullable(),
        unlock_period: int64Number('/unlock_period', 'time between two parts').unit('seconds').nullable(),
        cliff_duration: int64Number('/cliff_duration', 'time before the first part').unit('seconds').nullable(),
        sender_address: rawAddress('/sender_address', 'who gave it').nullable(),
        owner_address: rawAddress('/owner_address', 'who gets it').nullable(),
        total_amount: decimal38('/total_amount', 'all of it').unit('nanoton').nullable(),
        whitelist: json('/whitelist', 'accounts that it may send to before it is free').nullable(),
        ...reading(),
      },
    }),
  ],
});
