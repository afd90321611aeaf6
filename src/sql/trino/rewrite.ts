import { type UsageError, usage } from '../../core/errors.ts';
import { closingOf, depthOf, skipSpace, splitAtCommas, splitAtWord, type Token, textOf, tokensOf } from '../tokens.ts';
import { macroName, trinoFunctions } from './functions.ts';

/** A call in the text. */
interface Call {
  readonly name: string;
  readonly args: readonly (readonly Token[])[];
}

/** Rewrites a call for DuckDB, from its rewritten arguments; undefined to leave it unchanged. */
type Rewrite = (args: readonly string[], call: Call) => string | undefined;

const bothNotNull: Rewrite = (args, { name }) => {
  const known = args.map((arg) => `(${arg}) IS NOT NULL`).join(' AND ');
  return `CASE WHEN ${known} THEN ${name}(${args.join(', ')}) END`;
};

const calls: Readonly<Record<string, Rewrite>> = {
  extract: ([inner = ''], { args }) => {
    const [field, value] = splitAtWord(args[0] ?? [], 'from');
    const name = textOf(field).trim().toLowerCase();
    const own = ['day_of_week', 'dow', 'day_of_year', 'doy', 'year_of_week', 'yow'].includes(name);
    return own && value !== undefined ? `${macroName(name)}(${rewrite(value).trim()})` : `extract(${inner})`;
  },
  substring: (args, { args: [first = []] }) => {
    const [text, place] = splitAtWord(first, 'from');
    if (args.length > 1 || place === undefined) return `${macroName('substr')}(${args.join(', ')})`;
    const parts = [text, ...splitAtWord(place, 'for')].flatMap((part) =>
      part === undefined ? [] : rewrite(part).trim(),
    );
    return `${macroName('substr')}(${parts.join(', ')})`;
  },
  ...Object.fromEntries(['json_value', 'json_query', 'json_exists'].map((name) => [name, jsonPath])),
  // Null if one of them is null.
  greatest: bothNotNull,
  least: bothNotNull,
  concat: (args) => `(${args.join(' || ')})`,
  if: (args) => (args.length === 2 ? `CASE WHEN ${args[0]} THEN ${args[1]} END` : undefined),
  // Macros take no lambdas.
  transform: (args) => `list_transform(${args.join(', ')})`,
  any_match: (args) => `(len(list_filter(${args.join(', ')})) > 0)`,
  none_match: (args) => `(len(list_filter(${args.join(', ')})) = 0)`,
  all_match: ([list = '', lambda = '']) => `(len(list_filter(${list}, ${lambda})) = len(${list}))`,
  reduce: ([list, start, step, finish = '']) => {
    if (/^\s*(\w+)\s*->\s*\1\s*$/.test(finish)) return `list_reduce(${list}, ${step}, ${start})`;
    throw untranslated('reduce with a function of its result', 'list_reduce(list, (state, x) -> ..., start)');
  },
  // Null without rows in DuckDB.
  count_if: ([condition]) => `count(*) FILTER (WHERE ${condition})`,
  approx_distinct: ([value]) => `count(DISTINCT ${value})`,
  max_by: (args) => `${args.length === 2 ? 'arg_max_null' : 'arg_max'}(${args.join(', ')})`,
  min_by: (args) => `${args.length === 2 ? 'arg_min_null' : 'arg_min'}(${args.join(', ')})`,
  cardinality: ([value = '']) =>
    /^\s*(trino_)?(map|histogram)/i.test(value) ? undefined : `${macroName('cardinality')}(${value})`,
  date_add: ([unit, count, date]) => {
    const [, name] = /^\s*'(\w+)'\s*$/.exec(unit ?? '') ?? [];
    if (name === undefined)
      throw untranslated('date_add with a unit that is not a text', "date + 7 * INTERVAL '1 day'");
    return `((${date}) + (${count}) * INTERVAL '1 ${name}')`;
  },
  date_parse: (args) => timeCall('strptime', args, dateFormat),
  date_format: (args) => timeCall('strftime', args, dateFormat),
  parse_datetime: (args) => timeCall('strptime', args, jodaFormat),
  format_datetime: (args) => timeCall('strftime', args, jodaFormat),
  format: (args) => `printf(${args.join(', ')})`,
  unnest: (args) => (args.length < 2 ? undefined : `(SELECT ${args.map((arg) => `unnest(${arg})`).join(', ')})`),
};

/** Paths of SQL/JSON, such as `lax $.a`, are none of DuckDB. */
function jsonPath(_args: readonly string[], { name }: Call): never {
  throw untranslated(name, "json_extract_string(json, '$.a')");
}

/** `decimal '0.10'` has the digits of the text, and `timestamp '2026-05-01 12:00 Europe/Zurich'` is an instant. */
function typedLiteral(type: string, literal: string): string | undefined {
  if (type === 'decimal') {
    const [, whole = '', fraction = ''] = /^'\s*[+-]?0*(\d*)\.?(\d*)\s*'$/.exec(literal) ?? [];
    const width = Math.max(1, whole.length + fraction.length);
    return `CAST(${literal} AS DECIMAL(${width}, ${fraction.length}))`;
  }
  const isZoned = /(:\d\d(\.\d+)?\s*[+-]\d|\s[A-Za-z_]+(\/[\w+-]+)*')/.test(literal);
  return type === 'timestamp' && isZoned ? `CAST(CAST(${literal} AS TIMESTAMPTZ) AS TIMESTAMP)` : undefined;
}

/** The format must be constant, so it is translated in the text. */
function timeCall(name: string, args: readonly string[], translate: (format: string) => string): string {
  const [, format] = /^\s*('(?:[^']|'')*')\s*$/.exec(args[1] ?? '') ?? [];
  if (format === undefined) throw untranslated('a time format that is not a text', `${name}(time, '%Y-%m-%d')`);
  return `${name}(${args[0]}, ${translate(format)})`;
}

/**
 * Translates a query from Trino's SQL to DuckDB's, except for rules that depend on types.
 * @throws {UsageError}
 */
export function rewriteTokens(sql: string): string {
  return rewrite(tokensOf(sql));
}

function rewrite(tokens: readonly Token[]): string {
  const out: string[] = [];
  for (let at = 0; at < tokens.length; ) {
    const [text, next] = rewriteAt(tokens, at, out);
    out.push(text);
    at = next;
  }
  return out.join('');
}

/** The replacement of some tokens, and the position after them. */
function rewriteAt(tokens: readonly Token[], at: number, before: readonly string[]): readonly [string, number] {
  const token = tokens[at];
  const text = token?.text ?? '';
  const low = text.toLowerCase();
  const next = skipSpace(tokens, at + 1);
  if (text === '{{') throw untranslated('{{a parameter}}', '$name in the query, with --param name=value');
  if (/^0x/i.test(text)) return [`from_hex('${text.slice(2)}')`, at + 1];
  if (token?.kind !== 'word') return [text, at + 1];
  if (low === 'x' && tokens[at + 1]?.text.startsWith("'") === true)
    return [`from_hex(${tokens[at + 1]?.text})`, at + 2];
  if (tokens[next]?.text.startsWith("'") === true) {
    const literal = typedLiteral(low, tokens[next]?.text ?? '');
    if (literal !== undefined) return [literal, next + 1];
  }
  if (low === 'varbinary') return ['BLOB', at + 1];
  if (low === 'values' && tokens[next]?.text !== '(') return rewriteValues(tokens, next);
  const isCall = tokens[next]?.text === '(';
  const isQualified = tokens[at - 1]?.text === '.';
  // A column of ton.transactions.
  if (low === 'now' && !isCall) return ['"now"', at + 1];
  const end = isCall ? closingOf(tokens, next) : undefined;
  if (end === undefined || isQualified) return [text, at + 1];
  const inner = tokens.slice(next + 1, end);
  if (low === 'cast' || low === 'try_cast') return [`${text}(${rewriteCast(inner)})`, end + 1];
  if (low === 'unnest') {
    const rows = rowsOf(inner);
    if (rows !== undefined)
      return [`${/\bjoin\s*$/i.test(before.join('').slice(-20)) ? 'LATERAL ' : ''}(VALUES ${rows})`, end + 1];
  }
  const args = inner.some(({ kind }) => kind !== 'space') ? splitAtCommas(inner) : [];
  const nulls = nullsAfter(tokens, end);
  if (nulls !== undefined) return [`${text}(${rewrite(inner)} ${nulls.words})`, nulls.end];
  const rewritten = calls[low]?.(
    args.map((arg) => rewrite(arg).trim()),
    { name: low, args },
  );
  if (rewritten !== undefined) return [rewritten, end + 1];
  // The arguments are rewritten by later calls.
  return [calls[low] === undefined && trinoFunctions.has(low) ? macroName(low) : text, at + 1];
}

/** `IGNORE NULLS` after a call, which DuckDB has within its brackets. */
function nullsAfter(
  tokens: readonly Token[],
  end: number,
): { readonly words: string; readonly end: number } | undefined {
  const first = skipSpace(tokens, end + 1);
  const second = skipSpace(tokens, first + 1);
  const words = `${tokens[first]?.text} ${tokens[second]?.text}`;
  return /^(ignore|respect) nulls$/i.test(words) ? { words, end: second + 1 } : undefined;
}

/** `VALUES 1, 2` as `VALUES (1), (2)`. */
function rewriteValues(tokens: readonly Token[], from: number): readonly [string, number] {
  let end = from;
  for (let depth = 0; end < tokens.length; end++) {
    depth += depthOf(tokens[end]);
    if (depth < 0) break;
  }
  const rows = splitAtCommas(tokens.slice(from, end)).map((row) => `(${rewrite(row).trim()})`);
  return [`VALUES ${rows.join(', ')}`, end];
}

/** `ARRAY[ROW(a, b), ...]` as `(a, b), ...`. */
function rowsOf(inner: readonly Token[]): string | undefined {
  const array = skipSpace(inner, 0);
  const open = skipSpace(inner, array + 1);
  if (inner[array]?.text.toLowerCase() !== 'array' || inner[open]?.text !== '[') return undefined;
  const end = closingOf(inner, open);
  if (end === undefined || skipSpace(inner, end + 1) < inner.length) return undefined;
  const rows = splitAtCommas(inner.slice(open + 1, end)).map((row) => {
    const start = skipSpace(row, 0);
    return row[start]?.text.toLowerCase() === 'row' ? rewrite(row.slice(start + 1)).trim() : undefined;
  });
  return rows.length > 0 && rows.every((row) => row !== undefined) ? rows.join(', ') : undefined;
}

/** The arguments of a cast, with the DuckDB name of the type. */
function rewriteCast(inner: readonly Token[]): string {
  const [value, type] = splitAtWord(inner, 'as');
  return type === undefined ? rewrite(inner) : `${rewrite(value)}AS ${typeIn(type)}`;
}

function typeIn(tokens: readonly Token[]): string {
  const start = skipSpace(tokens, 0);
  const low = tokens[start]?.text.toLowerCase();
  const open = skipSpace(tokens, start + 1);
  const end = tokens[open]?.text === '(' ? closingOf(tokens, open) : undefined;
  if (end === undefined)
    return (
      {
        varbinary: 'BLOB',
        decimal: 'DECIMAL(38, 0)',
        dec: 'DECIMAL(38, 0)',
        uint256: 'HUGEINT',
        int256: 'HUGEINT',
        real: 'FLOAT',
      }[low ?? ''] ?? textOf(tokens).trim()
    );
  const inner = tokens.slice(open + 1, end);
  const rest = textOf(tokens.slice(end + 1)).trim();
  if (low === 'array') return `${typeIn(inner)}[]`;
  if (low === 'map') return `MAP(${splitAtCommas(inner).map(typeIn).join(', ')})`;
  if (low === 'row') {
    const fields = splitAtCommas(inner).map((field) => {
      const name = skipSpace(field, 0);
      return `${field[name]?.text} ${typeIn(field.slice(name + 1))}`;
    });
    return `STRUCT(${fields.join(', ')})`;
  }
  if (low === 'timestamp' || low === 'time') return `${low} ${rest}`.trim();
  return textOf(tokens).trim();
}

/** Letters of Trino's `date_format`, which are MySQL's, by DuckDB's. */
const MYSQL_FORMATS: Readonly<Record<string, string>> = {
  ...Object.fromEntries([...'abdfHIjmpyYS%'].map((letter) => [letter, `%${letter}`])),
  i: '%M',
  s: '%S',
  T: '%H:%M:%S',
  e: '%-d',
  c: '%-m',
  k: '%-H',
  l: '%-I',
  h: '%I',
  M: '%B',
  W: '%A',
  r: '%I:%M:%S %p',
};

/** Letters of `format_datetime`, which are Joda's, by DuckDB's. */
const JODA_FORMATS: Readonly<Record<string, string>> = {
  yyyy: '%Y',
  yy: '%y',
  MM: '%m',
  MMM: '%b',
  MMMM: '%B',
  dd: '%d',
  d: '%-d',
  M: '%-m',
  HH: '%H',
  hh: '%I',
  mm: '%M',
  ss: '%S',
  EEE: '%a',
  EEEE: '%A',
  a: '%p',
};

function dateFormat(format: string): string {
  return format.replace(/%(.)/g, (_all, letter: string) => translatedFormat(MYSQL_FORMATS[letter], `%${letter}`));
}

function jodaFormat(format: string): string {
  return format.replace(/''[^']+''|([A-Za-z])\1*/g, (letters) =>
    letters.startsWith("''") ? letters.slice(2, -2) : translatedFormat(JODA_FORMATS[letters], letters),
  );
}

function translatedFormat(translated: string | undefined, letters: string): string {
  if (translated !== undefined) return translated;
  throw untranslated(`${letters} in a time format`, "strftime(time, '%Y-%m-%d')");
}

/** The error for SQL without a translation, with a replacement in DuckDB. */
export function untranslated(what: string, inDuckdb: string): UsageError {
  return usage('SQL that can be translated from Trino', what, `in DuckDB's SQL, without --dialect: ${inDuckdb}`);
}
