import type { Fault } from './retryable-failure.ts';

/** The target of a request, for messages. */
export interface Target {
  /** Scheme, host and port of the source; no path, no key. */
  readonly origin: string;
  /** Host and port of the proxy; no password. */
  readonly proxy?: string | undefined;
  /** True if this source has responded before: then it gets time to recover. */
  readonly reached: boolean;
}

/** Codes for a certificate that is not trusted: those of X509_verify_cert that Node passes on, and those of Node and undici. */
export const CERTIFICATE_CODES: ReadonlySet<string> = new Set([
  ...['DEPTH_ZERO_SELF_SIGNED_CERT', 'SELF_SIGNED_CERT_IN_CHAIN', 'UNABLE_TO_GET_ISSUER_CERT'],
  ...['UNABLE_TO_GET_ISSUER_CERT_LOCALLY', 'UNABLE_TO_VERIFY_LEAF_SIGNATURE', 'CERT_HAS_EXPIRED'],
  ...['CERT_NOT_YET_VALID', 'CERT_UNTRUSTED', 'CERT_REJECTED', 'CERT_REVOKED', 'CERT_SIGNATURE_FAILURE'],
  ...['CERT_CHAIN_TOO_LONG', 'INVALID_CA', 'INVALID_PURPOSE', 'HOSTNAME_MISMATCH', 'ERR_TLS_CERT_ALTNAME_INVALID'],
  'UND_ERR_PRX_TLS',
]);

/** The fault of a request without a complete response. */
export function describeNetworkFailure(error: unknown, target: Target): Fault {
  const code = codeOf(error);
  const detail = code ?? messageOf(error);
  const at = target.proxy === undefined ? target.origin : `proxy ${target.proxy}`;
  const settings = target.proxy === undefined ? '--network' : 'HTTPS_PROXY, HTTP_PROXY and NO_PROXY';
  const pause = target.reached ? ({ kind: 'backoff' } as const) : ({ kind: 'brief' } as const);
  switch (code) {
    case 'ECONNREFUSED': {
      const hint = `check ${settings}, and that the server is running`;
      return { code: 'unreachable', what: `nothing is listening at ${at}`, detail, hint, pause };
    }
    case 'ENOTFOUND':
    case 'EAI_AGAIN':
      return {
        code: 'unreachable',
        what: `unknown host ${at}`,
        detail,
        hint: `check ${settings}, and your network connection`,
        pause,
      };
    case 'EHOSTUNREACH':
    case 'ENETUNREACH':
    case 'EADDRNOTAVAIL':
    case 'UND_ERR_CONNECT_TIMEOUT':
    case 'ETIMEDOUT': {
      const hint = `check ${settings}, and your network connection`;
      return { code: 'unreachable', what: `cannot reach ${at}`, detail, hint, pause };
    }
    case 'EPROTO':
    case 'ERR_SSL_WRONG_VERSION_NUMBER':
    case 'ERR_SSL_PACKET_LENGTH_TOO_LONG':
      return { code: 'tls', what: `${at} does not speak TLS`, detail, hint: 'is it an http:// address?' };
    case 'UND_ERR_RES_EXCEEDED_MAX_SIZE':
      return { code: 'too-large', what: 'the response is too large', detail };
    case 'UND_ERR_INVALID_ARG':
      return { code: 'bad-request', what: 'cannot send the request', detail: messageOf(error) };
  }
  if (code !== undefined && CERTIFICATE_CODES.has(code)) {
    const hint = 'set TONLAKE_CA_FILE or NODE_EXTRA_CA_CERTS to its certificate authority';
    return { code: 'certificate', what: `the certificate of ${at} is not trusted`, detail, hint };
  }
  const refusal = /Proxy response \((\d+)\)/.exec(messageOf(error))?.[1];
  if (refusal !== undefined) {
    const what = `${at} refused the connection to ${target.origin} with ${refusal}`;
    const passing = refusal.startsWith('5') || refusal === '429';
    return { code: 'proxy', what, hint: `check ${settings}`, ...(passing ? { pause } : {}) };
  }
  const hint = `try again later, or check the connection to ${at}`;
  return { code: 'connection', what: 'the connection was closed', detail, hint, pause: { kind: 'backoff' } };
}

/**
 * A copy of an error with only its message and code: errors of the HTTP client can contain sockets, headers and raw bytes, which
 * must not be logged.
 */
export function strip(error: unknown, redact: (text: string) => string): Error | undefined {
  if (!(error instanceof Error)) return undefined;
  const lean = new Error(redact(messageOf(error)), { cause: strip(error.cause, redact) });
  lean.name = error.name;
  lean.stack = `${lean.name}: ${lean.message}`;
  const code = codeOf(error);
  return code === undefined ? lean : Object.assign(lean, { code });
}

function codeOf(error: unknown): string | undefined {
  const code = error instanceof Error && 'code' in error ? error.code : undefined;
  if (typeof code === 'string' && code !== 'UND_ERR_SOCKET') return code;
  return error instanceof Error && error.cause !== undefined ? codeOf(error.cause) : undefined;
}

function messageOf(error: unknown): string {
  if (error instanceof AggregateError && error.message === '') return error.errors.map(messageOf).join(', ');
  return error instanceof Error ? error.message : String(error);
}
