import { spawn } from 'node:child_process';
import { JobError } from '../core/errors.ts';
import type { NoticeTarget } from './job-actions.ts';

/** Timeout of a notification. */
const NOTICE_MS = 30_000;

/** Sends a notification. @throws {JobError} `not-told` */
export async function sendNotice(target: NoticeTarget, body: string): Promise<void> {
  return target.kind === 'command' ? runProgram(target.command, body) : post(target.url, body);
}

async function post(url: string, body: string): Promise<void> {
  const { EnvHttpProxyAgent, fetch } = await import('undici');
  const { host } = new URL(url);
  const dispatcher = new EnvHttpProxyAgent();
  try {
    const headers = { 'content-type': 'application/json' };
    const signal = AbortSignal.timeout(NOTICE_MS);
    const answer = await fetch(url, { method: 'POST', headers, body, signal, dispatcher, redirect: 'error' });
    if (!answer.ok) throw notTold(`${host} answered ${answer.status}`);
  } catch (error) {
    // undici's message may contain the URL, which may contain a secret.
    throw error instanceof JobError ? error : notTold(`${host} could not be reached`);
  } finally {
    await dispatcher.destroy();
  }
}

async function runProgram([program = '', ...args]: readonly string[], body: string): Promise<void> {
  await new Promise<void>((resolve, reject) => {
    // With the `timeout` of spawn, this process would wait for a program that does not exist.
    const signal = AbortSignal.timeout(NOTICE_MS);
    const child = spawn(program, args, { stdio: ['pipe', 'ignore', 'inherit'], signal });
    child.once('error', (cause) => {
      reject(notTold(signal.aborted ? `${program} took too long` : `${program} cannot be started`, cause));
    });
    child.once('close', (code, signal) => {
      if (code === 0) resolve();
      else reject(notTold(`${program} exited with ${signal ?? code}`));
    });
    // A program need not read its input.
    child.stdin.on('error', () => undefined);
    child.stdin.end(body);
  });
}

function notTold(why: string, cause?: unknown): JobError {
  return new JobError(`job: notification failed: ${why}`, {
    code: 'not-told',
    hint: 'see tonlake job history for the result',
    cause,
  });
}
