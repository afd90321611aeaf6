import { realEffects } from '../core/effects.ts';
import type { Environment } from '../core/environment.ts';
import type { Network } from '../http/network.ts';
import type { Secret } from '../http/secret.ts';
import { readBudgetAddress } from '../redis/redis-address.ts';
import { freshLimit } from './limit.ts';
import { openSharedStore, type SharedStoreOptions } from './limiter.ts';
import { aliveHolders, rateAt } from './policy.ts';
import type { Priority } from './priority.ts';

/** A process (or one of its connections) that uses the rate limit. */
export interface BudgetHolder {
  readonly pid: number;
  /** Its machine, if the limit is shared between machines. */
  readonly host?: string | undefined;
  readonly command: string;
  readonly priority: Priority;
  /** Its own maximum rate, or `auto`. */
  readonly rps: number | 'auto';
  /** Requests per second over the last 10 seconds. */
  readonly share: number;
  readonly usedLastMinute: number;
  /** Requests waiting for a permit. */
  readonly waiting: number;
}

/** State of the shared rate limit of one network and key on this machine, or on all that share it through Redis. */
export interface BudgetStatus {
  readonly network: string;
  /** Current requests per second; null if unused. */
  readonly limit: number | null;
  /** Highest rate of any holder; null with `auto`, or if unused. */
  readonly cap: number | null;
  /** Limit found by `auto`; null for none. */
  readonly found: number | null;
  /** Requests in the last 60 seconds. */
  readonly usedLastMinute: number;
  /** Time of the last 429; null for none. */
  readonly last429: string | null;
  /** Remaining pause after a 429, in milliseconds. */
  readonly heldMs: number;
  readonly holders: readonly BudgetHolder[];
}

export interface BudgetStatusOptions {
  readonly network: Network;
  readonly apiKey?: Secret | undefined;
  /** Redis server through which machines share the limit. Default TONLAKE_BUDGET. */
  readonly budget?: string | undefined;
  readonly env?: Environment | undefined;
}

/**
 * The state of a network's rate limit on this machine, or on all that share it through Redis. Sends nothing to the network.
 *
 * @throws {SourceError} `no-state` if the state folder cannot be used; `no-redis` and others if the server cannot
 */
export async function budgetStatus(options: BudgetStatusOptions): Promise<BudgetStatus> {
  const { network, apiKey: key, budget, env = process.env } = options;
  const budgetAddress = readBudgetAddress(budget, env);
  const { limit, now } = await readLimit(network, { key, env, budgetAddress });
  const alive = aliveHolders(limit, now);
  const isAuto = alive.some(({ rps }) => rps === 'auto');
  const rate = rateAt(limit, now);
  const shown = alive.map(({ pid, host, command, priority, rps = 'auto', share, usedLastMinute, waiting }) => ({
    pid,
    host: budgetAddress === undefined ? undefined : host,
    command,
    priority,
    rps,
    share,
    usedLastMinute,
    waiting,
  }));
  return {
    network: network.name,
    limit: alive.length === 0 || !Number.isFinite(rate) ? null : rate,
    cap: alive.length === 0 || isAuto ? null : (limit.fixed?.cap ?? null),
    found: limit.auto?.found ?? null,
    usedLastMinute: shown.reduce((sum, holder) => sum + holder.usedLastMinute, 0),
    last429: limit.last429 === undefined ? null : new Date(limit.last429).toISOString(),
    heldMs: Math.max(0, limit.heldUntil - now),
    holders: shown.sort((a, b) => (a.host ?? '').localeCompare(b.host ?? '') || a.pid - b.pid),
  };
}

async function readLimit(network: Network, options: Omit<SharedStoreOptions, 'baseUrl' | 'effects'>) {
  const { baseUrl } = network;
  if (baseUrl === undefined) return { limit: freshLimit(network.name), now: 0 };
  const store = await openSharedStore({ ...options, baseUrl, effects: realEffects });
  try {
    return { limit: await store.read(), now: store.now() };
  } finally {
    store.close();
  }
}

/** The status as text. */
export function formatBudgetStatus(status: BudgetStatus): string {
  const { limit, cap, found, usedLastMinute, heldMs, last429, holders } = status;
  const facts = [
    limit === null ? 'idle' : `${round(limit)} requests/s may start now`,
    cap === null ? undefined : `cap ${round(cap)}`,
    found === null ? undefined : `found limit ${round(found)}`,
    limit === null ? undefined : `${usedLastMinute} in the last minute${usedShare(usedLastMinute, limit)}`,
    heldMs > 0 ? `paused for ${round(heldMs / 1000)} s` : undefined,
    last429 === null ? 'no 429 yet' : `last 429 at ${last429.replace(/\.\d+Z$/, 'Z')}`,
  ];
  const lines = holders.map(
    (holder) =>
      `  process ${holder.pid}${holder.host === undefined ? '' : ` on ${holder.host}`}  ${holder.priority.padEnd(11)}  rps ${String(holder.rps).padEnd(5)}  ${round(holder.share)}/s now, ` +
      `${holder.usedLastMinute} in the last minute, ${holder.waiting} waiting  ${holder.command}`,
  );
  return `${[`${status.network}: ${facts.filter((fact) => fact !== undefined).join(', ')}`, ...lines].join('\n')}\n`;
}

function usedShare(used: number, limit: number): string {
  return Number.isFinite(limit) ? ` (${Math.round((100 * used) / (60 * limit))} % of it)` : '';
}

function round(value: number): string {
  return String(Math.round(value * 10) / 10);
}
