import { usage } from '../core/errors.ts';
import type { Priority } from '../rate-limit/priority.ts';
import { readBudgetAddress } from '../redis/redis-address.ts';
import { type Network, readApiKey, resolveNetwork } from './network.ts';
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
  /**
   * Base URL of a second, independent server of the same network. Before each commit, a masterchain block of it, chosen at random, is
   * compared with that server: another root hash ends the export. Gets no API key. Default: none.
   */
  readonly witness?: string | undefined;
  /** Request the address book and metadata of responses. Default false, which saves work for the server. */
  readonly names?: boolean | undefined;
}

/** An open network. */
export interface Session {
  readonly network: string;
  readonly source: Source;
  /** Reopens the source with the current API key. @throws {UsageError} as `openSession`; the old source stays open then */
  renew(): Promise<void>;
  /** The second server. */
  readonly witness: Source | undefined;
  close(): Promise<void>;
}

/**
 * Opens a network; for `sandbox` it starts a server in this process. Sends no request yet.
 *
 * @throws {UsageError} for an unknown network, an invalid key or proxy, or a witness that is the network itself
 */
export async function openSession(options: SessionOptions): Promise<Session> {
  const network = resolveNetwork(options.network);
  const env = options.env ?? process.env;
  const second = options.witness === undefined ? undefined : witnessOf(options.witness, network);
  const readKey = () => (network.kind === 'sandbox' ? undefined : readApiKey(env));
  const apiKey = readKey();
  const { Source } = await import('./source.ts');
  const sandbox = network.kind === 'sandbox' ? await startLocalSandbox() : undefined;
  try {
    const { priority = 'backfill', names = false, budget, witness: _, ...others } = options;
    const budgetAddress = readBudgetAddress(budget, env);
    const given = { ...others, network, baseUrl: sandbox?.url, priority, names, env, budgetAddress };
    let source = new Source({ ...given, apiKey });
    const { effects, signal } = options;
    const witness = second && new Source({ ...WITNESS, network: second, names, env, effects, signal });
    return {
      network: network.name,
      get source() {
        return source;
      },
      renew: async () => {
        const next = new Source({ ...given, apiKey: readKey(), before: source.counts });
        await source.close();
        source = next;
      },
      witness,
      close: async () => {
        await source.close();
        await witness?.close();
        await sandbox?.close();
      },
    };
  } catch (error) {
    await sandbox?.close();
    throw error;
  }
}

/** Few attempts, so that an unreachable witness delays a commit only briefly. */
const WITNESS = { attempts: 2, timeoutMs: 10_000, concurrency: 1 } as const;

/** @throws {UsageError} if it is the network itself, whatever the scheme of its address */
function witnessOf(address: string, network: Network): Network {
  const witness = resolveNetwork(address);
  const placeOf = ({ baseUrl }: Network): string | undefined => baseUrl?.replace(/^https?:/, '');
  if (witness.baseUrl !== undefined && placeOf(witness) !== placeOf(network)) return witness;
  throw usage(
    'a witness other than the source',
    witness.name,
    '--witness takes the base URL of another server of the same network',
  );
}

async function startLocalSandbox(): Promise<{ readonly url: string; close(): Promise<void> }> {
  const { startSandbox } = await import('../sandbox/index.ts');
  return startSandbox({ port: 0 });
}
