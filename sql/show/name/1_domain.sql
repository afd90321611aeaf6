-- account of a domain
-- needs: dns_records
SELECT coalesce(dns_wallet, nft_item_owner) FROM dns_records_now
WHERE domain IN ($thing, $thing || '.ton', $thing || '.t.me') ORDER BY length(domain) LIMIT 1
