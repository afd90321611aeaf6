import { z } from 'zod';
import type { Environment } from '../../http/dispatcher.ts';
import type { Network } from '../../http/network.ts';
import type { Secret } from '../../http/secret.ts';
import type { RedisAddress } from '../../redis/redis-address.ts';
import type { BudgetStatus } from '../budget-status.ts';
import { PRIORITIES } from '../priority.ts';
import { BudgetServer } from './budget-server.ts';

const label = z.object({
  pid: z.number(),
  host: z.string(),
  command: z.string(),
  share: z.number(),
  usedLastMinute: z.number(),
});
const holder = z.object({ label: z.string(), rps: z.string(), priority: z.number(), waiting: z.number() });
const answer = z.object({
  rps: z.number().optional(),
  cap: z.number().optional(),
  found: z.number().optional(),
  last429: z.number().optional(),
  heldMs: z.number(),
  holders: z.array(holder).optional(),
});

export interface RedisStatusOptions {
  readonly network: Network;
  readonly apiKey: Secret | undefined;
  readonly address: RedisAddress;
  readonly env: Environment;
}

/** The state of the limit that machines share. @throws {SourceError} if the server cannot be used */
export async function redisBudgetStatus(options: RedisStatusOptions): Promise<BudgetStatus> {
  const { network, apiKey, address, env } = options;
  const server = new BudgetServer(address, env, network.baseUrl ?? '', apiKey);
  try {
    const {
      rps,
      cap,
      found,
      last429,
      heldMs,
      holders = [],
    } = answer.parse(JSON.parse(String(await server.run('status'))));
    const shown = holders.map(({ label: text, rps: told, priority, waiting }) => {
      const { share, usedLastMinute, ...process } = label.parse(JSON.parse(text));
      return {
        ...process,
        priority: PRIORITIES[priority] ?? 'backfill',
        rps: told === 'auto' ? ('auto' as const) : Number(told),
        ...{ share, usedLastMinute, waiting },
      };
    });
    return {
      network: network.name,
      ...{ limit: rps ?? null, cap: cap ?? null, found: found ?? null, heldMs },
      usedLastMinute: shown.reduce((sum, { usedLastMinute }) => sum + usedLastMinute, 0),
      last429: last429 === undefined ? null : new Date(last429).toISOString(),
      holders: shown.sort((a, b) => a.host.localeCompare(b.host) || a.pid - b.pid),
    };
  } finally {
    server.close();
  }
}
