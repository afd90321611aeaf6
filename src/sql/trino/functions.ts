/**
 * Functions of Trino that DuckDB lacks or defines differently: `name` is rewritten to the macro `trino_name`. A macro with the name of a DuckDB
 * function would change the meaning of stored views.
 */
const bodies: Readonly<Record<string, string>> = {
  from_unixtime: '(x) AS make_timestamp((x::DOUBLE * 1000000)::BIGINT)',
  to_unixtime: '(x) AS epoch(x)',
  from_iso8601_timestamp: `(s) AS CASE WHEN regexp_matches(s, '[+-](?:0[1-9]|1\\d|00:?[0-5]?[1-9])(?::?\\d\\d)?$') AND s LIKE '%T%'
    THEN error('trino: expected a time in UTC, got ' || s || '; in DuckDB: (s::TIMESTAMPTZ)::TIMESTAMP')
    ELSE regexp_replace(s, '(Z|[+-]00(:?00)?)$', '')::TIMESTAMP END`,
  from_iso8601_date: '(s) AS CAST(s AS DATE)',
  date_diff: '(unit, a, b) AS date_sub(unit, a, b)',
  regexp_like: '(s, p) AS regexp_matches(s, p)',
  regexp_extract: `(s, p) AS CASE WHEN regexp_matches(s, p) THEN regexp_extract(s, p) END,
    (s, p, g) AS CASE WHEN regexp_matches(s, p) THEN regexp_extract(s, p, g) END`,
  regexp_replace: `(s, p) AS regexp_replace(s, p, '', 'g'),
    (s, p, r) AS regexp_replace(s, p, regexp_replace(r, '\\$(\\d)', '\\\\\\1', 'g'), 'g')`,
  element_at: '(c, k) AS c[k]',
  cardinality: '(a) AS length(a)',
  length: "(s) AS CASE WHEN typeof(s) = 'BLOB' THEN octet_length(s::BLOB) ELSE length(s::VARCHAR) END",
  bitwise_right_shift: `(x, n) AS (CASE WHEN x >= 0 THEN x::HUGEINT >> n::INTEGER
    ELSE (x::HUGEINT + 18446744073709551616) >> n::INTEGER END)::BIGINT`,
  bitwise_left_shift: '(x, n) AS x::BIGINT << n::BIGINT',
  bitwise_and: '(a, b) AS a::BIGINT & b::BIGINT',
  bitwise_or: '(a, b) AS a::BIGINT | b::BIGINT',
  bitwise_xor: '(a, b) AS xor(a::BIGINT, b::BIGINT)',
  bitwise_not: '(a) AS ~a::BIGINT',
  approx_percentile: '(x, p) AS quantile_disc(x, p)',
  json_extract_scalar: `(j, p) AS CASE WHEN json_type(j, p) NOT IN ('OBJECT', 'ARRAY') THEN json_extract_string(j, p) END`,
  json_parse: '(s) AS s::JSON',
  json_format: '(j) AS j::VARCHAR',
  array_join: '(a, s) AS array_to_string(a, s)',
  array_union: '(a, b) AS list_distinct(list_concat(a, b))',
  array_except: '(a, b) AS list_filter(list_distinct(a), lambda x: NOT list_contains(b, x))',
  array_remove: '(a, x) AS CASE WHEN x IS NOT NULL THEN list_filter(a, lambda each: each IS DISTINCT FROM x) END',
  arrays_overlap: `(a, b) AS CASE WHEN list_has_any(a, b) THEN true
    WHEN (list_count(a) = len(a) OR len(b) = 0) AND (list_count(b) = len(b) OR len(a) = 0) THEN list_has_any(a, b) END`,
  array_max: '(a) AS CASE WHEN list_count(a) = len(a) THEN list_max(a) END',
  array_min: '(a) AS CASE WHEN list_count(a) = len(a) THEN list_min(a) END',
  array_position: '(a, x) AS CASE WHEN a IS NOT NULL AND x IS NOT NULL THEN coalesce(list_position(a, x), 0) END',
  contains:
    '(a, x) AS CASE WHEN x IS NOT NULL AND (list_contains(a, x) OR list_count(a) = len(a)) THEN list_contains(a, x) END',
  slice: `(a, start, count) AS CASE WHEN start = 0 THEN error('trino: expected a place from 1 in slice, got 0')
    WHEN start < -len(a) THEN list_slice(a, 1, 0)
    WHEN start < 0 THEN list_slice(a, len(a) + start + 1, len(a) + start + count) ELSE list_slice(a, start, start + count - 1) END`,
  repeat: '(x, n) AS list_transform(range(n), lambda each: x)',
  sequence:
    '(a, b) AS generate_series(a, b, CASE WHEN a <= b THEN 1 ELSE -1 END), (a, b, step) AS generate_series(a, b, step)',
  day_of_week: '(d) AS isodow(d)',
  dow: '(d) AS isodow(d)',
  day_of_year: '(d) AS dayofyear(d)',
  doy: '(d) AS dayofyear(d)',
  week_of_year: '(d) AS weekofyear(d)',
  year_of_week: '(d) AS isoyear(d)',
  yow: '(d) AS isoyear(d)',
  at_timezone: '(x, z) AS timezone(z, x::TIMESTAMPTZ)',
  split_part:
    "(s, d, n) AS CASE WHEN n < 1 THEN error('trino: expected a place from 1 in split_part, got ' || n) ELSE string_split(s, d)[n] END",
  substr: `(s, start) AS CASE WHEN start = 0 OR start < -length(s) THEN '' ELSE substr(s, start) END,
    (s, start, count) AS CASE WHEN start = 0 OR start < -length(s) OR count <= 0 THEN '' ELSE substr(s, start, count) END`,
  last_day_of_month: '(d) AS last_day(d)',
  arbitrary: '(x) AS any_value(x)',
  map_agg: '(k, v) AS map(list(k) FILTER (WHERE k IS NOT NULL), list(v) FILTER (WHERE k IS NOT NULL))',
  truncate: '(x) AS trunc(x)',
  to_hex: '(b) AS hex(b)',
  to_utf8: '(s) AS encode(s)',
  from_utf8: '(b) AS decode(b)',
  sha256: '(b) AS unhex(sha256(b))',
  md5: '(b) AS unhex(md5(b))',
  ton_address_raw_to_user_friendly: '(a, b) AS friendly_address(a, bounceable := b)',
  ton_address_user_friendly_to_raw: '(a) AS raw_address(a)',
  get_href: `(link, shown) AS '<a href="' || link || '" target="_blank">' || shown || '</a>'`,
  bytearray_length: '(b) AS octet_length(b)',
  bytearray_substring:
    '(b, s) AS unhex(substr(hex(b), (s - 1) * 2 + 1)), (b, s, n) AS unhex(substr(hex(b), (s - 1) * 2 + 1, n * 2))',
  bytearray_starts_with: '(a, b) AS starts_with(hex(a), hex(b))',
  bytearray_concat: '(a, b) AS a || b',
  bytearray_to_bigint: `(b) AS CASE WHEN octet_length(b) > 8 THEN error('trino: expected at most 8 bytes')
    ELSE ((('0x' || lpad(hex(b), 16, '0'))::UBIGINT::HUGEINT + 9223372036854775808) % 18446744073709551616
      - 9223372036854775808)::BIGINT END`,
};

/** Names under which Dune has the same functions. */
const twins = Object.keys(bodies)
  .filter((name) => name.startsWith('bytearray_'))
  .map((name) => [name.replace('bytearray', 'varbinary'), bodies[name] ?? ''] as const);

/** Division of integers; exact division and averages of decimals, with as many digits after the point as Trino keeps. */
const exact: readonly (readonly [string, string])[] = [
  [
    'scaled_divide',
    `(a, b) AS CASE WHEN b = 0 THEN error('trino: division by zero')
      ELSE (CASE WHEN (a < 0) = (b < 0) THEN 1 ELSE -1 END) * ((2 * abs(a) + abs(b)) // nullif(2 * abs(b), 0)) END`,
  ],
  ['integer_divide', "(a, b) AS CASE WHEN b = 0 THEN error('trino: division by zero') ELSE a // b END"],
  ['digits_of', "(x) AS replace(x::VARCHAR, '.', '')::HUGEINT"],
];

export const trinoFunctions: ReadonlyMap<string, string> = new Map([...Object.entries(bodies), ...twins]);

/** Name of the macro for a function of Trino. */
export function macroName(name: string): string {
  return `trino_${name}`;
}

/** All macros: name and definition, each after those that it uses. */
export const trinoMacros: readonly (readonly [name: string, definition: string])[] = [...exact, ...trinoFunctions].map(
  ([name, definition]) => [macroName(name), definition],
);
