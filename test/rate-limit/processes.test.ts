import { setTimeout as delay } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { resolveNetwork } from '../../src/http/network.ts';
import { budgetStatus } from '../../src/rate-limit/budget-status.ts';
import { freshFolder } from '../scratch.ts';
import { startClient, startLimited, untilAnswered, untilUsed } from '../soak/processes.ts';

// A short sample of `npm run soak:rate`. A busy machine may take its time to get there, but there is no excuse for a 429.
test('two processes share one limit without a 429, and a kill gives the other the whole', async () => {
  const limit = 20;
  const server = await startLimited(limit);
  const state = freshFolder();
  const first = startClient({ url: server.url, rps: limit, state });
  await untilAnswered(server, 1);
  const other = startClient({ url: server.url, rps: limit, state });
  const network = resolveNetwork(server.url);
  const status = () => budgetStatus({ network, env: { TONLAKE_STATE_DIR: state } });
  while ((await status()).holders.length < 2) await delay(50);

  await untilUsed(server, limit, 0.85);
  expect((await status()).holders.map(({ pid }) => pid).sort()).toEqual([first.pid, other.pid].sort());

  first.kill('SIGKILL');
  // Half of it was the other's before.
  await untilUsed(server, limit, 0.8);
  while ((await status()).holders.length > 1) await delay(50);
  expect((await status()).holders).toMatchObject([{ pid: other.pid }]);
  expect((await server.counts()).refused).toBe(0);
  server.end();
});
