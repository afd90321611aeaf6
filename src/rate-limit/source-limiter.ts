import { UsageError } from '../core/errors.ts';
import type { DefaultRps, Network } from '../http/network.ts';
import type { RedisAddress } from '../redis/redis-address.ts';
import { openLimiter, type RateLimiter, type Rps } from './limiter.ts';
import type { Priority } from './priority.ts';
import { RedisLimiter } from './redis/redis-limiter.ts';
import { SharedLimiter, type SharedLimiterOptions } from './shared/shared-limiter.ts';

export interface SourceLimiterOptions extends Omit<SharedLimiterOptions, 'rps' | 'priority'> {
  readonly network: Network;
  readonly rps: Rps;
  /** Priority among the processes of this machine; undefined for a limiter that is not shared. */
  readonly priority: Priority | undefined;
  /** Shares the rate limit with other machines through this Redis server, instead of with processes of this machine. */
  readonly budgetAddress?: RedisAddress | undefined;
}

/** The default limiter of a source. Without a limit nothing is shared or opened. */
export function openSourceLimiter(options: SourceLimiterOptions): RateLimiter {
  const { network, priority, effects } = options;
  const rps = resolveRps(options.rps, network.defaultRps, options.key !== undefined);
  if (rps === undefined || priority === undefined || network.kind === 'sandbox') return openLimiter(rps, effects);
  const { budgetAddress: address } = options;
  if (address !== undefined) return new RedisLimiter({ ...options, rps, priority, address });
  return new SharedLimiter({ ...options, rps, priority });
}

/** The given rate, or the default of the network. @throws {UsageError} if it is not above 0 */
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
