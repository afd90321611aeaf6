import { oneLine, StoreAccessError, StoreError } from '../core/errors.ts';

interface Cause {
  readonly code: string;
  /** Name of the service's error, or the code of a system error. */
  readonly pattern: RegExp;
  readonly text: string;
  readonly hint: string;
  readonly retryable?: boolean;
}

const ENDPOINT = 'check --s3-endpoint (AWS_ENDPOINT_URL_S3) and the network';

/** The SDK's message about a response that is not S3's. */
const NOT_S3 = /@aws-sdk XML parse error|Deserialization error: to see the raw response/;

const causes: readonly Cause[] = [
  {
    code: 'no-bucket',
    pattern: /^NoSuchBucket$/,
    text: 'there is no such bucket',
    hint: 'create it, or check its name and --s3-endpoint',
  },
  {
    code: 'no-credentials',
    pattern: /^CredentialsProviderError$/,
    text: 'no credentials found',
    hint: 'set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or AWS_PROFILE',
  },
  {
    code: 'expired-credentials',
    pattern: /^(ExpiredToken|ExpiredTokenException|TokenRefreshRequired|RequestExpired)$/,
    text: 'the credentials have expired',
    hint: 'renew them, then run the same command again; committed data is safe',
  },
  {
    code: 'bad-credentials',
    pattern:
      /^(InvalidAccessKeyId|XAdminUserNotFound|SignatureDoesNotMatch|InvalidToken|AuthorizationHeaderMalformed|UnrecognizedClientException)$/,
    text: 'the store does not accept these credentials',
    hint: 'check the access key, its secret, and AWS_REGION',
  },
  {
    code: 'clock-skew',
    pattern: /^RequestTimeTooSkewed$/,
    text: "the clock of this machine differs too much from the store's",
    hint: 'set the clock of this machine',
  },
  {
    code: 'bucket-full',
    pattern: /^(XMinioStorageFull|QuotaExceeded\w*|StorageQuotaExceeded|InsufficientStorage|507)$/,
    text: 'the bucket is full',
    hint: 'make room in it, or raise its quota, then run the same command again; committed data is safe',
  },
  {
    code: 'denied',
    pattern: /^(AccessDenied|AllAccessDisabled|AccountProblem|Forbidden|403)$/,
    text: 'the store refuses access',
    hint: 'these credentials need the right to list, get, put and delete objects there',
  },
  {
    code: 'unsupported',
    pattern: /^(NotImplemented|InvalidArgument|501)$/,
    text: 'the store does not know this kind of request',
    hint: 'check that the endpoint speaks S3 (AWS_ENDPOINT_URL_S3)',
  },
  {
    code: 'wrong-region',
    pattern: /^(PermanentRedirect|TemporaryRedirect|IllegalLocationConstraintException|301|307)$/,
    text: 'the bucket is in another region',
    hint: 'set AWS_REGION to the region of the bucket',
  },
  {
    code: 'unreachable',
    pattern: /^(ECONNREFUSED|ENOTFOUND|EAI_AGAIN|EHOSTUNREACH|ENETUNREACH|CERT_\w+|SELF_SIGNED_\w+|DEPTH_ZERO_\w+)$/,
    text: 'the store cannot be reached',
    hint: ENDPOINT,
    retryable: true,
  },
  {
    code: 'unreachable',
    pattern: /^(EPROTO|ERR_SSL_\w+|ERR_TLS_\w+)$/,
    text: 'the store does not speak TLS',
    hint: 'an address of a store without TLS begins with http://: check --s3-endpoint (AWS_ENDPOINT_URL_S3)',
  },
  {
    code: 'store-busy',
    pattern:
      /^(SlowDown|ServiceUnavailable|Throttling\w*|TooManyRequests\w*|RequestLimitExceeded|InternalError|50[0234]|429|500)$/,
    text: 'the store is overloaded',
    hint: 'run the same command again later; committed data is safe',
    retryable: true,
  },
  {
    code: 'connection-lost',
    pattern:
      /^(TimeoutError|ECONNRESET|EPIPE|ETIMEDOUT|ECONNABORTED|ERR_STREAM_PREMATURE_CLOSE|IncompleteBody|RequestTimeout)$/,
    text: 'the connection to the store was lost',
    hint: `run the same command again, committed data is safe; if this store has never answered, ${ENDPOINT}`,
    retryable: true,
  },
  {
    code: 'not-s3',
    pattern: /^NotS3$/,
    text: 'this is not the address of an S3 store',
    hint: ENDPOINT,
  },
];

/** A failure that is not retried: the store has never responded. */
export class NoResponseError extends Error {
  readonly failure: unknown;

  constructor(failure: unknown) {
    super('no answer');
    // Not `cause`: the SDK looks there for retryable errors.
    this.failure = failure;
  }
}

/** The HTTP status of a failed request; undefined without a response. */
export function statusOf(error: unknown): number | undefined {
  return (error as { $metadata?: { httpStatusCode?: number } } | undefined)?.$metadata?.httpStatusCode;
}

/**
 * A StoreAccessError about a location, unless the error is a StoreError already. The errors of the SDK hold requests with their signatures,
 * so only their text is taken over.
 */
export function objectFailure(error: unknown, subject: string): StoreError {
  if (error instanceof StoreError) return error;
  if (error instanceof NoResponseError) return objectFailure(error.failure, subject);
  const { name = '', code = '', message = '' } = error as { name?: string; code?: unknown; message?: string };
  const status = String(statusOf(error) ?? 'no answer');
  const isForeign = NOT_S3.test(message);
  const words = [String(code), name, status, isForeign ? 'NotS3' : ''];
  const cause = causes.find(({ pattern }) => words.some((word) => pattern.test(word)));
  const reported = oneLine([name === 'Error' ? '' : name, message].filter((part) => part !== '').join(': ')).slice(
    0,
    300,
  );
  const detail = isForeign ? `${status} with a body that is not S3's` : reported === '' ? status : reported;
  if (cause === undefined) {
    return new StoreAccessError(`store: ${subject}: ${detail}`, { code: 'failed', cause: new Error(detail) });
  }
  return new StoreAccessError(`store: ${subject}: ${cause.text} (${detail})`, {
    code: cause.code,
    hint: cause.hint,
    retryable: cause.retryable ?? false,
    cause: new Error(detail),
  });
}
