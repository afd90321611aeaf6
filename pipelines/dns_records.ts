import { field, lookup, pipeline, reading, table } from 'tonlake/pipeline';

export default pipeline({
  name: 'dns_records',
  doc: 'Domains that resolve to accounts that received an NFT.',
  endpoint: 'GET /dns/records',
  walk: lookup({
    keys: ['wallet'],
    columns: ['dns_wallet'],
    limit: 1000,
    query: `SELECT DISTINCT new_owner AS wallet FROM nft_transfers WHERE new_owner IS NOT NULL AND new_owner LIKE '%:%'`,
  }),
  needs: ['nft_transfers'],
  tables: [
    table('dns_records', {
      grain: 'one domain at one reading',
      key: ['nft_item_address', '_read_at'],
      columns: {
        nft_item_address: field('/nft_item_address', 'NFT of the domain'),
        nft_item_owner: field('/nft_item_owner', 'owner of the NFT'),
        domain: field('/domain', 'domain name'),
        dns_next_resolver: field('/dns_next_resolver', 'contract that resolves its subdomains'),
        dns_wallet: field('/dns_wallet', 'wallet that it resolves to'),
        dns_site_adnl: field('/dns_site_adnl', 'ADNL address of its site'),
        dns_storage_bag_id: field('/dns_storage_bag_id', 'id of its TON Storage bag'),
        ...reading(),
      },
    }),
  ],
});
