-- domains
-- needs: dns_records
SELECT domain, dns_wallet = $thing AS resolves_here, nft_item_owner = $thing AS is_owner
FROM dns_records_now WHERE dns_wallet = $thing OR nft_item_owner = $thing ORDER BY domain LIMIT 10
