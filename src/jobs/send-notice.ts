import { spawn } from 'node:child_process';
import { JobError } from '../core/errors.ts';
import { failedWith } from '../core/failed-with.ts';
import { unescaped } from '../core/unescaped.ts';
import { linkSignals } from '../http/linked-signal.ts';
import { requestWhole } from '../http/whole-response.ts';

/** Where a notification goes: a program with arguments, or a URL. */
export type NoticeTarget =
  | { readonly kind: 'command'; readonly command: readonly string[] }
  | { readonly kind: 'webhook'; readonly url: string };

/** Timeout of a notification. */
const NOTICE_MS = 30_000;
/** Maximum size of the response, which is ignored. */
const RESPONSE_BYTES = 16 * 2 ** 20;

export interface NoticeOptions {
  /** Aborts the notification, which then fails. */
  readonly signal?: AbortSignal | undefined;
  /** Destination of the output of a program. Default: ignored. */
  readonly stdout?: 'stderr' | undefined;
  /** The error for a failure. Default: a {@link JobError}. */
  readonly fault?: ((why: string, cause: unknown) => Error) | undefined;
}

/** Why a notification failed. */
class NoticeFailure extends Error {}

/** Sends a notification. @throws {JobError}, or `fault` of the options */
export async function sendNotice(target: NoticeTarget, body: string, options: NoticeOptions = {}): Promise<void> {
  const limit = linkSignals([options.signal, AbortSignal.timeout(NOTICE_MS)]);
  try {
    if (target.kind === 'webhook') await post(target.url, body, limit.signal);
    else await runProgram(target.command, body, limit.signal, options.stdout);
  } catch (error) {
    if (!(error instanceof NoticeFailure)) throw error;
    throw (options.fault ?? noticeFailed)(error.message, error.cause);
  } finally {
    limit.release();
  }
}

async function post(url: string, body: string, signal: AbortSignal): Promise<void> {
  const { openRoute } = await import('../http/dispatcher.ts');
  const { host, origin, pathname, search, username, password } = new URL(url);
  const limits = { concurrency: 1, timeoutMs: NOTICE_MS, maxBytes: RESPONSE_BYTES };
  const { dispatcher } = openRoute({ baseUrl: origin, ...limits, env: process.env });
  try {
    const authorization = username === '' && password === '' ? {} : { authorization: basicOf(username, password) };
    const headers = { 'content-type': 'application/json', ...authorization };
    const request = { method: 'POST', origin, path: `${pathname}${search}`, headers, body } as const;
    const { status } = await requestWhole({ ...request, dispatcher, signal, timeoutMs: NOTICE_MS }).catch(() => {
      // undici's message may contain the URL, which may contain a secret.
      throw new NoticeFailure(`${host} could not be reached`);
    });
    if (status < 200 || status >= 300) throw new NoticeFailure(`${host} answered ${status}`);
  } finally {
    await dispatcher.destroy();
  }
}

/** User and password of a URL as a header. */
function basicOf(...parts: readonly [user: string, password: string]): string {
  return `Basic ${Buffer.from(parts.map(unescaped).join(':')).toString('base64')}`;
}

async function runProgram(
  [program = '', ...args]: readonly string[],
  body: string,
  signal: AbortSignal,
  stdout: NoticeOptions['stdout'],
): Promise<void> {
  await new Promise<void>((resolve, reject) => {
    const output = stdout === 'stderr' ? 2 : 'ignore';
    // With the `timeout` of spawn, this process would wait for a program that does not exist.
    // In its own process group, because a shell starts further processes.
    const child = spawn(program, args, { stdio: ['pipe', output, 'inherit'], detached: true });
    const end = (): void => {
      killGroup(child.pid);
      reject(new NoticeFailure(`${program} took too long`, { cause: signal.reason }));
    };
    if (signal.aborted) end();
    else signal.addEventListener('abort', end, { once: true });
    child.once('error', (cause) => {
      signal.removeEventListener('abort', end);
      reject(new NoticeFailure(`${program} cannot be started`, { cause }));
    });
    child.once('close', (code, killed) => {
      signal.removeEventListener('abort', end);
      if (code === 0) resolve();
      else reject(new NoticeFailure(`${program} exited with ${killed ?? code}`));
    });
    // A program need not read its input.
    child.stdin?.on('error', () => undefined);
    child.stdin?.end(body);
  });
}

function killGroup(pid: number | undefined): void {
  if (pid === undefined) return;
  try {
    process.kill(-pid, 'SIGTERM');
  } catch (error) {
    // The group has just ended.
    if (!failedWith(error, 'ESRCH')) throw error;
  }
}

function noticeFailed(why: string, cause: unknown): JobError {
  return new JobError(`job: notification failed: ${why}`, {
    hint: 'the run itself is not affected: job list shows its result',
    cause,
  });
}
