import { base64Hash, lookup, pipeline, rawAddress, reading, table, text } from 'tonlake/pipeline';

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
      rows: { kind: 'records', path: '/records' },
      key: ['nft_item_address', '_read_at'],
      sort: ['nft_item_address'],
      columns: {
        nft_item_address: rawAddress('/nft_item_address', 'NFT of the domain'),
        nft_item_owner: rawAddress('/nft_item_owner', 'owner of the NFT').nullable(),
        domain: text('/domain', 'name'),
        dns_next_resolver: rawAddress('/dns_next_resolver', 'contract that knows its subdomains').nullable(),
        dns_wallet: rawAddress('/dns_wallet', 'account that it stands for').nullable(),
        dns_site_adnl: base64Hash('/dns_site_adnl', 'address of its site').nullable(),
        dns_storage_bag_id: base64Hash('/dns_storage_bag_id', 'bag of files that it stands for').nullable(),
        ...reading(),
      },
    }),
  ],
});
