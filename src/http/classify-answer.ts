import type { Fault, Pause } from './retryable-failure.ts';
import { isApiError, looksLikeHtml, readServerText } from './server-text.ts';

/** The parts of a response that the reaction depends on. */
export interface Reply {
  readonly status: number;
  /** The header, or an empty string. */
  readonly contentType: string;
  readonly retryAfter: string | undefined;
  readonly location: string | undefined;
  /** Decompressed. */
  readonly body: Buffer;
}

/** The parts of the request that the reaction depends on. */
export interface Situation {
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

/** Maximum size of a body that is looked at for an error, although its status is that of a success. */
const LONGEST_ERROR = 4096;

/** Endpoints that return 422 for every failure, including database timeouts (api/README.md section 3). */
const PATHS_WITH_422_FOR_ALL: ReadonlySet<string> = new Set(['/accountStates', '/walletStates', '/dns/records']);
const PASSING_422 = /timeout|timed out|deadline|connection|cancel/i;
/** Client errors that the server returns as 500 (api/README.md section 3). */
const MISTAKES_AS_500 = /limit is not allowed|wrong value for sort|index parameter is not allowed/i;
const UNKNOWN_PATH_AS_500 = /Cannot (GET|POST|HEAD|PUT|DELETE)\b|Method Not Allowed/i;

/** A part of the API that is not configured; behind a gateway, another server may have it. */
const LEFT_OUT_AS_500 = /(is not|not been|not) (specified|configured|set up|enabled)/i;

/** What is wrong with a response, by all known statuses and bodies of the API and its gateways; undefined for a usable one. */
export function faultOf(reply: Reply, situation: Situation): Fault | undefined {
  const { status } = reply;
  const isSuccess = status >= 200 && status < 300;
  const describe = isSuccess ? describeSuccess : status === 404 ? describeMissing : describeFailure;
  const fault = describe(reply, situation);
  return fault && { ...fault, status, detail: readServerText(reply.body) };
}

/** The pause of a Retry-After header in milliseconds, from seconds or an HTTP date; undefined if invalid. */
export function parseRetryAfter(header: string | undefined, now: number): number | undefined {
  const text = header?.trim() ?? '';
  if (/^\d+(\.\d+)?$/.test(text)) return Number(text) * 1000;
  if (!/[a-z]/i.test(text)) return undefined;
  const at = Date.parse(text);
  return Number.isNaN(at) ? undefined : Math.max(0, at - now);
}

function describeSuccess(reply: Reply, situation: Situation): Fault | undefined {
  // Without any response so far, the address is probably wrong.
  const pause: Pause = { kind: situation.answered === false ? 'brief' : 'backoff' };
  if (looksLikeHtml(reply.body) || /html/i.test(reply.contentType)) {
    const what = `expected JSON, got HTML with status ${reply.status}`;
    return { code: 'not-json', what, hint: ADDRESS_HINT, pause };
  }
  if (isBlank(reply.body)) {
    const what = `expected JSON, got an empty body with status ${reply.status}`;
    return { code: 'not-json', what, hint: ADDRESS_HINT, pause };
  }
  if (reply.body.length <= LONGEST_ERROR && isApiError(reply.body)) {
    const what = `an error with status ${reply.status}`;
    return { code: 'server-error', what, hint: OUTAGE_HINT, pause: pauseOf(reply, situation) };
  }
  return undefined;
}

/** True for a body of whitespace only, which servers send if they fail to write the response. */
function isBlank(body: Buffer): boolean {
  return body.every((byte) => byte === 0x20 || byte === 0x0a || byte === 0x0d || byte === 0x09);
}

function describeMissing(reply: Reply, { missing }: Situation): Fault | undefined {
  if (!isApiError(reply.body)) return { code: 'not-found', what: '404', hint: ADDRESS_HINT };
  if (missing === 'answer') return undefined;
  if (missing === undefined) return { code: 'not-found', what: '404' };
  const hint = 'try again later, or raise --wait';
  return { code: 'not-indexed', what: 'still not indexed', hint, pause: { kind: 'poll' } };
}

function describeFailure(reply: Reply, situation: Situation): Fault {
  const { status } = reply;
  const what = String(status);
  switch (status) {
    case 401:
      return { code: 'unauthorized', what, hint: keyHint(situation.keyed) };
    case 403:
      return { code: 'forbidden', what, hint: keyHint(situation.keyed) };
    case 407:
      return { code: 'proxy', what: 'the proxy requires a password (407)', hint: 'check HTTPS_PROXY and HTTP_PROXY' };
    case 408:
    case 425:
      return { code: 'gateway-error', what, hint: OUTAGE_HINT, pause: pauseOf(reply, situation) };
    case 422:
      return describe422(reply, situation);
    case 429: {
      const hint = situation.keyed ? 'lower --rps' : 'lower --rps, or set an API key';
      return { code: 'rate-limited', what, hint, pause: pauseOf(reply, situation) };
    }
    case 500:
      return describe500(reply, situation);
    case 501:
      return { code: 'not-implemented', what };
    default:
      if (status >= 500) return { code: 'gateway-error', what, hint: OUTAGE_HINT, pause: pauseOf(reply, situation) };
      if (status >= 300 && status < 400) return describeRedirect(reply, situation);
      return { code: status === 409 ? 'conflict' : 'bad-request', what };
  }
}

function describe422(reply: Reply, situation: Situation): Fault {
  if (PATHS_WITH_422_FOR_ALL.has(situation.path) && PASSING_422.test(readServerText(reply.body))) {
    return { code: 'server-error', what: '422', hint: OUTAGE_HINT, pause: pauseOf(reply, situation) };
  }
  return { code: 'bad-request', what: '422' };
}

function describe500(reply: Reply, situation: Situation): Fault {
  const text = readServerText(reply.body);
  if (MISTAKES_AS_500.test(text)) return { code: 'bad-request', what: '500' };
  if (UNKNOWN_PATH_AS_500.test(text)) return { code: 'bad-request', what: '500', hint: ADDRESS_HINT };
  if (LEFT_OUT_AS_500.test(text)) {
    return { code: 'not-configured', what: '500', hint: LEFT_OUT_HINT, pause: { kind: 'brief' } };
  }
  return { code: 'server-error', what: '500', hint: OUTAGE_HINT, pause: pauseOf(reply, situation) };
}

/** Redirects are not followed: the key is for this source only. */
function describeRedirect(reply: Reply, { answered }: Situation): Fault {
  const to = URL.canParse(reply.location ?? '') ? new URL(reply.location ?? '') : undefined;
  const target = to === undefined ? '' : ` to ${to.origin}`;
  const what = `${reply.status}, a redirect${target}, is not followed`;
  // A gateway that answered before shows a page of its own for a while.
  const isPassing = answered !== false && TEMPORARY_REDIRECTS.has(reply.status);
  return { code: 'redirected', what, hint: ADDRESS_HINT, ...(isPassing ? { pause: { kind: 'backoff' } } : {}) };
}

function keyHint(keyed: boolean): string {
  return keyed
    ? 'the API key was rejected: check TONLAKE_API_KEY; each key is for one network'
    : 'set TONLAKE_API_KEY (or TONLAKE_API_KEY_FILE) to a key for this network';
}

function pauseOf(reply: Reply, situation: Situation): Pause {
  const ms = parseRetryAfter(reply.retryAfter, situation.now);
  return ms === undefined ? { kind: 'backoff' } : { kind: 'after', ms };
}
