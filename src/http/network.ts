import { readFileSync } from 'node:fs';
import { nearest } from '../core/did-you-mean.ts';
import type { Environment } from '../core/environment.ts';
import { type UsageError, usage } from '../core/errors.ts';
import { Secret } from './secret.ts';

/** Requests per second that a source allows, by whether a key is sent. */
export interface DefaultRps {
  readonly withoutKey: number;
  readonly withKey: number;
}

/** A named source. */
export interface Network {
  /** `mainnet`, `testnet`, `sandbox`, or the base URL; names the network in warehouses and messages. */
  readonly name: string;
  readonly kind: 'mainnet' | 'testnet' | 'sandbox' | 'address';
  /** Without trailing slash; undefined for the sandbox, which runs in the process of the caller. */
  readonly baseUrl: string | undefined;
  /** True for the sandbox, and for servers at a loopback address. */
  readonly isLocal: boolean;
  /** Undefined for no limit: the sandbox and local servers. */
  readonly defaultRps: DefaultRps | undefined;
}

/** The public plans: 1 request per second without a key, 10 with the free one. */
const PUBLIC_RPS: DefaultRps = { withoutKey: 1, withKey: 10 };

const NAMED: readonly Network[] = [
  named('mainnet', 'https://toncenter.com/api/v3'),
  named('testnet', 'https://testnet.toncenter.com/api/v3'),
  { name: 'sandbox', kind: 'sandbox', baseUrl: undefined, isLocal: true, defaultRps: undefined },
];

export const networkNames: readonly string[] = NAMED.map(({ name }) => name);

const CHOICES = 'mainnet, testnet, sandbox or a base URL such as http://127.0.0.1:8081/api/v3';

/**
 * The network of a name or base URL. The base URL of a named network is that network.
 *
 * @throws {UsageError} if it is neither, or if the URL has a password, key or query
 */
export function resolveNetwork(name: string): Network {
  const named = NAMED.find((network) => network.name === name);
  if (named !== undefined) return named;
  const url = parseAddress(name);
  if (url === undefined) throw unknownNetwork(name);
  refuseSecrets(url);
  const baseUrl = `${url.origin}${url.pathname.replace(/\/+$/, '')}`;
  const same = NAMED.find((network) => network.baseUrl === baseUrl);
  if (same !== undefined) return same;
  const isLocal = isLoopback(url);
  return { name: baseUrl, kind: 'address', baseUrl, isLocal, defaultRps: isLocal ? undefined : PUBLIC_RPS };
}

function named(name: 'mainnet' | 'testnet', baseUrl: string): Network {
  return { name, kind: name, baseUrl, isLocal: false, defaultRps: PUBLIC_RPS };
}

/** The default warehouse of a network: `data/<network>`. @throws {UsageError} */
export function defaultWarehouse(network: string): string {
  return `data/${resolveNetwork(network)
    .name.replace(/^https?:\/\//, '')
    .replace(/[^A-Za-z0-9.-]+/g, '-')}`;
}

/**
 * The API key: `TONLAKE_API_KEY`, else the first line of the file that `TONLAKE_API_KEY_FILE` names. Undefined when
 * neither is set.
 *
 * @throws {UsageError} if it is empty, has characters that are invalid in a header, or the file cannot be read
 */
export function readApiKey(env: Environment): Secret | undefined {
  const value = env['TONLAKE_API_KEY'];
  if (value !== undefined && value !== '') return parseKey(value, 'TONLAKE_API_KEY');
  const file = env['TONLAKE_API_KEY_FILE'];
  if (file === undefined || file === '') return undefined;
  return parseKey(readKeyFile(file).split(/\r?\n/, 1)[0] ?? '', 'the first line of the file in TONLAKE_API_KEY_FILE');
}

function readKeyFile(file: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch (cause) {
    throw usage(
      'a readable file in TONLAKE_API_KEY_FILE',
      'one that cannot be read',
      'set TONLAKE_API_KEY_FILE to a file whose first line is the key',
      {
        code: 'bad-api-key',
        // The path could be the key itself, if set in the wrong variable.
        cause: cause instanceof Error && 'code' in cause ? new Error(String(cause.code)) : undefined,
      },
    );
  }
}

function parseKey(text: string, place: string): Secret {
  const key = text.replace(/^\uFEFF/, '').trim();
  if (/^[\x21-\x7e]+$/.test(key)) return new Secret(key);
  const got = key === '' ? 'nothing' : 'blanks or non-ASCII characters';
  throw usage(`a key in ${place}`, got, 'set it to your key exactly as you received it, or unset the variable', {
    code: 'bad-api-key',
  });
}

function parseAddress(text: string): URL | undefined {
  if (!/^https?:\/\//i.test(text) || !URL.canParse(text)) return undefined;
  return new URL(text);
}

/** The message does not repeat the URL, which may contain a secret. */
function refuseSecrets(url: URL): void {
  if (url.username === '' && url.password === '' && url.search === '' && url.hash === '') return;
  const got = url.username === '' && url.password === '' ? 'a query' : 'a user name or password';
  throw usage(
    'a plain base URL for the network',
    `one with ${got}`,
    'an API key belongs in TONLAKE_API_KEY or in the file named by TONLAKE_API_KEY_FILE',
  );
}

function unknownNetwork(name: string): UsageError {
  const shown = /^[\w.:/[\]-]{0,80}$/.test(name) ? `"${name}"` : 'something else';
  return usage(`a network (${CHOICES})`, shown, suggest(name));
}

function suggest(name: string): string {
  const bare = /^[a-z0-9.-]+(:\d+)?(\/[\w./-]*)?$/i.test(name) && /[.:/]/.test(name);
  if (bare) return `--network http://${name}, or https://`;
  const known = NAMED.map((network) => network.name);
  const likely = nearest(name.toLowerCase(), known);
  return likely === undefined ? '--network sandbox needs neither a server nor a key' : `--network ${likely}`;
}

function isLoopback(url: URL): boolean {
  return /^(localhost|.+\.localhost|127(\.\d+){3}|\[::1\])$/.test(url.hostname);
}
