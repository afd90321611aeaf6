import type { Effects } from '../core/effects.ts';
import type { Priority } from '../rate-limit/priority.ts';
import { readApiKey, resolveNetwork } from './network.ts';
import type { RetryEvent, Source } from './source.ts';

export interface SessionOptions {
  /** `mainnet`, `testnet`, `sandbox`, or a base URL. */
  readonly network: string;
  /** Cap on requests per second, or `auto`; default 1 without a key, 10 with one, none for the sandbox and this machine. */
  readonly rps?: number | 'auto' | undefined;
  /** Priority among processes that share the rate limit of a network. Default backfill. */
  readonly priority?: Priority | undefined;
  /** Requests under way at once; default 8. */
  readonly concurrency?: number | undefined;
  /** How long a block that is not indexed is waited for, in milliseconds; default 60 s. */
  readonly waitMs?: number | undefined;
  /** Whether answers shall come with their address book and metadata; default false, which saves the server work. */
  readonly names?: boolean | undefined;
  /** What tonlake is doing, for `status --budget`; others may read it. Default `tonlake`. */
  readonly command?: string | undefined;
  readonly effects: Effects;
  /** Where the key, proxies and certificates are looked up; default `process.env`. */
  readonly env?: Readonly<Record<string, string | undefined>> | undefined;
  readonly signal?: AbortSignal | undefined;
  readonly onRetry?: ((event: RetryEvent) => void) | undefined;
}

/** A network that is ready to be asked. */
export interface Session {
  readonly network: string;
  readonly source: Source;
  close(): Promise<void>;
}

/**
 * Opens a network; for `sandbox` a server is started in this process. No request is sent yet.
 *
 * @throws {UsageError} for an unknown network, or an unusable key or proxy
 */
export async function openSession(options: SessionOptions): Promise<Session> {
  const network = resolveNetwork(options.network);
  const env = options.env ?? process.env;
  const apiKey = readApiKey(env);
  const { openSource } = await import('./source.ts');
  const sandbox = network.kind === 'sandbox' ? await startLocalSandbox() : undefined;
  try {
    const source = openSource({
      network,
      baseUrl: sandbox?.url,
      apiKey,
      rps: options.rps,
      priority: options.priority ?? 'backfill',
      command: options.command,
      concurrency: options.concurrency,
      waitMs: options.waitMs,
      noAddressBook: options.names !== true,
      noMetadata: options.names !== true,
      effects: options.effects,
      signal: options.signal,
      env,
      onRetry: options.onRetry,
    });
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
