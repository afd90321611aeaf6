import { createRequire } from 'node:module';
import PQueue from 'p-queue';
import type { Effects } from '../core/effects.ts';
import { SourceError, UsageError } from '../core/errors.ts';
import type { Budget, Permit } from '../rate-limit/limiter.ts';
import type { Priority } from '../rate-limit/priority.ts';
import { openSourceBudget } from '../rate-limit/source-limiter.ts';
import { ACCEPT_ENCODING, BodyFailure, decompress } from './body.ts';
import { parseRetryAfter, type Reply, reactTo } from './classify-answer.ts';
import { type Environment, openRoute } from './dispatcher.ts';
import { linkSignals } from './linked-signal.ts';
import type { Network } from './network.ts';
import { describeNetworkFailure, strip } from './network-failure.ts';
import { type Answer, formatTarget, labelOf, type SourceRequest } from './request.ts';
import { MAX_PAUSE_MS, retry } from './retry.ts';
import { type Fault, RetryableFailure } from './retryable-failure.ts';
import { type Secret, scrubError } from './secret.ts';
import { quoteText } from './server-text.ts';

const CONNECT_TIMEOUT_MS = 10_000;

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
  /** Shares the network's budget with all processes of this machine, in this lane. Default: a budget of its own. */
  readonly lane?: Priority | undefined;
  /** What tonlake is doing, for `status --budget`. Default `tonlake`. */
  readonly command?: string | undefined;
  /** Default: one of its own. Sources of the same network should share one. */
  readonly budget?: Budget | undefined;
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

interface Tag {
  readonly ask: SourceRequest;
  readonly label: string;
  readonly target: string;
  readonly request: string;
  readonly signal: AbortSignal;
}

/**
 * Opens a source; no request is sent yet.
 *
 * @throws {UsageError} when an option is out of range, or a proxy or certificate setting is unusable.
 */
export function openSource(options: SourceOptions): Source {
  const { network, effects, env = process.env } = options;
  const baseUrl = options.baseUrl ?? network.baseUrl;
  if (baseUrl === undefined)
    throw new UsageError(`usage: expected a base address for ${network.name}`, { code: 'bad-network' });
  const { origin } = new URL(baseUrl);
  const concurrency = atLeast('concurrency', options.concurrency ?? 8, 1);
  const attempts = atLeast('attempts', options.attempts ?? 8, 1);
  const waitMs = atLeast('wait', options.waitMs ?? 60_000, 0);
  const timeoutMs = atLeast('timeout', options.timeoutMs ?? 30_000, 1);
  const maxBytes = options.maxBytes ?? 512 * 1024 * 1024;
  const key = network.kind === 'sandbox' ? undefined : options.apiKey;
  const redact = (text: string): string => key?.redact(text) ?? text;

  const route = openRoute({
    baseUrl,
    connections: concurrency,
    connectTimeoutMs: Math.min(CONNECT_TIMEOUT_MS, timeoutMs),
    maxBytes,
    caFile: options.caFile ?? env['TONLAKE_CA_FILE'],
    env: network.kind === 'sandbox' ? {} : env,
  });
  const { rps, lane, command } = options;
  const budget = options.budget ?? openSourceBudget({ network, baseUrl, key, rps, lane, command, env, effects });
  const queue = new PQueue({ concurrency });
  const closing = new AbortController();
  const headers = {
    accept: 'application/json',
    'accept-encoding': ACCEPT_ENCODING,
    'user-agent': userAgent(),
    ...route.headers,
    ...(options.noAddressBook === true ? { 'x-no-address-book': 'true' } : {}),
    ...(options.noMetadata === true ? { 'x-no-metadata': 'true' } : {}),
    ...(key === undefined ? {} : { 'x-api-key': key.reveal() }),
  };
  const tally = { requests: 0, retries: 0, bytes: 0, byPath: new Map<string, number>() };
  let reached = false;
  let answered = false;

  function setback(tag: Tag, fault: Fault, cause?: unknown): RetryableFailure {
    const detail = fault.detail === undefined ? undefined : quoteText(fault.detail, redact);
    return new RetryableFailure(tag.label, { ...fault, detail }, { cause: strip(cause, redact) });
  }

  async function ask(tag: Tag, tried: number): Promise<Answer> {
    return queue.add(
      async () => {
        const leave = await budget.take(tag.signal);
        tally.requests++;
        if (tried > 1) tally.retries++;
        tally.byPath.set(tag.ask.path, (tally.byPath.get(tag.ask.path) ?? 0) + 1);
        const { reply, wireBytes } = await exchange(tag);
        return judge(tag, leave, reply, wireBytes);
      },
      { signal: tag.signal, priority: tried },
    );
  }

  async function exchange(tag: Tag): Promise<{ readonly reply: Reply; readonly wireBytes: number }> {
    const limit = linkSignals([tag.signal]);
    const overdue = new SourceError('overdue', { code: 'timeout' });
    const timer = setTimeout(() => limit.abort(overdue), timeoutMs);
    try {
      const response = await route.dispatcher.request({
        origin: route.origin,
        path: `${route.prefix}${tag.target}`,
        method: tag.ask.method ?? 'GET',
        headers: tag.ask.body === undefined ? headers : { ...headers, 'content-type': 'application/json' },
        body: tag.ask.body ?? null,
        signal: limit.signal,
      });
      const wire = Buffer.from(await response.body.arrayBuffer());
      reached = true;
      tally.bytes += wire.length;
      const body = await decompress(wire, one(response.headers['content-encoding']) ?? '', maxBytes);
      const reply: Reply = {
        status: response.statusCode,
        contentType: one(response.headers['content-type']) ?? '',
        retryAfter: one(response.headers['retry-after']),
        location: one(response.headers['location']),
        body,
      };
      return { reply, wireBytes: wire.length };
    } catch (error) {
      tag.signal.throwIfAborted();
      if (limit.signal.aborted) {
        const hint = 'ask again later, or raise --timeout';
        throw setback(tag, {
          code: 'timeout',
          what: `no whole answer within ${timeoutMs / 1000} s`,
          hint,
          pause: { kind: 'backoff' },
        });
      }
      if (error instanceof BodyFailure) throw setback(tag, error.fault, error.cause);
      const target = { origin, proxy: route.proxy, reached };
      throw setback(tag, describeNetworkFailure(error, target), error);
    } finally {
      clearTimeout(timer);
      limit.release();
    }
  }

  function judge(tag: Tag, leave: Permit, reply: Reply, wireBytes: number): Answer {
    const now = effects.now();
    const situation = { path: tag.ask.path, missing: tag.ask.missing, keyed: key !== undefined, answered, now };
    if (reply.status === 429) {
      const holdMs = parseRetryAfter(reply.retryAfter, now);
      budget.slow(leave, holdMs === undefined ? undefined : Math.min(holdMs, MAX_PAUSE_MS));
    }
    const reaction = reactTo(reply, situation);
    if (reaction.kind === 'fault') throw setback(tag, reaction.fault);
    answered = true;
    return { status: reply.status, body: reply.body, wireBytes, request: tag.request };
  }

  return {
    async fetch(question, accept, fetchOptions = {}) {
      const target = formatTarget(question);
      const label = labelOf(question);
      const request = `${question.method ?? 'GET'} ${target}`;
      const link = linkSignals([closing.signal, options.signal, fetchOptions.signal]);
      const tag: Tag = { ask: question, label, target, request, signal: link.signal };
      try {
        return await retry(async (tried) => accept(await ask(tag, tried)), {
          attempts: fetchOptions.attempts ?? attempts,
          waitMs,
          effects,
          signal: link.signal,
          onRetry: ({ attempt, sleepMs, error }) => {
            options.onRetry?.({ label, request, attempt, sleepMs, code: error.code, message: redact(error.message) });
          },
        });
      } catch (error) {
        if (key !== undefined) scrubError(error, key);
        throw error;
      } finally {
        link.release();
      }
    },
    get rps() {
      return budget.rps === Number.POSITIVE_INFINITY ? undefined : budget.rps;
    },
    get counts() {
      return { ...tally, byPath: Object.fromEntries(tally.byPath) };
    },
    async close() {
      closing.abort(new SourceError('source: closed', { code: 'closed' }));
      if (options.budget === undefined) await budget.close();
      await route.dispatcher.destroy();
    },
  };
}

function atLeast(name: string, value: number, least: number): number {
  if (value >= least) return value;
  throw new UsageError(`usage: expected ${name} of at least ${least}, got ${value}`, { code: `bad-${name}` });
}

function one(header: string | string[] | undefined): string | undefined {
  return Array.isArray(header) ? header.join(', ') : header;
}

function userAgent(): string {
  const own: unknown = createRequire(import.meta.url)('tonlake/package.json');
  const version = typeof own === 'object' && own !== null && 'version' in own ? String(own.version) : '0';
  return `tonlake/${version}`;
}
