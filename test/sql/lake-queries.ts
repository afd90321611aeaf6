/** A query as users of the public lake write it, in Trino's SQL, and the same in DuckDB's over the tables behind. */
export interface LakeQuery {
  readonly name: string;
  readonly trino: string;
  readonly duckdb: string;
}

const NATIVE = `0:${'0'.repeat(64)}`;

/** One for each table of `ton`, and one for each idiom. */
export const lakeQueries: readonly LakeQuery[] = [
  {
    name: 'transactions and fees by hour',
    trino: `SELECT date_trunc('hour', block_time) AS hour, count(*) AS txs, sum(total_fees) / 1e9 AS fees
      FROM ton.transactions WHERE block_date >= DATE '2026-05-01' GROUP BY 1 ORDER BY 1`,
    duckdb: `SELECT time_bucket(INTERVAL 1 hour, block_time), count(*), sum(total_fees)::DOUBLE / 1000000000
      FROM transactions GROUP BY ALL ORDER BY 1`,
  },
  {
    name: 'share of failed transactions, as whole percent',
    trino: `SELECT count_if(NOT compute_success) * 100 / count(*) AS percent FROM ton.transactions WHERE compute_success IS NOT NULL`,
    duckdb: `SELECT count(*) FILTER (NOT compute_success) * 100 // count(*) FROM transactions WHERE compute_success IS NOT NULL`,
  },
  {
    name: 'share of failed transactions, with one digit',
    trino: `SELECT count_if(aborted) * 100.0 / count(*) FROM ton.transactions`,
    duckdb: `SELECT round(100.0 * sum(aborted::INTEGER) / count(*), 1)::DECIMAL(10, 1) FROM transactions`,
  },
  {
    name: 'newest transaction of each account',
    trino: `SELECT account, max_by(hash, lt) AS hash, max(lt) AS lt FROM ton.transactions GROUP BY account ORDER BY lt DESC, account LIMIT 20`,
    duckdb: `SELECT account, hash, lt FROM transactions
      QUALIFY row_number() OVER (PARTITION BY account ORDER BY lt DESC) = 1 ORDER BY lt DESC, account LIMIT 20`,
  },
  {
    name: 'hour of the day by unix time',
    trino: `SELECT hour(from_unixtime(now)) AS h, count(*) FROM ton.transactions WHERE now > 0 GROUP BY 1 ORDER BY 1`,
    duckdb: `SELECT extract(hour FROM block_time), count(*) FROM transactions GROUP BY ALL ORDER BY 1`,
  },
  {
    name: 'exit codes with their share, by a window',
    trino: `SELECT compute_exit_code, count(*) AS n, count(*) / cast(sum(count(*)) OVER () AS DOUBLE) AS share
      FROM ton.transactions WHERE compute_exit_code IS NOT NULL GROUP BY 1 ORDER BY n DESC, 1`,
    duckdb: `WITH all_of AS (SELECT count(*)::DOUBLE AS total FROM transactions WHERE compute_exit_code IS NOT NULL)
      SELECT compute_exit_code, count(*), count(*) / any_value(total) FROM transactions, all_of
      WHERE compute_exit_code IS NOT NULL GROUP BY 1 ORDER BY 2 DESC, 1`,
  },
  {
    name: 'median and 90th percentile of gas',
    trino: `SELECT approx_percentile(compute_gas_used, 0.5), approx_percentile(compute_gas_used, 0.9) FROM ton.transactions`,
    duckdb: `SELECT quantile_disc(compute_gas_used, 0.5), quantile_disc(compute_gas_used, 0.9) FROM transactions`,
  },
  {
    name: 'days since a date',
    trino: `SELECT DISTINCT date_diff('day', DATE '2026-04-01', block_date) AS days FROM ton.transactions`,
    duckdb: `SELECT DISTINCT block_date - DATE '2026-04-01' FROM transactions`,
  },
  {
    name: 'the last days, without the open one',
    trino: `SELECT count(*) FROM ton.blocks WHERE block_date >= CURRENT_DATE - INTERVAL '36500' DAY AND block_date < CURRENT_DATE`,
    duckdb: `SELECT count(*) FROM blocks`,
  },
  {
    name: 'messages in and out, by labels in a row list',
    trino: `SELECT l.title, count(*) AS n FROM ton.messages m
      CROSS JOIN UNNEST(ARRAY[ROW('in', 'received'), ROW('out', 'sent')]) AS l(direction, title)
      WHERE m.direction = l.direction GROUP BY 1 ORDER BY 1`,
    duckdb: `SELECT CASE direction WHEN 'in' THEN 'received' ELSE 'sent' END AS title, count(*) FROM messages GROUP BY 1 ORDER BY 1`,
  },
  {
    name: 'value received by account',
    trino: `SELECT destination, sum(value) / pow(10, 9) AS received FROM ton.messages
      WHERE direction = 'in' AND value IS NOT NULL GROUP BY 1 ORDER BY 2 DESC, 1 LIMIT 10`,
    duckdb: `SELECT destination, sum(value)::DOUBLE / 1e9 AS received FROM messages WHERE direction = 'in' AND value IS NOT NULL
      GROUP BY 1 ORDER BY sum(value) DESC, 1 LIMIT 10`,
  },
  {
    name: 'opcodes in hex',
    trino: `SELECT lower(to_hex(to_utf8(cast(opcode AS varchar)))) AS op, count(*) FROM ton.messages
      WHERE opcode IS NOT NULL AND direction = 'in' GROUP BY 1 ORDER BY 2 DESC, 1 LIMIT 5`,
    duckdb: `SELECT lower(hex(opcode::VARCHAR::BLOB)), count(*) FROM messages WHERE opcode IS NOT NULL AND direction = 'in'
      GROUP BY 1 ORDER BY 2 DESC, 1 LIMIT 5`,
  },
  {
    name: 'comments by pattern',
    trino: `SELECT count_if(regexp_like(comment, '[0-9]')) AS digits, count(regexp_extract(comment, '[A-Z]')) AS letters
      FROM ton.messages WHERE comment IS NOT NULL`,
    duckdb: `SELECT count(*) FILTER (comment SIMILAR TO '.*[0-9].*' OR regexp_matches(comment, '[0-9]')),
      count(*) FILTER (regexp_matches(comment, '[A-Z]')) FROM messages WHERE comment IS NOT NULL`,
  },
  {
    name: 'transactions with their messages',
    trino: `SELECT t.descr, count(DISTINCT t.hash) AS txs, count(m.msg_hash) AS messages FROM ton.transactions t
      LEFT JOIN ton.messages m ON m.tx_hash = t.hash AND m.block_date = t.block_date GROUP BY 1 ORDER BY 1`,
    duckdb: `SELECT descr, count(*), sum(coalesce(n, 0)) FROM transactions
      LEFT JOIN (SELECT tx_hash, count(*) AS n FROM messages GROUP BY 1) ON tx_hash = hash GROUP BY 1 ORDER BY 1`,
  },
  {
    name: 'bodies by their first bytes',
    trino: `SELECT bytearray_substring(body_boc, 1, 4) = 0xb5ee9c72 AS is_boc, count(*) FROM ton.messages WHERE body_boc IS NOT NULL GROUP BY 1`,
    duckdb: `SELECT starts_with(hex(body_boc), 'B5EE9C72'), count(*) FROM messages WHERE body_boc IS NOT NULL GROUP BY 1`,
  },
  {
    name: 'average value of messages',
    trino: `SELECT direction, avg(value) AS mean FROM ton.messages GROUP BY 1 ORDER BY 1`,
    duckdb: `SELECT direction, sum(value)::DOUBLE / count(value) FROM messages GROUP BY 1 ORDER BY 1`,
  },
  {
    name: 'blocks by shard and workchain, as a grouping set',
    trino: `SELECT workchain, shard, count(*) AS n FROM ton.blocks GROUP BY GROUPING SETS ((workchain), (workchain, shard)) ORDER BY 1, 2, 3`,
    duckdb: `SELECT workchain, NULL::BIGINT AS shard, count(*) AS n FROM blocks GROUP BY 1
      UNION ALL SELECT workchain, shard, count(*) FROM blocks GROUP BY 1, 2 ORDER BY 1, 2, 3`,
  },
  {
    name: 'seconds between blocks',
    trino: `SELECT max(gap) FROM (SELECT gen_utime - lag(gen_utime) OVER (ORDER BY seqno) AS gap FROM ton.blocks WHERE workchain = -1)`,
    duckdb: `SELECT max(b.gen_utime - a.gen_utime) FROM blocks a JOIN blocks b ON b.workchain = -1 AND a.workchain = -1 AND b.seqno = a.seqno + 1`,
  },
  {
    name: 'states by status, as a map',
    trino: `SELECT element_at(map_agg(account_status, n), 'active') AS active, element_at(map_agg(account_status, n), 'none')
      FROM (SELECT account_status, count(*) AS n FROM ton.account_states GROUP BY 1)`,
    duckdb: `SELECT count(*) FILTER (account_status = 'active'), NULL::BIGINT FROM account_states`,
  },
  {
    name: 'size of code',
    trino: `SELECT max(length(code_boc)), max(bytearray_length(data_boc)) FROM ton.account_states`,
    duckdb: `SELECT max(length(hex(code_boc))) // 2, max(length(hex(data_boc))) // 2 FROM account_states`,
  },
  {
    name: 'accounts by interface',
    trino: `SELECT i AS interface, count(*) AS n FROM ton.accounts CROSS JOIN UNNEST(interfaces) AS t(i) GROUP BY 1 ORDER BY 2 DESC, 1`,
    duckdb: `SELECT i, count(*) FROM (SELECT unnest(from_json(interfaces, '["VARCHAR"]')) AS i FROM accounts) GROUP BY 1 ORDER BY 2 DESC, 1`,
  },
  {
    name: 'accounts with a wallet',
    trino: `SELECT count_if(cardinality(filter(interfaces, i -> regexp_like(i, '^wallet_'))) > 0) AS wallets,
      count_if(any_match(interfaces, i -> i LIKE 'jetton%')) AS jettons, count_if(none_match(interfaces, i -> true)) AS unknown FROM ton.accounts`,
    duckdb: `SELECT count(*) FILTER (interfaces LIKE '%"wallet\\_%' ESCAPE '\\'), count(*) FILTER (interfaces LIKE '%"jetton%'),
      count(*) FILTER (coalesce(interfaces, '[]') = '[]') FROM accounts`,
  },
  {
    name: 'new accounts by day',
    trino: `SELECT date(initial_funding_at) AS day, count(*) FROM ton.accounts GROUP BY 1 ORDER BY 1`,
    duckdb: `SELECT day, count(*) FROM (SELECT min(block_time)::DATE AS day FROM transactions GROUP BY account) GROUP BY 1 ORDER BY 1`,
  },
  {
    name: 'richest accounts',
    trino: `SELECT address, amount / 1e9 AS ton FROM ton.latest_balances WHERE asset = 'TON' ORDER BY amount DESC, address FETCH FIRST 10 ROWS ONLY`,
    duckdb: `SELECT account, coalesce(account_state_balance_after, 0)::DOUBLE / 1e9 FROM transactions
      WHERE account_state_balance_after IS NOT NULL OR end_status = 'nonexist'
      QUALIFY row_number() OVER (PARTITION BY account ORDER BY lt DESC) = 1 ORDER BY account_state_balance_after DESC NULLS LAST, 1 LIMIT 10`,
  },
  {
    name: 'holders of jettons',
    trino: `SELECT asset, count(DISTINCT address) AS holders FROM ton.latest_balances WHERE asset <> 'TON' AND amount > 0 GROUP BY 1 ORDER BY 2 DESC, 1 LIMIT 5`,
    duckdb: `SELECT jetton, count(*) FROM (FROM jetton_wallets_now QUALIFY row_number() OVER (PARTITION BY owner, jetton
        ORDER BY _read_at DESC, last_transaction_lt DESC, address) = 1) WHERE balance_decimal > 0 GROUP BY 1 ORDER BY 2 DESC, 1 LIMIT 5`,
  },
  {
    name: 'balances at the end of each day, by an account',
    trino: `SELECT block_date, max_by(amount, lt) AS amount FROM ton.balances_history
      WHERE asset = 'TON' AND address = (SELECT max(address) FROM ton.balances_history) GROUP BY 1 ORDER BY 1`,
    duckdb: `SELECT block_date, coalesce(account_state_balance_after, 0)::DECIMAL(38, 0) FROM transactions
      WHERE (account_state_balance_after IS NOT NULL OR end_status = 'nonexist') AND account = (SELECT max(account) FROM transactions
        WHERE account_state_balance_after IS NOT NULL OR end_status = 'nonexist')
      QUALIFY row_number() OVER (PARTITION BY block_date ORDER BY lt DESC) = 1 ORDER BY 1`,
  },
  {
    name: 'mean of decimals keeps their digits',
    trino: `SELECT avg(amount) FROM ton.balances_history`,
    duckdb: `SELECT (sum(coalesce(account_state_balance_after, 0)) + count(*) // 2) // count(*) FROM transactions
      WHERE account_state_balance_after IS NOT NULL OR end_status = 'nonexist'`,
  },
  {
    name: 'jetton events by type',
    trino: `SELECT type, count(*) AS events, count_if(tx_aborted) AS failed FROM ton.jetton_events GROUP BY 1 ORDER BY 1`,
    duckdb: `SELECT 'burn' AS type, count(*), count(*) FILTER (tx_aborted) FROM jetton_burns
      UNION ALL SELECT 'mint', count(*), 0 FROM messages JOIN jetton_wallets_now ON address = destination AND jetton = source
        WHERE opcode = 395134233 AND direction = 'in' HAVING count(*) > 0
      UNION ALL SELECT 'transfer', count(*), count(*) FILTER (tx_aborted) FROM jetton_transfers ORDER BY 1`,
  },
  {
    name: 'most active jettons',
    trino: `SELECT jetton_master, approx_distinct(trace_id) AS operations FROM ton.jetton_events WHERE NOT tx_aborted AND type <> 'mint'
      GROUP BY 1 ORDER BY 2 DESC, 1 LIMIT 10`,
    duckdb: `SELECT jetton_master, count(DISTINCT trace_id) FROM
      (SELECT jetton_master, trace_id FROM jetton_transfers WHERE NOT tx_aborted UNION ALL SELECT jetton_master, trace_id FROM jetton_burns WHERE NOT tx_aborted)
      GROUP BY 1 ORDER BY 2 DESC, 1 LIMIT 10`,
  },
  {
    name: 'jetton volumes with decimals',
    trino: `SELECT m.symbol, sum(e.amount / pow(10, coalesce(m.decimals, 9))) AS volume FROM ton.jetton_events e
      JOIN ton.jetton_metadata m ON m.address = e.jetton_master WHERE e.type = 'transfer' AND NOT e.tx_aborted GROUP BY m.address, 1 ORDER BY 2 DESC, 1`,
    duckdb: `WITH info AS (SELECT address, any_value(symbol) AS symbol, any_value(json_extract_string(extra, '$.decimals'))::INTEGER AS decimals
        FROM token_info_now WHERE type = 'jetton_masters' GROUP BY 1)
      SELECT symbol, sum(amount::DOUBLE / pow(10, coalesce(decimals, 9))) FROM jetton_transfers JOIN info ON address = jetton_master
      WHERE NOT tx_aborted GROUP BY address, 1 ORDER BY 2 DESC, 1`,
  },
  {
    name: 'query ids, shifted',
    trino: `SELECT bitwise_right_shift(query_id, 32) AS high, count(*) FROM ton.jetton_events WHERE query_id < 9223372036854775807
      AND type = 'transfer' GROUP BY 1 ORDER BY 1 LIMIT 10`,
    duckdb: `SELECT query_id::BIGINT // 4294967296, count(*) FROM jetton_transfers WHERE query_id < 9223372036854775807 GROUP BY 1 ORDER BY 1 LIMIT 10`,
  },
  {
    name: 'senders and receivers of jettons, net',
    trino: `WITH flows AS (SELECT source AS address, -amount AS change FROM ton.jetton_events WHERE type = 'transfer'
        UNION ALL SELECT destination, amount FROM ton.jetton_events WHERE type = 'transfer')
      SELECT count(*), sum(net) FROM (SELECT address, sum(change) AS net FROM flows WHERE address IS NOT NULL GROUP BY 1) WHERE net <> 0`,
    duckdb: `SELECT count(*), sum(net) FROM (SELECT address, sum(x) AS net FROM (SELECT unnest([source, destination]) AS address,
        unnest([-amount, amount]) AS x FROM jetton_transfers) WHERE address IS NOT NULL GROUP BY 1) WHERE net <> 0`,
  },
  {
    name: 'jettons and where their names come from',
    trino: `SELECT sources.name AS source, count(*) AS n FROM ton.jetton_metadata GROUP BY 1 ORDER BY 1`,
    duckdb: `SELECT CASE WHEN json_extract_string(jetton_content, '$.name') IS NOT NULL THEN 'onchain'
        WHEN address IN (SELECT address FROM token_info_now WHERE type = 'jetton_masters' AND name IS NOT NULL) THEN 'offchain' ELSE '' END, count(*)
      FROM jetton_masters_now GROUP BY 1 ORDER BY 1`,
  },
  {
    name: 'NFT events by type',
    trino: `SELECT type, count(*) AS n, count(DISTINCT collection_address) > 0 FROM ton.nft_events GROUP BY 1 ORDER BY 1`,
    duckdb: `WITH sold AS (SELECT DISTINCT trace_id, nft_item FROM actions WHERE is_purchase AND success),
      sales AS (SELECT DISTINCT address, nft_address, nft_owner_address FROM nft_sales_now),
      events AS (SELECT CASE WHEN EXISTS (SELECT 1 FROM sales WHERE address = new_owner AND nft_address = nft_item_address) THEN 'put_on_sale'
          WHEN EXISTS (SELECT 1 FROM sold WHERE sold.trace_id = t.trace_id AND nft_item = nft_item_address) THEN 'sale'
          WHEN EXISTS (SELECT 1 FROM sales WHERE address = old_owner AND nft_address = nft_item_address AND nft_owner_address = new_owner) THEN 'cancel_sale'
          WHEN EXISTS (SELECT 1 FROM sales WHERE address = old_owner AND nft_address = nft_item_address) THEN 'sale'
          ELSE 'transfer' END AS type FROM nft_transfers t WHERE NOT tx_aborted
        UNION ALL SELECT CASE type WHEN 'nft_mint' THEN 'mint' ELSE 'bid' END FROM actions WHERE type IN ('nft_mint', 'auction_bid') AND success)
      SELECT type, count(*), true FROM events GROUP BY 1 ORDER BY 1`,
  },
  {
    name: 'NFTs by their collection, as a list',
    trino: `SELECT parent_address, cardinality(array_agg(address)) AS items, array_join(slice(array_sort(array_agg(coalesce(name, ''))), 1, 2), '|') AS some
      FROM ton.nft_metadata WHERE type = 'item' AND parent_address IS NOT NULL GROUP BY 1 ORDER BY 2 DESC, 1 LIMIT 5`,
    duckdb: `SELECT i.collection_address, count(*), array_to_string(list_slice(list_sort(list(coalesce(t.name, ''))), 1, 2), '|')
      FROM nft_items_now i LEFT JOIN (SELECT address, any_value(name) AS name FROM token_info_now WHERE type = 'nft_items' GROUP BY 1) t USING (address)
      WHERE i.collection_address IS NOT NULL GROUP BY 1 ORDER BY 2 DESC, 1 LIMIT 5`,
  },
  {
    name: 'trades by exchange',
    trino: `SELECT project, version, count(*) AS trades, count(DISTINCT trader_address) AS traders, sum(volume_ton) AS volume
      FROM ton.dex_trades WHERE event_type = 'trade' AND project_type = 'dex' GROUP BY 1, 2 ORDER BY 1, 2`,
    duckdb: `SELECT replace(regexp_replace(dex, '_v[0-9]+$', ''), 'stonfi', 'ston.fi'),
        CASE WHEN dex = 'dedust' OR dex LIKE '%v2' THEN 2 ELSE 1 END, count(*), count(DISTINCT coalesce(sender, source)),
        (sum(CASE WHEN asset_in IS NULL THEN swap_amount_in WHEN asset_out IS NULL THEN swap_amount_out END)::DECIMAL(29, 0) * 0.000000001::DECIMAL(9, 9))
      FROM actions WHERE type = 'jetton_swap' AND success GROUP BY 1, 2 ORDER BY 1, 2`,
  },
  {
    name: 'tokens that were bought, without TON',
    trino: `SELECT token_bought_address, sum(amount_bought_raw) AS bought FROM ton.dex_trades
      WHERE token_bought_address NOT IN ('${NATIVE}', '0:8CDC1D7640AD5EE326527FC1AD0514F468B30DC84B0173F0E155F451B4E11F7C',
        '0:671963027F7F85659AB55B821671688601CDCF1EE674FC7FBBB1A776A18D34A3') GROUP BY 1 ORDER BY 1`,
    duckdb: `SELECT asset_out, sum(swap_amount_out) FROM actions WHERE type = 'jetton_swap' AND success AND asset_out IS NOT NULL GROUP BY 1 ORDER BY 1`,
  },
  {
    name: 'pools and when they were found',
    trino: `SELECT count(*) AS pools, count_if(jetton_left < jetton_right) AS ordered, count_if(last_updated < discovered_at) FROM ton.dex_pools`,
    duckdb: `SELECT count(DISTINCT m.source), count(DISTINCT m.source), 0 FROM messages m JOIN actions a USING (trace_id)
      WHERE a.type = 'jetton_swap' AND a.success AND m.direction = 'in' AND opcode_hex(m.opcode) IN ('0xf93bb43f', '0x657b54f5', '0xad4eb6f5', '0xa1daa96d')`,
  },
  {
    name: 'values in dollars, without prices',
    trino: `SELECT count(*), count(p.price_usd) FROM ton.messages m LEFT JOIN ton.prices_daily p
      ON p.timestamp = m.block_date AND p.token_address LIKE '0:000000000%'`,
    duckdb: `SELECT count(*), 0 FROM messages`,
  },
  {
    name: 'senders by label, where one is known',
    trino: `SELECT coalesce(l.label, 'unknown') AS label, count(*) FROM ton.messages m LEFT JOIN ton.labels l ON l.address = m.source
      WHERE m.direction = 'in' GROUP BY 1`,
    duckdb: `SELECT 'unknown', count(*) FROM messages WHERE direction = 'in'`,
  },
  {
    name: 'a calendar with days of no transaction',
    trino: `SELECT d.day, count(t.hash) AS n FROM UNNEST(sequence(DATE '2026-04-30', DATE '2026-05-02', INTERVAL '1' DAY)) AS d(day)
      LEFT JOIN ton.transactions t ON t.block_date = d.day GROUP BY 1 ORDER BY 1`,
    duckdb: `SELECT day::TIMESTAMP, (SELECT count(*) FROM transactions WHERE block_date = day)
      FROM (VALUES (DATE '2026-04-30'), (DATE '2026-05-01'), (DATE '2026-05-02')) d(day) ORDER BY 1`,
  },
  {
    name: 'weeks and months of dates stay dates',
    trino: `SELECT DISTINCT date_trunc('month', block_date) AS month, date_trunc('week', block_date) AS week, date_add('day', -1, block_date) AS before,
      date_format(block_time, '%Y-%m') AS text, day_of_week(block_date) AS dow FROM ton.blocks`,
    duckdb: `SELECT DISTINCT DATE '2026-05-01', DATE '2026-04-27', DATE '2026-04-30', '2026-05', 5 FROM blocks`,
  },
];
