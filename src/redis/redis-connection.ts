import { isIP } from 'node:net';
import { Redis, type RedisOptions } from 'ioredis';
import { oneLine, SourceError } from '../core/errors.ts';
import { type Environment, readAuthorities } from '../http/dispatcher.ts';
import { scrubError } from '../http/secret.ts';
import type { RedisAddress } from './redis-address.ts';

const CONNECT_MS = 5000;
const COMMAND_MS = 5000;

/** An open connection that does not reconnect by itself. */
export interface RedisConnection {
  readonly client: Redis;
  close(): void;
}

/**
 * Connects, logs in and checks that the server keeps what is written.
 *
 * @throws {SourceError} see {@link redisFailure}; `redis-evicts` if the server may remove keys
 */
export async function openRedis(address: RedisAddress, env: Environment): Promise<RedisConnection> {
  const client = new Redis({
    ...redisOptions(address, env),
    ...{ lazyConnect: true, enableOfflineQueue: false, maxRetriesPerRequest: 0, retryStrategy: () => null },
    ...{ connectTimeout: CONNECT_MS, commandTimeout: COMMAND_MS, connectionName: 'tonlake' },
  });
  let reason: unknown;
  client.on('error', (error: unknown) => {
    reason = error;
  });
  try {
    await client.connect();
    await requireKept(client, address);
  } catch (error) {
    client.disconnect();
    throw redisFailure(reason ?? error, address);
  }
  return { client, close: () => client.disconnect() };
}

/** How to connect and log in. */
export function redisOptions(address: RedisAddress, env: Environment): RedisOptions {
  const { host, port, database, isTls, username, password } = address;
  const caFile = env['TONLAKE_CA_FILE'] ?? '';
  return {
    ...{ host, port, db: database },
    ...(isTls
      ? {
          tls: {
            ...(isIP(host) === 0 ? { servername: host } : {}),
            ...(caFile === '' ? {} : { ca: readAuthorities(caFile, env) }),
          },
        }
      : {}),
    ...(username === undefined ? {} : { username }),
    ...(password === undefined ? {} : { password: password.reveal() }),
  };
}

/** @throws {SourceError} if keys may be removed when memory is short */
async function requireKept(client: Redis, address: RedisAddress): Promise<void> {
  const facts = await client.info('memory').catch((error: unknown) => {
    // A user without the right to ask: then it cannot be known.
    if (/^NOPERM/.test(String(error instanceof Error ? error.message : error))) return '';
    throw error;
  });
  const [, policy = 'noeviction'] = /^maxmemory_policy:(\S+)/m.exec(facts) ?? [];
  const [, limit = '0'] = /^maxmemory:(\d+)/m.exec(facts) ?? [];
  if (policy === 'noeviction' || limit === '0') return;
  throw new SourceError(
    `source: expected a Redis that keeps its keys at ${address.shown}, got maxmemory-policy ${policy}`,
    { code: 'redis-evicts', hint: 'redis-cli config set maxmemory-policy noeviction, or another server' },
  );
}

interface Reading {
  readonly pattern: RegExp;
  readonly got: string;
  readonly hint: string;
  readonly code: string;
}

const ADDRESS = 'check the port, and redis:// or rediss://';
const LOGIN = 'check TONLAKE_REDIS_USERNAME and TONLAKE_REDIS_PASSWORD';

/** What a message of the server or of the connection means, and what to do; the others may pass. */
const LASTING: readonly Reading[] = [
  { pattern: /WRONGPASS|invalid password|ERR AUTH/i, got: 'a refused password', hint: LOGIN, code: 'redis-login' },
  { pattern: /NOAUTH/, got: 'a demand for a password', hint: LOGIN, code: 'redis-login' },
  {
    pattern: /NOPERM/,
    got: 'a user without the right to do it',
    hint: 'allow it: ACL SETUSER NAME ~tonlake:* +@all',
    code: 'redis-login',
  },
  {
    pattern: /^(MOVED|ASK|CROSSSLOT|ERR SELECT is not allowed)/,
    got: 'a node of a cluster',
    hint: 'use a server without cluster mode',
    code: 'redis-kind',
  },
  { pattern: /DB index is out of range/, got: 'no database of that number', hint: 'remove it', code: 'redis-kind' },
  { pattern: /^READONLY/, got: 'a read-only replica', hint: 'use the primary server', code: 'redis-kind' },
  { pattern: /^OOM|^MISCONF/, got: 'a server that cannot write', hint: 'free its memory or disk', code: 'redis-full' },
  {
    pattern: /SELF_SIGNED|UNABLE_TO_(GET|VERIFY)|CERT_|ALTNAME|certificate/i,
    got: 'a certificate that is not trusted',
    hint: 'set TONLAKE_CA_FILE to its certificate authority',
    code: 'redis-tls',
  },
  {
    pattern: /EPROTO|wrong version number|Protocol error/i,
    got: 'something else than Redis, or TLS on one side only',
    hint: ADDRESS,
    code: 'redis-kind',
  },
];

/**
 * A failure as one line without credentials. It is `retryable` if the server may come back: not reached, restarting, too slow.
 */
export function redisFailure(error: unknown, address: RedisAddress): SourceError {
  if (error instanceof SourceError) return error;
  if (address.password !== undefined) scrubError(error, address.password);
  const message = oneLine(error instanceof Error ? error.message : String(error));
  const code = error instanceof Error && 'code' in error ? String(error.code) : '';
  const reading = LASTING.find(({ pattern }) => pattern.test(message) || pattern.test(code));
  const isClosed = /Connection is closed|Stream isn't writeable/.test(message);
  const got = reading?.got ?? (isClosed ? 'a closed connection' : code === '' ? message : code);
  return new SourceError(`source: expected a Redis server at ${address.shown}, got ${got}`, {
    code: reading?.code ?? 'no-redis',
    retryable: reading === undefined,
    hint: reading?.hint ?? (isClosed ? ADDRESS : 'check that it runs and that this machine reaches it'),
    cause: error,
  });
}
