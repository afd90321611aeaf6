-- NFTs
-- needs: nft_items
SELECT address AS item, collection_address AS collection, index, on_sale, _as_of_seqno AS at_block
FROM nft_items_now WHERE coalesce(real_owner, owner_address) = $thing ORDER BY last_transaction_lt DESC, address LIMIT 10
