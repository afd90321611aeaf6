import { createHash } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
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
const JSON_TYPE = 'application/json';
/** Endpoints that answer every failure with 422, also a timeout. */
const ALWAYS_422 = new Set(['accountStates', 'walletStates', 'dns/records']);
/** Answers smaller than this are sent as they are. */
const LEAST_COMPRESSED = 256;

const compressGzip = promisify(gzip);
const compressBrotli = promisify(brotliCompress);

/** All that answering needs. */
export interface Service {
  readonly view: View;
  readonly faults: () => SandboxFaults;
  readonly apiKey: string | undefined;
  readonly chance: Chance;
  readonly holes: Holes;
  readonly bucket: Bucket;
  readonly log: RequestLog;
  readonly nowMs: () => number;
  readonly sleep: (ms: number) => Promise<void>;
}

/** One request, read. */
interface Asked {
  readonly method: string;
  readonly path: string;
  readonly url: URL;
  readonly started: number;
  /** The body of a POST. */
  readonly posted: string;
}

interface Answer {
  readonly status: number;
  readonly type: string;
  readonly body: string | Buffer;
  readonly headers?: Readonly<Record<string, string>>;
}

/** Answers one request below the base path. */
export async function serve(service: Service, request: IncomingMessage, response: ServerResponse): Promise<void> {
  const { log, nowMs } = service;
  const started = nowMs();
  log.begin(started);
  const method = request.method ?? 'GET';
  const url = new URL(request.url ?? '/', 'http://sandbox');
  const path = url.pathname.slice(BASE_PATH.length).replace(/^\//, '');
  let status = 0;
  try {
    const posted = method === 'POST' ? await textOf(request) : '';
    request.resume();
    status = await respond(service, request, response, { method, path, url, started, posted });
  } finally {
    log.end({ method, path, query: url.search, status });
  }
}

async function respond(
  service: Service,
  request: IncomingMessage,
  response: ServerResponse,
  asked: Asked,
): Promise<number> {
  const { path, url, started } = asked;
  const faults = service.faults();
  const refused = refusal(service, request, url, started);
  if (refused !== undefined) return send(response, refused, undefined, undefined, started, service);
  const encoding = faults.gzip ? accepted(request.headers['accept-encoding']) : undefined;
  const fate = service.chance.next(faults, url.pathname + url.search, (spoiler) => canAct(spoiler, path, encoding));
  if (fate.slow) await service.sleep(faults.slowMs);
  if (fate.spoiler === 'dropConnection') {
    request.socket.destroy();
    return 0;
  }
  const answered = spoiled(fate.spoiler, faults, path) ?? make(service, request, asked, fate);
  return send(response, answered, encoding, fate, started, service);
}

async function textOf(request: IncomingMessage): Promise<string> {
  const chunks: Uint8Array[] = [];
  for await (const chunk of request) chunks.push(chunk);
  return Buffer.concat(chunks).toString();
}

function refusal(service: Service, request: IncomingMessage, url: URL, started: number): Answer | undefined {
  const key = request.headers['x-api-key'] ?? url.searchParams.get('api_key');
  if (service.apiKey !== undefined && key !== service.apiKey) return { status: 401, type: JSON_TYPE, body: KEY_BODY };
  const faults = service.faults();
  return service.bucket.take(faults.rps, started) ? undefined : rateLimited(faults);
}

function rateLimited(faults: SandboxFaults): Answer {
  const headers: Record<string, string> = faults.retryAfter > 0 ? { 'retry-after': String(faults.retryAfter) } : {};
  return { status: 429, type: JSON_TYPE, body: RATE_BODY, headers };
}

function canAct(spoiler: Spoiler, path: string, encoding: 'gzip' | 'br' | undefined): boolean {
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
      return {
        status: ALWAYS_422.has(path) ? 422 : 500,
        type: JSON_TYPE,
        body: '{"error":"timeout: context deadline exceeded"}',
      };
    case 'http502Html':
      return { status: 502, type: 'text/html', body: HTML_BODY };
    default:
      return undefined;
  }
}

function make(service: Service, request: IncomingMessage, asked: Asked, fate: Fate): Answer {
  const { method, path, url } = asked;
  const params = new Params(url.searchParams, request.headers);
  for (const name of ['seqno', 'mc_seqno']) {
    if (name === 'mc_seqno' || path !== 'blocks')
      service.holes.asked(service.faults(), Number(url.searchParams.get(name) ?? Number.NaN));
  }
  try {
    const body = answer(service.view, method, path, params, {
      shuffle: fate.roll,
      lag: fate.lag,
      body: asked.posted,
      contentType: request.headers['content-type'],
    });
    return { status: 200, type: JSON_TYPE, body: tamper(withOmissions(service.faults(), path, body, fate), fate) };
  } catch (error) {
    if (error instanceof ApiError)
      return { status: error.status, type: JSON_TYPE, body: `{"error":${jsonText(error.message)}}` };
    const text = error instanceof Error ? error.message : String(error);
    return { status: 500, type: JSON_TYPE, body: `{"error":${jsonText(`internal server error: ${text}`)}}` };
  }
}

/** A list without some of its records. */
function withOmissions(faults: SandboxFaults, path: string, body: string | Buffer, fate: Fate): string | Buffer {
  const omission = faults.omits.find((each) => each.path === path);
  if (omission === undefined) return body;
  const most = omission.rate * 4294967296;
  return omit(body.toString(), (record, place) => {
    const about = omission.lasting ? createHash('md5').update(record).digest().readUInt32LE(0) : fate.roll;
    return mixOf(about, omission.lasting ? 0 : place, 0x0317) < most;
  });
}

function tamper(body: string | Buffer, fate: Fate): string | Buffer {
  const short =
    fate.spoiler === 'shortBlocks' ? 'blocks' : fate.spoiler === 'shortTransactions' ? 'transactions' : undefined;
  if (short === undefined && !fate.rawControls && !fate.extraField) return body;
  let text = body.toString();
  if (short !== undefined) text = shorten(text, short, fate.roll % 3);
  if (fate.extraField) text = addExtraFields(text);
  return fate.rawControls ? rawControls(text) : text;
}

/** What to compress with: brotli where it is offered alone, or first. */
function accepted(header: string | string[] | undefined): 'gzip' | 'br' | undefined {
  const offered = String(header ?? '')
    .split(',')
    .map((part) => part.split(';')[0]?.trim());
  return offered.find((name) => name === 'gzip' || name === 'br');
}

async function send(
  response: ServerResponse,
  answered: Answer,
  encoding: 'gzip' | 'br' | undefined,
  fate: Fate | undefined,
  started: number,
  service: Service,
): Promise<number> {
  let body: Buffer = Buffer.from(answered.body);
  if (fate?.spoiler === 'truncatedJson' && answered.status === 200)
    body = body.subarray(0, Math.floor(body.length * 0.6));
  const compressed = encoding !== undefined && answered.status === 200 && body.length >= LEAST_COMPRESSED;
  if (compressed) body = await compress(body, encoding);
  if (compressed && fate?.spoiler === 'brokenGzip') body = damage(body, fate.roll);
  response.writeHead(answered.status, {
    'content-type': answered.type,
    'content-length': body.length,
    'x-api-version': '1.2.10',
    'server-timing': `app;dur=${(service.nowMs() - started).toFixed(3)}`,
    ...(compressed ? { 'content-encoding': encoding, vary: 'accept-encoding' } : {}),
    ...answered.headers,
  });
  if (fate?.spoiler === 'cutBody') {
    response.write(body.subarray(0, Math.floor(body.length / 2)), () => response.destroy());
    return answered.status;
  }
  response.end(body);
  return answered.status;
}

async function compress(body: Buffer, encoding: 'gzip' | 'br'): Promise<Buffer> {
  if (encoding === 'gzip') return compressGzip(body, { level: 1 });
  return compressBrotli(body, { params: { [constants.BROTLI_PARAM_QUALITY]: 1 } });
}

/** Half of the time the end is missing, else bytes in the middle are wrong. */
function damage(body: Buffer, roll: number): Buffer {
  if (roll % 2 === 0) return body.subarray(0, Math.floor(body.length * 0.7));
  const middle = Math.floor(body.length / 2);
  const wrong = Buffer.from(body);
  for (let at = middle; at < Math.min(middle + 16, wrong.length); at += 1) wrong[at] = (wrong[at] ?? 0) ^ 0xa5;
  return wrong;
}
