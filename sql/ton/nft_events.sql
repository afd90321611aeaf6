-- Transfers, mints, bids and sales of NFTs.
-- grain: one event that succeeded
-- inputs: nft_transfers, nft_items, nft_sales, actions
-- columns:
--   type VARCHAR: mint, transfer, put_on_sale, cancel_sale, sale, bid
--   nft_item_address VARCHAR: address of the NFT
--   is_init BOOLEAN: the NFT is initialized
--   nft_item_index VARCHAR: index within the collection
--   collection_address VARCHAR: collection
--   owner_address VARCHAR: owner after the event; for a bid, who made it
--   content_onchain VARCHAR: content on chain, as JSON
--   timestamp BIGINT (seconds): Unix time of the event
--   lt BIGINT (lt): logical time of the event
--   tx_hash VARCHAR: transaction of the event
--   trace_id VARCHAR: trace of the event
--   prev_owner VARCHAR: owner before the event; for a sale, the seller
--   query_id DECIMAL(20,0): chosen by the sender
--   forward_amount DECIMAL(38,0) (nanoton): TON forwarded to the new owner
--   forward_payload BLOB: forwarded to the new owner, as a bag of cells
--   comment VARCHAR: text of the forwarded payload
--   custom_payload BLOB: as sent, as a bag of cells
--   sale_contract VARCHAR: contract that sells it
--   sale_type VARCHAR: sale or auction
--   sale_end_time BIGINT (seconds): Unix time at which an auction ends
--   marketplace_address VARCHAR: marketplace
--   marketplace_fee_address VARCHAR: who receives its fee
--   marketplace_fee DECIMAL(38,0) (nanoton): fee of the marketplace
--   sale_price DECIMAL(38,0) (nanoton): price; for an auction, the highest bid
--   payment_asset VARCHAR: TON
--   royalty_address VARCHAR: who receives the royalty
--   royalty_amount DECIMAL(38,0) (nanoton): royalty
--   auction_max_bid DECIMAL(38,0) (nanoton): bid that ends the auction at once
--   auction_min_bid DECIMAL(38,0) (nanoton): first bid at least
--   auction_min_step DECIMAL(38,0): null
--   block_time TIMESTAMP: UTC time of the event
--   block_date DATE: UTC date of the event
WITH items AS (
  SELECT address, is_init, index, collection_address, content_onchain FROM main.nft_items
  QUALIFY row_number() OVER (PARTITION BY address ORDER BY _read_at DESC) = 1
), sales AS (
  SELECT *, CASE WHEN end_time IS NULL THEN 'sale' ELSE 'auction' END AS sale_type FROM main.nft_sales
  QUALIFY row_number() OVER (PARTITION BY address ORDER BY _read_at DESC) = 1
), bought AS (
  SELECT trace_id, nft_item, any_value(price) AS price, any_value(marketplace_address) AS marketplace FROM main.actions
  WHERE is_purchase AND success GROUP BY trace_id, nft_item
), events AS (
  SELECT
    CASE WHEN put.address IS NOT NULL THEN 'put_on_sale'
      WHEN bought.nft_item IS NOT NULL THEN 'sale'
      WHEN sold.address IS NULL THEN 'transfer'
      WHEN sold.nft_owner_address = nft_transfers.new_owner THEN 'cancel_sale'
      ELSE 'sale' END AS type,
    nft_item_address, nft_collection_address, new_owner, tx_now, tx_lt, tx_hash, nft_transfers.trace_id,
    coalesce(CASE WHEN put.address IS NULL THEN sold.nft_owner_address END, old_owner) AS prev_owner,
    query_id, forward_amount, forward_payload, comment, custom_payload,
    coalesce(put.address, sold.address, CASE WHEN bought.nft_item IS NOT NULL THEN old_owner END) AS sale_contract,
    bought.price AS paid, bought.marketplace, block_time, block_date
  FROM main.nft_transfers
  LEFT JOIN sales AS put ON put.address = nft_transfers.new_owner AND put.nft_address = nft_item_address
  LEFT JOIN sales AS sold ON sold.address = nft_transfers.old_owner AND sold.nft_address = nft_item_address
  LEFT JOIN bought ON bought.trace_id = nft_transfers.trace_id AND bought.nft_item = nft_item_address
  WHERE tx_aborted IS NOT TRUE
  UNION ALL
  SELECT
    CASE type WHEN 'nft_mint' THEN 'mint' ELSE 'bid' END,
    nft_item, nft_collection, coalesce(owner, source, (details->>'bidder')), end_utime, end_lt, (transactions->>'$[0]'), trace_id,
    NULL, query_id, NULL, NULL, NULL, NULL, coalesce(auction_address, (details->>'auction')), amount, NULL, block_time, block_date
  FROM main.actions WHERE type IN ('nft_mint', 'auction_bid') AND success
)
SELECT
  events.type,
  nft_item_address,
  items.is_init,
  items.index AS nft_item_index,
  coalesce(nft_collection_address, items.collection_address) AS collection_address,
  new_owner AS owner_address,
  items.content_onchain,
  tx_now AS timestamp,
  tx_lt AS lt,
  tx_hash,
  trace_id,
  prev_owner,
  query_id,
  forward_amount,
  forward_payload,
  comment,
  custom_payload,
  sale_contract,
  sale_type,
  sales.end_time AS sale_end_time,
  coalesce(sales.marketplace_address, events.marketplace) AS marketplace_address,
  sales.marketplace_fee_address,
  sales.marketplace_fee,
  coalesce(paid, CASE sale_type WHEN 'sale' THEN price WHEN 'auction' THEN coalesce(price, max_bid) END) AS sale_price,
  CASE WHEN sale_contract IS NOT NULL THEN 'TON' END AS payment_asset,
  sales.royalty_address,
  sales.royalty_amount,
  sales.max_bid AS auction_max_bid,
  sales.min_bid AS auction_min_bid,
  NULL::DECIMAL(38, 0) AS auction_min_step,
  block_time,
  block_date
FROM events
LEFT JOIN items ON items.address = nft_item_address
LEFT JOIN sales ON sales.address = sale_contract
