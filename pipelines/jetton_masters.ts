import { field, pipeline, reading, snapshot, table, wideInteger } from 'tonlake/pipeline';

export default pipeline({
  name: 'jetton_masters',
  doc: 'Jettons as they are now, in the order of their first sighting.',
  endpoint: 'GET /jetton/masters',
  walk: snapshot({ newer: 'last_transaction_lt' }),
  ignore: ['address_book', 'metadata'],
  tables: [
    table('jetton_masters', {
      grain: 'one jetton at one reading',
      record: 'JettonMaster',
      rows: { kind: 'records', path: '/jetton_masters' },
      key: ['address', '_read_at'],
      sort: ['address'],
      columns: {
        address: field('/address', 'contract of the jetton').bloomFilter(),
        ...wideInteger('total_supply', '/total_supply', 'what the contract says there is, in the smallest unit'),
        mintable: field('/mintable', 'more can be made'),
        admin_address: field('/admin_address', 'who may change it'),
        jetton_content: field('/jetton_content', 'name, symbol, decimals or the address of such facts'),
        jetton_wallet_code_hash: field('/jetton_wallet_code_hash', 'code of its wallets'),
        code_hash: field('/code_hash', 'code of the contract'),
        data_hash: field('/data_hash', 'data of the contract'),
        last_transaction_lt: field('/last_transaction_lt', 'logical time of its last transaction'),
        ...reading(),
      },
    }),
  ],
});
