import { type ChildProcess, spawn } from 'node:child_process';
import { setTimeout as delay } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import type { Priority } from '../../src/rate-limit/priority.ts';
import { startTestSandbox } from '../faults/test-sandbox.ts';
import { afterFile } from '../scratch.ts';

const CLIENT = fileURLToPath(new URL('client.mjs', import.meta.url));

export interface Limited {
  readonly url: string;
  /** Answers since the start. */
  counts(): { readonly accepted: number; readonly refused: number };
  end(): Promise<void>;
}

/** A sandbox that is limited to so many requests per second. */
export async function startLimited(rps: number): Promise<Limited> {
  const sandbox = await startTestSandbox({ rps });
  return {
    url: sandbox.url,
    counts: () => {
      const all = Object.values(sandbox.requests.stats().paths).flatMap((statuses) => Object.entries(statuses));
      const sum = (status: string): number => all.reduce((total, [name, n]) => total + (name === status ? n : 0), 0);
      return { accepted: sum('200'), refused: sum('429') };
    },
    end: () => sandbox.close(),
  };
}

export interface Client {
  readonly pid: number;
  kill(signal: NodeJS.Signals): void;
}

export interface ClientOptions {
  readonly url: string;
  readonly rps: number | 'auto';
  readonly state: string;
  readonly priority?: Priority;
  readonly concurrency?: number;
  readonly env?: Readonly<Record<string, string>>;
}

/** A process that asks as fast as its budget allows. */
export function startClient({
  url,
  rps,
  state,
  priority = 'backfill',
  concurrency = 24,
  env = {},
}: ClientOptions): Client {
  const child = start([CLIENT, url, String(rps), priority, String(concurrency)], { TONLAKE_STATE_DIR: state, ...env });
  child.stdout?.resume();
  return { pid: child.pid ?? 0, kill: (signal) => child.kill(signal) };
}

/** Waits until so many answers have come. */
export async function untilAnswered(server: Limited, answers: number): Promise<void> {
  while (server.counts().accepted < answers) await delay(50);
}

export interface Measured {
  /** Accepted requests as a share of the limit. */
  readonly used: number;
  readonly accepted: number;
  readonly refused: number;
}

/** What a server answers within a time from now on. */
export async function measure(server: Limited, limit: number, ms: number): Promise<Measured> {
  const before = server.counts();
  const from = performance.now();
  await delay(ms);
  const after = server.counts();
  const seconds = (performance.now() - from) / 1000;
  const accepted = after.accepted - before.accepted;
  return { used: accepted / (limit * seconds), accepted, refused: after.refused - before.refused };
}

/** Waits for two seconds in which so much of a limit was used. */
export async function untilUsed(server: Limited, limit: number, share: number): Promise<void> {
  while ((await measure(server, limit, 2000)).used < share);
}

function start(args: readonly string[], env: Readonly<Record<string, string>>): ChildProcess {
  const child = spawn(process.execPath, args, {
    stdio: ['pipe', 'pipe', 'inherit'],
    env: { PATH: process.env['PATH'], ...env },
  });
  afterFile(() => child.kill('SIGKILL'));
  return child;
}
