import { setMaxListeners } from 'node:events';
import PQueue from 'p-queue';
import type { Effects } from '../core/effects.ts';
import { SourceError, UsageError } from '../core/errors.ts';
import type { RateLimiter } from '../rate-limit/limiter.ts';
import type { Permit } from '../rate-limit/permit.ts';
import type { Priority } from '../rate-limit/priority.ts';
import { openSourceLimiter } from '../rate-limit/source-limiter.ts';
import { parseRetryAfter, type Reply, reactTo } from './classify-answer.ts';
import type { Environment } from './dispatcher.ts';
import { Exchange } from './exchange.ts';
import { type LinkedSignal, linkSignals } from './linked-signal.ts';
import type { Network } from './network.ts';
import { type Answer, formatTarget, labelOf, nameRequest, type SourceRequest } from './request.ts';
import { MAX_PAUSE_MS, retry } from './retry.ts';
import { type Secret, scrubError } from './secret.ts';

/** One attempt that will be repeated; nothing in it holds the key. */
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
  /** Default: that of the network; needed for the sandbox. */
  readonly baseUrl?: string | undefined;
  /** Sent in the X-Api-Key header; never to the sandbox. */
  readonly apiKey?: Secret | undefined;
  /** Cap on requests per second; `auto` finds the limit, Infinity for none. Default: the network's, by whether there is a key. */
  readonly rps?: number | 'auto' | undefined;
  /** Shares the rate limit of the network with other processes of this machine, with this priority. Default: not shared. */
  readonly priority?: Priority | undefined;
  /** What tonlake is doing, for `status --budget`. Default `tonlake`. */
  readonly command?: string | undefined;
  /** Default: one of its own. Sources of the same network should share one. */
  readonly budget?: RateLimiter | undefined;
  /** Requests under way at once, default 8. */
  readonly concurrency?: number | undefined;
  /** How long a block that is not indexed is waited for, default 60 s. */
  readonly waitMs?: number | undefined;
  /** How many times a failing request is sent, default 8. */
  readonly attempts?: number | undefined;
  /** Limit for one exchange, from the request to the last byte, default 30 s. */
  readonly timeoutMs?: number | undefined;
  /** Largest body, on the wire and decompressed, default 512 MiB. */
  readonly maxBytes?: number | undefined;
  /** Leaves `address_book` empty and saves the server work. Default false. */
  readonly noAddressBook?: boolean | undefined;
  /** Leaves `metadata` empty and saves the server work. Default false. */
  readonly noMetadata?: boolean | undefined;
  readonly effects: Effects;
  /** Ends all requests of this source. */
  readonly signal?: AbortSignal | undefined;
  /** PEM file with further certificate authorities. Default: the environment's TONLAKE_CA_FILE. */
  readonly caFile?: string | undefined;
  /** Where the proxy variables and TONLAKE_CA_FILE are looked up, default `process.env`. */
  readonly env?: Environment | undefined;
  readonly onRetry?: ((event: RetryEvent) => void) | undefined;
}

export interface SourceCounts {
  /** Attempts sent. */
  readonly requests: number;
  /** Attempts sent after the first of their question. */
  readonly retries: number;
  /** Bytes of bodies over the wire. */
  readonly bytes: number;
  /** Attempts sent, by path. */
  readonly byPath: Readonly<Record<string, number>>;
}

export interface FetchOptions {
  readonly signal?: AbortSignal | undefined;
  /** Default: that of the source. */
  readonly attempts?: number | undefined;
}

/** A TON Index v3 API: one budget, one retry loop, bytes out. */
export interface Source {
  /**
   * Asks, and asks again as long as the failure is retryable. `accept` runs inside the loop, so what it rejects with a
   * retryable error (a body that is not JSON, a list that came back short) is asked again too.
   *
   * @throws {SourceError} when the source gives no usable answer. Errors of `accept` and reasons of signals pass unchanged.
   */
  fetch<T>(ask: SourceRequest, accept: (answer: Answer) => T | Promise<T>, options?: FetchOptions): Promise<T>;
  /** Requests per second that are allowed at the moment; undefined for no limit. */
  readonly rps: number | undefined;
  /** A snapshot of what was sent and received so far. */
  readonly counts: SourceCounts;
  /** Ends what is under way and closes all connections. */
  close(): Promise<void>;
}

/**
 * Opens a source; no request is sent yet.
 *
 * @throws {UsageError} when an option is out of range, or a proxy or certificate setting is unusable.
 */
export function openSource(options: SourceOptions): Source {
  return new HttpSource(options);
}

class HttpSource implements Source {
  readonly #options: SourceOptions;
  /** Never sent to the sandbox. */
  readonly #key: Secret | undefined;
  readonly #attempts: number;
  readonly #waitMs: number;
  readonly #exchange: Exchange;
  readonly #limiter: RateLimiter;
  readonly #queue: PQueue;
  /** Ends with the source, or with the signal that it was opened with. */
  readonly #life: LinkedSignal;
  readonly #counts = { requests: 0, retries: 0, byPath: new Map<string, number>() };
  #hasAnswered = false;

  constructor(options: SourceOptions) {
    const { network, effects, rps, priority, command, env = process.env } = options;
    const baseUrl = options.baseUrl ?? network.baseUrl;
    if (baseUrl === undefined)
      throw new UsageError(`usage: expected a base URL for ${network.name}`, { code: 'bad-network' });
    const concurrency = atLeast('concurrency', options.concurrency ?? 8, 1);
    const key = network.kind === 'sandbox' ? undefined : options.apiKey;
    this.#options = options;
    this.#key = key;
    this.#attempts = atLeast('attempts', options.attempts ?? 8, 1);
    this.#waitMs = atLeast('wait', options.waitMs ?? 60_000, 0);
    this.#exchange = new Exchange({
      ...{ baseUrl, concurrency, key, noAddressBook: options.noAddressBook, noMetadata: options.noMetadata },
      timeoutMs: atLeast('timeout', options.timeoutMs ?? 30_000, 1),
      maxBytes: options.maxBytes ?? 512 * 1024 * 1024,
      caFile: options.caFile ?? env['TONLAKE_CA_FILE'],
      env: network.kind === 'sandbox' ? {} : env,
    });
    this.#limiter =
      options.budget ?? openSourceLimiter({ network, baseUrl, key, rps, priority, command, env, effects });
    this.#queue = new PQueue({ concurrency });
    this.#life = linkSignals([options.signal]);
    // All requests under way listen to it.
    setMaxListeners(0, this.#life.signal);
  }

  get rps(): number | undefined {
    return this.#limiter.rps === Number.POSITIVE_INFINITY ? undefined : this.#limiter.rps;
  }

  get counts(): SourceCounts {
    const { requests, retries, byPath } = this.#counts;
    return { requests, retries, bytes: this.#exchange.bytes, byPath: Object.fromEntries(byPath) };
  }

  async fetch<T>(
    question: SourceRequest,
    accept: (answer: Answer) => T | Promise<T>,
    { signal, attempts = this.#attempts }: FetchOptions = {},
  ): Promise<T> {
    const { effects, onRetry } = this.#options;
    const target = formatTarget(question);
    const link = signal === undefined ? undefined : linkSignals([this.#life.signal, signal]);
    const end = link?.signal ?? this.#life.signal;
    try {
      return await retry(async (tried) => accept(await this.#send(question, target, tried, end)), {
        ...{ attempts, effects, waitMs: this.#waitMs, signal: end },
        onRetry: ({ attempt, sleepMs, error }) => {
          const message = this.#key?.redact(error.message) ?? error.message;
          const request = nameRequest(question, target);
          onRetry?.({ label: labelOf(question), request, attempt, sleepMs, code: error.code, message });
        },
      });
    } catch (error) {
      if (this.#key !== undefined) scrubError(error, this.#key);
      throw error;
    } finally {
      link?.release();
    }
  }

  async close(): Promise<void> {
    this.#life.abort(new SourceError('source: closed', { code: 'closed' }));
    this.#life.release();
    if (this.#options.budget === undefined) await this.#limiter.close();
    await this.#exchange.close();
  }

  /** One attempt, when it is its turn. */
  async #send(question: SourceRequest, target: string, tried: number, signal: AbortSignal): Promise<Answer> {
    return this.#queue.add(
      async () => {
        const permit = await this.#limiter.take(signal);
        const { byPath } = this.#counts;
        this.#counts.requests++;
        if (tried > 1) this.#counts.retries++;
        byPath.set(question.path, (byPath.get(question.path) ?? 0) + 1);
        const { reply, wireBytes } = await this.#exchange.send(question, target, signal);
        this.#judge(question, permit, reply);
        return { status: reply.status, body: reply.body, wireBytes, request: nameRequest(question, target) };
      },
      { signal, priority: tried },
    );
  }

  /** @throws {RetryableFailure} when the reply is no usable answer */
  #judge(question: SourceRequest, permit: Permit, reply: Reply): void {
    const now = this.#options.effects.now();
    if (reply.status === 429) {
      const holdMs = parseRetryAfter(reply.retryAfter, now);
      this.#limiter.slow(permit, holdMs === undefined ? undefined : Math.min(holdMs, MAX_PAUSE_MS));
    }
    const { path, missing } = question;
    const reaction = reactTo(reply, {
      ...{ path, missing, now },
      keyed: this.#key !== undefined,
      answered: this.#hasAnswered,
    });
    if (reaction.kind === 'fault') throw this.#exchange.failure(question, reaction.fault);
    this.#hasAnswered = true;
  }
}

function atLeast(name: string, value: number, least: number): number {
  if (value >= least) return value;
  throw new UsageError(`usage: expected ${name} of at least ${least}, got ${value}`, { code: `bad-${name}` });
}
