-- The functions of SQL that tonlake adds, for other programs. Made from the declarations by `npm run docs`.

-- _crc16(digits): CRC-16 with polynomial 0x1021, start 0 and no reflection (XMODEM), of bytes as hex digits; 4 hex digits
CREATE OR REPLACE MACRO _crc16(digits) AS
printf('%04X', list_reduce(
      list_transform(range(0, length(digits) // 2), lambda i: ('0x' || substr(digits, 2 * i + 1, 2))::INTEGER),
      lambda crc, byte: xor(xor(xor(crc << 8, xor(xor(crc >> 8, byte), xor(crc >> 8, byte) >> 4) << 12), xor(xor(crc >> 8, byte), xor(crc >> 8, byte) >> 4) << 5), xor(xor(crc >> 8, byte), xor(crc >> 8, byte) >> 4)) & 65535, 0));

-- _friendly_digits(address): bytes of a user-friendly address as hex digits; null where the text is none, or its CRC-16 is wrong
CREATE OR REPLACE MACRO _friendly_digits(address) AS
CASE WHEN regexp_full_match(address, '[A-Za-z0-9+/_-]{48}') THEN list_transform([hex(from_base64(translate(address, '-_', '+/')))], lambda digits: CASE WHEN substr(digits, 1, 2) IN ('11', '51', '91', 'D1') AND _crc16(substr(digits, 1, 68)) = substr(digits, 69)
        THEN digits END)[1] END;

-- _raw_of(digits): raw form of the bytes of a user-friendly address
CREATE OR REPLACE MACRO _raw_of(digits) AS
((('0x' || substr(digits, 3, 2))::INTEGER + 128) % 256 - 128) || ':' || substr(digits, 5, 64);

-- _friendly_of(digits): user-friendly form of bytes as hex digits, to which their CRC-16 is added
CREATE OR REPLACE MACRO _friendly_of(digits) AS
translate(to_base64(from_hex(digits || _crc16(digits))), '+/', '-_');

-- _account_bits(address): first 64 bits of an account as a number
CREATE OR REPLACE MACRO _account_bits(address) AS
('0x' || substr(split_part(address, ':', 2), 1, 16))::UBIGINT::HUGEINT;

-- _unsigned(number): a signed 64-bit number as an unsigned one
CREATE OR REPLACE MACRO _unsigned(number) AS
(number::HUGEINT + 18446744073709551616) % 18446744073709551616;

-- _signed(number): an unsigned 64-bit number as a signed one
CREATE OR REPLACE MACRO _signed(number) AS
(CASE WHEN number > 9223372036854775807 THEN number - 18446744073709551616 ELSE number END)::BIGINT;

-- _high_sum(x): the part of an exact sum above 19 digits
CREATE OR REPLACE MACRO _high_sum(x) AS
sum(x::HUGEINT // 10000000000000000000) + sum(x::HUGEINT % 10000000000000000000) // 10000000000000000000;

-- _low_sum(x): the last 19 digits of an exact sum
CREATE OR REPLACE MACRO _low_sum(x) AS
sum(x::HUGEINT % 10000000000000000000) % 10000000000000000000;

-- _ton_asset(asset, project, version): address of a traded token as the public lake has it: on ston.fi, TON is a wrapped token
CREATE OR REPLACE MACRO _ton_asset(asset, project, version) AS
CASE WHEN project = 'stonfi' AND asset LIKE '0:000000000000000%' THEN
      CASE WHEN version = '2' THEN '0:671963027F7F85659AB55B821671688601CDCF1EE674FC7FBBB1A776A18D34A3'
        ELSE '0:8CDC1D7640AD5EE326527FC1AD0514F468B30DC84B0173F0E155F451B4E11F7C' END
      ELSE asset END;

-- _body_digits(boc): bits of the first cell of a bag of cells, as hex digits; null for anything else
CREATE OR REPLACE MACRO _body_digits(boc) AS
list_transform([hex(boc)], lambda digits: CASE WHEN starts_with(digits, 'B5EE9C72') THEN list_transform([{'size': TRY_CAST('0x' || substr(digits, 10, 1) AS INTEGER) % 8, 'bytes': TRY_CAST('0x' || substr(digits, 11, 2) AS INTEGER)}], lambda own: substr(digits, 17 + 2 * (4 * own.size + own.bytes + CASE WHEN substr(digits, 9, 1) < '8' THEN 0
          ELSE own.bytes * TRY_CAST(('0x' || lpad(substr(digits, 13, 2 * own.size), 16, '0'))::UBIGINT AS INTEGER)::BIGINT END)))[1] END)[1];

-- _nibbles(digits, start, count): number in at most 31 hex digits from a place, counted from 0; null if there are fewer digits
CREATE OR REPLACE MACRO _nibbles(digits, start, count) AS
TRY_CAST(CASE WHEN length(digits) >= start + count THEN ('0x' || left(lpad(substr(digits, start + 1, count), 32, '0'), 16))::UBIGINT::HUGEINT * 18446744073709551616
      + ('0x' || right(lpad(substr(digits, start + 1, count), 32, '0'), 16))::UBIGINT END AS DECIMAL(38, 0));

-- _is_positive(high, low): true if a number in parts, high * 10^19 + low, is greater than 0
CREATE OR REPLACE MACRO _is_positive(high, low) AS
high + low // 10000000000000000000 > 0
      OR (high + low // 10000000000000000000 = 0 AND low % 10000000000000000000 > 0);

-- try_raw_address(address): raw form of a raw or user-friendly address; null if the text is not an address or its CRC-16 is wrong
CREATE OR REPLACE MACRO try_raw_address(address) AS
CASE WHEN regexp_full_match(address, '-?[0-9]{1,3}:[0-9A-Fa-f]{64}') THEN upper(address)
      ELSE list_transform([_friendly_digits(address)], lambda digits: _raw_of(digits))[1] END;

-- raw_address(address): the same, but fails if the text is not an address
CREATE OR REPLACE MACRO raw_address(address) AS
coalesce(try_raw_address(address),
      CASE WHEN address IS NOT NULL THEN error('not an address: ' || address) END);

-- friendly_address(address, bounceable := true, testnet := false): user-friendly form (base64url, 48 characters) of a raw or user-friendly address; null if the text is not an address
CREATE OR REPLACE MACRO friendly_address(address, bounceable := true, testnet := false) AS
list_transform([try_raw_address(address)], lambda raw: list_transform([printf('%02X%02X', (CASE WHEN bounceable THEN 17 ELSE 81 END) + (CASE WHEN testnet THEN 128 ELSE 0 END),
          (split_part(raw, ':', 1)::INTEGER + 256) % 256) || split_part(raw, ':', 2)], lambda digits: _friendly_of(digits))[1])[1];

-- base64_hash(hash): a hash in hex (with or without 0x), base64 or base64url, as columns have it: base64; fails for any other text
CREATE OR REPLACE MACRO base64_hash(hash) AS
CASE WHEN hash IS NULL THEN NULL
      WHEN regexp_full_match(hash, '(0x)?[0-9A-Fa-f]{64}') THEN to_base64(from_hex(right(hash, 64)))
      WHEN regexp_full_match(hash, '[A-Za-z0-9+/_-]{43}=?') THEN left(translate(hash, '-_', '+/'), 43) || '='
      ELSE error('not a hash: ' || hash) END;

-- is_bounceable(address): true if a user-friendly address is bounceable; null for any other text
CREATE OR REPLACE MACRO is_bounceable(address) AS
substr(_friendly_digits(address), 1, 2) IN ('11', '91');

-- is_testnet(address): true if a user-friendly address is for testnet; null for any other text
CREATE OR REPLACE MACRO is_testnet(address) AS
substr(_friendly_digits(address), 1, 2) IN ('91', 'D1');

-- ton(nanotons): nanotons as TON: DECIMAL(38,9), exact
CREATE OR REPLACE MACRO ton(nanotons) AS
nanotons::DECIMAL(29, 0) * 0.000000001::DECIMAL(9, 9);

-- in_tokens(amount, decimals): an amount of a jetton in whole tokens: DECIMAL(38,9), rounded down; null if it does not fit, and for decimals outside 0 to 255
CREATE OR REPLACE MACRO in_tokens(amount, decimals) AS
TRY_CAST(TRY_CAST(CASE WHEN decimals BETWEEN 0 AND 9
        THEN TRY_CAST(amount AS DECIMAL(29, 0))::HUGEINT * ('1' || repeat('0', (9 - decimals)::INTEGER))::HUGEINT
        WHEN decimals BETWEEN 10 AND 255
        THEN amount::HUGEINT // ('1' || repeat('0', least(decimals - 9, 38)::INTEGER))::HUGEINT END AS DECIMAL(29, 0))
      * 0.000000001::DECIMAL(9, 9) AS DECIMAL(38, 9));

-- opcode_name(opcode): name of an opcode (the first 32 bits of a body, signed or unsigned); null if tonlake does not know it
CREATE OR REPLACE MACRO opcode_name(opcode) AS
CASE (opcode::BIGINT + 4294967296) % 4294967296 WHEN 0 THEN 'text_comment' WHEN 32736093 THEN 'pton_ton_transfer' WHEN 81711432 THEN 'sbt_prove_ownership' WHEN 85167505 THEN 'nft_ownership_assigned' WHEN 86296494 THEN 'sbt_ownership_proof' WHEN 116184359 THEN 'stonfi_cb_add_liquidity_v2' WHEN 175592284 THEN 'tonstake_pool_withdrawal' WHEN 232130531 THEN 'sbt_owner_info' WHEN 260734629 THEN 'jetton_transfer' WHEN 321886789 THEN 'tonstake_nft_init' WHEN 376746144 THEN 'tonstake_payout_mint_jettons' WHEN 395134233 THEN 'jetton_internal_transfer' WHEN 520377210 THEN 'sbt_destroy' WHEN 695482319 THEN 'stonfi_burn_notification_ext_v2' WHEN 745978227 THEN 'jetton_provide_wallet_address' WHEN 801842850 THEN 'nft_get_static_data' WHEN 832244956 THEN 'tonstake_pool_withdraw' WHEN 923790417 THEN 'auction_fill_up' WHEN 935368415 THEN 'stonfi_provide_lp_v2' WHEN 1196394191 THEN 'dedust_payout' WHEN 1205158801 THEN 'tonstake_pool_deposit' WHEN 1316189259 THEN 'elector_new_stake' WHEN 1320284409 THEN 'change_dns_record' WHEN 1355195988 THEN 'stonfi_add_liquidity_v2' WHEN 1411649509 THEN 'dedust_deposit_asset' WHEN 1499400124 THEN 'jetton_burn' WHEN 1607220500 THEN 'nft_transfer' WHEN 1643009069 THEN 'dedust_swap_external' WHEN 1702581493 THEN 'stonfi_pay_to_v2' WHEN 1717886506 THEN 'stonfi_swap_v2' WHEN 1795913855 THEN 'dedust_pay_out_from_deposit' WHEN 1808244350 THEN 'coffee_mev_protect_hold_funds' WHEN 1860003312 THEN 'bidask_native_transfer_notification' WHEN 1871312355 THEN 'sbt_revoke' WHEN 1935855772 THEN 'jetton_notify' WHEN 1936287598 THEN 'w5_external_signed_request' WHEN 2078119902 THEN 'jetton_burn_notification' WHEN 2278779280 THEN 'bidask_internal_swap_v2' WHEN 2339837749 THEN 'nft_report_static_data' WHEN 2604311546 THEN 'dedust_install' WHEN 2867302998 THEN 'dedust_fulfill_deposit' WHEN 2907617013 THEN 'dedust_pay_out_from_pool' WHEN 3043726744 THEN 'dedust_deposit_liquidity_all' WHEN 3502489578 THEN 'sbt_request_owner' WHEN 3513996288 THEN 'jetton_take_wallet_address' WHEN 3550632080 THEN 'bidask_swap_success_v2' WHEN 3576854235 THEN 'excess' WHEN 3579725446 THEN 'dedust_deposit_liquidity' WHEN 3818968194 THEN 'dedust_swap_payload' WHEN 3926267997 THEN 'dedust_swap' WHEN 4031694118 THEN 'dedust_create_liquidity_deposit' WHEN 4084484172 THEN 'elector_new_stake_ok' WHEN 4294967295 THEN 'bounce' END;

-- exit_code_name(exit_code): meaning of a compute phase exit code; null for codes that contracts define themselves
CREATE OR REPLACE MACRO exit_code_name(exit_code) AS
CASE exit_code::BIGINT WHEN 0 THEN 'success' WHEN 1 THEN 'success, alternative' WHEN 2 THEN 'stack underflow' WHEN 3 THEN 'stack overflow' WHEN 4 THEN 'integer overflow' WHEN 5 THEN 'integer out of range' WHEN 6 THEN 'invalid opcode of the virtual machine' WHEN 7 THEN 'type check error' WHEN 8 THEN 'cell overflow' WHEN 9 THEN 'cell underflow' WHEN 10 THEN 'dictionary error' WHEN 11 THEN 'unknown error' WHEN 12 THEN 'fatal error' WHEN 13 THEN 'out of gas' WHEN -14 THEN 'out of gas' WHEN 14 THEN 'virtualization error' END;

-- action_result_name(result_code): meaning of an action phase result code; null if tonlake does not know it
CREATE OR REPLACE MACRO action_result_name(result_code) AS
CASE result_code::BIGINT WHEN 0 THEN 'success' WHEN 32 THEN 'invalid list of actions' WHEN 33 THEN 'too many actions' WHEN 34 THEN 'invalid or unsupported action' WHEN 35 THEN 'invalid source address of a message' WHEN 36 THEN 'invalid destination address of a message' WHEN 37 THEN 'not enough TON' WHEN 38 THEN 'not enough extra currency' WHEN 39 THEN 'message does not fit into a cell' WHEN 40 THEN 'message cannot be processed' WHEN 41 THEN 'null reference to a library' WHEN 42 THEN 'error in changing a library' WHEN 43 THEN 'library too large' WHEN 50 THEN 'account state too large' END;

-- opcode_hex(opcode): opcode as explorers show it: 0x and 8 hex digits
CREATE OR REPLACE MACRO opcode_hex(opcode) AS
printf('0x%08x', (opcode::BIGINT + 4294967296) % 4294967296);

-- opcode_label(opcode): name of an opcode, or its hex form without a known one; null without an opcode
CREATE OR REPLACE MACRO opcode_label(opcode) AS
coalesce(opcode_name(opcode), opcode_hex(opcode));

-- gas_units(gas_used, gas_fees): units of gas of a compute phase: servers swap both columns where gas is free
CREATE OR REPLACE MACRO gas_units(gas_used, gas_fees) AS
CASE WHEN gas_used = 0 THEN gas_fees ELSE gas_used END;

-- gas_cost(gas_used, gas_fees): nanotons that were paid for the gas of a compute phase, with the same correction
CREATE OR REPLACE MACRO gas_cost(gas_used, gas_fees) AS
CASE WHEN gas_used = 0 THEN 0 ELSE gas_fees END;

-- shard_of(address, depth := 0): shard of a raw address if its workchain is split `depth` times (0 to 60); the masterchain is never split
CREATE OR REPLACE MACRO shard_of(address, depth := 0) AS
CASE WHEN address LIKE '-1:%' THEN (-9223372036854775808)::BIGINT ELSE _signed(
      (_account_bits(address) >> (64 - depth) << (64 - depth)) + (1::HUGEINT << (63 - depth))) END;

-- shard_contains(shard, address): true if a raw address belongs to a shard of its workchain
CREATE OR REPLACE MACRO shard_contains(shard, address) AS
_account_bits(address) // (2 * (_unsigned(shard) & -_unsigned(shard)))
      = _unsigned(shard) // (2 * (_unsigned(shard) & -_unsigned(shard)));

-- shard_hex(shard): shard as explorers show it: 16 hex digits
CREATE OR REPLACE MACRO shard_hex(shard) AS
lpad(lower(hex(_unsigned(shard)::UBIGINT)), 16, '0');

-- try_exact_sum(x): sum of integers as DECIMAL(38,0), where sum() fails; null above 38 digits
CREATE OR REPLACE MACRO try_exact_sum(x) AS
CASE WHEN abs(_high_sum(x)) < 10000000000000000000
      THEN (_high_sum(x) * 10000000000000000000 + _low_sum(x))::DECIMAL(38, 0) END;

-- exact_sum(x): the same, but fails above 38 digits
CREATE OR REPLACE MACRO exact_sum(x) AS
coalesce(try_exact_sum(x), CASE WHEN count(x) > 0
      THEN error('a sum of ' || count(x) || ' numbers has more than 38 digits: use exact_sum_text(x) or try_exact_sum(x)') END);

-- exact_sum_text(x): sum of non-negative integers as text, with all digits
CREATE OR REPLACE MACRO exact_sum_text(x) AS
CASE WHEN _high_sum(x) = 0 THEN _low_sum(x)::VARCHAR
      ELSE _high_sum(x) || lpad(_low_sum(x)::VARCHAR, 19, '0') END;
