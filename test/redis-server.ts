import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { Redis } from 'ioredis';
import { freePort } from './free-port.ts';
import './programs.ts';
import { afterFile, freshFolder } from './scratch.ts';

const PROGRAM = process.env['REDIS_SERVER'] ?? 'redis-server';

/** True if a Redis server can be started; without one its tests are skipped. */
export const hasRedis = ((): boolean => {
  try {
    return execFileSync(PROGRAM, ['--version'], { encoding: 'utf8' }).includes('v=');
  } catch {
    return false;
  }
})();

export interface RedisServer {
  readonly port: number;
  readonly url: string;
  /** Kills the server and starts an empty one at the same port. */
  restart(): Promise<void>;
  kill(): Promise<void>;
  /** It stays connected, and answers nothing more. */
  hang(): void;
  /** For questions of a test. */
  readonly client: Redis;
}

/** A Redis server of its own, without a file on the disk. */
export async function startRedis(options: readonly string[] = []): Promise<RedisServer> {
  const port = await freePort();
  const isTls = options.includes('--tls-port');
  const args = [...(isTls ? ['--port', '0'] : ['--port', String(port)]), '--bind', '127.0.0.1', '--save', ''];
  const all = [
    ...args,
    '--dir',
    freshFolder(),
    ...options.map((option) => (option === 'PORT' ? String(port) : option)),
  ];
  let child: ChildProcess;
  const start = async (): Promise<void> => {
    child = spawn(PROGRAM, all, { stdio: ['ignore', 'pipe', 'inherit'] });
    let text = '';
    for await (const chunk of child.stdout ?? []) {
      text += String(chunk);
      if (text.includes('Ready to accept connections')) break;
    }
    if (child.exitCode !== null) throw new Error(`redis-server ended: ${text}`);
  };
  const kill = async (): Promise<void> => {
    if (child.exitCode !== null || child.signalCode !== null) return;
    const ended = once(child, 'exit');
    child.kill('SIGKILL');
    await ended;
  };
  await start();
  const client = new Redis({ port, host: '127.0.0.1', lazyConnect: true, retryStrategy: () => 50 });
  client.on('error', () => undefined);
  afterFile(() => kill());
  afterFile(() => client.disconnect());
  const restart = async (): Promise<void> => {
    await kill();
    await start();
  };
  return {
    port,
    url: `${isTls ? 'rediss' : 'redis'}://127.0.0.1:${port}`,
    restart,
    kill,
    hang: () => void child.kill('SIGSTOP'),
    client,
  };
}
