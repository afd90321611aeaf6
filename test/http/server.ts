import { createServer, type IncomingMessage, type RequestListener, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { onTestFinished } from 'vitest';
import { resolveNetwork } from '../../src/http/network.ts';
import type { SourceRequest } from '../../src/http/request.ts';
import { Source, type SourceOptions } from '../../src/http/source.ts';
import { fakeClock } from '../rate-limit/clock.ts';

export interface LocalServer {
  readonly baseUrl: string;
  readonly port: number;
  /** Method and target of every request, in order of arrival. */
  readonly requests: string[];
  readonly headers: IncomingMessage['headers'][];
  /** How many connections were opened. */
  readonly sockets: { opened: number };
  /** Stops listening and drops all connections. */
  stop(): Promise<void>;
}

/** A real server on a free port of this machine, closed when the test ends. */
export async function serve(listener: RequestListener): Promise<LocalServer> {
  const requests: string[] = [];
  const headers: IncomingMessage['headers'][] = [];
  const sockets = { opened: 0 };
  const server = createServer((request, response) => {
    requests.push(`${request.method} ${request.url}`);
    headers.push(request.headers);
    listener(request, response);
  });
  server.on('connection', () => sockets.opened++);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  // A TCP server has an address with a port.
  const { port } = server.address() as AddressInfo;
  const stop = async (): Promise<void> => {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  };
  onTestFinished(stop);
  return { baseUrl: `http://127.0.0.1:${port}/api/v3`, port, requests, headers, sockets, stop };
}

export type Step = (response: ServerResponse, request: IncomingMessage) => void;

/** Answers the first request by the first step, and so on; the last step answers all that follow. */
export function serveSteps(...steps: readonly Step[]): Promise<LocalServer> {
  let next = 0;
  return serve((request, response) => {
    const step = steps[Math.min(next++, steps.length - 1)];
    step?.(response, request);
  });
}

export function json(status: number, value: unknown, headers: Readonly<Record<string, string>> = {}): Step {
  return (response) => {
    response.writeHead(status, { 'content-type': 'application/json', ...headers });
    response.end(JSON.stringify(value));
  };
}

export function html(status: number, text: string): Step {
  return (response) => {
    response.writeHead(status, { 'content-type': 'text/html' });
    response.end(text);
  };
}

/** A source for an address, on a fake clock unless told otherwise, closed when the test ends. */
export function open(baseUrl: string, options: Partial<SourceOptions> = {}): Source {
  const source = new Source({ network: resolveNetwork(baseUrl), effects: fakeClock(), env: {}, ...options });
  onTestFinished(() => source.close());
  return source;
}

export const BLOCKS: SourceRequest = { path: '/blocks', query: [['mc_seqno', '5']], label: 'blocks 5' };

export async function fetchText(source: Source, ask: SourceRequest = BLOCKS): Promise<string> {
  return source.fetch(ask, (answer) => answer.body.toString());
}

/** What a promise is rejected with. */
export async function rejection(promise: Promise<unknown>): Promise<unknown> {
  return promise.then(
    (value) => {
      throw new Error(`expected a rejection, got ${JSON.stringify(value)}`);
    },
    (reason: unknown) => reason,
  );
}
