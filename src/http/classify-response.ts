import type { Fault, Pause } from './retryable-failure.ts';
import { isApiError, looksLikeHtml, readServerText } from './server-text.ts';

/** The parts of a response that decide what to do next. */
export interface RawResponse {
  readonly status: number;
  /** The header, or an empty string. */
  readonly contentType: string;
  readonly retryAfter: string | undefined;
  readonly location: string | undefined;
  /** Decompressed. */
  readonly body: Buffer;
}

/** The parts of the request that decide what to do next. */
export interface RequestContext {
  readonly path: string;
  readonly missing: 'wait' | 'answer' | undefined;
  /** True if a key was sent. */
  readonly keyed: boolean;
  /** True if this source has given a usable response before. Default true. */
  readonly answered?: boolean;
  /** Wall clock, milliseconds since 1970, for a Retry-After that is a date. */
  readonly now: number;
}

const ADDRESS_HINT = 'is this the base URL of a TON Index v3 API? it ends in /api/v3';
const LEFT_OUT_HINT = 'this server does not offer this part of the API; use another server, or leave out the pipeline';
const OUTAGE_HINT = 'the source has problems; try again later, or lower --concurrency';

const TEMPORARY_REDIRECTS: ReadonlySet<number> = new Set([302, 303, 307]);

/** Maximum size of a body with a success status that is searched for an error. */
const MAX_ERROR = 4096;

/** Endpoints that return 422 for every failure, including database timeouts. */
const PATHS_WITH_422_FOR_ALL: ReadonlySet<string> = new Set(['/accountStates', '/walletStates', '/dns/records']);
const PASSING_422 = /timeout|timed out|deadline|connection|cancel/i;
/** Client errors that the server returns as 500. */
const MISTAKES_AS_500 = /limit is not allowed|wrong value for sort|index parameter is not allowed/i;
const UNKNOWN_PATH_AS_500 = /Cannot (GET|POST|HEAD|PUT|DELETE)\b|Method Not Allowed/i;

/** A part of the API that is not configured; behind a gateway, another server may have it. */
const LEFT_OUT_AS_500 = /(is not|not been|not) (specified|configured|set up|enabled)/i;

/** The fault of a response, by the known statuses and bodies of the API and its gateways; undefined if it is usable. */
export function faultOf(response: RawResponse, context: RequestContext): Fault | undefined {
  const { status } = response;
  const isSuccess = status >= 200 && status < 300;
  const describe = isSuccess ? describeSuccess : status === 404 ? describeMissing : describeFailure;
  const fault = describe(response, context);
  return fault && { ...fault, status, detail: readServerText(response.body) };
}

/** The pause of a Retry-After header in milliseconds, from seconds or an HTTP date; undefined if invalid. */
export function parseRetryAfter(header: string | undefined, now: number): number | undefined {
  const text = header?.trim() ?? '';
  if (/^\d+(\.\d+)?$/.test(text)) return Number(text) * 1000;
  if (!/[a-z]/i.test(text)) return undefined;
  const at = Date.parse(text);
  return Number.isNaN(at) ? undefined : Math.max(0, at - now);
}

function describeSuccess(response: RawResponse, context: RequestContext): Fault | undefined {
  // Without any response so far, the address is probably wrong.
  const pause: Pause = { kind: context.answered === false ? 'brief' : 'backoff' };
  if (looksLikeHtml(response.body) || /html/i.test(response.contentType)) {
    const what = `expected JSON, got HTML with status ${response.status}`;
    return { code: 'not-json', what, hint: ADDRESS_HINT, pause };
  }
  if (isBlank(response.body)) {
    const what = `expected JSON, got an empty body with status ${response.status}`;
    return { code: 'not-json', what, hint: ADDRESS_HINT, pause };
  }
  if (response.body.length <= MAX_ERROR && isApiError(response.body)) {
    const what = `an error with status ${response.status}`;
    return { code: 'server-error', what, hint: OUTAGE_HINT, pause: pauseOf(response, context) };
  }
  return undefined;
}

/** True for a body of whitespace only, which servers send if they fail to write the response. */
function isBlank(body: Buffer): boolean {
  return body.every((byte) => byte === 0x20 || byte === 0x0a || byte === 0x0d || byte === 0x09);
}

function describeMissing(response: RawResponse, { missing }: RequestContext): Fault | undefined {
  if (!isApiError(response.body)) return { code: 'not-found', what: '404', hint: ADDRESS_HINT };
  if (missing === 'answer') return undefined;
  if (missing === undefined) return { code: 'not-found', what: '404' };
  const hint = 'try again later, or raise --wait';
  return { code: 'not-indexed', what: 'still not indexed', hint, pause: { kind: 'poll' } };
}

function describeFailure(response: RawResponse, context: RequestContext): Fault {
  const { status } = response;
  const what = String(status);
  switch (status) {
    case 401:
      return { code: 'unauthorized', what, hint: keyHint(context.keyed) };
    case 403:
      return { code: 'forbidden', what, hint: keyHint(context.keyed) };
    case 407:
      return { code: 'proxy', what: 'the proxy requires a password (407)', hint: 'check HTTPS_PROXY and HTTP_PROXY' };
    case 408:
    case 425:
      return { code: 'gateway-error', what, hint: OUTAGE_HINT, pause: pauseOf(response, context) };
    case 422:
      return describe422(response, context);
    case 429: {
      const hint = context.keyed ? 'lower --rps' : 'lower --rps, or set an API key';
      return { code: 'rate-limited', what, hint, pause: pauseOf(response, context) };
    }
    case 500:
      return describe500(response, context);
    case 501:
      return { code: 'not-implemented', what };
    default:
      if (status >= 500) return { code: 'gateway-error', what, hint: OUTAGE_HINT, pause: pauseOf(response, context) };
      if (status >= 300 && status < 400) return describeRedirect(response, context);
      return { code: status === 409 ? 'conflict' : 'bad-request', what };
  }
}

function describe422(response: RawResponse, context: RequestContext): Fault {
  if (PATHS_WITH_422_FOR_ALL.has(context.path) && PASSING_422.test(readServerText(response.body))) {
    return { code: 'server-error', what: '422', hint: OUTAGE_HINT, pause: pauseOf(response, context) };
  }
  return { code: 'bad-request', what: '422' };
}

function describe500(response: RawResponse, context: RequestContext): Fault {
  const text = readServerText(response.body);
  if (MISTAKES_AS_500.test(text)) return { code: 'bad-request', what: '500' };
  if (UNKNOWN_PATH_AS_500.test(text)) return { code: 'bad-request', what: '500', hint: ADDRESS_HINT };
  if (LEFT_OUT_AS_500.test(text)) {
    return { code: 'not-configured', what: '500', hint: LEFT_OUT_HINT, pause: { kind: 'brief' } };
  }
  return { code: 'server-error', what: '500', hint: OUTAGE_HINT, pause: pauseOf(response, context) };
}

/** Redirects are not followed: the key is for this source only. */
function describeRedirect(response: RawResponse, { answered }: RequestContext): Fault {
  const to = URL.canParse(response.location ?? '') ? new URL(response.location ?? '') : undefined;
  const target = to === undefined ? '' : ` to ${to.origin}`;
  const what = `${response.status}, a redirect${target}, is not followed`;
  // A gateway that answered before shows a page of its own for a while.
  const isPassing = answered !== false && TEMPORARY_REDIRECTS.has(response.status);
  return { code: 'redirected', what, hint: ADDRESS_HINT, ...(isPassing ? { pause: { kind: 'backoff' } } : {}) };
}

function keyHint(keyed: boolean): string {
  return keyed
    ? 'the API key was rejected: check TONLAKE_API_KEY; each key is for one network'
    : 'set TONLAKE_API_KEY (or TONLAKE_API_KEY_FILE) to a key for this network';
}

function pauseOf(response: RawResponse, context: RequestContext): Pause {
  const ms = parseRetryAfter(response.retryAfter, context.now);
  return ms === undefined ? { kind: 'backoff' } : { kind: 'after', ms };
}
