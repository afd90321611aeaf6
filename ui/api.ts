import type { Failure } from '../src/ui/ui-types.ts';

/** The error of a failed request, as the server reports it. */
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

/** Headers that authorize this tab: it exchanges the key of the first address for a session, once. */
let entered: Promise<Readonly<Record<string, string>>> | undefined;

async function enter(): Promise<Readonly<Record<string, string>>> {
  const [, key] = /^#key=(.+)$/.exec(location.hash) ?? [];
  if (key !== undefined) {
    // Removes the key from the address bar and the history.
    history.replaceState(null, '', location.pathname + location.search);
    const headers = { 'Content-Type': 'application/json', Authorization: `Bearer ${key}` };
    const response = await fetch('/api/entry', { method: 'POST', headers });
    if (response.ok) sessionStorage.setItem(STORED, (await response.json()).session);
  }
  const session = sessionStorage.getItem(STORED);
  return session === null ? {} : { Authorization: `Bearer ${session}` };
}

/** Sends a request with the headers of this tab. */
export async function send(path: string, options: RequestInit = {}): Promise<Response> {
  entered ??= enter();
  return fetch(path, { ...options, headers: { ...(await entered), ...options.headers } });
}

/** Reads JSON from the server. @throws {ApiError} */
export async function get<T>(path: string, signal?: AbortSignal): Promise<T> {
  return resultOf(await send(path, signal === undefined ? {} : { signal }));
}

/** @throws {ApiError} */
export async function post<T>(path: string, body: unknown, signal: AbortSignal): Promise<T> {
  const headers = { 'Content-Type': 'application/json' };
  return resultOf(await send(path, { method: 'POST', headers, body: JSON.stringify(body), signal }));
}

async function resultOf<T>(response: Response): Promise<T> {
  if (response.ok) return response.json();
  const text = await response.text();
  let failure: Failure = { error: text.trim() || `${response.status}`, code: String(response.status) };
  if (response.headers.get('content-type')?.startsWith('application/json') === true) failure = JSON.parse(text);
  throw new ApiError(failure);
}
