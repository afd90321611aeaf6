import { type Command, InvalidArgumentError, Option } from 'commander';
import * as z from 'zod';
import { expectationOf } from '../core/option-value.ts';
import { requireLocalPath } from '../files/local-path.ts';
import { defaultWarehouse } from '../http/network.ts';
import { isObjectUrl } from '../objects/s3-location.ts';
import { parseRedisAddress, refusePassword } from '../redis/redis-address.ts';

/** Options that many commands have. */
export interface CommonOptions {
  readonly network?: string;
  readonly warehouse?: string;
  /** Folder. */
  readonly pipelines?: string;
}

/** `TONLAKE_NETWORK` is not bound to the flag: it is only a default, and need not match the network of a warehouse. */
export const networkOption = (): Option =>
  new Option(
    '-n, --network <name>',
    'mainnet, testnet, sandbox, or a base URL (default: that of the warehouse, or mainnet; env: TONLAKE_NETWORK)',
  );

/** Adds --network, --warehouse and --s3-endpoint. */
export function withPlace(command: Command): Command {
  const text = 'folder of Parquet files, s3://bucket/prefix, or path of a .duckdb file (default: data/<network>)';
  return command
    .addOption(networkOption())
    .addOption(pathOption('-w, --warehouse <path>', text, 'TONLAKE_WAREHOUSE', isObjectUrl))
    .addOption(endpointOption());
}

/** Address of the store of s3:// paths. The SDK and DuckDB read it from the environment, like region and credentials. */
export const endpointOption = (): Option =>
  new Option('--s3-endpoint <url>', 'object store of s3:// paths (default: Amazon S3)')
    .env(S3_ENDPOINT)
    .argParser((value: string) => {
      if (!/^https?:\/\/[^/@]+\/?$/.test(value))
        throw new InvalidArgumentError('Expected http://host:port or https://host.');
      process.env[S3_ENDPOINT] = value;
      return value;
    });

const S3_ENDPOINT = 'AWS_ENDPOINT_URL_S3';

/** Folder of the user's own pipelines. Existing tables can be read without it: the warehouse has their declarations. */
export const pipelinesOption = (): Option =>
  pathOption(
    '--pipelines <folder>',
    'folder of your own pipelines, one file each, in addition to the built-in ones',
    'TONLAKE_PIPELINES',
  );

/** `TONLAKE_BUDGET` is not bound to the flag: every command that sends requests reads it, and it may have a password. */
export const budgetOption = (): Option =>
  new Option(
    '--budget <url>',
    'Redis server through which all machines share the rate limit: redis://host:port, rediss:// for TLS (env: TONLAKE_BUDGET)',
  ).argParser(parseBudget);

export const witnessOption = (): Option =>
  new Option(
    '--witness <url>',
    'second server of the network: before each commit, a block of it, chosen at random, is compared (default: none)',
  );

/** Parses the URL of a Redis server, without a password. */
export function parseBudget(value: string): string {
  refusePassword(value, '--budget');
  parseRedisAddress(value, '--budget', {});
  return value;
}

/** An option with a path, whose default is in a variable unless that is empty. */
function pathOption(flags: string, text: string, variable: string, isAllowed = (_: string) => false): Option {
  if (process.env[variable] === '') delete process.env[variable];
  const parse = (value: string): string => {
    // It would be the current folder.
    if (value === '') throw new InvalidArgumentError('Expected a path.');
    if (!isAllowed(value)) requireLocalPath(value, '--warehouse');
    return value;
  };
  return new Option(flags, text).argParser(parse).env(variable);
}

/** The values of flags that have the names of options. */
export function named<Flags, Name extends keyof Flags>(flags: Flags, names: readonly Name[]): Pick<Flags, Name> {
  return Object.fromEntries(names.map((name) => [name, flags[name]])) as Pick<Flags, Name>;
}

/** The network of the flag or of `TONLAKE_NETWORK`, unless that is empty. */
export function namedNetwork(options: CommonOptions): string | undefined {
  return options.network ?? (process.env['TONLAKE_NETWORK'] || undefined);
}

/** The named network, or mainnet. */
export function networkOf(options: CommonOptions): string {
  return namedNetwork(options) ?? 'mainnet';
}

/** The named warehouse, or `data/<network>`; it need not exist. Commands that need an existing one use `findWarehouse`. */
export function warehouseOf(options: CommonOptions): string {
  return options.warehouse ?? defaultWarehouse(networkOf(options));
}

/**
 * An option with the values and the description of a schema, which the steps of jobs have as well.
 *
 * @param collect parses one of several values; default: there is one
 */
export function optionOf<T>(
  flags: string,
  schema: z.ZodType<T>,
  collect?: (text: string, before: T | undefined) => T,
): Option {
  const [what = '', fallback] = (schema.description ?? '').replace(/\.$/, '').split('. Default: ');
  const more = `${collect === undefined ? '' : '; repeatable'}${fallback === undefined ? '' : ` (default: ${fallback})`}`;
  const option = new Option(flags, `${what.charAt(0).toLowerCase()}${what.slice(1)}${more}`);
  if (option.isBoolean()) return option;
  if (schema instanceof z.ZodEnum) option.choices(schema.options.map(String));
  const parse = (text: string): T => {
    const parsed = schema.safeParse(/^-?\d+(\.\d+)?$/.test(text) ? Number(text) : text);
    if (parsed.success) return parsed.data;
    throw new InvalidArgumentError(`Expected ${expectationOf(parsed.error.issues[0])}.`);
  };
  return option.argParser(collect ?? parse);
}

/** A parser of plain decimal numbers that pass a check. */
function numberParser(expected: string, isValid: (value: number) => boolean): (text: string) => number {
  return (text) => {
    const value = Number(text);
    if (!/^-?\d+(\.\d+)?$/.test(text) || !isValid(value)) throw new InvalidArgumentError(`Expected ${expected}.`);
    return value;
  };
}

export const parsePositive = numberParser('a number above 0', (value) => value > 0);
export const parseNonNegative = numberParser('a number of at least 0', (value) => value >= 0);
export const parseCount = numberParser(
  'a whole number of at least 1',
  (value) => Number.isInteger(value) && value >= 1,
);
export const parseWhole = numberParser(
  'a whole number of at least 0',
  (value) => Number.isSafeInteger(value) && value >= 0,
);
export const parsePort = numberParser(
  'a port from 0 to 65535',
  (value) => Number.isInteger(value) && value >= 0 && value <= 65_535,
);

const UNITS = { ms: 1, s: 1_000, m: 60_000, h: 3_600_000 } as const;

/** `30s`, `5m`, `500ms`, `1.5h` as milliseconds. */
export function parseDuration(text: string): number {
  const [, digits = '', unit = ''] = /^(\d+(?:\.\d+)?)(ms|s|m|h)$/.exec(text) ?? [];
  const ms = Number(digits) * (UNITS[unit as keyof typeof UNITS] ?? 0);
  if (!(ms > 0)) throw new InvalidArgumentError('Expected a time above 0 such as 500ms, 30s, 5m or 1h.');
  return ms;
}

/** As {@link parseDuration}, or 0. */
export function parseDurationOrZero(text: string): number {
  return text === '0' ? 0 : parseDuration(text);
}

/** Adds a parameter such as `account=EQC...`. */
export function collectParam(
  text: string,
  before: Readonly<Record<string, string>> = {},
): Readonly<Record<string, string>> {
  const [, name, value] = /^([A-Za-z_]\w*)=(.*)$/s.exec(text) ?? [];
  if (name === undefined || value === undefined) throw new InvalidArgumentError('Expected name=value.');
  if (Object.hasOwn(before, name)) throw new InvalidArgumentError(`${name} is given twice.`);
  return { ...before, [name]: value };
}

/** Adds names such as `a,b`. */
export function collectNames(text: string, before: readonly string[] = []): readonly string[] {
  return [...before, ...namesIn(text)];
}

/** Adds the columns of a table, such as `transactions=hash,account`. */
export function collectColumns(
  text: string,
  before: Readonly<Record<string, readonly string[]>> = {},
): Readonly<Record<string, readonly string[]>> {
  const [, table = '', list = ''] = /^([^=]+)=(.*)$/s.exec(text) ?? [];
  if (table === '') throw new InvalidArgumentError('Expected table=column,column.');
  return { ...before, [table.trim()]: [...(before[table.trim()] ?? []), ...namesIn(list)] };
}

function namesIn(text: string): readonly string[] {
  const names = text.split(',').map((name) => name.trim());
  if (names.includes('')) throw new InvalidArgumentError('Expected names, separated by commas.');
  return names;
}
