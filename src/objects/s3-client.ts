import { createRequire } from 'node:module';
import type * as aws from '@aws-sdk/client-s3';
import { notInstalled } from '../core/not-installed.ts';
import { omitUndefined } from '../core/omit-undefined.ts';
import { NoResponseError, statusOf } from './s3-failure.ts';
import { formatLocation, type S3Location } from './s3-location.ts';

type Sdk = typeof aws;

const load = createRequire(import.meta.url);
let loaded: Sdk | undefined;

/** The SDK, loaded when the first path begins with `s3://`: that takes 150 ms. @throws {UsageError} */
export function s3Sdk(): Sdk {
  // Otherwise it warns on standard error, at every start, that later versions need Node 22.
  process.env['AWS_SDK_JS_NODE_VERSION_SUPPORT_WARNING_DISABLED'] ??= 'true';
  try {
    loaded ??= load('@aws-sdk/client-s3') as Sdk;
  } catch (error) {
    throw notInstalled(error, '@aws-sdk/client-s3', 'object stores');
  }
  return loaded;
}

/** Attempts per request to a store that has responded before; pauses grow to 20 s. */
const ATTEMPTS = 8;
/** Maximum time without any byte of a response, in milliseconds. */
const SILENCE_MS = 60_000;
const CONNECT_MS = 10_000;
/** Time to retry requests to a server that has never responded, in milliseconds. */
const PATIENCE_MS = 5000;

let last: { readonly settings: string; readonly client: aws.S3Client } | undefined;

/**
 * The client of this process, for the endpoint, region and credentials that the environment names now. One is enough: its connections are
 * shared.
 */
export function s3Client(): aws.S3Client {
  const { endpoint, region, isPathStyle } = s3Settings();
  const settings = JSON.stringify(Object.entries(process.env).filter(([name]) => name.startsWith('AWS_')));
  if (last?.settings === settings) return last.client;
  const { S3Client } = s3Sdk();
  const client = new S3Client({
    ...omitUndefined({ endpoint, region }),
    forcePathStyle: isPathStyle,
    followRegionRedirects: true,
    maxAttempts: ATTEMPTS,
    // Servers other than Amazon's refuse or ignore the newer checksums. Puts carry an MD5 instead.
    requestChecksumCalculation: 'WHEN_REQUIRED',
    responseChecksumValidation: 'WHEN_REQUIRED',
    requestHandler: { connectionTimeout: CONNECT_MS, requestTimeout: SILENCE_MS, throwOnRequestTimeout: true },
  });
  countRequests(client);
  giveUpSilent(client);
  last = { settings, client };
  return client;
}

let sent = { requests: 0, bytes: 0 };

/**
 * Requests of this process since the last call, including failed attempts, and bytes of response bodies with a known length.
 */
export function takeS3Traffic(): typeof sent {
  const taken = sent;
  sent = { requests: 0, bytes: 0 };
  return taken;
}

function countRequests({ middlewareStack }: aws.S3Client): void {
  // This step runs for each attempt.
  middlewareStack.add(
    (next) => async (args) => {
      sent.requests++;
      const output = await next(args);
      const { method } = args.request as { readonly method?: string };
      const { headers } = output.response as { readonly headers?: Readonly<Record<string, string>> };
      // A response to HEAD has the length of a body that is not sent.
      if (method !== 'HEAD') sent.bytes += Number(headers?.['content-length'] ?? 0);
      return output;
    },
    { step: 'deserialize', priority: 'low' },
  );
}

/** Tracks whether a server has ever responded. */
export class FirstResponse {
  readonly #now: () => number;
  #startedAt: number | undefined;
  #hasResponded = false;

  /** @param now a monotonic clock, in milliseconds */
  constructor(now: () => number) {
    this.#now = now;
  }

  /** Call when a request is sent. */
  begin(): void {
    this.#startedAt ??= this.#now();
  }

  /** Call for any response. */
  received(): void {
    this.#hasResponded = true;
  }

  get isOverdue(): boolean {
    return !this.#hasResponded && this.#startedAt !== undefined && this.#now() - this.#startedAt >= PATIENCE_MS;
  }
}

/** Stops retries if the store has never responded: its address is probably wrong. */
function giveUpSilent({ middlewareStack }: aws.S3Client): void {
  const first = new FirstResponse(() => performance.now());
  middlewareStack.add(
    (next) => async (args) => {
      first.begin();
      try {
        const output = await next(args);
        first.received();
        return output;
      } catch (error) {
        if (statusOf(error) !== undefined) first.received();
        throw first.isOverdue ? new NoResponseError(error) : error;
      }
    },
    { step: 'deserialize', priority: 'high' },
  );
}

interface S3Settings {
  /** Undefined for Amazon's own. */
  readonly endpoint: string | undefined;
  /** Undefined if the profile may name it. */
  readonly region: string | undefined;
  /** True for `endpoint/bucket/key`, false for `bucket.endpoint/key`. */
  readonly isPathStyle: boolean;
}

/** Endpoint, region and style of paths, by the variables that other tools use. */
function s3Settings(): S3Settings {
  const { env } = process;
  const endpoint = env['AWS_ENDPOINT_URL_S3'] || env['AWS_ENDPOINT_URL'] || undefined;
  const region = env['AWS_REGION'] || env['AWS_DEFAULT_REGION'] || undefined;
  const style = env['AWS_VIRTUAL_HOSTED_STYLE_REQUEST'];
  return {
    endpoint,
    // Self-hosted servers have no regions, but signatures contain one.
    region: region ?? (endpoint === undefined || env['AWS_PROFILE'] ? undefined : 'us-east-1'),
    isPathStyle: style === undefined || style === '' ? endpoint !== undefined : style !== 'true' && style !== '1',
  };
}

/** What DuckDB needs to read a location. It holds a key: never print it. */
export interface S3Access {
  /** Prefix of the addresses that it applies to: `s3://bucket/prefix/`. */
  readonly scope: string;
  readonly keyId: string;
  readonly secret: string;
  /** Of temporary credentials. */
  readonly token: string | undefined;
  readonly region: string;
  /** Host and port; undefined for Amazon's own. */
  readonly host: string | undefined;
  readonly isSecure: boolean;
  readonly isPathStyle: boolean;
  /** Milliseconds since 1970; undefined if the credentials do not expire. */
  readonly expiresAt: number | undefined;
}

/** The credentials of the usual chain, for a location. */
export async function s3Access(location: S3Location): Promise<S3Access> {
  const { config } = s3Client();
  const { endpoint, isPathStyle } = s3Settings();
  const { accessKeyId, secretAccessKey, sessionToken, expiration } = await config.credentials();
  const url = endpoint === undefined ? undefined : new URL(endpoint);
  return {
    scope: `${formatLocation(location)}/`,
    keyId: accessKeyId,
    secret: secretAccessKey,
    token: sessionToken,
    isPathStyle,
    region: await config.region(),
    host: url?.host,
    isSecure: url?.protocol !== 'http:',
    expiresAt: expiration?.getTime(),
  };
}
