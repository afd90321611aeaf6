import { gzipSync } from 'node:zlib';
import { mixOf } from '../../src/sandbox/chain/mix.ts';
import type { SandboxAnswer, SandboxRequest } from '../../src/sandbox/index.ts';
import type { Faults } from './faults.ts';
import { joined, listIn, textOf } from './lists.ts';

const SPOILERS = [
  'http429',
  'http500Timeout',
  'http502Html',
  'dropConnection',
  'cutBody',
  'brokenGzip',
  'truncatedJson',
  'shortBlocks',
] as const;

/** A fault that spoils one response. */
type Spoiler = (typeof SPOILERS)[number];

/** What happens to one request. */
export type ProcessState = ReturnType<Chance['next']>;

/** Maximum failures of one URL in a row. */
const MAX_IN_A_ROW = 2;
const TIMEOUT = '{"error":"timeout: context deadline exceeded"}';
const RATE_BODY = '{"ok": false, "result": "Ratelimit exceed", "code": 429}';
const HTML_BODY =
  '<html>\r\n<head><title>502 Bad Gateway</title></head>\r\n<body>\r\n<center><h1>502 Bad Gateway</h1></center>\r\n<hr><center>nginx</center>\r\n</body>\r\n</html>\r\n';
/** Endpoints whose failures all have status 422, even timeouts. */
const ALWAYS_422 = new Set(['/accountStates', '/walletStates', '/dns/records']);
const BLOCK_LISTS = new Set(['/blocks', '/masterchainBlockShards']);

/** Whether a random number is within a rate. */
export function isHit(rate: number, random: number): boolean {
  return random < rate * 4294967296;
}

export function timeoutOf({ path }: SandboxRequest): SandboxAnswer {
  return { status: ALWAYS_422.has(path) ? 422 : 500, body: TIMEOUT };
}

/** Decides from the seed and the number of a request what goes wrong with it. */
export class Chance {
  readonly #seed: number;
  readonly #failures = new Map<string, number>();
  #count = 0;

  constructor(seed: number) {
    this.#seed = seed;
  }

  /** The fate of the next request. */
  next(faults: Faults, { path, target, headers }: SandboxRequest) {
    this.#count += 1;
    const isChosen = (rate: number, salt: number): boolean => isHit(rate, mixOf(this.#seed, this.#count, salt));
    const gzip = faults.gzip && /\bgzip\b/.test(String(headers['accept-encoding'] ?? ''));
    const canAct = (spoiler: Spoiler): boolean =>
      spoiler === 'brokenGzip' ? gzip : spoiler !== 'shortBlocks' || BLOCK_LISTS.has(path);
    const before = this.#failures.get(target) ?? 0;
    const spoiler =
      before >= MAX_IN_A_ROW
        ? undefined
        : SPOILERS.find((name, index) => isChosen(faults[name], index + 1) && canAct(name));
    if (spoiler === undefined) this.#failures.delete(target);
    else this.#failures.set(target, before + 1);
    const roll = mixOf(this.#seed, this.#count, 77);
    return {
      spoiler,
      gzip,
      slow: isChosen(faults.slow, 50),
      lag: isChosen(faults.headLags, 51) ? 1 + (roll % 3) : 0,
      rawControls: isChosen(faults.rawControls, 52),
      extraField: isChosen(faults.extraField, 53),
      /** A random number. */
      roll,
    };
  }
}

/** The response in place of an answer; undefined if it is answered. @throws if the connection is to be closed */
export function refused({ spoiler }: ProcessState, request: SandboxRequest, faults: Faults): SandboxAnswer | undefined {
  switch (spoiler) {
    case 'http429': {
      const { retryAfter } = faults;
      return { status: 429, body: RATE_BODY, headers: retryAfter > 0 ? { 'retry-after': String(retryAfter) } : {} };
    }
    case 'http500Timeout':
      return timeoutOf(request);
    case 'http502Html':
      return { status: 502, body: HTML_BODY, headers: { 'content-type': 'text/html' } };
    case 'dropConnection':
      throw new Error('the connection is dropped');
    default:
      return undefined;
  }
}

/** Changes the text of a good answer, its compressed form, or its end. */
export function spoiled(answer: SandboxAnswer, { spoiler, roll, ...fate }: ProcessState): SandboxAnswer {
  if (answer.status !== 200) return answer;
  let text: string | undefined;
  if (spoiler === 'shortBlocks') text = shortened(textOf(answer), roll % 3);
  if (fate.extraField) text = withExtraFields(text ?? textOf(answer));
  if (fate.rawControls) text = withRawControls(text ?? textOf(answer));
  let body: Buffer = Buffer.from(text ?? answer.body);
  if (spoiler === 'truncatedJson') body = body.subarray(0, Math.floor(body.length * 0.6));
  const headers: Record<string, string> = { ...answer.headers };
  if (fate.gzip) {
    body = gzipSync(body, { level: 1 });
    headers['content-encoding'] = 'gzip';
    if (spoiler === 'brokenGzip') body = damaged(body, roll);
  }
  if (spoiler === 'cutBody') {
    Object.assign(headers, { 'content-length': String(body.length), connection: 'close' });
    body = body.subarray(0, Math.floor(body.length / 2));
  }
  return { ...answer, body, headers };
}

function shortened(body: string, kept: number): string {
  const list = listIn(body);
  return list === undefined ? body : joined({ ...list, records: list.records.slice(0, kept) });
}

/** Cuts off the end, or changes bytes in the middle. */
function damaged(body: Buffer, roll: number): Buffer {
  if (roll % 2 === 0) return body.subarray(0, Math.floor(body.length * 0.7));
  const middle = Math.floor(body.length / 2);
  return Buffer.from(body.map((byte, at) => (at >= middle && at < middle + 16 ? byte ^ 0xa5 : byte)));
}

/** Adds undocumented fields to every block, transaction and message. */
function withExtraFields(body: string): string {
  const extra = '"suspended":false,"new_in_2027":{"a":[1,2]}';
  return body
    .replaceAll('"finality":"finalized"}', `"finality":"finalized",${extra}}`)
    .replaceAll('"message_content":{', `${extra},"message_content":{`)
    .replaceAll('"masterchain_block_ref":{', `${extra},"masterchain_block_ref":{`);
}

const SHORT: Readonly<Record<string, string>> = { n: '\n', t: '\t', r: '\r' };

/** Control characters instead of their escapes: the same text, but not strictly valid JSON. */
function withRawControls(body: string): string {
  return body.replace(/\\(?:u00([01][0-9a-f])|([\s\S]))/g, (whole, code: string | undefined, short: string) => {
    if (code === undefined) return SHORT[short] ?? whole;
    return code === '00' ? whole : String.fromCharCode(Number.parseInt(code, 16));
  });
}
