import { createServer, type ServerResponse } from 'node:http';
import { portTaken, usage } from '../core/errors.ts';
import type { Health } from './health.ts';
import type { Metrics } from './metrics.ts';

/** Address of the metrics server. */
export interface MetricsAddress {
  readonly host: string;
  readonly port: number;
}

/** A running server. */
export interface MetricsServer {
  /** The actual port, if port 0 was requested. */
  readonly port: number;
  close(): Promise<void>;
}

/**
 * Parses `127.0.0.1:9464`, `localhost:9464`, `[::1]:9464` or `:9464`.
 *
 * @param isPublic true to allow addresses that other machines can reach, such as `0.0.0.0:9464`
 * @throws {UsageError} for another form, or for a public address if `isPublic` is false
 */
export function parseMetricsAddress(text: string, isPublic = false): MetricsAddress {
  const [, host = '', digits = ''] = /^(.*):(\d{1,5})$/.exec(text) ?? [];
  const port = Number(digits);
  const isLoopback = /^(|localhost|127(\.\d{1,3}){3}|\[::1\])$/.test(host);
  const isAddress = /^(|[\w.-]+|\[[\da-f:.]+\])$/i.test(host);
  if (digits !== '' && port <= 65_535 && (isLoopback || (isPublic && isAddress))) {
    return { host: host === '' ? '127.0.0.1' : host.replace(/^\[(.*)\]$/, '$1'), port };
  }
  const expected = isPublic ? 'an address and a port' : 'a loopback address';
  throw usage(
    expected,
    JSON.stringify(text),
    isPublic
      ? '--metrics 0.0.0.0:9464 --metrics-public'
      : '--metrics 127.0.0.1:9464; or allow others to read the metrics, without a password, with --metrics-public',
  );
}

/** Serves `/metrics` and `/healthz`: 200 if the status is `ok`, otherwise 503. @throws {UsageError} */
export async function serveMetrics(address: MetricsAddress, metrics: Metrics, health: Health): Promise<MetricsServer> {
  const server = createServer((request, response) => {
    const path = (request.url ?? '/').replace(/\?.*$/, '');
    if (request.method !== 'GET' && request.method !== 'HEAD')
      return respond(response, 405, 'text/plain', 'GET only\n');
    if (path === '/metrics') {
      metrics.text().then(
        (text) => respond(response, 200, metrics.contentType, text),
        () => respond(response, 500, 'text/plain', 'no metrics\n'),
      );
      return;
    }
    if (path !== '/healthz') return respond(response, 404, 'text/plain', 'try /metrics or /healthz\n');
    const state = health.read();
    respond(response, state.status === 'ok' ? 200 : 503, 'application/json', `${JSON.stringify(state)}\n`);
  });
  await new Promise<void>((resolve, reject) => {
    server.once('error', (cause) =>
      reject(portTaken(`${address.host}:${address.port}`, 'choose another port with --metrics', cause)),
    );
    server.listen(address.port, address.host, resolve);
  });
  const bound = server.address();
  return {
    port: bound !== null && typeof bound === 'object' ? bound.port : address.port,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

function respond(response: ServerResponse, status: number, type: string, text: string): void {
  response.writeHead(status, { 'content-type': type }).end(text);
}
