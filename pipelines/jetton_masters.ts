import { field, pipeline, reading, snapshot, table, wideInteger } from 'tonlake/pipeline';

export default pipeline({
  name: 'jetton_masters',
  doc: 'Current state of all jettons, in the order the index discovered them.',
  endpoint: 'GET /jetton/masters',
  walk: snapshot({ newer: 'last_transaction_lt' }),
  tables: [
    table('jetton_masters', {
      grain: 'one jetton at one reading',
      key: ['address', '_read_at'],
      columns: {
        address: field('/address', 'jetton master').bloomFilter(),
        ...wideInteger('total_supply', '/total_supply', 'supply reported by the contract, in the smallest unit'),
        mintable: field('/mintable', 'true if more can be minted'),
        admin_address: field('/admin_address', 'admin of the contract'),
        jetton_content: field('/jetton_content', 'name, symbol and decimals, or the URI of the metadata'),
        jetton_wallet_code_hash: field('/jetton_wallet_code_hash', 'code hash of its wallets'),
        code_hash: field('/code_hash', 'code hash of the contract'),
        data_hash: field('/data_hash', 'data hash of the contract'),
        last_transaction_lt: field('/last_transaction_lt', 'logical time of its last transaction'),
        ...reading(),
      },
    }),
  ],
});
