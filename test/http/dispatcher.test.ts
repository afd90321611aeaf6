import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { createServer, type RequestListener } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import { type AddressInfo, connect } from 'node:net';
import { join } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import { formatError } from '../../src/core/errors.ts';
import { resolveProxy } from '../../src/http/dispatcher.ts';
import { resolveNetwork } from '../../src/http/network.ts';
import { freshFolder } from '../scratch.ts';
import { fetchText, json, open, rejection, serve, serveSteps } from './server.ts';

const OK = json(200, { blocks: [] });

interface Proxy {
  readonly port: number;
  /** Targets of plain requests and of tunnels. */
  readonly seen: string[];
}

/** A proxy that answers plain requests itself and leads every tunnel to one port of this machine, or refuses it. */
async function startProxy(tunnelTo: number | undefined, plain: RequestListener): Promise<Proxy> {
  const seen: string[] = [];
  const server = createServer((request, response) => {
    seen.push(
      `${request.method} ${request.url} host=${request.headers.host} ${request.headers['proxy-authorization'] ?? ''}`,
    );
    plain(request, response);
  });
  server.on('connect', (request, socket) => {
    seen.push(`CONNECT ${request.url} ${request.headers['x-api-key'] ?? ''}`);
    if (tunnelTo === undefined) {
      socket.end('HTTP/1.1 403 Forbidden\r\n\r\n');
      return;
    }
    const there = connect(tunnelTo, '127.0.0.1', () => {
      socket.write('HTTP/1.1 200 OK\r\n\r\n');
      socket.pipe(there).pipe(socket);
    });
    there.on('error', () => socket.destroy());
    socket.on('error', () => there.destroy());
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  return { port: (server.address() as AddressInfo).port, seen };
}

const openssl = ((): boolean => {
  try {
    execFileSync('openssl', ['version'], { stdio: 'ignore' });
    return true;
  } catch {
    return false;
  }
})();

/** An https server whose certificate nobody knows, and the file to trust it by. */
async function startTls(): Promise<{ readonly port: number; readonly caFile: string }> {
  const folder = freshFolder();
  const [key, cert] = [join(folder, 'key.pem'), join(folder, 'cert.pem')];
  const subject = ['-subj', '/CN=localhost', '-addext', 'subjectAltName=DNS:localhost,DNS:toncenter.test'];
  const kind = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes', '-days', '2'];
  execFileSync('openssl', ['req', '-x509', ...kind, '-keyout', key, '-out', cert, ...subject], { stdio: 'ignore' });
  const server = createTlsServer({ key: readFileSync(key), cert: readFileSync(cert) }, (request, response) =>
    OK(response, request),
  );
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  return { port: (server.address() as AddressInfo).port, caFile: cert };
}

describe('proxies', () => {
  test('a plain request names its whole address to the proxy of HTTP_PROXY', async () => {
    const proxy = await startProxy(undefined, (request, response) => OK(response, request));
    const source = open('http://toncenter.test/api/v3', {
      env: { HTTP_PROXY: `http://me:pass%20word@127.0.0.1:${proxy.port}` },
    });
    expect(await fetchText(source)).toBe('{"blocks":[]}');
    const login = Buffer.from('me:pass word').toString('base64');
    expect(proxy.seen).toEqual([
      `GET http://toncenter.test/api/v3/blocks?mc_seqno=5 host=toncenter.test Basic ${login}`,
    ]);
  });

  test('NO_PROXY leads around the proxy, and the sandbox never uses one', async () => {
    const proxy = await startProxy(undefined, (_request, response) => response.writeHead(500).end());
    const server = await serveSteps(OK);
    const env = { HTTP_PROXY: `http://127.0.0.1:${proxy.port}` };
    await fetchText(open(server.baseUrl, { env: { ...env, NO_PROXY: 'example.org,127.0.0.1' } }));
    const network = resolveNetwork('sandbox');
    await fetchText(open(server.baseUrl, { network, baseUrl: server.baseUrl, env }));
    expect(server.requests).toHaveLength(2);
    expect(proxy.seen).toEqual([]);
  });

  test('a proxy that refuses the tunnel is named without its password, and asked once', async () => {
    const proxy = await startProxy(undefined, (_request, response) => response.end());
    const env = { https_proxy: `http://me:hidden@127.0.0.1:${proxy.port}` };
    const error = await rejection(fetchText(open('https://toncenter.test/api/v3', { env, rps: 10 })));
    expect(formatError(error)).toBe(
      `source blocks 5: proxy 127.0.0.1:${proxy.port} refused the connection to https://toncenter.test with 403; ` +
        'hint: check HTTPS_PROXY, HTTP_PROXY and NO_PROXY',
    );
    expect(proxy.seen).toEqual(['CONNECT toncenter.test:443 ']);
  });

  test('a proxy where nothing listens is named as such', async () => {
    const error = await rejection(
      fetchText(open('http://toncenter.test/api/v3', { env: { http_proxy: 'http://127.0.0.1:1' }, rps: 99 })),
    );
    expect(formatError(error)).toMatch(/nothing is listening at proxy 127\.0\.0\.1:1 after 3 attempts/);
  });

  test.each([
    ['https://a.example/x', { HTTPS_PROXY: 'http://p:3128' }, 'http://p:3128/'],
    ['https://a.example/x', { HTTP_PROXY: 'http://p:3128' }, undefined],
    ['http://a.example/x', { HTTP_PROXY: 'p:3128' }, 'http://p:3128/'],
    ['http://a.example/x', { http_proxy: '', HTTP_PROXY: 'http://p:3128' }, undefined],
    ['https://a.example/x', { HTTPS_PROXY: 'http://p', NO_PROXY: '*' }, undefined],
    ['https://a.example/x', { HTTPS_PROXY: 'http://p', NO_PROXY: '.example' }, undefined],
    ['https://a.example/x', { HTTPS_PROXY: 'http://p', NO_PROXY: 'A.Example:443' }, undefined],
    ['https://a.example/x', { HTTPS_PROXY: 'http://p', NO_PROXY: 'a.example:8443, b.example' }, 'http://p/'],
    ['https://xa.example/x', { HTTPS_PROXY: 'http://p', NO_PROXY: 'a.example' }, 'http://p/'],
    ['http://[::1]:81/x', { HTTP_PROXY: 'http://p', NO_PROXY: '[::1]' }, undefined],
  ] as const)('%s with %j goes by %s', (url, env, expected) => {
    expect(resolveProxy(new URL(url), env)?.href).toBe(expected);
  });

  test('a proxy setting that is no http address is refused without repeating it', () => {
    expect(() => open('http://a.example', { env: { HTTP_PROXY: 'socks5://me:hidden@p' } })).toThrow(
      /^usage: expected an http or https URL in HTTP_PROXY$/,
    );
  });
});

describe('certificates', () => {
  test.skipIf(!openssl)('an unknown authority is final, and trusted once TONLAKE_CA_FILE names it', async () => {
    const { port, caFile } = await startTls();
    const error = await rejection(fetchText(open(`https://localhost:${port}/api/v3`)));
    expect(formatError(error)).toBe(
      `source blocks 5: the certificate of https://localhost:${port} is not trusted (DEPTH_ZERO_SELF_SIGNED_CERT); ` +
        'hint: set TONLAKE_CA_FILE or NODE_EXTRA_CA_CERTS to its certificate authority',
    );
    expect(await fetchText(open(`https://localhost:${port}/api/v3`, { env: { TONLAKE_CA_FILE: caFile } }))).toBe(
      '{"blocks":[]}',
    );
  });

  test.skipIf(!openssl)('https goes through a tunnel of HTTPS_PROXY, with the same trust', async () => {
    const { port, caFile } = await startTls();
    const proxy = await startProxy(port, (_request, response) => response.end());
    const env = { HTTPS_PROXY: `http://127.0.0.1:${proxy.port}` };
    const source = open('https://toncenter.test/api/v3', { env: { ...env, TONLAKE_CA_FILE: caFile }, rps: 10 });
    expect(await fetchText(source)).toBe('{"blocks":[]}');
    expect(await fetchText(source)).toBe('{"blocks":[]}');
    expect(new Set(proxy.seen)).toEqual(new Set(['CONNECT toncenter.test:443 ']));
  });

  test('an https address that speaks http is told so', async () => {
    const server = await serve((_request, response) => response.end());
    const error = await rejection(fetchText(open(`https://127.0.0.1:${server.port}`)));
    expect(formatError(error)).toMatch(/does not speak TLS \(.+\); hint: is it an http:\/\/ address\?$/);
  });

  test('an unreadable file of certificates is a usage error', () => {
    expect(() => open('https://a.example', { env: { TONLAKE_CA_FILE: '/none/ca.pem' } })).toThrow(
      /a readable file of certificates, got \/none\/ca.pem/,
    );
  });
});
