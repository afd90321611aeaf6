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

/** Reads an answer of the server. @throws {ApiError} */
export async function get<T>(path: string, signal?: AbortSignal): Promise<T> {
  return answerOf(await fetch(path, signal === undefined ? {} : { signal }));
}

/** @throws {ApiError} */
export async function post<T>(path: string, body: unknown, signal: AbortSignal): Promise<T> {
  const headers = { 'Content-Type': 'application/json' };
  return answerOf(await fetch(path, { method: 'POST', headers, body: JSON.stringify(body), signal }));
}

async function answerOf<T>(response: Response): Promise<T> {
  if (response.ok) return response.json();
  const text = await response.text();
  let failure: Failure = { error: text.trim() || `${response.status}`, code: String(response.status) };
  if (response.headers.get('content-type')?.startsWith('application/json') === true) failure = JSON.parse(text);
  throw new ApiError(failure);
}
