import { connect } from 'node:net';
import { oneLine, SourceError } from '../core/errors.ts';
import type { Environment } from '../http/dispatcher.ts';
import type { Network } from '../http/network.ts';
import type { Secret } from '../http/secret.ts';
import { readBudgetAddress } from '../redis/redis-address.ts';
import type { BudgetStatus } from './budget-status.ts';
import { type LeaderStatus, readToHolder, send } from './shared/leader-messages.ts';
import { STATE_HINT } from './shared/shared-limiter.ts';
import { openStateFolder, readLeader, readMemo, type StateFolder } from './shared/state-folder.ts';

const ANSWER_MS = 2000;

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
  const { network, apiKey, budget, env = process.env } = options;
  const address = readBudgetAddress(budget, env);
  if (address !== undefined) {
    const { redisBudgetStatus } = await import('./redis/redis-status.ts');
    return redisBudgetStatus({ network, apiKey, address, env });
  }
  const folder = network.baseUrl === undefined ? undefined : openReadable(env, network.baseUrl, apiKey);
  const memo = folder && readMemo(folder);
  const leader = folder && readLeader(folder);
  const live = leader === undefined || leader.socket === '' ? undefined : await askLeader(leader.socket);
  const last429 = live?.last429 ?? memo?.last429;
  return {
    network: network.name,
    limit: live?.rps ?? null,
    cap: live?.cap ?? null,
    usedLastMinute: live?.usedLastMinute ?? 0,
    heldMs: live?.heldMs ?? 0,
    holders: live?.holders ?? [],
    found: (live ?? memo)?.found ?? null,
    last429: last429 === undefined ? null : new Date(last429).toISOString(),
  };
}

function openReadable(env: Environment, baseUrl: string, key: Secret | undefined): StateFolder {
  try {
    return openStateFolder(env, baseUrl, key);
  } catch (cause) {
    const got = oneLine(cause instanceof Error ? cause.message : String(cause));
    throw new SourceError(`source: expected a writable state folder, got ${got}`, {
      code: 'no-state',
      hint: STATE_HINT,
      cause,
    });
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

function askLeader(path: string): Promise<LeaderStatus | undefined> {
  return new Promise((resolve) => {
    const socket = connect({ path });
    const timer = setTimeout(() => socket.destroy(), ANSWER_MS);
    readToHolder(socket, (message) => {
      if (message.kind === 'status') resolve(message.status);
      socket.end();
    });
    socket.once('connect', () => send(socket, { kind: 'status' }));
    socket.once('close', () => {
      clearTimeout(timer);
      resolve(undefined);
    });
  });
}
