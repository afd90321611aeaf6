import { createServer } from 'node:net';
import { describe, expect, test } from 'vitest';
import { parseHeaders } from '../../src/chain/headers.ts';
import { formatError, SourceError } from '../../src/core/errors.ts';
import { Secret } from '../../src/http/secret.ts';
import type { RetryEvent } from '../../src/http/source.ts';
import { fakeClock } from '../rate-limit/clock.ts';
import { BLOCKS, fetchText, html, json, open, rejection, type Step, serve, serveSteps } from './server.ts';

const TIMEOUT = json(500, { error: 'timeout: context deadline exceeded' });
const MISSING = json(404, { error: 'masterchain block 5 not found' });
const OK = json(200, { blocks: [] });

describe('asking again', () => {
  test('a database timeout is asked again, with exponential back-off and full jitter', async () => {
    const effects = fakeClock(() => 0.5);
    const server = await serveSteps(TIMEOUT, TIMEOUT, TIMEOUT, OK);
    const source = open(server.baseUrl, { effects });
    expect(await fetchText(source)).toBe('{"blocks":[]}');
    expect(effects.slept).toEqual([250, 500, 1000]);
    expect(source.counts).toMatchObject({ requests: 4, retries: 3 });
  });

  test('Retry-After wins over back-off', async () => {
    const effects = fakeClock();
    const server = await serveSteps(
      json(429, { ok: false, result: 'Ratelimit exceed', code: 429 }, { 'retry-after': '7' }),
      OK,
    );
    await fetchText(open(server.baseUrl, { effects }));
    expect(effects.slept[0]).toBe(7000);
  });

  test('a 429 slows the budget for every request of the source', async () => {
    const effects = fakeClock();
    const server = await serveSteps(json(429, { error: 'Ratelimit exceeded' }, { 'retry-after': '3' }), OK);
    const source = open(server.baseUrl, { effects, rps: 10 });
    const [first, second] = [fetchText(source), fetchText(source)];
    await Promise.all([first, second]);
    expect(source.rps).toBeLessThan(6);
    expect(effects.monotonic()).toBeGreaterThanOrEqual(3000);
  });

  test('a Retry-After of an hour fails at once and says so', async () => {
    const effects = fakeClock();
    const server = await serveSteps(json(503, { error: 'maintenance' }, { 'retry-after': '3600' }));
    const error = await rejection(fetchText(open(server.baseUrl, { effects })));
    expect(formatError(error)).toBe(
      'source blocks 5: 503, and asked to wait 1 h 00 min (maintenance); hint: try again after that time',
    );
    expect(effects.slept).toEqual([]);
  });

  test('after the last attempt the error counts attempts and seconds, and names the remedy', async () => {
    const server = await serveSteps(json(429, { ok: false, result: 'Ratelimit exceed', code: 429 }));
    const source = open(server.baseUrl, { rps: 100, attempts: 8 });
    const error = await rejection(fetchText(source));
    expect(formatError(error)).toMatch(
      /^source blocks 5: 429 after 8 attempts in (\d+ min )?\d+ s \(Ratelimit exceed\); hint: lower --rps, or set an API key$/,
    );
    expect(error).toBeInstanceOf(SourceError);
    expect(error).toMatchObject({ name: 'SourceError', code: 'rate-limited', retryable: true });
    expect(server.requests).toHaveLength(8);
  });

  test('a mistake is not asked again', async () => {
    const server = await serveSteps(json(500, { error: 'limit is not allowed: 1001 > 1000' }));
    const error = await rejection(fetchText(open(server.baseUrl)));
    expect(formatError(error)).toBe('source blocks 5: 500 (limit is not allowed: 1001 > 1000)');
    expect(error).toMatchObject({ code: 'bad-request', retryable: false });
    expect(server.requests).toHaveLength(1);
  });

  test('a 422 that speaks of a timeout is asked again on /accountStates only', async () => {
    const fault = json(422, { error: 'timeout: context deadline exceeded' });
    const states = await serveSteps(fault, OK);
    await fetchText(open(states.baseUrl), { path: '/accountStates', query: [] });
    expect(states.requests).toHaveLength(2);
    const blocks = await serveSteps(fault, OK);
    expect(await rejection(fetchText(open(blocks.baseUrl)))).toMatchObject({ code: 'bad-request' });
    expect(blocks.requests).toHaveLength(1);
  });

  test('HTML that persists asks whether this is the right address', async () => {
    const server = await serveSteps(html(200, '<html><title>Welcome</title></html>'));
    const error = await rejection(fetchText(open(server.baseUrl, { attempts: 2 })));
    expect(formatError(error)).toBe(
      'source blocks 5: expected JSON, got HTML with status 200 after 2 attempts in 0.2 s (Welcome); ' +
        'hint: is this the base URL of a TON Index v3 API? it ends in /api/v3',
    );
  });

  test('a retryable error of accept is asked again, any other passes unchanged', async () => {
    const server = await serveSteps(OK);
    const source = open(server.baseUrl);
    let tries = 0;
    const short = new SourceError('source blocks 5: the list is short', { code: 'short', retryable: true });
    const accepted = await source.fetch(BLOCKS, () => {
      if (++tries < 3) throw short;
      return tries;
    });
    expect(accepted).toBe(3);
    const bug = new TypeError('a bug');
    expect(await rejection(source.fetch(BLOCKS, () => Promise.reject(bug)))).toBe(bug);
    expect(await rejection(source.fetch(BLOCKS, () => Promise.reject(short)))).toBe(short);
    expect(server.requests).toHaveLength(3 + 1 + 8);
  });

  test('an answer of another shape is asked for again twice, and its error passed on', async () => {
    const server = await serveSteps(json(200, {}), json(200, []), OK, json(200, {}));
    const source = open(server.baseUrl);
    const fetched = (): Promise<unknown> => source.fetch(BLOCKS, ({ body, request }) => parseHeaders(body, request));
    expect(await fetched()).toEqual([]);
    const error = await rejection(fetched());
    expect(formatError(error)).toMatch(/^audit blocks: expected a list of headers from GET \/blocks/);
    expect(server.requests).toHaveLength(3 + 3);
    await rejection(source.fetch(BLOCKS, ({ body, request }) => parseHeaders(body, request), { attempts: 1 }));
    expect(server.requests).toHaveLength(3 + 3 + 1);
  });

  test('a redirect is never followed, as the key is for one source; one that passes is waited out', async () => {
    const other = await serveSteps(OK);
    const away: Step = (response) => response.writeHead(302, { location: `${other.baseUrl}/blocks` }).end();
    const server = await serveSteps(OK, away, OK);
    const source = open(server.baseUrl, { apiKey: new Secret('a-key') });
    await fetchText(source);
    expect(await fetchText(source)).toBe('{"blocks":[]}');
    expect({ here: server.requests.length, there: other.requests.length }).toEqual({ here: 3, there: 0 });
  });

  test('every repetition is reported before the pause', async () => {
    const events: RetryEvent[] = [];
    const server = await serveSteps(TIMEOUT, OK);
    await fetchText(open(server.baseUrl, { onRetry: (event) => events.push(event) }));
    expect(events).toEqual([
      {
        label: 'blocks 5',
        request: 'GET /blocks?mc_seqno=5',
        attempt: 1,
        sleepMs: 250,
        code: 'server-error',
        message: 'source blocks 5: 500 (timeout: context deadline exceeded)',
      },
    ]);
  });
});

describe('a block that is not indexed', () => {
  const ask = { ...BLOCKS, missing: 'wait' } as const;

  test('is polled until it is there, beyond the number of attempts', async () => {
    const effects = fakeClock();
    const server = await serveSteps(...Array.from({ length: 12 }, () => MISSING), OK);
    await fetchText(open(server.baseUrl, { effects, attempts: 2 }), ask);
    expect(server.requests).toHaveLength(13);
    expect(effects.slept.slice(0, 3)).toEqual([400, 600, 900]);
    expect(Math.max(...effects.slept)).toBe(2000);
  });

  test('is an error once the wait time is over, never an empty answer', async () => {
    const effects = fakeClock();
    const server = await serveSteps(MISSING);
    const error = await rejection(fetchText(open(server.baseUrl, { effects, waitMs: 60_000 }), ask));
    expect(formatError(error)).toBe(
      'source blocks 5: still not indexed after 1 min 00 s (masterchain block 5 not found); hint: try again later, or raise --wait',
    );
    expect(error).toMatchObject({ code: 'not-indexed', retryable: true });
    expect(effects.monotonic()).toBe(60_000);
  });

  test('fails at once when nobody wants to wait', async () => {
    const server = await serveSteps(MISSING);
    await rejection(fetchText(open(server.baseUrl, { waitMs: 0 }), ask));
    expect(server.requests).toHaveLength(1);
  });

  test('is an answer for a lookup', async () => {
    const server = await serveSteps(MISSING);
    const status = await open(server.baseUrl).fetch({ ...BLOCKS, missing: 'answer' }, (answer) => answer.status);
    expect(status).toBe(404);
  });
});

describe('connections that fail', () => {
  test('an address where nothing listens fails after three quick attempts and is named', async () => {
    const probe = createServer();
    await new Promise<void>((resolve) => probe.listen(0, '127.0.0.1', resolve));
    const { port } = probe.address() as { port: number };
    await new Promise((resolve) => probe.close(resolve));
    const effects = fakeClock();
    const error = await rejection(fetchText(open(`http://127.0.0.1:${port}/api/v3`, { effects })));
    expect(formatError(error)).toBe(
      `source blocks 5: nothing is listening at http://127.0.0.1:${port} after 3 attempts in 0.6 s (ECONNREFUSED); ` +
        'hint: check --network, and that the server is running',
    );
    expect(effects.slept).toEqual([200, 400]);
  });

  test('an address that answered before is given time to come back', async () => {
    const server = await serveSteps(OK);
    const source = open(server.baseUrl);
    await fetchText(source);
    await server.stop();
    expect(formatError(await rejection(fetchText(source)))).toMatch(/after 8 attempts in (\d+ min )?\d+ s/);
  });

  test('a dropped connection and a cut body are asked again', async () => {
    const server = await serveSteps(
      (response) => response.destroy(),
      (response) => {
        response.writeHead(200, { 'content-length': '1000' });
        response.write('{"blocks":', () => response.destroy());
      },
      (response) => {
        response.writeHead(200, { 'transfer-encoding': 'chunked' });
        response.write('{"blocks":', () => response.destroy());
      },
      OK,
    );
    expect(await fetchText(open(server.baseUrl))).toBe('{"blocks":[]}');
    expect(server.requests).toHaveLength(4);
  });

  test('an answer that never ends runs into the time limit and is asked again', async () => {
    const server = await serveSteps(
      () => undefined,
      (response) => {
        response.writeHead(200);
        response.write('{');
      },
      OK,
    );
    expect(await fetchText(open(server.baseUrl, { timeoutMs: 60 }))).toBe('{"blocks":[]}');
    const silent = await serve(() => undefined);
    const error = await rejection(fetchText(open(silent.baseUrl, { timeoutMs: 50, attempts: 2 })));
    expect(formatError(error)).toMatch(
      /^source blocks 5: no complete response within 0.05 s after 2 attempts in .* hint: /,
    );
  });
});
