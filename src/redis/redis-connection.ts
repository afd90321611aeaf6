import { isIP } from 'node:net';
import type { Redis, RedisOptions } from 'ioredis';
import type { Environment } from '../core/environment.ts';
import { oneLine, SourceError, TonlakeError } from '../core/errors.ts';
import { notInstalled } from '../core/not-installed.ts';
import { omitUndefined } from '../core/omit-undefined.ts';
import { trustedBy } from '../http/dispatcher.ts';
import { CERTIFICATE_CODES } from '../http/network-failure.ts';
import { scrubError } from '../http/secret.ts';
import type { RedisAddress } from './redis-address.ts';

/** Timeout of the connection, and of each command. */
const TIMEOUT_MS = 4000;
/** The message of ioredis. */
const NO_ANSWER = 'Command timed out';

/** An open connection that does not reconnect by itself. */
export interface RedisConnection {
  readonly client: Redis;
  close(): void;
}

/**
 * Connects, logs in and checks that the server does not evict keys.
 *
 * @throws {UsageError}; {SourceError} see {@link redisFailure}; `redis-evicts` if the server may remove keys
 */
export async function openRedis(address: RedisAddress, env: Environment): Promise<RedisConnection> {
  const { Redis } = await import('ioredis').catch((error: unknown) => {
    throw notInstalled(error, 'ioredis', 'Redis');
  });
  const client = new Redis({
    ...redisOptions(address, env),
    lazyConnect: true,
    enableOfflineQueue: false,
    maxRetriesPerRequest: 0,
    retryStrategy: () => null,
    connectTimeout: TIMEOUT_MS,
    commandTimeout: TIMEOUT_MS,
    disconnectTimeout: 100,
    connectionName: 'tonlake',
  });
  let reason: unknown;
  client.on('error', (error: unknown) => {
    reason = error;
  });
  // A server may accept the connection without ever responding.
  let isLate = false;
  const deadline = setTimeout(() => {
    isLate = true;
    client.disconnect();
  }, TIMEOUT_MS);
  try {
    await client.connect();
    await requireNoEviction(client, address);
  } catch (error) {
    client.disconnect();
    throw redisFailure(isLate ? new Error(NO_ANSWER) : (reason ?? error), address);
  } finally {
    clearTimeout(deadline);
  }
  return { client, close: () => client.disconnect() };
}

/** How to connect and log in. */
function redisOptions(address: RedisAddress, env: Environment): RedisOptions {
  const { host, port, database, isTls, username, password } = address;
  return {
    host,
    port,
    db: database,
    ...(isTls ? { tls: { ...(isIP(host) === 0 ? { servername: host } : {}), ...trustedBy(env) } } : {}),
    ...omitUndefined({ username, password: password?.reveal() }),
  };
}

/** @throws {SourceError} if keys may be removed when memory is short */
async function requireNoEviction(client: Redis, address: RedisAddress): Promise<void> {
  const facts = await client.info('memory').catch((error: unknown) => {
    // A user without the right to read this: the policy is unknown.
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

interface FailureMeaning {
  /** Codes of replies, or of the connection. */
  readonly codes: readonly string[];
  /** Beginning of the text, for replies that have only the general code ERR. */
  readonly text?: RegExp;
  readonly got: string;
  readonly hint: string;
  readonly code: string;
}

const ADDRESS = 'check the port, and redis:// or rediss://';
const LOGIN = 'check TONLAKE_REDIS_USERNAME and TONLAKE_REDIS_PASSWORD';
/** The code of replies without a specific one. */
const GENERAL = 'ERR';
/** Given to replies that are not of Redis. */
const NOT_REDIS = 'ParserError';

/** Permanent failures of the server or the connection, and what to do; all others are transient. */
const PERMANENT: readonly FailureMeaning[] = [
  {
    codes: ['WRONGPASS'],
    text: /^ERR (AUTH |invalid password)/,
    got: 'a refused password',
    hint: LOGIN,
    code: 'redis-login',
  },
  { codes: ['NOAUTH'], got: 'a demand for a password', hint: LOGIN, code: 'redis-login' },
  {
    codes: ['NOPERM'],
    got: 'a user without the right to do it',
    hint: 'allow it: ACL SETUSER NAME ~tonlake:* +@all',
    code: 'redis-login',
  },
  {
    codes: ['MOVED', 'ASK', 'CROSSSLOT'],
    text: /^ERR SELECT is not allowed/,
    got: 'a node of a cluster',
    hint: 'use a server without cluster mode',
    code: 'redis-kind',
  },
  {
    codes: [],
    text: /^ERR DB index is out of range/,
    got: 'no database of that number',
    hint: 'remove it',
    code: 'redis-kind',
  },
  { codes: ['READONLY'], got: 'a read-only replica', hint: 'use the primary server', code: 'redis-kind' },
  { codes: ['OOM', 'MISCONF'], got: 'a server that cannot write', hint: 'free its memory or disk', code: 'redis-full' },
  {
    codes: [...CERTIFICATE_CODES],
    got: 'a certificate that is not trusted',
    hint: 'set TONLAKE_CA_FILE to its certificate authority',
    code: 'redis-tls',
  },
  {
    codes: ['EPROTO', 'ERR_SSL_WRONG_VERSION_NUMBER', 'ERR_SSL_PACKET_LENGTH_TOO_LONG', NOT_REDIS],
    text: /^ERR Protocol error/,
    got: 'something else than Redis, or TLS on one side only',
    hint: ADDRESS,
    code: 'redis-kind',
  },
];

/** The code of a failure: the first word of a reply, also through a script; for a connection, the code of Node. */
function codeOf(error: unknown): string {
  if (!(error instanceof Error)) return '';
  if (error.name === NOT_REDIS) return NOT_REDIS;
  if (!isReply(error)) return 'code' in error ? String(error.code) : '';
  const [, own = '', passedOn] = /^([A-Z]+)(?: Error running script .*: -([A-Z]+))?\b/.exec(error.message) ?? [];
  return passedOn ?? own;
}

function meaningOf(code: string, message: string): FailureMeaning | undefined {
  return PERMANENT.find(({ codes, text }) => (code === GENERAL ? text?.test(message) : codes.includes(code)));
}

function isReply(error: unknown): boolean {
  return error instanceof Error && error.name === 'ReplyError';
}

/** Describes a failure in one line, without credentials; a TonlakeError is returned unchanged. Retryable if the server may come back. */
export function redisFailure(error: unknown, address: RedisAddress): TonlakeError {
  if (error instanceof TonlakeError) return error;
  if (address.password !== undefined) scrubError(error, address.password);
  const message = oneLine(error instanceof Error ? error.message : String(error));
  const code = codeOf(error);
  const meaning = meaningOf(code, message);
  const isClosed = /Connection is closed|Stream isn't writeable/.test(message);
  const other = message === NO_ANSWER ? 'no answer' : code === '' || isReply(error) ? message : code;
  const got = meaning?.got ?? (isClosed ? 'a closed connection' : other);
  return new SourceError(`source: expected a Redis server at ${address.shown}, got ${got}`, {
    code: meaning?.code ?? 'no-redis',
    retryable: meaning === undefined,
    hint: meaning?.hint ?? (isClosed ? ADDRESS : 'check that it runs and that this machine reaches it'),
    cause: error,
  });
}
