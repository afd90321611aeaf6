import { type Effects, realEffects } from '../effects.ts';
import { readApiKey, resolveNetwork } from '../network.ts';
import { openSource, type RetryEvent, type Source } from '../source/source.ts';
import { createClient } from './client.ts';
import type { Client } from './types.ts';

export interface ApiOptions {
  /** `mainnet`, `testnet`, `sandbox`, or a base address. */
  readonly network: string;
  /** Cap on requests per second; default 1 without a key, 10 with one, none for the sandbox and this machine. */
  readonly rps?: number | 'auto' | undefined;
  /** How long a block that is not indexed is waited for, in milliseconds; default 60 s. */
  readonly waitMs?: number | undefined;
  readonly effects?: Effects | undefined;
  /** Where the key, proxies and certificates are looked up; default `process.env`. */
  readonly env?: Readonly<Record<string, string | undefined>> | undefined;
  readonly signal?: AbortSignal | undefined;
  readonly onRetry?: ((event: RetryEvent) => void) | undefined;
}

/** A network that is ready to be called. */
export interface Api {
  readonly network: string;
  readonly client: Client;
  readonly source: Source;
  close(): Promise<void>;
}

/**
 * Opens a network for calls; answers come with their address book and metadata. For `sandbox` a server is started in this
 * process. No request is sent yet.
 *
 * @throws {UsageError} for an unknown network, or an unusable key or proxy
 */
export async function openApi(options: ApiOptions): Promise<Api> {
  const network = resolveNetwork(options.network);
  const { effects = realEffects, env = process.env } = options;
  const { rps, waitMs, signal, onRetry } = options;
  const apiKey = readApiKey(env);
  const sandbox = network.kind === 'sandbox' ? await startLocalSandbox() : undefined;
  try {
    const source = openSource({
      lane: 'interactive',
      network,
      baseUrl: sandbox?.url,
      apiKey,
      rps,
      waitMs,
      effects,
      signal,
      env,
      onRetry,
    });
    return {
      network: network.name,
      client: createClient(source),
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
