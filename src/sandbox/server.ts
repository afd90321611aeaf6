import { createServer, type IncomingHttpHeaders, type IncomingMessage, type ServerResponse } from 'node:http';
import { text } from 'node:stream/consumers';
import { promisify } from 'node:util';
import { brotliCompress, constants, gzip } from 'node:zlib';
import { portTaken } from '../core/errors.ts';

/** Path of the API. */
const BASE_PATH = '/api/v3';
/** Smaller bodies are not compressed. */
const MIN_COMPRESSED = 256;

const compressGzip = promisify(gzip);
const compressBrotli = promisify(brotliCompress);

export interface SandboxRequest {
  readonly method: string;
  /** Path and query as they were sent: `/jetton/masters?limit=5`. */
  readonly target: string;
  /** Below the base path: `/jetton/masters`. */
  readonly path: string;
  readonly query: URLSearchParams;
  readonly headers: IncomingHttpHeaders;
  /** Of a POST, else empty. */
  readonly body: string;
}

export interface SandboxAnswer {
  readonly status: number;
  readonly body: string | Buffer;
  /** Added to those of every answer. */
  readonly headers?: Readonly<Record<string, string>>;
}

/** Answers a request. If it rejects, the connection is closed without an answer. */
type Respond = (request: SandboxRequest) => SandboxAnswer | Promise<SandboxAnswer>;

/** An HTTP server on the loopback interface. */
export interface Listening {
  readonly url: string;
  readonly port: number;
  /** Ends all connections. */
  close(): Promise<void>;
}

interface ListenOptions {
  readonly compresses: boolean;
  /** Of every answer. */
  readonly headers: Readonly<Record<string, string>>;
}

/** @throws {UsageError} if the port is taken */
export async function listen(
  wanted: number,
  { compresses, headers }: ListenOptions,
  respond: Respond,
): Promise<Listening> {
  const serve = async (incoming: IncomingMessage, response: ServerResponse): Promise<void> => {
    const started = performance.now();
    const method = incoming.method ?? 'GET';
    const url = new URL(incoming.url ?? '/', 'http://sandbox');
    const body = method === 'POST' ? await text(incoming) : '';
    incoming.resume();
    const path = url.pathname.slice(BASE_PATH.length);
    const target = path + url.search;
    const answer = await respond({ method, target, path, query: url.searchParams, headers: incoming.headers, body });
    const encoding = compresses && answer.status === 200 ? acceptedBy(incoming) : undefined;
    await send(
      response,
      { ...answer, headers: { ...headers, ...answer.headers } },
      encoding,
      performance.now() - started,
    );
  };
  const server = createServer({ maxHeaderSize: 1 << 20, keepAliveTimeout: 60_000 }, (incoming, response) => {
    serve(incoming, response).catch(() => incoming.socket.destroy());
  });
  const port = await open(server, wanted);
  return {
    url: `http://127.0.0.1:${port}${BASE_PATH}`,
    port,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

async function send(
  response: ServerResponse,
  { status, body, headers }: SandboxAnswer,
  encoding: string | undefined,
  ms: number,
): Promise<void> {
  const plain = typeof body === 'string' ? Buffer.from(body) : body;
  const compressed = encoding !== undefined && plain.length >= MIN_COMPRESSED;
  const bytes = compressed ? await compress(plain, encoding) : plain;
  response.writeHead(status, {
    'content-type': 'application/json',
    'content-length': bytes.length,
    'x-api-version': '1.2.10',
    'server-timing': `app;dur=${ms.toFixed(3)}`,
    ...(compressed ? { 'content-encoding': encoding, vary: 'accept-encoding' } : {}),
    ...headers,
  });
  response.end(bytes);
}

/** The first encoding offered that the sandbox knows. */
function acceptedBy({ headers }: IncomingMessage): string | undefined {
  const offered = String(headers['accept-encoding'] ?? '')
    .split(',')
    .map((part) => part.split(';')[0]?.trim());
  return offered.find((name) => name === 'gzip' || name === 'br');
}

async function compress(body: Buffer, encoding: string): Promise<Buffer> {
  if (encoding === 'gzip') return compressGzip(body, { level: 1 });
  return compressBrotli(body, { params: { [constants.BROTLI_PARAM_QUALITY]: 1 } });
}

function open(server: ReturnType<typeof createServer>, port: number): Promise<number> {
  return new Promise((resolve, reject) => {
    server.once('error', (cause) => reject(portTaken(`127.0.0.1:${port}`, 'choose another port with --port', cause)));
    server.listen(port, '127.0.0.1', () => {
      const address = server.address();
      resolve(typeof address === 'object' ? (address?.port ?? port) : port);
    });
  });
}
