import { createHash, createHmac } from 'node:crypto';
import type { Environment } from '../../http/dispatcher.ts';
import type { Secret } from '../../http/secret.ts';
import type { RedisAddress } from '../../redis/redis-address.ts';
import { openRedis, type RedisConnection, redisFailure } from '../../redis/redis-connection.ts';
import { budgetScript } from './budget-script.ts';

const SCRIPT = budgetScript();
const DIGEST = createHash('sha1').update(SCRIPT).digest('hex');

export type ScriptArgument = string | number;

/** Runs the script of the shared limit on a server; connects when it is first used, and again after a failure. */
export class BudgetServer {
  readonly #address: RedisAddress;
  readonly #env: Environment;
  readonly #keys: readonly string[];
  #connection: Promise<RedisConnection> | undefined;
  /** True after an answer, until the connection fails. */
  #isOpen = false;

  constructor(address: RedisAddress, env: Environment, baseUrl: string, key: Secret | undefined) {
    this.#address = address;
    this.#env = env;
    this.#keys = budgetKeys(baseUrl, key);
  }

  /** @throws {SourceError} see `redisFailure` */
  async run(operation: string, ...given: readonly ScriptArgument[]): Promise<unknown> {
    this.#connection ??= openRedis(this.#address, this.#env);
    const opening = this.#connection;
    try {
      const { client } = await opening;
      const words = [...this.#keys, operation, ...given];
      const answer = await client.evalsha(DIGEST, this.#keys.length, ...words).catch((error: unknown) => {
        if (!(error instanceof Error) || !error.message.startsWith('NOSCRIPT')) throw error;
        return client.eval(SCRIPT, this.#keys.length, ...words);
      });
      this.#isOpen = this.#connection === opening;
      return answer;
    } catch (error) {
      if (this.#connection === opening) this.close();
      throw redisFailure(error, this.#address);
    }
  }

  /** Runs it only over a connection that is open already. */
  async runIfOpen(operation: string, ...given: readonly ScriptArgument[]): Promise<void> {
    if (this.#isOpen) await this.run(operation, ...given);
  }

  close(): void {
    this.#isOpen = false;
    this.#connection?.then(
      (connection) => connection.close(),
      () => undefined,
    );
    this.#connection = undefined;
  }
}

/** The keys of one network and API key; nothing in them reveals the key. */
export function budgetKeys(baseUrl: string, key: Secret | undefined): readonly string[] {
  const identity = JSON.stringify([baseUrl, key === undefined ? null : key.reveal()]);
  const name = createHmac('sha256', 'tonlake budget 1').update(identity).digest('hex').slice(0, 24);
  return ['state', 'starts', 'log', 'holders'].map((part) => `tonlake:budget:{${name}}:${part}`);
}
