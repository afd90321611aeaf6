import { InvalidArgumentError, Option } from 'commander';
import { requireLocalPath } from '../files/local-path.ts';
import { defaultWarehouse } from '../http/network.ts';

/** Options that mean the same on every command. */
export interface CommonOptions {
  readonly network?: string;
  readonly warehouse?: string;
  /** Folder. */
  readonly pipelines?: string;
}

/** Given as a flag only: what `TONLAKE_NETWORK` says is a default, and makes no claim about the warehouse that is named. */
export const networkOption = (): Option =>
  new Option('-n, --network <name>', 'mainnet, testnet, sandbox, or a base URL (env: TONLAKE_NETWORK)');

export const warehouseOption = (): Option => {
  const text = 'folder of Parquet files, or path of a .duckdb file (default: data/<network>)';
  // A variable that is empty is none.
  if (process.env['TONLAKE_WAREHOUSE'] === '') delete process.env['TONLAKE_WAREHOUSE'];
  return new Option('-w, --warehouse <path>', text).argParser(parsePath).env('TONLAKE_WAREHOUSE');
};

/** Pipelines of one's own. What a warehouse already holds is read without them: their declarations lie in it. */
export const pipelinesOption = (): Option => {
  if (process.env['TONLAKE_PIPELINES'] === '') delete process.env['TONLAKE_PIPELINES'];
  return new Option(
    '--pipelines <folder>',
    'folder of your own pipelines, one file each, in addition to the built-in ones',
  )
    .argParser(parsePath)
    .env('TONLAKE_PIPELINES');
};

/** An empty path would be the current folder. */
function parsePath(value: string): string {
  if (value === '') throw new InvalidArgumentError('Expected a path.');
  requireLocalPath(value, '--warehouse');
  return value;
}

/** The network that was named: by the flag, else by `TONLAKE_NETWORK`. A variable that is empty is none. */
export function namedNetwork(options: CommonOptions): string | undefined {
  return options.network ?? (process.env['TONLAKE_NETWORK'] || undefined);
}

/** The network to ask: as named, or mainnet. */
export function networkOf(options: CommonOptions): string {
  return namedNetwork(options) ?? 'mainnet';
}

/** The warehouse to write to, or to make: as given, or `data/<network>`. Commands that only need one that exists take `findWarehouse`. */
export function warehouseOf(options: CommonOptions): string {
  return options.warehouse ?? defaultWarehouse(networkOf(options));
}

export function parsePositive(value: string): number {
  const number = Number(value);
  if (!(number > 0 && number < Number.POSITIVE_INFINITY)) throw new InvalidArgumentError('Expected a number above 0.');
  return number;
}

export function parsePositiveOrZero(value: string): number {
  return value.trim() === '0' ? 0 : parsePositive(value);
}

export function parseCount(value: string): number {
  const number = Number(value);
  if (!Number.isInteger(number) || number < 1) throw new InvalidArgumentError('Expected a whole number of at least 1.');
  return number;
}

export function parseWhole(value: string): number {
  const number = Number(value);
  if (value.trim() === '' || !Number.isSafeInteger(number) || number < 0) {
    throw new InvalidArgumentError('Expected a whole number of at least 0.');
  }
  return number;
}

export function parsePort(value: string): number {
  const number = Number(value);
  if (!/^\d+$/.test(value) || number > 65_535) throw new InvalidArgumentError('Expected a port from 0 to 65535.');
  return number;
}

export function parseNonNegative(value: string): number {
  const number = Number(value);
  if (value.trim() === '' || !(number >= 0 && number < Number.POSITIVE_INFINITY))
    throw new InvalidArgumentError('Expected a number of at least 0.');
  return number;
}

/** A word of a command line, quoted where a shell would read it otherwise. */
export function shellWord(word: string): string {
  return /^[\w./:=@%+,-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`;
}

/** Requests per second, or `auto` to find what the source allows. */
export function parseRps(value: string): number | 'auto' {
  return value === 'auto' ? 'auto' : parsePositive(value);
}

/** Adds one `account=EQC...` to those before it. */
export function collectParam(text: string, before: Readonly<Record<string, string>>): Readonly<Record<string, string>> {
  const [, name, value] = /^([A-Za-z_]\w*)=(.*)$/s.exec(text) ?? [];
  if (name === undefined || value === undefined) throw new InvalidArgumentError('Expected name=value.');
  if (Object.hasOwn(before, name)) throw new InvalidArgumentError(`${name} is given twice.`);
  return { ...before, [name]: value };
}

/** Adds `a,b` to the names before it. */
export function collectNames(text: string, before: readonly string[] = []): readonly string[] {
  return [...before, ...namesIn(text)];
}

/** Adds the columns of `transactions=hash,account` to those of other tables. */
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
