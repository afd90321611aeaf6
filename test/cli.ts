import { spawn } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { runCommandLine } from '../src/cli/command-line.ts';
import { inProcess } from './in-process.ts';
import { afterFile } from './scratch.ts';

/** The compiled command line, by a link as packages have one; `npm run build` makes it. */
export const CLI = fileURLToPath(new URL('bin/tonlake', import.meta.url));

export interface CliOptions {
  readonly env?: Readonly<Record<string, string>>;
  readonly cwd?: string;
  /** Standard input; stays open until `end` when it is not given. */
  readonly input?: string;
  /** Flags of Node itself. */
  readonly node?: readonly string[];
}

export interface Finished {
  /** Undefined when a signal ended the process. */
  readonly code: number | undefined;
  readonly signal: NodeJS.Signals | undefined;
  readonly stdout: string;
  readonly stderr: string;
}

/** A command under way. */
export interface Running {
  readonly pid: number;
  /** Resolves as soon as what was printed so far matches. @throws when the process ends before. */
  until(stream: 'stdout' | 'stderr', pattern: RegExp): Promise<void>;
  /** Sends a line, and closes standard input. */
  end(): void;
  /** Reads no more of what is printed, as `head` does. */
  closeOutput(): void;
  kill(signal: NodeJS.Signals): void;
  readonly finished: Promise<Finished>;
}

/**
 * Runs a command line to its end in this process, which spares the start of another one. For signals, commands at once, and
 * the end of a process: `startTonlake`.
 *
 * @param args one by one, or as they are typed
 * @param run of another build
 */
export async function tonlake(
  args: readonly string[] | string,
  options: Pick<CliOptions, 'env' | 'cwd'> = {},
  run = runCommandLine,
): Promise<Finished> {
  const surroundings = { env: envOf(options), cwd: options.cwd };
  const words = typeof args === 'string' ? wordsOf(args) : args;
  const argv = [process.execPath, CLI, ...words];
  const outcome = await inProcess(`tonlake ${words.join(' ')}`, surroundings, () => run(argv));
  return { ...outcome, signal: undefined };
}

/** The words of a command, as a shell splits them. */
export function wordsOf(command: string): readonly string[] {
  return [...command.matchAll(/"([^"]*)"|'([^']*)'|(\S+)/g)].map(([, a, b, word]) => a ?? b ?? word ?? '');
}

/** The environment of a command: ours without any setting of ours, and what a test sets. */
function envOf({ env }: Pick<CliOptions, 'env'>): Record<string, string | undefined> {
  const outside = Object.entries(process.env).filter(
    ([name]) => !/^(TONLAKE_|HTTPS?_PROXY$|NODE_|VITEST|npm_)/i.test(name),
  );
  return { ...Object.fromEntries(outside), ...env };
}

/** Starts the real program, without any setting of ours in its environment. It ends with the file's tests at the latest. */
export function startTonlake(args: readonly string[], options: CliOptions = {}): Running {
  return startNode([...(options.node ?? []), CLI, ...args], options);
}

/** Starts a Node process, which ends with the file's tests at the latest. */
export function startNode(args: readonly string[], options: CliOptions = {}): Running {
  const child = spawn(process.execPath, args, { cwd: options.cwd, env: envOf(options), stdio: 'pipe' });
  afterFile(() => child.kill('SIGKILL'));
  const printed = { stdout: '', stderr: '' };
  for (const name of ['stdout', 'stderr'] as const) {
    child[name].setEncoding('utf8').on('data', (text: string) => {
      printed[name] += text;
    });
  }
  child.stdin.on('error', () => undefined);
  if (options.input !== undefined) child.stdin.end(options.input);
  const finished = new Promise<Finished>((resolve, reject) => {
    child.once('error', reject);
    child.once('close', (code, signal) => {
      resolve({ code: code ?? undefined, signal: signal ?? undefined, ...printed });
    });
  });
  return {
    pid: child.pid ?? 0,
    finished,
    end: () => {
      child.stdin.end('\n');
    },
    closeOutput: () => {
      child.stdout.destroy();
    },
    kill: (signal) => {
      child.kill(signal);
    },
    until: (stream, pattern) =>
      new Promise((resolve, reject) => {
        const look = (): void => {
          if (!pattern.test(printed[stream])) return;
          child[stream].off('data', look);
          resolve();
        };
        child[stream].on('data', look);
        child.once('close', () => reject(new Error(`ended without ${pattern}: ${printed.stdout}${printed.stderr}`)));
        look();
      }),
  };
}
