import { field, lookup, pipeline, rawAddress, reading, table } from 'tonlake/pipeline';
import { accountsAs } from './tables/account_keys.ts';

export default pipeline({
  name: 'address_book',
  doc: 'User-friendly forms, domains and interfaces of accounts.',
  endpoint: 'GET /addressBook',
  walk: lookup({
    keys: ['address'],
    columns: ['address'],
    isEachListed: true,
    batch: 100,
    query: accountsAs('address'),
  }),
  needs: ['transactions'],
  tables: [
    table('address_book', {
      grain: 'one account at one reading',
      key: ['address', '_read_at'],
      columns: {
        address: rawAddress('/key', 'account, as requested').bloomFilter(),
        user_friendly: field('/value/user_friendly', 'user-friendly address, base64url').encodes('address'),
        domain: field('/value/domain', 'domain that resolves to it'),
        interfaces: field('/value/interfaces', 'interfaces of the contract, detected by the server'),
        ...reading(),
      },
    }),
  ],
});
