import { DeliveryError, type UsageError, usage } from '../core/errors.ts';
import { sha256Of } from '../core/sha256.ts';
import type { NoticeFields } from './job-schema.ts';
import { type NoticeTarget, sendNotice } from './send-notice.ts';

type Env = Readonly<Record<string, string | undefined>>;

/** A receiver of lines, alerts, or job results. */
export interface DeliveryTarget {
  readonly notice: NoticeTarget;
  /** For messages: the host of a URL, which may contain a secret, or the program. */
  readonly name: string;
  /** 12 hex digits. A target with another address or command has another key, and its own position. */
  readonly key: string;
}

/** Sends one body to a target. @throws {DeliveryError}; the reason of the signal when it is aborted */
export type Send = (target: DeliveryTarget, body: string, signal: AbortSignal) => Promise<void>;

/** Sends to the real target. The output of a command goes to standard error, because a program may read standard output. */
export const sendTo: Send = async ({ notice, name }, body, signal) => {
  await sendNotice(notice, body, {
    signal,
    stdout: 'stderr',
    fault: (why, cause) => new DeliveryError(`delivery to ${name}: ${why}`, { retryable: true, cause }),
  });
  signal.throwIfAborted();
};

/** Sends a body until it is taken. @throws {DeliveryError} the last one, after all attempts */
export type Sender = (target: DeliveryTarget, body: string) => Promise<void>;

/**
 * The target of `--on-commit`: a URL, `env:NAME` for a URL in a variable, or a command for the shell.
 *
 * @throws {UsageError}
 */
export function parseDeliveryTarget(text: string, env: Env): DeliveryTarget {
  const [, variable] = /^env:(\w+)$/.exec(text) ?? [];
  if (variable !== undefined) return noticeTarget({ webhook_env: variable }, env);
  if (/^[a-z][a-z0-9+.-]*:\/\//i.test(text)) return urlTarget(text);
  return commandTarget(['sh', '-c', text], text.trim().split(/\s/)[0] ?? '');
}

/** The target of an item of `notify`. @throws {UsageError} */
export function noticeTarget({ webhook, webhook_env: variable = '', command }: NoticeFields, env: Env): DeliveryTarget {
  if (command !== undefined) return commandTarget(command);
  return webhook === undefined ? variableTarget(variable, env) : urlTarget(webhook);
}

/** A URL in an environment variable, which may change without changing the key. @throws {UsageError} */
function variableTarget(variable: string, env: Env): DeliveryTarget {
  const url = env[variable];
  if (url === undefined || !isWebAddress(url)) {
    const got = url === undefined ? 'none' : 'something else';
    throw badTarget(`a URL in ${variable}, got ${got}`, `set ${variable} in the environment`);
  }
  return { notice: { kind: 'webhook', url }, name: variable, key: sha256Of(`env:${variable}`, 12) };
}

function urlTarget(url: string): DeliveryTarget {
  // The rest of the URL may be secret.
  const scheme = url.slice(0, url.indexOf('://') + 3);
  if (!isWebAddress(url))
    throw badTarget(
      `a URL such as https://example.org/hook, got ${scheme}...`,
      'only http:// and https:// are possible',
    );
  return { notice: { kind: 'webhook', url }, name: new URL(url).host, key: sha256Of(url, 12) };
}

function isWebAddress(url: string): boolean {
  return /^https?:\/\//.test(url) && URL.canParse(url);
}

function badTarget(expected: string, hint: string): UsageError {
  return usage(expected, undefined, hint);
}

function commandTarget(command: readonly string[], name = command[0] ?? ''): DeliveryTarget {
  return { notice: { kind: 'command', command }, name, key: sha256Of(JSON.stringify(command), 12) };
}
