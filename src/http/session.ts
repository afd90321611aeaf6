import type { Priority } from '../rate-limit/priority.ts';
import { readBudgetAddress } from '../redis/redis-address.ts';
import { readApiKey, resolveNetwork } from './network.ts';
import type { Source, SourceOptions } from './source.ts';

/** Options of a session; those of its source have the same meaning. */
export interface SessionOptions
  extends Pick<SourceOptions, 'rps' | 'concurrency' | 'waitMs' | 'command' | 'effects' | 'env' | 'signal' | 'onRetry'> {
  /** `mainnet`, `testnet`, `sandbox`, or a base URL. */
  readonly network: string;
  /** Priority among processes that share the rate limit of a network. Default backfill. */
  readonly priority?: Priority | undefined;
  /**
   * Redis server through which all machines share the rate limit of the network and key: `redis://host:port`, or `rediss://` for TLS.
   * Default TONLAKE_BUDGET; without it, the processes of this machine share the limit.
   */
  readonly budget?: string | undefined;
  /** Request the address book and metadata of responses. Default false, which saves work for the server. */
  readonly names?: boolean | undefined;
}

/** An open network. */
export interface Session {
  readonly network: string;
  readonly source: Source;
  close(): Promise<void>;
}

/**
 * Opens a network; for `sandbox` it starts a server in this process. Sends no request yet.
 *
 * @throws {UsageError} for an unknown network, or an invalid key or proxy
 */
export async function openSession(options: SessionOptions): Promise<Session> {
  const network = resolveNetwork(options.network);
  const env = options.env ?? process.env;
  const apiKey = network.kind === 'sandbox' ? undefined : readApiKey(env);
  const { openSource } = await import('./source.ts');
  const sandbox = network.kind === 'sandbox' ? await startLocalSandbox() : undefined;
  try {
    const { priority = 'backfill', names = false, budget, ...others } = options;
    const budgetAddress = readBudgetAddress(budget, env);
    const given = { ...others, network, baseUrl: sandbox?.url, apiKey, priority, names, env, budgetAddress };
    const source = openSource(given);
    return {
      network: network.name,
      source,
      close: async () => {
        await source.close();
        await sandbox?.close();
      },
    };
  } catch (error) {
    await sandbox?.close();
    throw error;
  }
}

async function startLocalSandbox(): Promise<{ readonly url: string; close(): Promise<void> }> {
  const { startSandbox } = await import('../sandbox/index.ts');
  return startSandbox({ port: 0 });
}
