import { setTimeout as delay } from 'node:timers/promises';
import { inspect } from 'node:util';
import { describe, expect, test } from 'vitest';
import { formatError, SourceError } from '../../src/core/errors.ts';
import { resolveNetwork } from '../../src/http/network.ts';
import { Secret } from '../../src/http/secret.ts';
import { Source } from '../../src/http/source.ts';
import { fakeClock, stoppedClock } from '../rate-limit/clock.ts';
import { BLOCKS, fetchText, json, open, rejection, type Step, serve, serveSteps } from './server.ts';

const OK = json(200, { blocks: [] });
const KEY = 'k3y/with+odd=signs-0123456789';

describe('a request', () => {
  test('goes below the base URL, with percent-encoded parameters in their order', async () => {
    const server = await serveSteps(OK);
    const ask = {
      path: '/messages',
      query: [
        ['hash', 'a+b/c='],
        ['account', '0:AB'],
        ['account', '-1:CD'],
      ],
    } as const;
    const request = await open(`${server.baseUrl}/`).fetch(ask, (answer) => answer.request);
    expect(server.requests).toEqual(['GET /api/v3/messages?hash=a%2Bb%2Fc%3D&account=0%3AAB&account=-1%3ACD']);
    expect(request).toBe('GET /messages?hash=a%2Bb%2Fc%3D&account=0%3AAB&account=-1%3ACD');
  });

  test('with an empty value is never sent: the server would drop the filter', async () => {
    const server = await serveSteps(OK);
    const error = await rejection(fetchText(open(server.baseUrl), { path: '/messages', query: [['hash', '']] }));
    expect(formatError(error)).toBe('source messages: expected a value for parameter hash, got an empty string');
    expect(server.requests).toEqual([]);
  });

  test('carries a user agent, the key as a header, and the switches that save the server work', async () => {
    const server = await serveSteps(OK);
    await fetchText(open(server.baseUrl, { apiKey: new Secret(KEY), names: false }));
    expect(server.headers[0]).toMatchObject({
      'user-agent': expect.stringMatching(/^tonlake\/\d+\.\d+\.\d+/),
      'x-api-key': KEY,
      'x-no-address-book': 'true',
      'x-no-metadata': 'true',
    });
    expect(server.requests[0]).not.toContain('key');
  });

  test('sends the body of a POST as JSON', async () => {
    let received = '';
    const server = await serve((request, response) => {
      request.on('data', (chunk) => {
        received += chunk;
      });
      request.on('end', () => OK(response, request));
    });
    await fetchText(open(server.baseUrl), { method: 'POST', path: '/decode', query: [], body: '{"opcodes":[]}' });
    expect(received).toBe('{"opcodes":[]}');
    expect(server.headers[0]).toMatchObject({ 'content-type': 'application/json' });
  });

  test('reuses connections', async () => {
    const server = await serveSteps(OK);
    const source = open(server.baseUrl);
    for (let turn = 0; turn < 10; turn++) await fetchText(source);
    expect(server.sockets.opened).toBeLessThanOrEqual(2);
  });

  test('is one of at most as many under way as the option says', async () => {
    let underWay = 0;
    let most = 0;
    const server = await serve((request, response) => {
      most = Math.max(most, ++underWay);
      setTimeout(() => {
        underWay--;
        OK(response, request);
      }, 5);
    });
    const source = open(server.baseUrl, { concurrency: 3 });
    await Promise.all(Array.from({ length: 20 }, () => fetchText(source)));
    expect(most).toBe(3);
    expect(server.sockets.opened).toBe(3);
  });

  test('waits for its turn in the budget', async () => {
    const effects = fakeClock();
    const server = await serveSteps(OK);
    const source = open(server.baseUrl, { effects, rps: 2 });
    for (let turn = 0; turn < 5; turn++) await fetchText(source);
    expect(effects.monotonic()).toBeCloseTo((4 * 500) / 0.985);
  });
});

describe('the key', () => {
  const echo: Step = (response) => {
    response.writeHead(403, { 'content-type': 'application/json' });
    response.end(JSON.stringify({ error: `key ${KEY} (${encodeURIComponent(KEY)}) is not allowed` }));
  };
  const broken: Step = (response) => response.socket?.end(`HTTP/1.1 ${KEY}\r\n\r\n`);

  test('occurs in no error, cause or log, also when the server repeats it', async () => {
    const heard: unknown[] = [];
    for (const step of [echo, broken, json(500, { error: `timeout of ${KEY}` }), json(200, { echo: KEY })]) {
      const server = await serveSteps(step);
      const source = open(server.baseUrl, {
        apiKey: new Secret(KEY),
        attempts: 2,
        onRetry: (event) => heard.push(event),
      });
      const parse = (text: string): never => {
        const cause = new Error(`unexpected token in ${text}`);
        throw new SourceError(`source blocks 5: not usable: ${text}`, { code: 'bad', retryable: true, cause });
      };
      heard.push(await rejection(source.fetch(BLOCKS, (answer) => parse(answer.body.toString()))));
      heard.push(source);
    }
    const text = inspect(heard, { depth: Number.POSITIVE_INFINITY, showHidden: true, maxStringLength: null });
    expect(text).toContain('key [redacted] ([redacted]) is not allowed');
    expect(text).not.toContain(KEY);
    expect(text).not.toContain(KEY.slice(0, 12));
    expect(JSON.stringify(heard)).not.toContain(KEY.slice(0, 12));
  });

  test('is not cut in half by the length limit of a quote', async () => {
    const server = await serveSteps(json(403, { error: `${'x'.repeat(185)} ${KEY}` }));
    const error = await rejection(fetchText(open(server.baseUrl, { apiKey: new Secret(KEY) })));
    expect(formatError(error)).not.toContain(KEY.slice(0, 5));
  });

  test('is not sent to the sandbox', async () => {
    const server = await serveSteps(OK);
    const network = resolveNetwork('sandbox');
    await fetchText(open(server.baseUrl, { network, baseUrl: server.baseUrl, apiKey: new Secret(KEY) }));
    expect(server.headers[0]).not.toHaveProperty('x-api-key');
  });
});

test.each([
  ['a server on this machine', 'http://localhost:8081/api/v3', true],
  ['the sandbox', 'sandbox', true],
  ['a server elsewhere', 'https://index.example/api/v3', false],
  ['mainnet', 'mainnet', false],
])('%s may say that its hashes are made up, %s: %s', async (_, name, isBelieved) => {
  const { baseUrl } = await serveSteps(json(200, {}, { 'x-hashes': 'made-up' }));
  const source = open(baseUrl, { network: resolveNetwork(name), baseUrl });
  await fetchText(source);
  expect(source.hasMadeUpHashes).toBe(isBelieved);
});

test('server text is quoted on one line, without control characters, with at most 200 characters', async () => {
  const server = await serveSteps(json(422, { error: `a\r\nb\u001b[31mc${'d'.repeat(500)}` }));
  const error = await rejection(fetchText(open(server.baseUrl)));
  expect(formatError(error)).toBe(`source blocks 5: 422 (a b [31mc${'d'.repeat(188)}...)`);
});

describe('cancellation', () => {
  const reason = new Error('interrupted');

  test('an aborted signal ends a request in flight at once', async () => {
    const stop = new AbortController();
    const server = await serve(() => stop.abort(reason));
    const source = open(server.baseUrl);
    expect(await rejection(source.fetch(BLOCKS, () => 1, { signal: stop.signal }))).toBe(reason);
  });

  test('an aborted signal ends a waiting request at once', async () => {
    const stop = new AbortController();
    const server = await serveSteps(json(500, { error: 'timeout' }));
    const source = open(server.baseUrl, { effects: stoppedClock(() => stop.abort(reason)), signal: stop.signal });
    expect(await rejection(fetchText(source))).toBe(reason);
  });

  test('an aborted signal ends requests in the queue and in the budget at once, and they are never sent', async () => {
    const stop = new AbortController();
    const server = await serveSteps(OK);
    const source = open(server.baseUrl, { effects: stoppedClock(), rps: 1, concurrency: 2, signal: stop.signal });
    await fetchText(source);
    const waiting = Promise.all(Array.from({ length: 5 }, () => rejection(fetchText(source))));
    await delay(1);
    stop.abort(reason);
    expect(new Set(await waiting)).toEqual(new Set([reason]));
    expect(await rejection(fetchText(source))).toBe(reason);
    expect(server.requests).toHaveLength(1);
  });

  test('ending one request leaves the others alone', async () => {
    const stop = new AbortController();
    const server = await serve((request, response) => {
      if (request.url?.includes('slow') === true) stop.abort(reason);
      else OK(response, request);
    });
    const source = open(server.baseUrl);
    const slow = rejection(source.fetch({ path: '/slow', query: [] }, () => 1, { signal: stop.signal }));
    expect(await fetchText(source)).toBe('{"blocks":[]}');
    expect(await slow).toBe(reason);
  });

  test('a closed source ends what is under way and refuses what comes', async () => {
    const server = await serve(() => undefined);
    const source = open(server.baseUrl);
    const asked = rejection(fetchText(source));
    await delay(5);
    await source.close();
    expect(await asked).toMatchObject({ name: 'SourceError', message: 'source: closed' });
    expect(await rejection(fetchText(source))).toMatchObject({ name: 'SourceError', message: 'source: closed' });
  });
});

test('options out of range are usage errors', () => {
  const network = resolveNetwork('sandbox');
  const effects = fakeClock();
  const baseUrl = 'http://127.0.0.1:1';
  expect(() => new Source({ network, effects })).toThrow(/expected a base URL for sandbox/);
  expect(() => new Source({ network, baseUrl, effects, rps: 0 })).toThrow(/a rate above 0/);
  expect(() => new Source({ network, baseUrl, effects, concurrency: 0 })).toThrow(/concurrency of at least 1, got 0/);
  expect(() => new Source({ network, baseUrl, effects, concurrency: 1.5 })).toThrow(
    /concurrency that is a whole number, got 1.5/,
  );
});
