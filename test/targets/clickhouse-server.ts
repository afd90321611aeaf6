import { spawn } from 'node:child_process';
import type { IncomingHttpHeaders } from 'node:http';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { PYTHON } from '../programs.ts';
import { afterFile, freshFolder } from '../scratch.ts';

export const CLICKHOUSE_PASSWORD = 'only-for-tests';

/**
 * Starts ClickHouse until the tests of the file end: its engine, as a library of Python, behind a server of its HTTP protocol, because no
 * registry has a server of our time.
 *
 * @returns URL of a database
 */
export async function startClickhouse(): Promise<string> {
  const script = fileURLToPath(new URL('clickhouse_server.py', import.meta.url));
  const server = spawn(PYTHON, [script, join(freshFolder(), 'clickhouse'), CLICKHOUSE_PASSWORD], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const ended = new Promise((resolve) => server.once('close', resolve));
  afterFile(async () => {
    server.kill('SIGKILL');
    await ended;
  });
  const port = await new Promise<string>((resolve, reject) => {
    server.stdout.setEncoding('utf8').once('data', (text: string) => resolve(text.trim()));
    server.once('close', () => reject(new Error('expected the server to start, got its end')));
  });
  return `http://lake@127.0.0.1:${port}/default`;
}

/** The rows of a query, every value as ClickHouse writes it; null is `\N`. */
export async function askClickhouse(url: string, sql: string): Promise<readonly (readonly string[])[]> {
  const headers = { authorization: `Basic ${Buffer.from(`lake:${CLICKHOUSE_PASSWORD}`).toString('base64')}` };
  const response = await fetch(new URL(url).origin, { method: 'POST', body: sql, headers });
  const text = await response.text();
  if (!response.ok) throw new Error(text);
  return text
    .split('\n')
    .slice(0, -1)
    .map((line) => line.split('\t'));
}

/** Passes a request of an exporter on, with its credentials. */
export async function forwardTo(
  url: string,
  query: URLSearchParams,
  body: string,
  { authorization = '' }: IncomingHttpHeaders,
): Promise<{ readonly status: number; readonly body: string }> {
  const answer = await fetch(`${new URL(url).origin}/?${query}`, { method: 'POST', body, headers: { authorization } });
  return { status: answer.status, body: await answer.text() };
}
