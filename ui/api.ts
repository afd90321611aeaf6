import type { Failure } from '../src/ui/ui-types.ts';

/** What the server says about a request that failed. */
export class ApiError extends Error {
  readonly code: string;
  readonly hint: string | undefined;
  readonly excerpt: string | undefined;

  constructor({ error, code, hint, excerpt }: Failure) {
    super(error);
    this.code = code;
    this.hint = hint;
    this.excerpt = excerpt;
  }
}

export function asError(cause: unknown): Error {
  return cause instanceof Error ? cause : new Error(String(cause));
}

const STORED = 'tonlake session';

/** Headers that let this tab pass. The first address brings a key, for which the tab gets a session, once. */
let entered: Promise<Readonly<Record<string, string>>> | undefined;

async function enter(): Promise<Readonly<Record<string, string>>> {
  const [, key] = /^#key=(.+)$/.exec(location.hash) ?? [];
  if (key !== undefined) {
    // Neither the address bar nor the history keeps it.
    history.replaceState(null, '', location.pathname + location.search);
    const headers = { 'Content-Type': 'application/json', Authorization: `Bearer ${key}` };
    const answer = await fetch('/api/entry', { method: 'POST', headers });
    if (answer.ok) sessionStorage.setItem(STORED, (await answer.json()).session);
  }
  const session = sessionStorage.getItem(STORED);
  return session === null ? {} : { Authorization: `Bearer ${session}` };
}

/** A request of this tab. */
export async function send(path: string, options: RequestInit = {}): Promise<Response> {
  entered ??= enter();
  return fetch(path, { ...options, headers: { ...(await entered), ...options.headers } });
}

/** Reads an answer of the server. @throws {ApiError} */
export async function get<T>(path: string, signal?: AbortSignal): Promise<T> {
  return answerOf(await send(path, signal === undefined ? {} : { signal }));
}

/** @throws {ApiError} */
export async function post<T>(path: string, body: unknown, signal: AbortSignal): Promise<T> {
  const headers = { 'Content-Type': 'application/json' };
  return answerOf(await send(path, { method: 'POST', headers, body: JSON.stringify(body), signal }));
}

async function answerOf<T>(response: Response): Promise<T> {
  if (response.ok) return response.json();
  const text = await response.text();
  let failure: Failure = { error: text.trim() || `${response.status}`, code: String(response.status) };
  if (response.headers.get('content-type')?.startsWith('application/json') === true) failure = JSON.parse(text);
  throw new ApiError(failure);
}
