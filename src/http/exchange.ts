import { createRequire } from 'node:module';
import type { Dispatcher } from 'undici';
import { SourceError } from '../core/errors.ts';
import { ACCEPT_ENCODING, BodyFailure, decompress } from './body.ts';
import type { Reply } from './classify-answer.ts';
import { type Environment, openRoute, type Route } from './dispatcher.ts';
import { linkSignals } from './linked-signal.ts';
import { describeNetworkFailure, strip } from './network-failure.ts';
import { describeRequest, formatTarget, type SourceRequest } from './request.ts';
import { type Fault, RetryableFailure } from './retryable-failure.ts';
import type { Secret } from './secret.ts';
import { quoteText } from './server-text.ts';

const CONNECT_TIMEOUT_MS = 10_000;

export interface ExchangeOptions {
  readonly baseUrl: string;
  /** Connections at most. */
  readonly concurrency: number;
  readonly key: Secret | undefined;
  readonly noAddressBook: boolean | undefined;
  readonly noMetadata: boolean | undefined;
  /** From the request to the last byte. */
  readonly timeoutMs: number;
  /** Largest body, on the wire and decompressed. */
  readonly maxBytes: number;
  readonly caFile: string | undefined;
  readonly env: Environment;
}

/** Sends single requests to one address, and reads their bodies. */
export class Exchange {
  readonly #options: ExchangeOptions;
  readonly #route: Route;
  readonly #headers: Readonly<Record<string, string>>;
  #bytes = 0;
  /** Whether anything ever came from there. */
  #isReached = false;

  /** @throws {UsageError} when a proxy or certificate setting is unusable */
  constructor(options: ExchangeOptions) {
    const { baseUrl, concurrency, timeoutMs, maxBytes, caFile, env } = options;
    const connectTimeoutMs = Math.min(CONNECT_TIMEOUT_MS, timeoutMs);
    this.#options = options;
    this.#route = openRoute({ baseUrl, connections: concurrency, connectTimeoutMs, maxBytes, caFile, env });
    this.#headers = { ...headersOf(options), ...this.#route.headers };
  }

  /** Bytes of bodies so far, over the wire. */
  get bytes(): number {
    return this.#bytes;
  }

  /** @throws {RetryableFailure} when no whole answer comes; the signal's reason when that is aborted */
  async send(
    request: SourceRequest,
    signal: AbortSignal,
  ): Promise<{ readonly reply: Reply; readonly wireBytes: number }> {
    const limit = linkSignals([signal]);
    const overdue = new SourceError('overdue', { code: 'timeout' });
    const timer = setTimeout(() => limit.abort(overdue), this.#options.timeoutMs);
    try {
      const response = await this.#route.dispatcher.request({
        origin: this.#route.origin,
        path: `${this.#route.prefix}${formatTarget(request)}`,
        method: request.method ?? 'GET',
        headers: request.body === undefined ? this.#headers : { ...this.#headers, 'content-type': 'application/json' },
        body: request.body ?? null,
        signal: limit.signal,
      });
      return await this.#read(response);
    } catch (error) {
      signal.throwIfAborted();
      throw this.#explain(request, error, limit.signal.aborted);
    } finally {
      clearTimeout(timer);
      limit.release();
    }
  }

  /** What the retry loop and people are told of a failed attempt; no text in it holds the key. */
  failure(request: SourceRequest, fault: Fault, cause?: unknown): RetryableFailure {
    const redact = (text: string): string => this.#options.key?.redact(text) ?? text;
    const detail = fault.detail === undefined ? undefined : quoteText(fault.detail, redact);
    const { label } = describeRequest(request);
    return new RetryableFailure(label, { ...fault, detail }, { cause: strip(cause, redact) });
  }

  async close(): Promise<void> {
    await this.#route.dispatcher.destroy();
  }

  async #read(response: Dispatcher.ResponseData): Promise<{ readonly reply: Reply; readonly wireBytes: number }> {
    const wire = Buffer.from(await response.body.arrayBuffer());
    this.#isReached = true;
    this.#bytes += wire.length;
    const body = await decompress(wire, one(response.headers['content-encoding']) ?? '', this.#options.maxBytes);
    const reply: Reply = {
      status: response.statusCode,
      contentType: one(response.headers['content-type']) ?? '',
      retryAfter: one(response.headers['retry-after']),
      location: one(response.headers['location']),
      body,
    };
    return { reply, wireBytes: wire.length };
  }

  #explain(request: SourceRequest, error: unknown, isOverdue: boolean): RetryableFailure {
    if (isOverdue) {
      return this.failure(request, {
        code: 'timeout',
        what: `no complete response within ${this.#options.timeoutMs / 1000} s`,
        hint: 'try again later, or raise --timeout',
        pause: { kind: 'backoff' },
      });
    }
    if (error instanceof BodyFailure) return this.failure(request, error.fault, error.cause);
    const { origin } = new URL(this.#options.baseUrl);
    const target = { origin, proxy: this.#route.proxy, reached: this.#isReached };
    return this.failure(request, describeNetworkFailure(error, target), error);
  }
}

function headersOf({ key, noAddressBook, noMetadata }: ExchangeOptions): Readonly<Record<string, string>> {
  return {
    accept: 'application/json',
    'accept-encoding': ACCEPT_ENCODING,
    'user-agent': userAgent(),
    ...(noAddressBook === true ? { 'x-no-address-book': 'true' } : {}),
    ...(noMetadata === true ? { 'x-no-metadata': 'true' } : {}),
    ...(key === undefined ? {} : { 'x-api-key': key.reveal() }),
  };
}

function one(header: string | string[] | undefined): string | undefined {
  return Array.isArray(header) ? header.join(', ') : header;
}

function userAgent(): string {
  const own: unknown = createRequire(import.meta.url)('tonlake/package.json');
  const version = typeof own === 'object' && own !== null && 'version' in own ? String(own.version) : '0';
  return `tonlake/${version}`;
}
