import { readVersion } from '../core/own-package.ts';
import { ACCEPT_ENCODING, BodyFailure, decompress } from './body.ts';
import type { RawResponse } from './classify-response.ts';
import { openRoute, type Route, type RouteOptions } from './dispatcher.ts';
import { describeNetworkFailure, strip } from './network-failure.ts';
import { labelOf, type SourceRequest } from './request.ts';
import { type Fault, RetryableFailure } from './retryable-failure.ts';
import type { Secret } from './secret.ts';
import { quoteText } from './server-text.ts';
import { Overdue, requestWhole, type WholeResponse } from './whole-response.ts';

export interface ExchangeOptions extends RouteOptions {
  readonly key: Secret | undefined;
  readonly names: boolean;
}

/** Sends single requests to one address, and reads their bodies. */
export class Exchange {
  readonly #options: ExchangeOptions;
  readonly #route: Route;
  readonly #headers: Readonly<Record<string, string>>;
  #hasMadeUpHashes = false;
  /** True after the first response. */
  #isReached = false;

  /** @throws {UsageError} for an invalid proxy or certificate setting */
  constructor(options: ExchangeOptions) {
    this.#options = options;
    this.#route = openRoute(options);
    this.#headers = headersOf(options);
  }

  /** True if a response declared that the hashes of the network are not hashes of cells. */
  get hasMadeUpHashes(): boolean {
    return this.#hasMadeUpHashes;
  }

  /**
   * @param target path and query, as {@link formatTarget} gives them
   * @throws {RetryableFailure} without a complete response; the reason of an aborted signal
   */
  async send(request: SourceRequest, target: string, signal: AbortSignal): Promise<RawResponse> {
    const url = new URL(this.#options.baseUrl);
    try {
      const response = await requestWhole({
        dispatcher: this.#route.dispatcher,
        origin: url.origin,
        path: `${url.pathname.replace(/\/$/, '')}${target}`,
        method: request.method ?? 'GET',
        headers: request.body === undefined ? this.#headers : { ...this.#headers, 'content-type': 'application/json' },
        body: request.body ?? null,
        signal,
        timeoutMs: this.#options.timeoutMs,
      });
      return await this.#read(response);
    } catch (error) {
      signal.throwIfAborted();
      throw this.#explain(request, error);
    }
  }

  /** The error of a failed attempt; never contains the key. */
  failure(request: SourceRequest, fault: Fault, cause?: unknown): RetryableFailure {
    const redact = (text: string): string => this.#options.key?.redact(text) ?? text;
    const detail = fault.detail === undefined ? undefined : quoteText(fault.detail, redact);
    return new RetryableFailure(labelOf(request), { ...fault, detail }, { cause: strip(cause, redact) });
  }

  async close(): Promise<void> {
    await this.#route.dispatcher.destroy();
  }

  async #read({ status, headers, body: wire }: WholeResponse): Promise<RawResponse> {
    this.#isReached = true;
    if (one(headers['x-hashes']) === 'made-up') this.#hasMadeUpHashes = true;
    const body = await decompress(wire, one(headers['content-encoding']) ?? '', this.#options.maxBytes);
    return {
      status,
      contentType: one(headers['content-type']) ?? '',
      retryAfter: one(headers['retry-after']),
      location: one(headers['location']),
      body,
    };
  }

  #explain(request: SourceRequest, error: unknown): RetryableFailure {
    if (error instanceof Overdue) {
      return this.failure(request, {
        code: 'timeout',
        what: `no complete response within ${this.#options.timeoutMs / 1000} s`,
        hint: 'the source is slow; try again later, or lower --concurrency',
        pause: { kind: 'backoff' },
      });
    }
    if (error instanceof BodyFailure) return this.failure(request, error.fault, error.cause);
    const { origin } = new URL(this.#options.baseUrl);
    const target = { origin, proxy: this.#route.proxy, reached: this.#isReached };
    return this.failure(request, describeNetworkFailure(error, target), error);
  }
}

function headersOf({ key, names }: ExchangeOptions): Readonly<Record<string, string>> {
  return {
    accept: 'application/json',
    'accept-encoding': ACCEPT_ENCODING,
    'user-agent': `tonlake/${readVersion()}`,
    ...(names ? {} : { 'x-no-address-book': 'true', 'x-no-metadata': 'true' }),
    ...(key === undefined ? {} : { 'x-api-key': key.reveal() }),
  };
}

function one(header: string | string[] | undefined): string | undefined {
  return Array.isArray(header) ? header.join(', ') : header;
}
