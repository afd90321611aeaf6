import type { Sandbox } from '../src/sandbox/index.ts';
import { type LocalServer, serve } from './http/server.ts';

export interface Passed {
  readonly status: number;
  readonly body: string;
}

/**
 * A server between a client and a sandbox, closed when the test ends. `change` sees each answer before it goes out.
 *
 * @param change path below the base URL, and the answer; undefined leaves it as it is
 */
export function proxy(
  sandbox: Sandbox,
  change: (target: URL, answer: Passed) => Passed | undefined,
): Promise<LocalServer> {
  return serve(async (request, response) => {
    const target = new URL((request.url ?? '/').replace('/api/v3', ''), 'http://sandbox');
    const answer = await fetch(`${sandbox.url}${target.pathname}${target.search}`);
    const sent = { status: answer.status, body: await answer.text() };
    const { status, body } = change(target, sent) ?? sent;
    response.writeHead(status, { 'content-type': 'application/json', 'x-hashes': 'made-up' });
    response.end(body);
  });
}

/** An answer with another list under a key. */
export function withRows<Row>(answer: Passed, key: string, change: (rows: readonly Row[]) => readonly Row[]): Passed {
  const parsed: Record<string, readonly Row[] | undefined> = JSON.parse(answer.body);
  const rows = parsed[key];
  return rows === undefined ? answer : { ...answer, body: JSON.stringify({ ...parsed, [key]: change(rows) }) };
}
