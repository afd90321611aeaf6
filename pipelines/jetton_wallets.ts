import { field, pipeline, reading, snapshot, table, wideInteger } from 'tonlake/pipeline';

export default pipeline({
  name: 'jetton_wallets',
  doc: 'Balances of jettons as they are now, jetton by jetton; with --from also owner by owner.',
  endpoint: 'GET /jetton/wallets',
  walk: snapshot({
    newer: 'last_transaction_lt',
    parents: {
      parameter: 'jetton_address',
      others: ['owner_address'],
      query: 'SELECT DISTINCT address FROM jetton_masters',
    },
  }),
  needs: ['jetton_masters'],
  ignore: ['address_book', 'metadata'],
  tables: [
    table('jetton_wallets', {
      grain: 'one jetton wallet at one reading',
      record: 'JettonWallet',
      rows: { kind: 'records', path: '/jetton_wallets' },
      key: ['address', '_read_at'],
      sort: ['jetton', 'address'],
      columns: {
        address: field('/address', 'contract of the jetton wallet').bloomFilter(),
        ...wideInteger('balance', '/balance', 'what the wallet says it holds, in the smallest unit'),
        owner: field('/owner', 'owner'),
        jetton: field('/jetton', 'jetton'),
        last_transaction_lt: field('/last_transaction_lt', 'logical time of its last transaction'),
        code_hash: field('/code_hash', 'code of the wallet'),
        data_hash: field('/data_hash', 'data of the wallet'),
        mintless_info: field('/mintless_info', 'an airdrop that was not claimed yet'),
        ...reading(),
      },
    }),
  ],
});
