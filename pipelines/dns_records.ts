import { field, lookup, pipeline, reading, table } from 'tonlake/pipeline';

export default pipeline({
  name: 'dns_records',
  doc: 'Domains that stand for accounts that got an NFT.',
  endpoint: 'GET /dns/records',
  walk: lookup({
    keys: ['wallet'],
    limit: 1000,
    query: `SELECT DISTINCT new_owner AS wallet FROM nft_transfers WHERE new_owner IS NOT NULL AND new_owner LIKE '%:%'`,
  }),
  needs: ['nft_transfers'],
  ignore: ['address_book', 'metadata'],
  tables: [
    table('dns_records', {
      grain: 'one domain at one reading',
      record: 'DNSRecord',
      rows: { kind: 'records', path: '/records' },
      key: ['nft_item_address', '_read_at'],
      sort: ['nft_item_address'],
      columns: {
        nft_item_address: field('/nft_item_address', 'NFT of the domain'),
        nft_item_owner: field('/nft_item_owner', 'owner of the NFT'),
        domain: field('/domain', 'name'),
        dns_next_resolver: field('/dns_next_resolver', 'contract that knows its subdomains'),
        dns_wallet: field('/dns_wallet', 'account that it stands for'),
        dns_site_adnl: field('/dns_site_adnl', 'address of its site'),
        dns_storage_bag_id: field('/dns_storage_bag_id', 'bag of files that it stands for'),
        ...reading(),
      },
    }),
  ],
});
