import { readFileSync } from 'node:fs';
import * as tls from 'node:tls';
import { type Dispatcher, Pool, ProxyAgent } from 'undici';
import type { Environment } from '../core/environment.ts';
import { usage } from '../core/errors.ts';

const CONNECT_TIMEOUT_MS = 10_000;

/** A direct connection, or one through a proxy. */
export interface Route {
  readonly dispatcher: Dispatcher;
  /** Host and port of the proxy, without its password. */
  readonly proxy: string | undefined;
}

export interface RouteOptions {
  readonly baseUrl: string;
  /** Maximum number of connections. */
  readonly concurrency: number;
  /** Up to the last byte of a response. */
  readonly timeoutMs: number;
  /** Maximum size of a body, compressed and decompressed. */
  readonly maxBytes: number;
  /** Environment with HTTPS_PROXY, HTTP_PROXY, NO_PROXY and TONLAKE_CA_FILE. */
  readonly env: Environment;
}

/** Opens keep-alive connections to a source, through a proxy if the environment sets one. */
export function openRoute(options: RouteOptions): Route {
  const url = new URL(options.baseUrl);
  const proxy = resolveProxy(url, options.env);
  const connect = { timeout: Math.min(CONNECT_TIMEOUT_MS, options.timeoutMs), ...trustedBy(options.env) };
  const limits = {
    connections: options.concurrency,
    headersTimeout: 0,
    bodyTimeout: 0,
    keepAliveTimeout: 10_000,
    maxResponseSize: options.maxBytes,
  };
  if (proxy === undefined) return { dispatcher: new Pool(url.origin, { ...limits, connect }), proxy };
  const dispatcher = new ProxyAgent({
    ...limits,
    uri: proxy.href,
    requestTls: connect,
    proxyTls: connect,
    // Plain HTTP is not tunneled: many proxies allow tunnels to port 443 only.
    proxyTunnel: false,
    factory: (origin, given) => new Pool(origin, { ...limits, ...given }),
  });
  return { dispatcher, proxy: proxy.host };
}

/**
 * The proxy for an address: HTTPS_PROXY for https, HTTP_PROXY for http (lower case first), unless NO_PROXY lists the host.
 *
 * @throws {UsageError} if the variable is not an http(s) URL
 */
export function resolveProxy(url: URL, env: Environment): URL | undefined {
  const name = url.protocol === 'https:' ? 'https_proxy' : 'http_proxy';
  const value = env[name] ?? env[name.toUpperCase()] ?? '';
  if (value === '' || bypassesProxy(url, env['no_proxy'] ?? env['NO_PROXY'] ?? '')) return undefined;
  const address = /^[a-z][a-z0-9+.-]*:\/\//i.test(value) ? value : `http://${value}`;
  if (URL.canParse(address) && /^https?:$/.test(new URL(address).protocol)) return new URL(address);
  throw usage(
    `an http or https URL in ${name.toUpperCase()}`,
    undefined,
    `set ${name.toUpperCase()} to a URL such as http://proxy.example:3128`,
  );
}

function bypassesProxy(url: URL, list: string): boolean {
  const host = url.hostname.replace(/^\[|\]$/g, '').toLowerCase();
  const port = url.port === '' ? (url.protocol === 'https:' ? '443' : '80') : url.port;
  return list
    .split(/[\s,]+/)
    .filter((entry) => entry !== '')
    .some((entry) => {
      if (entry === '*') return true;
      const [, name = entry, only] = /^(\[[^\]]*\]|[^:]*)(?::(\d+))?$/.exec(entry) ?? [];
      const suffix = name
        .replace(/^\*?\./, '')
        .replace(/^\[|\]$/g, '')
        .toLowerCase();
      if (only !== undefined && only !== port) return false;
      return host === suffix || host.endsWith(`.${suffix}`);
    });
}

/**
 * The options of TLS that add the authorities of the PEM file in TONLAKE_CA_FILE. `ca` replaces the built-in list, so it has everything that
 * was trusted before, by the system and by NODE_EXTRA_CA_CERTS.
 *
 * @throws {UsageError}
 */
export function trustedBy(env: Environment): { readonly ca?: string[] } {
  const file = env['TONLAKE_CA_FILE'] ?? '';
  if (file === '') return {};
  const extra = env['NODE_EXTRA_CA_CERTS'];
  const inherited = extra === undefined || extra === '' ? [] : [readOptional(extra)];
  try {
    return { ca: [...tls.rootCertificates, ...inherited, readFileSync(file, 'utf8')] };
  } catch (cause) {
    throw usage('a readable file of certificates', file, 'check TONLAKE_CA_FILE', { cause });
  }
}

function readOptional(file: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    return '';
  }
}
