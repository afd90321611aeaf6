import { existsSync, readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { faultOf, parseRetryAfter, type RawResponse, type RequestContext } from '../../src/http/classify-response.ts';

const NOW = Date.UTC(2026, 0, 1);
/** Outside of the repository: skipped where it is missing. */
const RECORDED = new URL('../../../shared/fixtures/server_errors.json', import.meta.url);

interface Case {
  readonly path?: string;
  readonly missing?: 'wait' | 'answer';
  readonly keyed?: boolean;
  readonly retryAfter?: string;
  readonly contentType?: string;
  readonly answered?: boolean;
}

/** `answer`, or the fault as `code`, how to pause (`final` for never) and the hint. */
function react(status: number, body: string, given: Case = {}): string {
  const response: RawResponse = {
    status,
    contentType: given.contentType ?? 'application/json',
    retryAfter: given.retryAfter,
    location: status < 400 && status >= 300 ? 'https://elsewhere.example/x?api_key=1' : undefined,
    body: Buffer.from(body),
  };
  const context: RequestContext = {
    path: given.path ?? '/blocks',
    missing: given.missing,
    keyed: given.keyed ?? false,
    answered: given.answered ?? true,
    now: NOW,
  };
  const fault = faultOf(response, context);
  if (fault === undefined) return 'answer';
  const { code, pause } = fault;
  return `${code}, ${pause?.kind ?? 'final'}`;
}

const error = (text: string): string => JSON.stringify({ error: text });
const GATEWAY_429 = '{"ok": false, "result": "Ratelimit exceed", "code": 429}';
const HTML = '<html><head><title>502 Bad Gateway</title></head></html>';

describe('the reaction to what a source sends', () => {
  test.each([
    ['a JSON answer', 200, '{"blocks":[]}', {}, 'answer'],
    ['a bare list', 200, '[]', {}, 'answer'],
    ['HTML with 200', 200, ' \n<!doctype html><p>hello', {}, 'not-json, backoff'],
    ['HTML by its content type', 200, 'hello', { contentType: 'text/html; charset=utf-8' }, 'not-json, backoff'],
    ['a part that the server lacks', 500, error('ton-http-api endpoint is not specified'), {}, 'not-configured, brief'],
    ['an error with 200', 200, error('canceling statement due to statement timeout'), {}, 'server-error, backoff'],
    ['nothing with 200', 200, '', {}, 'not-json, backoff'],
    ['nothing but blanks with 200', 200, ' \r\n\t', {}, 'not-json, backoff'],
    [
      'a block that is not indexed, when waiting',
      404,
      error('masterchain block 5 not found'),
      { missing: 'wait' },
      'not-indexed, poll',
    ],
    [
      'shards that are not indexed, when waiting',
      404,
      error('blocks not found'),
      { missing: 'wait' },
      'not-indexed, poll',
    ],
    ['a lookup without result', 404, error('adjacent transactions not found'), { missing: 'answer' }, 'answer'],
    ['a 404 nobody expects', 404, error('action_id not found'), {}, 'not-found, final'],
    [
      'a 404 of another server, when waiting',
      404,
      '<h1>404 page not found</h1>',
      { missing: 'wait' },
      'not-found, final',
    ],
    ['a 404 of another server, as answer', 404, 'Not Found', { missing: 'answer' }, 'not-found, final'],
    [
      'an unknown key',
      401,
      '{"ok":false,"code":401,"error":"API key does not exist"}',
      { keyed: true },
      'unauthorized, final',
    ],
    ['a required value that is missing', 401, error('address is required'), {}, 'unauthorized, final'],
    [
      'a key of the other network',
      403,
      '{"ok":false,"code":403,"error":"Network not allowed"}',
      { keyed: true },
      'forbidden, final',
    ],
    ['a gateway that refuses the client', 403, HTML, {}, 'forbidden, final'],
    ['an undocumented endpoint', 400, error('trace_id is required'), {}, 'bad-request, final'],
    ['a wrong method', 405, '', {}, 'bad-request, final'],
    ['a wrong type for the method', 409, error('not a wallet'), { path: '/walletInformation' }, 'conflict, final'],
    ['a URL that is too long', 414, HTML, {}, 'bad-request, final'],
    ['an unreadable parameter', 422, error('schema: error converting value for "account"'), {}, 'bad-request, final'],
    [
      'a timeout as 422 of /accountStates',
      422,
      error('timeout: context deadline exceeded'),
      { path: '/accountStates' },
      'server-error, backoff',
    ],
    [
      'a cancelled statement as 422 of /walletStates',
      422,
      error('canceling statement due to user request'),
      { path: '/walletStates' },
      'server-error, backoff',
    ],
    [
      'a lost connection as 422 of /dns/records',
      422,
      error('failed to connect: connection refused'),
      { path: '/dns/records' },
      'server-error, backoff',
    ],
    [
      'a mistake as 422 of /accountStates',
      422,
      error('address of account is required'),
      { path: '/accountStates' },
      'bad-request, final',
    ],
    [
      'a timeout as 422 elsewhere',
      422,
      error('timeout: context deadline exceeded'),
      { path: '/blocks' },
      'bad-request, final',
    ],
    ['429 as documented', 429, GATEWAY_429, {}, 'rate-limited, backoff'],
    [
      '429 of the older API',
      429,
      '{"ok": false, "code": 429, "error": "Ratelimit exceeded"}',
      {},
      'rate-limited, backoff',
    ],
    ['429 as a page', 429, HTML, {}, 'rate-limited, backoff'],
    ['429 with Retry-After', 429, GATEWAY_429, { retryAfter: '7' }, 'rate-limited, after'],
    ['a database timeout', 500, error('timeout: context deadline exceeded'), {}, 'server-error, backoff'],
    ['a cancelled statement', 500, error('canceling statement due to statement timeout'), {}, 'server-error, backoff'],
    [
      'a busy connection',
      500,
      error('cannot switch to state 12; another operation (2) is in progress'),
      {},
      'server-error, backoff',
    ],
    ['too high a limit', 500, error('limit is not allowed: 1001 > 1000'), {}, 'bad-request, final'],
    ['a wrong sort', 500, error('wrong value for sort parameter'), {}, 'bad-request, final'],
    [
      'an index without collection',
      500,
      error('index parameter is not allowed without the collection_address'),
      {},
      'bad-request, final',
    ],
    ['an unknown path', 500, error('internal server error: Cannot GET /api/v3/nothing'), {}, 'bad-request, final'],
    ['a wrong method of the API', 500, error('internal server error: Method Not Allowed'), {}, 'bad-request, final'],
    ['an unreadable stack', 501, error('not implemented'), {}, 'not-implemented, final'],
    ['a bad gateway', 502, HTML, {}, 'gateway-error, backoff'],
    ['an outage with a time', 503, HTML, { retryAfter: '30' }, 'gateway-error, after'],
    [
      'a gateway timeout',
      504,
      '{"ok":false,"code":504,"error":"LITE_SERVER_NETWORK timeout"}',
      {},
      'gateway-error, backoff',
    ],
    ['a timeout of the cloud in front', 524, HTML, {}, 'gateway-error, backoff'],
    ['a redirect', 301, '', {}, 'redirected, final'],
    ['a temporary redirect', 302, '', {}, 'redirected, backoff'],
    ['a temporary redirect of a source that never answered', 302, '', { answered: false }, 'redirected, final'],
    ['a proxy that wants a password', 407, '', {}, 'proxy, final'],
  ] as const)('%s', (_name, status, body, given, expected) => {
    expect(react(status, body, given)).toBe(expected);
  });

  test('a refused key and a missing key get different hints', () => {
    const response: RawResponse = {
      status: 401,
      contentType: '',
      retryAfter: undefined,
      location: undefined,
      body: Buffer.from(''),
    };
    const hint = (keyed: boolean): unknown =>
      faultOf(response, { path: '/blocks', missing: undefined, keyed, now: NOW });
    expect(hint(true)).toMatchObject({ hint: expect.stringMatching(/was rejected.*each key is for one network/) });
    expect(hint(false)).toMatchObject({ hint: expect.stringMatching(/^set TONLAKE_API_KEY/) });
  });

  test.skipIf(!existsSync(RECORDED))(
    'everything a genuine server refused is final, except what is not indexed or not configured',
    () => {
      // A recording of this project: an array of request, status and body.
      const recorded = JSON.parse(readFileSync(RECORDED, 'utf8')) as {
        request: string;
        status: number;
        body: string;
      }[];
      for (const { request, status, body } of recorded) {
        const path = `/${request.split('?')[0]}`;
        const expected = {
          200: /^answer$/,
          404: /^not-indexed, poll$/,
          500: body.includes('not initialized') ? /^server-error, backoff$/ : /^bad-request, final$/,
        }[status];
        expect(react(status, body, { path, missing: 'wait' }), request).toMatch(expected ?? /final$/);
      }
    },
  );
});

test('Retry-After is read as seconds or as an HTTP date, and ignored otherwise', () => {
  expect(parseRetryAfter('7', NOW)).toBe(7000);
  expect(parseRetryAfter('0', NOW)).toBe(0);
  expect(parseRetryAfter('Thu, 01 Jan 2026 00:00:30 GMT', NOW)).toBe(30_000);
  expect(parseRetryAfter('Wed, 31 Dec 2025 00:00:00 GMT', NOW)).toBe(0);
  expect(parseRetryAfter('-5', NOW)).toBeUndefined();
  expect(parseRetryAfter('soon', NOW)).toBeUndefined();
  expect(parseRetryAfter(undefined, NOW)).toBeUndefined();
});
