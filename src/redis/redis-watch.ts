import type { Effects } from '../core/effects.ts';
import type { SourceError } from '../core/errors.ts';
import type { Environment } from '../http/dispatcher.ts';
import type { RedisAddress } from './redis-address.ts';
import { type OpenRedisOptions, openRedis, type RedisConnection, redisFailure } from './redis-connection.ts';

const EVERY_MS = 2000;

export interface RedisWatchOptions extends Pick<OpenRedisOptions, 'answerMs'> {
  readonly address: RedisAddress;
  readonly env: Environment;
  readonly effects: Effects;
  /** Called with the failure when an outage begins, and with nothing when it is over. */
  readonly onChange: (failure?: SourceError) => void;
}

/** Asks a server every two seconds whether it is there: connections to one that hangs notice nothing. */
export class RedisWatch {
  readonly #options: RedisWatchOptions;
  readonly #end = new AbortController();
  #ended: Promise<void> | undefined;
  #connection: RedisConnection | undefined;

  constructor(options: RedisWatchOptions) {
    this.#options = options;
  }

  start(): void {
    this.#ended ??= this.#watch();
  }

  async close(): Promise<void> {
    this.#end.abort();
    this.#connection?.close();
    await this.#ended;
  }

  async #watch(): Promise<void> {
    const { effects, onChange } = this.#options;
    let isAway = false;
    while (!this.#end.signal.aborted) {
      const failure = await this.#failure();
      if (this.#end.signal.aborted) break;
      if ((failure !== undefined) !== isAway) {
        isAway = !isAway;
        onChange(failure);
      }
      await effects.sleep(EVERY_MS, this.#end.signal).catch(() => undefined);
    }
    this.#connection?.close();
  }

  async #failure(): Promise<SourceError | undefined> {
    const { address, env, answerMs } = this.#options;
    // A server that ended the connection may have been restarted.
    if (this.#connection?.client.status !== 'ready') this.#connection = undefined;
    try {
      this.#connection ??= await openRedis(address, env, { stop: this.#end.signal, answerMs });
      await this.#connection.client.ping();
      return undefined;
    } catch (error) {
      this.#connection?.close();
      this.#connection = undefined;
      return redisFailure(error, address);
    }
  }
}
