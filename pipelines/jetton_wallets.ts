import { field, pipeline, reading, snapshot, table, wideInteger } from 'tonlake/pipeline';

export default pipeline({
  name: 'jetton_wallets',
  doc: 'Current jetton balances, listed by jetton; with --from also by owner.',
  endpoint: 'GET /jetton/wallets',
  walk: snapshot({
    newer: 'last_transaction_lt',
    parents: {
      parameter: 'jetton_address',
      column: 'jetton',
      others: { owner_address: 'owner' },
      query: 'SELECT DISTINCT address FROM jetton_masters',
    },
  }),
  needs: ['jetton_masters'],
  tables: [
    table('jetton_wallets', {
      grain: 'one jetton wallet at one reading',
      key: ['address', '_read_at'],
      sort: ['jetton', 'address'],
      columns: {
        address: field('/address', 'jetton wallet').bloomFilter(),
        ...wideInteger('balance', '/balance', 'balance reported by the wallet, in the smallest unit'),
        owner: field('/owner', 'owner'),
        jetton: field('/jetton', 'jetton master'),
        last_transaction_lt: field('/last_transaction_lt', 'logical time of its last transaction'),
        code_hash: field('/code_hash', 'code hash of the wallet'),
        data_hash: field('/data_hash', 'data hash of the wallet'),
        mintless_info: field('/mintless_info', 'airdrop that is not claimed yet'),
        ...reading(),
      },
    }),
  ],
});
