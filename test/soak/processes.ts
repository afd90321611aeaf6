import { type ChildProcess, spawn } from 'node:child_process';
import { setTimeout as delay } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import type { Priority } from '../../src/rate-limit/priority.ts';
import { afterFile } from '../scratch.ts';

const CLI = fileURLToPath(new URL('../../dist/src/cli.js', import.meta.url));
const CLIENT = fileURLToPath(new URL('client.mjs', import.meta.url));

export interface Limited {
  readonly url: string;
  /** Answers since the start. */
  counts(): Promise<{ readonly accepted: number; readonly refused: number }>;
  end(): void;
}

/** A sandbox in a process of its own, limited to so many requests per second. */
export async function startLimited(rps: number): Promise<Limited> {
  const child = start([CLI, 'sandbox', '--port', '0', '--rps', String(rps)], {});
  const url = await new Promise<string>((resolve, reject) => {
    let text = '';
    child.stdout?.on('data', (chunk) => {
      text += String(chunk);
      const [, found] = /sandbox at (\S+),/.exec(text) ?? [];
      if (found !== undefined) resolve(found);
    });
    child.once('exit', (code) => reject(new Error(`the sandbox ended with ${code}`)));
  });
  const admin = url.replace(/\/api\/v3$/, '/admin');
  return {
    url,
    counts: async () => {
      // The sandbox is ours: its statistics are counts by path and status.
      const { paths } = (await (await fetch(`${admin}/stats`)).json()) as {
        paths: Record<string, Record<string, number>>;
      };
      const all = Object.values(paths).flatMap((statuses) => Object.entries(statuses));
      const sum = (status: string): number => all.reduce((total, [name, n]) => total + (name === status ? n : 0), 0);
      return { accepted: sum('200'), refused: sum('429') };
    },
    end: () => child.kill('SIGKILL'),
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
  while ((await server.counts()).accepted < answers) await delay(50);
}

export interface Measured {
  /** Accepted requests as a share of the limit. */
  readonly used: number;
  readonly accepted: number;
  readonly refused: number;
}

/** What a server answers within a time from now on. */
export async function measure(server: Limited, limit: number, ms: number): Promise<Measured> {
  const before = await server.counts();
  const from = performance.now();
  await delay(ms);
  const after = await server.counts();
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
