import type { Effects } from '../core/effects.ts';
import { UsageError } from '../core/errors.ts';
import type { Environment } from '../http/dispatcher.ts';
import type { DefaultRps, Network } from '../http/network.ts';
import type { Secret } from '../http/secret.ts';
import { openLimiter, type RateLimiter, type Rps } from './limiter.ts';
import type { Priority } from './priority.ts';
import { openSharedLimiter } from './shared/shared-limiter.ts';

export interface SourceLimiterOptions {
  readonly network: Network;
  readonly baseUrl: string;
  readonly key: Secret | undefined;
  readonly rps: number | 'auto' | undefined;
  /** Priority among the processes of this machine; undefined for a limiter that is not shared. */
  readonly priority: Priority | undefined;
  readonly command?: string | undefined;
  readonly env: Environment;
  readonly effects: Effects;
}

/** The budget of a source that was given none. Without a limit there is nothing to share, and nothing is opened. */
export function openSourceLimiter(options: SourceLimiterOptions): RateLimiter {
  const { network, priority, effects } = options;
  const rps = resolveRps(options.rps, network.defaultRps, options.key !== undefined);
  if (rps === undefined || priority === undefined || network.kind === 'sandbox') return openLimiter(rps, effects);
  return openSharedLimiter({ ...options, rps, priority });
}

/**
 * The rate that was told, or that of the network's plan.
 *
 * @throws {UsageError} when it is not above 0
 */
function resolveRps(told: number | 'auto' | undefined, limits: DefaultRps | undefined, isKeyed: boolean): Rps {
  const rps = told ?? (isKeyed ? limits?.withKey : limits?.withoutKey);
  if (rps === undefined || rps === 'auto') return rps;
  if (rps === Number.POSITIVE_INFINITY) return undefined;
  if (rps > 0) return rps;
  throw new UsageError(`usage: expected a rate above 0 requests per second, got ${rps}`, {
    code: 'bad-rps',
    hint: '--rps 1, or --rps auto',
  });
}
