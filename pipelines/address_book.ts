import { field, lookup, pipeline, rawAddress, reading, table } from 'tonlake/pipeline';

export default pipeline({
  name: 'address_book',
  doc: 'User-friendly forms, domains and interfaces of accounts.',
  endpoint: 'GET /addressBook',
  walk: lookup({
    keys: ['address'],
    batch: 100,
    query: `SELECT account AS address, max(mc_block_seqno) AS seqno FROM transactions
    WHERE mc_block_seqno BETWEEN $from AND $to GROUP BY account`,
  }),
  needs: ['transactions'],
  ignore: ['address_book', 'metadata'],
  tables: [
    table('address_book', {
      grain: 'one account at one reading',
      record: 'AddressBookRow',
      rows: { kind: 'records', path: '/rows', shape: 'map' },
      key: ['address', '_read_at'],
      sort: ['address'],
      columns: {
        address: rawAddress('/key', 'account as it was asked for').bloomFilter(),
        user_friendly: field('/value/user_friendly', 'address for people, base64url'),
        domain: field('/value/domain', 'a domain that stands for it'),
        interfaces: field('/value/interfaces', 'what the server takes it for'),
        ...reading(),
      },
    }),
  ],
});
