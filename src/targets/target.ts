import { dirname } from 'node:path';
import { type UsageError, usage } from '../core/errors.ts';
import type { Trial } from '../core/trial.ts';
import { requireLocalPath } from '../files/local-path.ts';
import { endingsOf, formatOfPath } from '../files/output-format.ts';
import { folderTrial } from '../files/writable-folder.ts';

/** Formats of files that are replaced as a whole. */
export const WHOLE_FORMATS = ['csv', 'json', 'jsonl', 'parquet', 'arrow', 'xlsx'] as const;
export type WholeFormat = (typeof WHOLE_FORMATS)[number];

const FILE_FORMATS = [...WHOLE_FORMATS, 'sqlite'] as const;
type FileFormat = (typeof FILE_FORMATS)[number];

/** Destination of exported rows. */
export type Target =
  | { readonly kind: 'file'; readonly format: FileFormat; readonly path: string }
  /** A URL without a password. */
  | { readonly kind: 'postgres'; readonly url: URL }
  | { readonly kind: 'clickhouse'; readonly url: URL };

/** An option that has no effect on a target, and the target that it needs. */
interface UselessOption {
  readonly name: keyof typeof NEEDS;
  /** Such as `a CSV file`. */
  readonly needed: string;
}

/** Targets that options of an export need. */
const NEEDS = {
  as: {
    needed: 'a database, .sqlite or .xlsx',
    isMet: (target: Target) => target.kind !== 'file' || target.format === 'sqlite' || target.format === 'xlsx',
  },
  keepFormulas: {
    needed: 'a CSV file',
    isMet: (target: Target) => target.kind === 'file' && target.format === 'csv',
  },
} as const;

const HINT = `a file that ends in ${endingsOf(FILE_FORMATS).join(', ')}, postgres://user@host/database, or https://user@host:8443/database of ClickHouse`;

/**
 * A target as a user writes it: the path of a file, whose extension says the format, or the URL of a database.
 *
 * @throws {UsageError}
 */
export function parseTarget(text: string): Target {
  if (/^postgres(ql)?:\/\//.test(text)) return { kind: 'postgres', url: parseUrl(text, POSTGRES) };
  if (/^https?:\/\//.test(text)) return { kind: 'clickhouse', url: clickhouseUrl(text) };
  if (/^[a-z][a-z0-9+.-]+:\/\//i.test(text)) throw badTarget(text);
  const format = formatOfPath(text, FILE_FORMATS);
  if (format === undefined) throw badTarget(text);
  requireLocalPath(text, '--to');
  return { kind: 'file', format, path: text };
}

/** The first option that has no effect on a target. */
export function uselessOption(
  target: Target,
  { as, keepFormulas }: { readonly as?: string | undefined; readonly keepFormulas?: boolean | undefined },
): UselessOption | undefined {
  const isGiven = { as: as !== undefined, keepFormulas: keepFormulas === true };
  const names = ['as', 'keepFormulas'] as const;
  const name = names.find((each) => isGiven[each] && !NEEDS[each].isMet(target));
  return name === undefined ? undefined : { name, needed: NEEDS[name].needed };
}

interface UrlHints {
  readonly example: string;
  readonly password: string;
}

const POSTGRES: UrlHints = {
  example: 'postgres://user@host:5432/database',
  password: 'set PGPASSWORD, or write a line to ~/.pgpass (or the file that PGPASSFILE names)',
};
const CLICKHOUSE: UrlHints = {
  example: 'https://user@host:8443/database, or http://user@localhost:8123/database',
  password: 'set CLICKHOUSE_PASSWORD, or CLICKHOUSE_PASSWORD_FILE to the path of a file with it',
};

function clickhouseUrl(text: string): URL {
  const url = parseUrl(text, CLICKHOUSE);
  if (url.search === '' && url.hash === '' && !url.pathname.slice(1).includes('/')) return url;
  throw usage('the URL of a ClickHouse database', 'one with parameters or a longer path', CLICKHOUSE.example);
}

function parseUrl(text: string, { example, password }: UrlHints): URL {
  let url: URL;
  try {
    url = new URL(text);
  } catch (cause) {
    throw usage('the URL of a database', 'one that cannot be parsed', example, { cause });
  }
  if (url.password === '' && !url.searchParams.has('password')) return url;
  throw usage('a URL without a password, which would be visible to other users of the machine', undefined, password);
}

function badTarget(text: string): UsageError {
  return usage('a target of rows', JSON.stringify(text.replace(/:[^:@/]*@/, ':...@')), HINT);
}

/** A trial for preflight: the folder of the file is writable, or the login to the database works. */
export function targetTrial(target: Target): Trial {
  switch (target.kind) {
    case 'postgres':
      return {
        name: `log in to PostgreSQL at ${target.url.host || 'the socket'}`,
        attempt: async () => (await import('./postgres.ts')).tryPostgres(target.url),
      };
    case 'clickhouse':
      return {
        name: `log in to ClickHouse at ${target.url.host}`,
        attempt: async () => (await import('./clickhouse.ts')).tryClickhouse(target.url),
      };
    case 'file':
      return folderTrial(dirname(target.path), 'output');
  }
}
