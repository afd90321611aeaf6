import { base64Hash, json, lt, pipeline, rawAddress, reading, snapshot, table, wideInteger } from 'tonlake/pipeline';

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
      rows: { kind: 'records', path: '/jetton_wallets' },
      key: ['address', '_read_at'],
      sort: ['jetton', 'address'],
      columns: {
        address: rawAddress('/address', 'contract of the jetton wallet'),
        ...wideInteger('balance', '/balance', 'what the wallet says it holds, in the smallest unit'),
        owner: rawAddress('/owner', 'owner'),
        jetton: rawAddress('/jetton', 'jetton'),
        last_transaction_lt: lt('/last_transaction_lt', 'logical time of its last transaction'),
        code_hash: base64Hash('/code_hash', 'code of the wallet').nullable(),
        data_hash: base64Hash('/data_hash', 'data of the wallet').nullable(),
        mintless_info: json('/mintless_info', 'an airdrop that was not claimed yet').nullable(),
        ...reading(),
      },
    }),
  ],
});
