import PQueue from 'p-queue';
import { addCounts, type Counts } from '../core/counts.ts';
import type { Effects } from '../core/effects.ts';
import type { Environment } from '../core/environment.ts';
import { SourceError, TonlakeError, usage } from '../core/errors.ts';
import { openSourceLimiter, type Permit, type RateLimiter } from '../rate-limit/limiter.ts';
import type { Priority } from '../rate-limit/priority.ts';
import type { RedisAddress } from '../redis/redis-address.ts';
import { faultOf, parseRetryAfter, type RawResponse } from './classify-response.ts';
import { Exchange } from './exchange.ts';
import { type LinkedSignal, linkSignals } from './linked-signal.ts';
import type { Network } from './network.ts';
import { formatTarget, labelOf, nameRequest, type SourceRequest, type SourceResponse } from './request.ts';
import { MAX_PAUSE_MS, retry } from './retry.ts';
import { RetryableFailure } from './retryable-failure.ts';
import { type Secret, scrubError } from './secret.ts';

/** Codes of errors for JSON of another shape, and attempts until such an error is passed on: the address is probably wrong. */
const OTHER_SHAPE: ReadonlySet<string> = new Set(['wrong-shape', 'not-headers']);
const SHAPE_ATTEMPTS = 3;

/** A failed attempt that will be retried; never contains the key. */
export interface RetryEvent {
  readonly label: string;
  readonly request: string;
  /** Attempts made so far. */
  readonly attempt: number;
  readonly sleepMs: number;
  /** Code of the error, for example `rate-limited`. */
  readonly code: string;
  readonly message: string;
}

export interface SourceOptions {
  readonly network: Network;
  /** Default: that of the network; required for the sandbox. */
  readonly baseUrl?: string | undefined;
  /** Sent in the X-Api-Key header; never to the sandbox. */
  readonly apiKey?: Secret | undefined;
  /** Maximum requests per second; `auto` finds the limit, Infinity for none. Default: that of the network, with or without key. */
  readonly rps?: number | 'auto' | undefined;
  /** Shares the rate limit of the network with other processes of this machine, with this priority. Default: not shared. */
  readonly priority?: Priority | undefined;
  /** Redis server through which all machines share the rate limit. Default: it is shared on this machine only. */
  readonly budgetAddress?: RedisAddress | undefined;
  /** Shown by `status --budget`. Default `tonlake`. */
  readonly command?: string | undefined;
  /** Maximum concurrent requests. Default 8. */
  readonly concurrency?: number | undefined;
  /** How long to wait for a block that is not indexed. Default 60 s. */
  readonly waitMs?: number | undefined;
  /** Attempts per request. Default 8. */
  readonly attempts?: number | undefined;
  /** Timeout of one attempt, up to the last byte. Default 30 s. */
  readonly timeoutMs?: number | undefined;
  /** Maximum size of a body, compressed and decompressed. Default 512 MiB. */
  readonly maxBytes?: number | undefined;
  /** False asks the server to leave `address_book` and `metadata` empty, which saves work. Default true. */
  readonly names?: boolean | undefined;
  readonly effects: Effects;
  /** Ends all requests of this source. */
  readonly signal?: AbortSignal | undefined;
  /** Environment with the proxy variables and TONLAKE_CA_FILE. Default `process.env`. */
  readonly env?: Environment | undefined;
  readonly onRetry?: ((event: RetryEvent) => void) | undefined;
  /** Initial counts, of the source that this one replaces. */
  readonly before?: SourceCounts | undefined;
}

export interface SourceCounts {
  /** Attempts, including retries. */
  readonly requests: number;
  /** Attempts after the first of each request. */
  readonly retries: number;
  /** Attempts that have ended: `answered`, or the code of the error. */
  readonly byOutcome: Counts;
}

export interface FetchOptions {
  readonly signal?: AbortSignal | undefined;
  /** When aborted, there are no more attempts: the error of the one in flight is thrown. */
  readonly ending?: AbortSignal | undefined;
  /** Default: that of the source. */
  readonly attempts?: number | undefined;
}

/** Adds counts of requests. */
export function addRequests(a: SourceCounts, { requests = 0, retries = 0, byOutcome = {} }: Partial<SourceCounts>) {
  return {
    requests: a.requests + requests,
    retries: a.retries + retries,
    byOutcome: addCounts(a.byOutcome, byOutcome),
  };
}

/** A TON Index v3 API, with rate limit and retries. */
export class Source {
  readonly #options: SourceOptions;
  readonly #key: Secret | undefined;
  readonly #attempts: number;
  readonly #waitMs: number;
  readonly #exchange: Exchange;
  readonly #limiter: RateLimiter;
  readonly #queue: PQueue;
  /** Ends with the source, or with the signal that it was opened with. */
  readonly #life: LinkedSignal;
  #counts: SourceCounts;
  #hasAnswered = false;

  /** Sends no request yet. @throws {UsageError} for an option out of range, or an invalid proxy or certificate setting */
  constructor(options: SourceOptions) {
    const { network, effects, rps, priority, budgetAddress, command, env = process.env } = options;
    const baseUrl = options.baseUrl ?? network.baseUrl;
    if (baseUrl === undefined) throw usage(`a base URL for ${network.name}`);
    const concurrency = wholeNumber('concurrency', options.concurrency ?? 8);
    const key = network.kind === 'sandbox' ? undefined : options.apiKey;
    this.#options = options;
    this.#key = key;
    this.#attempts = wholeNumber('attempts', options.attempts ?? 8);
    this.#waitMs = atLeast('wait', options.waitMs ?? 60_000, 0);
    this.#exchange = new Exchange({
      baseUrl,
      concurrency,
      key,
      names: options.names ?? true,
      timeoutMs: atLeast('timeout', options.timeoutMs ?? 30_000, 1),
      maxBytes: options.maxBytes ?? 512 * 1024 * 1024,
      env: network.kind === 'sandbox' ? {} : env,
    });
    this.#limiter = openSourceLimiter({ network, baseUrl, key, rps, priority, budgetAddress, command, env, effects });
    this.#queue = new PQueue({ concurrency });
    this.#life = linkSignals([options.signal]);
    this.#counts = options.before ?? { requests: 0, retries: 0, byOutcome: {} };
  }

  /** Current maximum of requests per second; undefined for no limit. */
  get rps(): number | undefined {
    return this.#limiter.rps === Number.POSITIVE_INFINITY ? undefined : this.#limiter.rps;
  }

  /** True if a local server, the only one that is believed, said that its hashes are not those of cells. */
  get hasMadeUpHashes(): boolean {
    return this.#options.network.isLocal && this.#exchange.hasMadeUpHashes;
  }

  /** Requests so far. */
  get counts(): SourceCounts {
    return this.#counts;
  }

  /**
   * Sends a request, with retries. `accept` runs inside the retry loop, so its retryable errors (a body that is not JSON, an
   * incomplete list) are retried, too.
   *
   * @throws {SourceError} without a usable response. Errors of `accept` and reasons of signals are passed on.
   */
  async fetch<T>(
    request: SourceRequest,
    accept: (response: SourceResponse) => T | Promise<T>,
    { signal, ending, attempts = this.#attempts }: FetchOptions = {},
  ): Promise<T> {
    const { effects, onRetry } = this.#options;
    const target = formatTarget(request);
    const link = signal === undefined ? undefined : linkSignals([this.#life.signal, signal]);
    const end = link?.signal ?? this.#life.signal;
    try {
      const attempt = async (tried: number): Promise<T> => {
        const response = await this.#send(request, target, tried, end);
        return acceptShape(request, () => accept(response), tried < Math.min(attempts, SHAPE_ATTEMPTS));
      };
      return await retry(attempt, {
        attempts,
        effects,
        waitMs: this.#waitMs,
        signal: end,
        ending,
        onRetry: ({ attempt, sleepMs, error }) => {
          const message = this.#key?.redact(error.message) ?? error.message;
          const text = nameRequest(request, target);
          onRetry?.({ label: labelOf(request), request: text, attempt, sleepMs, code: error.code, message });
        },
      });
    } catch (error) {
      if (this.#key !== undefined) scrubError(error, this.#key);
      throw error;
    } finally {
      link?.release();
    }
  }

  /** Aborts pending requests and closes all connections. */
  async close(): Promise<void> {
    this.#life.abort(new SourceError('source: closed'));
    this.#life.release();
    await this.#limiter.close();
    await this.#exchange.close();
  }

  /** Waits for a slot and a permit, then makes one attempt. */
  async #send(request: SourceRequest, target: string, tried: number, signal: AbortSignal): Promise<SourceResponse> {
    return this.#queue.add(
      async () => {
        const permit = await this.#limiter.take(signal);
        this.#count({ requests: 1, retries: tried > 1 ? 1 : 0 });
        const response = await this.#attempt(request, target, permit, signal);
        const body = this.#key?.redactBody(response.body) ?? response.body;
        return { status: response.status, body, request: nameRequest(request, target) };
      },
      { signal, priority: tried },
    );
  }

  /** Makes one attempt, checks its response, and counts the outcome. */
  async #attempt(request: SourceRequest, target: string, permit: Permit, signal: AbortSignal) {
    let outcome = 'aborted';
    try {
      const response = await this.#exchange.send(request, target, signal);
      this.#check(request, permit, response);
      outcome = 'answered';
      return response;
    } catch (error) {
      if (error instanceof TonlakeError) outcome = error.code;
      throw error;
    } finally {
      this.#count({ byOutcome: { [outcome]: 1 } });
    }
  }

  #count(more: Partial<SourceCounts>): void {
    this.#counts = addRequests(this.#counts, more);
  }

  /** @throws {RetryableFailure} for a response that is not usable */
  #check(request: SourceRequest, permit: Permit, response: RawResponse): void {
    const now = this.#options.effects.now();
    if (response.status === 429) {
      const holdMs = parseRetryAfter(response.retryAfter, now);
      this.#limiter.slow(permit, holdMs === undefined ? undefined : Math.min(holdMs, MAX_PAUSE_MS));
    }
    const { path, missing } = request;
    const fault = faultOf(response, {
      path,
      missing,
      now,
      keyed: this.#key !== undefined,
      answered: this.#hasAnswered,
    });
    if (fault !== undefined) throw this.#exchange.failure(request, fault);
    this.#hasAnswered = true;
  }
}

/** Makes the failure for a response of another shape retryable: one of several servers may have sent it. */
async function acceptShape<T>(request: SourceRequest, accept: () => T | Promise<T>, isRetried: boolean): Promise<T> {
  try {
    return await accept();
  } catch (cause) {
    if (!isRetried || !(cause instanceof TonlakeError) || !OTHER_SHAPE.has(cause.code)) throw cause;
    const what = 'the answer has another shape';
    throw new RetryableFailure(labelOf(request), { code: cause.code, what, pause: { kind: 'brief' } }, { cause });
  }
}

function wholeNumber(name: string, value: number): number {
  if (Number.isInteger(value)) return atLeast(name, value, 1);
  throw usage(`${name} that is a whole number`, value);
}

function atLeast(name: string, value: number, least: number): number {
  if (value >= least) return value;
  throw usage(`${name} of at least ${least}`, value);
}
