import { Writable } from 'node:stream';
import { setImmediate } from 'node:timers/promises';

export interface Surroundings {
  /** The whole environment. */
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Current folder; default: as it is. */
  readonly cwd?: string | undefined;
}

export interface Outcome {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

let running: string | undefined;

/**
 * Lets a command of this process believe that it has a process of its own: standard streams, environment, folder, warnings and
 * exit code.
 *
 * @param name for the error of the second of two commands at once
 */
export async function inProcess(
  name: string,
  surroundings: Surroundings,
  command: () => Promise<void>,
): Promise<Outcome> {
  if (running !== undefined) throw new Error(`${name} was started while ${running} runs in this process`);
  running = name;
  const stdout = new Collected();
  const stderr = new Collected();
  const leave = enter(stdout, stderr, surroundings);
  try {
    await command();
    // Warnings of a process come a tick late.
    await setImmediate();
    return { code: Number(process.exitCode ?? 0), stdout: stdout.text(), stderr: stderr.text() };
  } finally {
    leave();
    running = undefined;
  }
}

/** @returns what gives the process its own streams, environment and folder back */
function enter(stdout: Writable, stderr: Writable, { env, cwd }: Surroundings): () => void {
  const own = { env: { ...process.env }, folder: process.cwd(), exitCode: process.exitCode };
  const listeners = process.listeners('warning');
  const streams = (['stdout', 'stderr'] as const).map(
    (name) => [name, Object.getOwnPropertyDescriptor(process, name) ?? {}] as const,
  );
  setEnv(env);
  if (cwd !== undefined) process.chdir(cwd);
  process.exitCode = undefined;
  Object.defineProperty(process, 'stdout', { value: stdout, configurable: true });
  Object.defineProperty(process, 'stderr', { value: stderr, configurable: true });
  return () => {
    for (const [name, stream] of streams) Object.defineProperty(process, name, stream);
    process.removeAllListeners('warning');
    for (const listener of listeners) process.on('warning', listener);
    process.exitCode = own.exitCode;
    process.chdir(own.folder);
    setEnv(own.env);
  };
}

/** In place, so that libraries that are not JavaScript see it too. */
function setEnv(env: Surroundings['env']): void {
  for (const name of Object.keys(process.env)) if (env[name] === undefined) delete process.env[name];
  for (const [name, value] of Object.entries(env)) if (value !== undefined) process.env[name] = value;
}

/** Keeps what is written to it, as a pipe would pass it on. */
class Collected extends Writable {
  readonly #chunks: Buffer[] = [];

  override _write(chunk: Buffer, _encoding: BufferEncoding, done: () => void): void {
    this.#chunks.push(chunk);
    done();
  }

  text(): string {
    return Buffer.concat(this.#chunks).toString('utf8');
  }
}
