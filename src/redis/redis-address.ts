import type { Environment } from '../core/environment.ts';
import { type UsageError, usage } from '../core/errors.ts';
import { unescaped } from '../core/unescaped.ts';
import { Secret } from '../http/secret.ts';

const EXAMPLE = 'redis://127.0.0.1:6379, or rediss:// for TLS';
const PASSWORD_HINT = 'set TONLAKE_REDIS_PASSWORD, and TONLAKE_REDIS_USERNAME if there is one';

/** A Redis server and how to log in. */
export interface RedisAddress {
  /** Scheme, host, port and database, without credentials: safe to show. */
  readonly shown: string;
  readonly host: string;
  readonly port: number;
  /** Number of the database. */
  readonly database: number;
  readonly isTls: boolean;
  readonly username: string | undefined;
  readonly password: Secret | undefined;
}

/**
 * Parses `redis://host:port/database`, or `rediss://` for TLS. User name and password are those of the URL, else of
 * TONLAKE_REDIS_USERNAME and TONLAKE_REDIS_PASSWORD. Messages never repeat a URL, which may contain a password.
 *
 * @param place where the URL comes from, for messages: `--budget`
 * @throws {UsageError}
 */
export function parseRedisAddress(text: string, place: string, env: Environment): RedisAddress {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url === undefined || !/^rediss?:$/.test(url.protocol) || url.hostname === '') {
    throw badAddress(`the URL of a Redis server in ${place}, got something else`, `${place} ${EXAMPLE}`);
  }
  const [, digits = ''] = /^\/?(\d{0,4})$/.exec(url.pathname) ?? [];
  if ((digits === '' && url.pathname.length > 1) || url.search !== '' || url.hash !== '') {
    throw badAddress(`a host, a port and at most the number of a database in ${place}`, `${place} ${EXAMPLE}`);
  }
  const host = url.hostname.replace(/^\[|\]$/g, '');
  const port = url.port === '' ? 6379 : Number(url.port);
  const database = Number(digits);
  const password = unescaped(url.password) || env['TONLAKE_REDIS_PASSWORD'] || undefined;
  return {
    host,
    port,
    database,
    isTls: url.protocol === 'rediss:',
    shown: `${url.protocol}//${url.hostname}:${port}${database === 0 ? '' : `/${database}`}`,
    username: unescaped(url.username) || env['TONLAKE_REDIS_USERNAME'] || undefined,
    password: password === undefined ? undefined : new Secret(password),
  };
}

/** The server that shares the rate limit: the one given, else that of TONLAKE_BUDGET. @throws {UsageError} */
export function readBudgetAddress(given: string | undefined, env: Environment): RedisAddress | undefined {
  if (given !== undefined) return parseRedisAddress(given, '--budget', env);
  const text = env['TONLAKE_BUDGET'] ?? '';
  return text === '' ? undefined : parseRedisAddress(text, 'TONLAKE_BUDGET', env);
}

/** Refuses a password in an argument of the command line, which other users of the machine can read. @throws {UsageError} */
export function refusePassword(text: string, place: string): void {
  if (!/^rediss?:\/\/[^/]*@/i.test(text)) return;
  throw badAddress(`no user name or password in ${place}: other users can read command lines`, PASSWORD_HINT);
}

function badAddress(expected: string, hint: string): UsageError {
  return usage(expected, undefined, hint);
}
