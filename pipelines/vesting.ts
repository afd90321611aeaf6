import { field, lookup, pipeline, reading, table } from 'tonlake/pipeline';

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
      record: 'VestingInfo',
      rows: { kind: 'records', path: '/vesting_contracts' },
      key: ['address', '_read_at'],
      sort: ['address'],
      columns: {
        address: field('/address', 'contract').bloomFilter().required(),
        start_time: field('/start_time', 'when it begins'),
        total_duration: field('/total_duration', 'how long it takes').unit('seconds'),
        unlock_period: field('/unlock_period', 'time between two parts').unit('seconds'),
        cliff_duration: field('/cliff_duration', 'time before the first part').unit('seconds'),
        sender_address: field('/sender_address', 'who gave it'),
        owner_address: field('/owner_address', 'who gets it'),
        total_amount: field('/total_amount', 'all of it').unit('nanoton'),
        whitelist: field('/whitelist', 'accounts that it may send to before it is free').nullable(),
        ...reading(),
      },
    }),
  ],
});
