import type { Effects } from '../effects.ts';
import { UsageError } from '../errors.ts';
import type { DefaultRps, Network } from '../network.ts';
import { type Budget, openBudget, type Rps } from './budget.ts';
import type { Lane } from './lane.ts';
import { openSharedBudget } from './lease.ts';
import type { Environment } from './route.ts';
import type { Secret } from './secret.ts';

export interface SourceBudgetOptions {
  readonly network: Network;
  readonly baseUrl: string;
  readonly key: Secret | undefined;
  readonly rps: number | 'auto' | undefined;
  /** Shares the budget with all processes of this machine, in this lane; undefined for a budget of its own. */
  readonly lane: Lane | undefined;
  readonly command?: string | undefined;
  readonly env: Environment;
  readonly effects: Effects;
}

/** The budget of a source that was given none. Without a limit there is nothing to share, and nothing is opened. */
export function openSourceBudget(options: SourceBudgetOptions): Budget {
  const { network, lane, effects } = options;
  const rps = resolveRps(options.rps, network.defaultRps, options.key !== undefined);
  if (rps === undefined || lane === undefined || network.kind === 'sandbox') return openBudget(rps, effects);
  return openSharedBudget({ ...options, rps, lane });
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
