import { spawn } from 'node:child_process';
import { JobError } from '../core/errors.ts';

/** Where a notification goes: a program with arguments, or a URL. */
export type NoticeTarget =
  | { readonly kind: 'command'; readonly command: readonly string[] }
  | { readonly kind: 'webhook'; readonly url: string };

/** Timeout of a notification. */
const NOTICE_MS = 30_000;

export interface NoticeOptions {
  /** Ends a notification that is being sent, which fails then. */
  readonly signal?: AbortSignal | undefined;
  /** Where the output of a program goes. Default: nowhere. */
  readonly stdout?: 'stderr' | undefined;
  /** The error for a failure. Default: a {@link JobError} `not-told`. */
  readonly fault?: ((why: string, cause: unknown) => Error) | undefined;
}

/** Why a notification failed. */
class NoticeFailure extends Error {}

/** Sends a notification. @throws {JobError} `not-told`, or `fault` of the options */
export async function sendNotice(target: NoticeTarget, body: string, options: NoticeOptions = {}): Promise<void> {
  try {
    await (target.kind === 'command' ? runProgram(target.command, body, options) : post(target.url, body, options));
  } catch (error) {
    if (!(error instanceof NoticeFailure)) throw error;
    throw (options.fault ?? notTold)(error.message, error.cause);
  }
}

async function post(url: string, body: string, { signal }: NoticeOptions): Promise<void> {
  const { EnvHttpProxyAgent, fetch } = await import('undici');
  const { host } = new URL(url);
  const dispatcher = new EnvHttpProxyAgent();
  const limit = limited(signal);
  try {
    const headers = { 'content-type': 'application/json' };
    const request = { method: 'POST', headers, body, dispatcher, redirect: 'error' } as const;
    const answer = await fetch(url, { ...request, signal: limit.signal });
    if (!answer.ok) throw new NoticeFailure(`${host} answered ${answer.status}`);
  } catch (error) {
    // undici's message may contain the URL, which may contain a secret.
    throw error instanceof NoticeFailure ? error : new NoticeFailure(`${host} could not be reached`);
  } finally {
    limit.release();
    await dispatcher.destroy();
  }
}

async function runProgram(
  [program = '', ...args]: readonly string[],
  body: string,
  { signal: stop, stdout }: NoticeOptions,
): Promise<void> {
  // With the `timeout` of spawn, this process would wait for a program that does not exist.
  const limit = limited(stop);
  try {
    await new Promise<void>((resolve, reject) => {
      const { signal } = limit;
      const output = stdout === 'stderr' ? 2 : 'ignore';
      const child = spawn(program, args, { stdio: ['pipe', output, 'inherit'], signal });
      child.once('error', (cause) => {
        const why = signal.aborted ? `${program} took too long` : `${program} cannot be started`;
        reject(new NoticeFailure(why, { cause }));
      });
      child.once('close', (code, killed) => {
        if (code === 0) resolve();
        else reject(new NoticeFailure(`${program} exited with ${killed ?? code}`));
      });
      // A program need not read its input.
      child.stdin?.on('error', () => undefined);
      child.stdin?.end(body);
    });
  } finally {
    limit.release();
  }
}

/**
 * A signal that is aborted with that of the caller, or after the timeout. That of `linkSignals` has no limit of listeners, which undici's
 * `fetch` refuses on Node 20.
 */
function limited(signal: AbortSignal | undefined): { readonly signal: AbortSignal; release(): void } {
  const controller = new AbortController();
  const stop = (): void => controller.abort();
  const timer = setTimeout(stop, NOTICE_MS);
  if (signal?.aborted === true) stop();
  signal?.addEventListener('abort', stop, { once: true });
  return {
    signal: controller.signal,
    release: () => {
      clearTimeout(timer);
      signal?.removeEventListener('abort', stop);
    },
  };
}

function notTold(why: string, cause: unknown): JobError {
  return new JobError(`job: notification failed: ${why}`, {
    code: 'not-told',
    hint: 'the run itself is not affected: job list shows its result',
    cause,
  });
}
