import type { JsonRecord } from '../page/json.ts';
import { type ItemRow, itemRecord, itemRows } from './nfts.ts';
import { demand } from './params.ts';
import type { Reply } from './reply.ts';

const KINDS = ['getgems_sale', 'getgems_auction', 'telemint'] as const;
const CREATED = 1_777_600_000;
const MOST_ADDRESSES = 1000;

/** `/nft/sales`: fixed sales, then auctions, then telemint. */
export function nftSales(reply: Reply): Buffer {
  const addresses = reply.params.addressSet('address');
  demand(addresses.size > 0, 'at least 1 address required');
  demand(addresses.size <= MOST_ADDRESSES, 'maximum 1000 addresses allowed');
  const found = itemRows(reply.view).filter(({ quiet }) => {
    if (quiet?.saleKind === undefined) return false;
    return addresses.has((quiet.sale ?? quiet).account.address ?? '');
  });
  const rows = KINDS.flatMap((kind) => found.filter(({ quiet }) => quiet?.saleKind === kind));
  const records = rows.map((row) => sale(reply, row));
  return reply.list('nft_sales', records, true);
}

function sale(reply: Reply, row: ItemRow): JsonRecord {
  const { view } = reply;
  const kind = row.quiet?.saleKind ?? 'telemint';
  const contract = view.latestStates.find((row.quiet?.sale ?? row.quiet)?.account.address ?? '');
  const market = view.chain.epoch.cast.contracts[0];
  const place = market === undefined ? undefined : reply.meet(market);
  const item = itemRecord(reply, row);
  const token = kind === 'telemint' ? { ...item, index: `name${row.state.account.index}` } : item;
  return {
    type: kind,
    address: contract?.address ?? row.state.address,
    nft_address: row.state.address,
    nft_owner_address: row.realOwner === undefined ? undefined : reply.meet(row.realOwner),
    marketplace_address: kind === 'telemint' ? undefined : place,
    created_at: kind === 'telemint' ? undefined : CREATED,
    last_transaction_lt: String(contract?.lastLt ?? row.state.lastLt),
    code_hash: contract?.codeHash,
    data_hash: contract?.dataHash,
    details: details(kind, place, row),
    nft_item: token,
  };
}

function details(kind: (typeof KINDS)[number], place: string | undefined, row: ItemRow): JsonRecord {
  const bidder = row.realOwner?.address;
  switch (kind) {
    case 'getgems_sale':
      return {
        is_complete: false,
        full_price: '10000000000',
        marketplace_fee_address: place,
        marketplace_fee: '500000000',
        royalty_address: place,
        royalty_amount: '500000000',
      };
    case 'getgems_auction':
      return {
        end_flag: false,
        end_time: CREATED + 100_000,
        last_bid: '2000000000',
        last_member: bidder,
        min_step: 5,
        mp_fee_address: place,
        mp_fee_factor: 5,
        mp_fee_base: 100,
        royalty_fee_address: place,
        royalty_fee_factor: 5,
        royalty_fee_base: 100,
        max_bid: '0',
        min_bid: '1000000000',
        last_bid_at: CREATED + 50,
        is_canceled: false,
      };
    case 'telemint':
      return {
        token_name: `name${row.state.account.index}`,
        bidder_address: bidder,
        bid: '5000000000',
        bid_ts: String(CREATED),
        min_bid: '5250000000',
        end_time: CREATED + 604_800,
        royalty_numerator: 5,
        royalty_denominator: 100,
        royalty_destination: place,
      };
  }
}
