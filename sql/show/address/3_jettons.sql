-- jettons
-- needs: jetton_wallets
SELECT jetton, balance, address AS wallet, _as_of_seqno AS at_block FROM jetton_wallets_now
WHERE owner = $thing ORDER BY balance_decimal DESC NULLS LAST, jetton LIMIT 10
