import { createHash } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { text } from 'node:stream/consumers';
import { setTimeout as delay } from 'node:timers/promises';
import { promisify } from 'node:util';
import { brotliCompress, constants, gzip } from 'node:zlib';
import { ApiError, Params } from './api/params.ts';
import { answer } from './api/route.ts';
import type { View } from './api/view.ts';
import { mixOf } from './chain/mix.ts';
import type { Bucket, Chance, Fate, Holes, Spoiler } from './chance.ts';
import type { SandboxFaults } from './faults.ts';
import { jsonText } from './page/json.ts';
import type { RequestLog } from './stats.ts';
import { addExtraFields, omit, rawControls, shorten } from './tamper.ts';

/** Path of the API. */
export const BASE_PATH = '/api/v3';

const RATE_BODY = '{"ok": false, "result": "Ratelimit exceed", "code": 429}';
const KEY_BODY = '{"ok": false, "code": 401, "error": "API key does not exist"}';
const HTML_BODY =
  '<html>\r\n<head><title>502 Bad Gateway</title></head>\r\n<body>\r\n<center><h1>502 Bad Gateway</h1></center>\r\n<hr><center>nginx</center>\r\n</body>\r\n</html>\r\n';
/** Endpoints whose failures all have status 422, even timeouts. */
const ALWAYS_422 = new Set(['accountStates', 'walletStates', 'dns/records']);
/** Smaller bodies are not compressed. */
const LEAST_COMPRESSED = 256;

const compressGzip = promisify(gzip);
const compressBrotli = promisify(brotliCompress);

type Encoding = 'gzip' | 'br' | undefined;

export interface Service {
  readonly view: View;
  readonly faults: () => SandboxFaults;
  readonly apiKey: string | undefined;
  readonly chance: Chance;
  readonly holes: Holes;
  readonly bucket: Bucket;
  readonly log: RequestLog;
  readonly nowMs: () => number;
}

/** A request with its body. */
interface Asked {
  readonly request: IncomingMessage;
  readonly method: string;
  readonly path: string;
  readonly url: URL;
  readonly started: number;
  readonly posted: string;
}

interface Answer {
  readonly status: number;
  readonly body: string | Buffer;
  readonly headers?: Readonly<Record<string, string>>;
}

/** Responds to a request below the base path. */
export async function serve(service: Service, request: IncomingMessage, response: ServerResponse): Promise<void> {
  const { log, nowMs } = service;
  const started = nowMs();
  log.begin(started);
  const method = request.method ?? 'GET';
  const url = new URL(request.url ?? '/', 'http://sandbox');
  const path = url.pathname.slice(BASE_PATH.length).replace(/^\//, '');
  let status = 0;
  try {
    const posted = method === 'POST' ? await text(request) : '';
    request.resume();
    status = await respond(service, response, { request, method, path, url, started, posted });
  } finally {
    log.end({ method, path, query: url.search, status });
  }
}

/** Responds; returns the status, 0 for none. */
async function respond(service: Service, response: ServerResponse, asked: Asked): Promise<number> {
  const { request, path, url } = asked;
  const faults = service.faults();
  const refused = refusal(service, asked);
  if (refused !== undefined) return send(service, response, asked, refused);
  const encoding = faults.gzip ? accepted(request.headers['accept-encoding']) : undefined;
  const fate = service.chance.next(faults, url.pathname + url.search, (spoiler) => canAct(spoiler, path, encoding));
  if (fate.slow) await delay(faults.slowMs);
  if (fate.spoiler === 'dropConnection') {
    request.socket.destroy();
    return 0;
  }
  return send(
    service,
    response,
    asked,
    spoiled(fate.spoiler, faults, path) ?? make(service, asked, fate),
    fate,
    encoding,
  );
}

function refusal(service: Service, { request, url, started }: Asked): Answer | undefined {
  const key = request.headers['x-api-key'] ?? url.searchParams.get('api_key');
  if (service.apiKey !== undefined && key !== service.apiKey) return { status: 401, body: KEY_BODY };
  const faults = service.faults();
  return service.bucket.take(faults.rps, started) ? undefined : rateLimited(faults);
}

function rateLimited({ retryAfter }: SandboxFaults): Answer {
  return { status: 429, body: RATE_BODY, headers: retryAfter > 0 ? { 'retry-after': String(retryAfter) } : {} };
}

function canAct(spoiler: Spoiler, path: string, encoding: Encoding): boolean {
  switch (spoiler) {
    case 'brokenGzip':
      return encoding !== undefined;
    case 'shortBlocks':
      return path === 'blocks' || path === 'masterchainBlockShards';
    case 'shortTransactions':
      return path.startsWith('transactions');
    default:
      return true;
  }
}

function spoiled(spoiler: Spoiler | undefined, faults: SandboxFaults, path: string): Answer | undefined {
  switch (spoiler) {
    case 'http429':
      return rateLimited(faults);
    case 'http500Timeout':
      return { status: ALWAYS_422.has(path) ? 422 : 500, body: '{"error":"timeout: context deadline exceeded"}' };
    case 'http502Html':
      return { status: 502, body: HTML_BODY, headers: { 'content-type': 'text/html' } };
    default:
      return undefined;
  }
}

function make({ view, holes, faults }: Service, asked: Asked, fate: Fate): Answer {
  const { request, method, path, url } = asked;
  for (const name of path === 'blocks' ? ['mc_seqno'] : ['seqno', 'mc_seqno'])
    holes.asked(faults(), Number(url.searchParams.get(name) ?? Number.NaN));
  try {
    const body = answer(view, method, path, new Params(url.searchParams, request.headers), {
      shuffle: fate.roll,
      lag: fate.lag,
      body: asked.posted,
      contentType: request.headers['content-type'],
    });
    return { status: 200, body: tamper(withOmissions(faults(), path, body, fate), fate) };
  } catch (error) {
    if (error instanceof ApiError) return { status: error.status, body: `{"error":${jsonText(error.message)}}` };
    const message = error instanceof Error ? error.message : String(error);
    return { status: 500, body: `{"error":${jsonText(`internal server error: ${message}`)}}` };
  }
}

/** A list without the records that a fault omits. */
function withOmissions(faults: SandboxFaults, path: string, body: string | Buffer, fate: Fate): string | Buffer {
  const omission = faults.omits.find((each) => each.path === path);
  if (omission === undefined) return body;
  const most = omission.rate * 4294967296;
  return omit(body.toString(), (record, place) => {
    const about = omission.lasting ? createHash('md5').update(record).digest().readUInt32LE(0) : fate.roll;
    return mixOf(about, omission.lasting ? 0 : place, 0x0317) < most;
  });
}

function tamper(body: string | Buffer, { spoiler, roll, ...fate }: Fate): string | Buffer {
  const isShort = spoiler === 'shortBlocks' || spoiler === 'shortTransactions';
  if (!isShort && !fate.rawControls && !fate.extraField) return body;
  let json = body.toString();
  if (isShort) json = shorten(json, spoiler === 'shortBlocks' ? 'blocks' : 'transactions', roll % 3);
  if (fate.extraField) json = addExtraFields(json);
  return fate.rawControls ? rawControls(json) : json;
}

/** The first encoding offered that the sandbox knows. */
function accepted(header: string | string[] | undefined): Encoding {
  const offered = String(header ?? '')
    .split(',')
    .map((part) => part.split(';')[0]?.trim());
  return offered.find((name) => name === 'gzip' || name === 'br');
}

async function send(
  { nowMs }: Service,
  response: ServerResponse,
  { started }: Asked,
  answered: Answer,
  fate?: Fate,
  encoding?: Encoding,
): Promise<number> {
  let body = typeof answered.body === 'string' ? Buffer.from(answered.body) : answered.body;
  const isGood = answered.status === 200;
  if (fate?.spoiler === 'truncatedJson' && isGood) body = body.subarray(0, Math.floor(body.length * 0.6));
  const compressed = encoding !== undefined && isGood && body.length >= LEAST_COMPRESSED;
  if (compressed) body = await compress(body, encoding);
  if (compressed && fate?.spoiler === 'brokenGzip') body = damage(body, fate.roll);
  response.writeHead(answered.status, {
    'content-type': 'application/json',
    'content-length': body.length,
    'x-api-version': '1.2.10',
    // The hashes of a virtual chain of millions of blocks are not those of cells.
    'x-hashes': 'made-up',
    'server-timing': `app;dur=${(nowMs() - started).toFixed(3)}`,
    ...(compressed ? { 'content-encoding': encoding, vary: 'accept-encoding' } : {}),
    ...answered.headers,
  });
  if (fate?.spoiler === 'cutBody')
    response.write(body.subarray(0, Math.floor(body.length / 2)), () => response.destroy());
  else response.end(body);
  return answered.status;
}

async function compress(body: Buffer, encoding: 'gzip' | 'br'): Promise<Buffer> {
  if (encoding === 'gzip') return compressGzip(body, { level: 1 });
  return compressBrotli(body, { params: { [constants.BROTLI_PARAM_QUALITY]: 1 } });
}

/** Cuts off the end, or changes bytes in the middle. */
function damage(body: Buffer, roll: number): Buffer {
  if (roll % 2 === 0) return body.subarray(0, Math.floor(body.length * 0.7));
  const middle = Math.floor(body.length / 2);
  const wrong = Buffer.from(body);
  for (let at = middle; at < Math.min(middle + 16, wrong.length); at += 1) wrong[at] = (wrong[at] ?? 0) ^ 0xa5;
  return wrong;
}
