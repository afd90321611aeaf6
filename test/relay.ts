import { createServer, type IncomingHttpHeaders } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterFile } from './scratch.ts';

/** One request on its way to a server, and its answer. */
export interface Passing {
  readonly method: string;
  /** Below the base path, with a slash: `/nft/items`. */
  readonly path: string;
  readonly query: URLSearchParams;
  readonly headers: IncomingHttpHeaders;
  /** Of a POST. */
  readonly body: string;
  /** The server's own answer. */
  forward(): Promise<Replied>;
}

export interface Replied {
  readonly status: number;
  readonly body: string;
}

/** A server of this machine that passes requests on to another. */
export interface Relay {
  readonly url: string;
  /** Every request so far: path and query. */
  readonly requests: string[];
  /** Changes what is answered from now on; undefined answers as the server does. */
  answer: ((passing: Passing) => Replied | Promise<Replied>) | undefined;
}

/** Starts a relay that ends with the file's tests. */
export async function startRelay(target: string): Promise<Relay> {
  const base = new URL(target);
  const requests: string[] = [];
  const server = createServer(async (request, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    const { method = 'GET', url = '' } = request;
    const asked = new URL(url, base);
    const headers = { 'content-type': 'application/json', 'x-hashes': 'made-up' };
    const body = Buffer.concat(chunks).toString();
    requests.push(`${asked.pathname.slice(base.pathname.length)}${asked.search}`);
    const passing: Passing = {
      method,
      path: asked.pathname.slice(base.pathname.length),
      query: asked.searchParams,
      headers: request.headers,
      body,
      forward: async () => {
        const answer = await fetch(asked, { method, headers, ...(method === 'POST' ? { body } : {}) });
        return { status: answer.status, body: await answer.text() };
      },
    };
    const replied = await (relay.answer?.(passing) ?? passing.forward());
    response.writeHead(replied.status, headers).end(replied.body);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  afterFile(() => server.close());
  // A TCP server has an address with a port.
  const { port } = server.address() as AddressInfo;
  const relay: Relay = { url: `http://127.0.0.1:${port}${base.pathname}`, requests, answer: undefined };
  return relay;
}
