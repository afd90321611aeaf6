import { createHmac } from 'node:crypto';
import { SourceError, type TonlakeError } from '../core/errors.ts';
import { retry } from '../http/retry.ts';
import type { RedisAddress } from '../redis/redis-address.ts';
import { openRedis, type RedisConnection, redisFailure } from '../redis/redis-connection.ts';
import { freshLimit, type Limit, parseLimit } from './limit.ts';
import { type Change, type LimitStore, type LimitStoreOptions, UNUSED_MS } from './limit-store.ts';

/** How long to wait for a server that was reached before. */
const PATIENCE_MS = 60_000;

/** Compares and swaps. ARGV: the text that is expected and its successor; none to read. Returns clock and text. */
const SCRIPT = `
local found = redis.call('GET', KEYS[1]) or ''
if ARGV[2] and ARGV[1] == found then
  redis.call('SET', KEYS[1], ARGV[2], 'PX', ${UNUSED_MS})
  found = ARGV[2]
end
local time = redis.call('TIME')
return { time[1] .. string.format('%06d', time[2]), found }`;

interface RedisStoreOptions extends LimitStoreOptions {
  readonly address: RedisAddress;
}

/** A limit that all machines share through Redis, on the clock of the server. @throws {SourceError} if it cannot be used */
export async function openRedisLimitStore(options: RedisStoreOptions): Promise<LimitStore> {
  const store = new RedisLimitStore(options);
  try {
    await store.read();
  } catch (error) {
    store.close();
    throw error instanceof SourceError ? finalFailure(error) : error;
  }
  return store;
}

class RedisLimitStore implements LimitStore {
  readonly isShared = true;
  readonly #options: RedisStoreOptions;
  readonly #name: string;
  readonly #end = new AbortController();
  #connection: Promise<RedisConnection> | undefined;
  /** Clock of the server minus that of this process. */
  #offset = 0;
  #text = '';
  /** The last known limit, restored if the server lost it. */
  #limit: Limit;

  constructor(options: RedisStoreOptions) {
    const { baseUrl, key } = options;
    this.#options = options;
    this.#limit = freshLimit(baseUrl);
    const identity = JSON.stringify([baseUrl, key === undefined ? null : key.reveal()]);
    // Nothing in it reveals the key.
    this.#name = `tonlake:budget:${createHmac('sha256', 'tonlake budget 1').update(identity).digest('hex').slice(0, 24)}`;
  }

  now(): number {
    return this.#options.effects.monotonic() + this.#offset;
  }

  async read(): Promise<Limit> {
    await this.#run();
    return this.#limit;
  }

  async change<T>(change: Change<T>): Promise<T> {
    for (;;) {
      const [limit, result] = change(this.#limit, this.now());
      const text = JSON.stringify(limit);
      await this.#runPatiently(this.#text, text);
      if (this.#text === text) return result;
    }
  }

  close(): void {
    this.#end.abort(new SourceError('source: closed'));
    this.#disconnect();
  }

  /** A server that was reached before may come back. @throws the failure, if it is lasting or takes too long */
  async #runPatiently(...texts: readonly string[]): Promise<void> {
    const { effects } = this.#options;
    let isWarned = false;
    const onRetry = ({ error }: { readonly error: TonlakeError }): void => {
      if (!isWarned) this.#warn(`${error.message}; waiting for it`);
      isWarned = true;
    };
    const pauseAfter = ({ retryable }: TonlakeError) => (retryable ? ({ kind: 'poll' } as const) : undefined);
    const signal = this.#end.signal;
    try {
      await retry(() => this.#run(...texts), {
        attempts: 1,
        waitMs: PATIENCE_MS,
        effects,
        signal,
        pauseAfter,
        onRetry,
      });
    } catch (error) {
      throw error instanceof SourceError ? finalFailure(error) : error;
    }
  }

  async #run(...texts: readonly string[]): Promise<void> {
    const { address, env, effects } = this.#options;
    this.#connection ??= openRedis(address, env);
    const opening = this.#connection;
    try {
      const { client } = await opening;
      const sentAt = effects.monotonic();
      // The script is ours: two texts.
      const [clock, text] = (await client.eval(SCRIPT, 1, this.#name, ...texts)) as [string, string];
      this.#offset = Number(clock) / 1000 - (sentAt + effects.monotonic()) / 2;
      if (text !== this.#text && text !== '')
        this.#limit = parseLimit(text, `${this.#name} at ${address.shown}`) ?? this.#limit;
      this.#text = text;
    } catch (error) {
      if (this.#connection === opening) this.#disconnect();
      throw redisFailure(error, address);
    }
  }

  #disconnect(): void {
    this.#connection?.then(
      (connection) => connection.close(),
      () => undefined,
    );
    this.#connection = undefined;
  }

  #warn(message: string): void {
    const { onWarning } = this.#options;
    if (onWarning === undefined) process.emitWarning(message, { code: 'TONLAKE_BUDGET' });
    else onWarning(message);
  }
}

/** The same failure, not retryable: the store has already waited as long as is useful. */
function finalFailure({ message, code, hint = '', cause }: SourceError): SourceError {
  return new SourceError(message, { code, hint, cause });
}
