import { quoteText } from '../../sql/canonical-text.ts';
import type { Declared } from '../../sql/lazy-declarations.ts';
import { trinoMacros } from '../../sql/trino/functions.ts';
import { actionResultCodes, computeExitCodes, opcodeNames } from './code-names.ts';

/** An SQL macro that every connection of tonlake has. */
export interface Macro {
  /** Name with parameters, as in CREATE MACRO. */
  readonly call: string;
  readonly doc: string;
  /** The expression. */
  readonly body: string;
  /** Used by other macros only. */
  readonly isInner?: boolean;
}

/** SQL that computes `expression` once, as `name`, for a body that uses it repeatedly. A macro parameter would be computed each time. */
function once(expression: string, name: string, body: string): string {
  return `list_transform([${expression}], lambda ${name}: ${body})[1]`;
}

/** SQL for the name of a number; null if it has none. */
function nameOf(expression: string, names: Iterable<readonly [number, string]>): string {
  return `CASE ${expression} ${[...names].map(([number, name]) => `WHEN ${number} THEN ${quoteText(name)}`).join(' ')} END`;
}

const RAW = "'-?[0-9]{1,3}:[0-9A-Fa-f]{64}'";
/** Part of a step of the CRC. */
const MIXED = 'xor(xor(crc >> 8, byte), xor(crc >> 8, byte) >> 4)';

const inner: readonly Macro[] = [
  {
    call: '_crc16(digits)',
    doc: 'CRC-16 with polynomial 0x1021, start 0 and no reflection (XMODEM), of bytes as hex digits; 4 hex digits',
    body: `printf('%04X', list_reduce(
      list_transform(range(0, length(digits) // 2), lambda i: ('0x' || substr(digits, 2 * i + 1, 2))::INTEGER),
      lambda crc, byte: xor(xor(xor(crc << 8, ${MIXED} << 12), ${MIXED} << 5), ${MIXED}) & 65535, 0))`,
  },
  {
    call: '_friendly_digits(address)',
    doc: 'bytes of a user-friendly address as hex digits; null where the text is none, or its CRC-16 is wrong',
    body: `CASE WHEN regexp_full_match(address, '[A-Za-z0-9+/_-]{48}') THEN ${once(
      "hex(from_base64(translate(address, '-_', '+/')))",
      'digits',
      `CASE WHEN substr(digits, 1, 2) IN ('11', '51', '91', 'D1') AND _crc16(substr(digits, 1, 68)) = substr(digits, 69)
        THEN digits END`,
    )} END`,
  },
  {
    call: '_raw_of(digits)',
    doc: 'raw form of the bytes of a user-friendly address',
    body: "((('0x' || substr(digits, 3, 2))::INTEGER + 128) % 256 - 128) || ':' || substr(digits, 5, 64)",
  },
  {
    call: '_friendly_of(digits)',
    doc: 'user-friendly form of bytes as hex digits, to which their CRC-16 is added',
    body: "translate(to_base64(from_hex(digits || _crc16(digits))), '+/', '-_')",
  },
  {
    call: '_account_bits(address)',
    doc: 'first 64 bits of an account as a number',
    body: "('0x' || substr(split_part(address, ':', 2), 1, 16))::UBIGINT::HUGEINT",
  },
  {
    call: '_unsigned(number)',
    doc: 'a signed 64-bit number as an unsigned one',
    body: '(number::HUGEINT + 18446744073709551616) % 18446744073709551616',
  },
  {
    call: '_signed(number)',
    doc: 'an unsigned 64-bit number as a signed one',
    body: '(CASE WHEN number > 9223372036854775807 THEN number - 18446744073709551616 ELSE number END)::BIGINT',
  },
  {
    call: '_high_sum(x)',
    doc: 'the part of an exact sum above 19 digits',
    body: 'sum(x::HUGEINT // 10000000000000000000) + sum(x::HUGEINT % 10000000000000000000) // 10000000000000000000',
  },
  {
    call: '_low_sum(x)',
    doc: 'the last 19 digits of an exact sum',
    body: 'sum(x::HUGEINT % 10000000000000000000) % 10000000000000000000',
  },
  {
    call: '_ton_asset(asset, project, version)',
    doc: 'address of a traded token as the public lake has it: on ston.fi, TON is a wrapped token',
    body: `CASE WHEN project = 'stonfi' AND asset LIKE '0:000000000000000%' THEN
      CASE WHEN version = '2' THEN '0:671963027F7F85659AB55B821671688601CDCF1EE674FC7FBBB1A776A18D34A3'
        ELSE '0:8CDC1D7640AD5EE326527FC1AD0514F468B30DC84B0173F0E155F451B4E11F7C' END
      ELSE asset END`,
  },
  {
    call: '_body_digits(boc)',
    doc: 'bits of the first cell of a bag of cells, as hex digits; null for anything else',
    body: once(
      'hex(boc)',
      'digits',
      `CASE WHEN starts_with(digits, 'B5EE9C72') THEN ${once(
        "{'size': TRY_CAST('0x' || substr(digits, 10, 1) AS INTEGER) % 8, 'bytes': TRY_CAST('0x' || substr(digits, 11, 2) AS INTEGER)}",
        'own',
        `substr(digits, 17 + 2 * (4 * own.size + own.bytes + CASE WHEN substr(digits, 9, 1) < '8' THEN 0
          ELSE own.bytes * TRY_CAST(('0x' || lpad(substr(digits, 13, 2 * own.size), 16, '0'))::UBIGINT AS INTEGER)::BIGINT END))`,
      )} END`,
    ),
  },
  {
    call: '_nibbles(digits, start, count)',
    doc: 'number in at most 31 hex digits from a place, counted from 0; null if there are fewer digits',
    body: `TRY_CAST(CASE WHEN length(digits) >= start + count THEN ('0x' || left(lpad(substr(digits, start + 1, count), 32, '0'), 16))::UBIGINT::HUGEINT * 18446744073709551616
      + ('0x' || right(lpad(substr(digits, start + 1, count), 32, '0'), 16))::UBIGINT END AS DECIMAL(38, 0))`,
  },
  {
    call: '_is_positive(high, low)',
    doc: 'true if a number in parts, high * 10^19 + low, is greater than 0',
    body: `high + low // 10000000000000000000 > 0
      OR (high + low // 10000000000000000000 = 0 AND low % 10000000000000000000 > 0)`,
  },
].map((macro) => ({ ...macro, isInner: true }));

/** Macros in the order in which they must be defined. */
export const macros: readonly Macro[] = [
  ...inner,
  {
    call: 'try_raw_address(address)',
    doc: 'raw form of a raw or user-friendly address; null if the text is not an address or its CRC-16 is wrong',
    body: `CASE WHEN regexp_full_match(address, ${RAW}) THEN upper(address)
      ELSE ${once('_friendly_digits(address)', 'digits', '_raw_of(digits)')} END`,
  },
  {
    call: 'raw_address(address)',
    doc: 'the same, but fails if the text is not an address',
    body: `coalesce(try_raw_address(address),
      CASE WHEN address IS NOT NULL THEN error('not an address: ' || address) END)`,
  },
  {
    call: 'friendly_address(address, bounceable := true, testnet := false)',
    doc: 'user-friendly form (base64url, 48 characters) of a raw or user-friendly address; null if the text is not an address',
    body: once(
      'try_raw_address(address)',
      'raw',
      once(
        `printf('%02X%02X', (CASE WHEN bounceable THEN 17 ELSE 81 END) + (CASE WHEN testnet THEN 128 ELSE 0 END),
          (split_part(raw, ':', 1)::INTEGER + 256) % 256) || split_part(raw, ':', 2)`,
        'digits',
        '_friendly_of(digits)',
      ),
    ),
  },
  {
    call: 'base64_hash(hash)',
    doc: 'a hash in hex (with or without 0x), base64 or base64url, as columns have it: base64; fails for any other text',
    body: `CASE WHEN hash IS NULL THEN NULL
      WHEN regexp_full_match(hash, '(0x)?[0-9A-Fa-f]{64}') THEN to_base64(from_hex(right(hash, 64)))
      WHEN regexp_full_match(hash, '[A-Za-z0-9+/_-]{43}=?') THEN left(translate(hash, '-_', '+/'), 43) || '='
      ELSE error('not a hash: ' || hash) END`,
  },
  {
    call: 'is_bounceable(address)',
    doc: 'true if a user-friendly address is bounceable; null for any other text',
    body: "substr(_friendly_digits(address), 1, 2) IN ('11', '91')",
  },
  {
    call: 'is_testnet(address)',
    doc: 'true if a user-friendly address is for testnet; null for any other text',
    body: "substr(_friendly_digits(address), 1, 2) IN ('91', 'D1')",
  },
  {
    call: 'ton(nanotons)',
    doc: 'nanotons as TON: DECIMAL(38,9), exact',
    body: 'nanotons::DECIMAL(29, 0) * 0.000000001::DECIMAL(9, 9)',
  },
  {
    call: 'in_tokens(amount, decimals)',
    doc: 'an amount of a jetton in whole tokens: DECIMAL(38,9), rounded down; null if it does not fit, and for decimals outside 0 to 255',
    body: `TRY_CAST(TRY_CAST(CASE WHEN decimals BETWEEN 0 AND 9
        THEN TRY_CAST(amount AS DECIMAL(29, 0))::HUGEINT * ('1' || repeat('0', (9 - decimals)::INTEGER))::HUGEINT
        WHEN decimals BETWEEN 10 AND 255
        THEN amount::HUGEINT // ('1' || repeat('0', least(decimals - 9, 38)::INTEGER))::HUGEINT END AS DECIMAL(29, 0))
      * 0.000000001::DECIMAL(9, 9) AS DECIMAL(38, 9))`,
  },
  {
    call: 'opcode_name(opcode)',
    doc: 'name of an opcode (the first 32 bits of a body, signed or unsigned); null if tonlake does not know it',
    body: nameOf('(opcode::BIGINT + 4294967296) % 4294967296', opcodeNames),
  },
  {
    call: 'exit_code_name(exit_code)',
    doc: 'meaning of a compute phase exit code; null for codes that contracts define themselves',
    body: nameOf('exit_code::BIGINT', computeExitCodes),
  },
  {
    call: 'action_result_name(result_code)',
    doc: 'meaning of an action phase result code; null if tonlake does not know it',
    body: nameOf('result_code::BIGINT', actionResultCodes),
  },
  {
    call: 'opcode_hex(opcode)',
    doc: 'opcode as explorers show it: 0x and 8 hex digits',
    body: "printf('0x%08x', (opcode::BIGINT + 4294967296) % 4294967296)",
  },
  {
    call: 'opcode_label(opcode)',
    doc: 'name of an opcode, or its hex form without a known one; null without an opcode',
    body: 'coalesce(opcode_name(opcode), opcode_hex(opcode))',
  },
  {
    call: 'gas_units(gas_used, gas_fees)',
    doc: 'units of gas of a compute phase: servers swap both columns where gas is free',
    body: 'CASE WHEN gas_used = 0 THEN gas_fees ELSE gas_used END',
  },
  {
    call: 'gas_cost(gas_used, gas_fees)',
    doc: 'nanotons that were paid for the gas of a compute phase, with the same correction',
    body: 'CASE WHEN gas_used = 0 THEN 0 ELSE gas_fees END',
  },
  {
    call: 'shard_of(address, depth := 0)',
    doc: 'shard of a raw address if its workchain is split `depth` times (0 to 60); the masterchain is never split',
    body: `CASE WHEN address LIKE '-1:%' THEN (-9223372036854775808)::BIGINT ELSE _signed(
      (_account_bits(address) >> (64 - depth) << (64 - depth)) + (1::HUGEINT << (63 - depth))) END`,
  },
  {
    call: 'shard_contains(shard, address)',
    doc: 'true if a raw address belongs to a shard of its workchain',
    body: `_account_bits(address) // (2 * (_unsigned(shard) & -_unsigned(shard)))
      = _unsigned(shard) // (2 * (_unsigned(shard) & -_unsigned(shard)))`,
  },
  {
    call: 'shard_hex(shard)',
    doc: 'shard as explorers show it: 16 hex digits',
    body: "lpad(lower(hex(_unsigned(shard)::UBIGINT)), 16, '0')",
  },
  {
    call: 'try_exact_sum(x)',
    doc: 'sum of integers as DECIMAL(38,0), where sum() fails; null above 38 digits',
    body: `CASE WHEN abs(_high_sum(x)) < 10000000000000000000
      THEN (_high_sum(x) * 10000000000000000000 + _low_sum(x))::DECIMAL(38, 0) END`,
  },
  {
    call: 'exact_sum(x)',
    doc: 'the same, but fails above 38 digits',
    body: `coalesce(try_exact_sum(x), CASE WHEN count(x) > 0
      THEN error('a sum of ' || count(x) || ' numbers has more than 38 digits: use exact_sum_text(x) or try_exact_sum(x)') END)`,
  },
  {
    call: 'exact_sum_text(x)',
    doc: 'sum of non-negative integers as text, with all digits',
    body: `CASE WHEN _high_sum(x) = 0 THEN _low_sum(x)::VARCHAR
      ELSE _high_sum(x) || lpad(_low_sum(x)::VARCHAR, 19, '0') END`,
  },
];

/** Functions of Trino that DuckDB lacks, for one connection. */
export function trinoFunctionMacros(): readonly Declared<string>[] {
  return trinoMacros.map(([name, definition]) => ({
    name,
    body: definition,
    isInner: true,
    statement: () => `CREATE OR REPLACE TEMPORARY MACRO ${name}${definition}`,
  }));
}

/** Declarations of the macros. @param how `temporary` for one connection, where the database cannot be written */
export function declaredMacros(how: 'stored' | 'temporary' = 'stored'): readonly Declared<string>[] {
  const create = `CREATE OR REPLACE ${how === 'temporary' ? 'TEMPORARY ' : ''}MACRO`;
  return macros.map(({ call, body }) => ({
    name: call.slice(0, call.indexOf('(')),
    body,
    statement: () => `${create} ${call} AS ${body}`,
  }));
}

/** Definitions of the macros that a select calls, directly or through others. Names are searched as text. */
export function macrosOf(sql: string): readonly string[] {
  let text = sql.toLowerCase();
  const used: string[] = [];
  for (const { call, body } of macros.toReversed()) {
    if (!new RegExp(`\\b${call.slice(0, call.indexOf('('))}\\s*\\(`).test(text)) continue;
    used.unshift(`${call} AS ${body}`);
    text += `\n${body.toLowerCase()}`;
  }
  return used;
}
