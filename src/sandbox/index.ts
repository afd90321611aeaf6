import { usage } from '../core/errors.ts';
import { ApiError } from './api/api-error.ts';
import { calls } from './api/calls.ts';
import { chainLists } from './api/chain-lists.ts';
import { eventLists } from './api/event-lists.ts';
import type { Endpoint } from './api/list.ts';
import { type EndpointKey, ParsedRequest } from './api/parsed-request.ts';
import { pendingLists } from './api/pending.ts';
import { stateLists } from './api/state-lists.ts';
import { tokenLists } from './api/token-lists.ts';
import { type View, viewOf } from './api/view.ts';
import { MAX_BLOCKS } from './chain/clock.ts';
import { mixOf } from './chain/mix.ts';
import { jsonText } from './page/json.ts';
import { listen, type SandboxAnswer, type SandboxRequest } from './server.ts';

export type { SandboxAnswer, SandboxRequest } from './server.ts';

/** Default of `actionLag`, in blocks: actions come at least a second after their block. */
const ACTION_LAG = 3;
/** Longer chains have made-up hashes: those of cells would have to be computed from the first block to the last. */
const MAX_BLOCKS_WITH_CELLS = 10_000;
/** More transactions do not fit between the logical times of two blocks. */
const MAX_ACTIVITY = 8;
/** The gateway's answer to requests above the rate. */
const TOO_MANY: SandboxAnswer = { status: 429, body: '{"ok": false, "result": "Ratelimit exceed", "code": 429}' };

export interface SandboxOptions {
  /** Port on 127.0.0.1; 0, the default, takes a free one. */
  readonly port?: number | undefined;
  /** Seed from which all data is generated. Default 1. */
  readonly seed?: number | undefined;
  /** Masterchain seqno of the head at the start; the first is 1. Default 10,000, at most 10,000,000. */
  readonly blocks?: number | undefined;
  /** Interval at which the head grows by one, in milliseconds. Default: the head is fixed. */
  readonly blockMs?: number | undefined;
  /** Requests per second, with a burst of one second; more get status 429. Default: no limit. */
  readonly rps?: number | undefined;
  /** Compress for clients that accept gzip or brotli. Default false. */
  readonly gzip?: boolean | undefined;
  /** Number of blocks by which actions lag behind the head. Default 3 if the head grows, else 0. */
  readonly actionLag?: number | undefined;
  /** Adds more than 3,000 jetton transfers at one lt to this masterchain block, or the next one with a shard block. Default: none. */
  readonly tieSeqno?: number | undefined;
  /** Time between two masterchain blocks, in milliseconds; how fast the head grows is `blockMs`. Default 400. */
  readonly blockTimeMs?: number | undefined;
  /** Multiplier for the number of transactions, normally about 16 per block: 0 to 8. Default 1. */
  readonly activity?: number | undefined;
  /** Monotonic clock in milliseconds, for growth and rate limit. Default: the real one. */
  readonly nowMs?: () => number;
  /**
   * Answers each request instead of the sandbox, to see how a program takes errors and wrong answers. `answer` gives the true answer;
   * if the promise rejects, the connection is closed without an answer.
   */
  readonly intercept?: (request: SandboxRequest, answer: () => SandboxAnswer) => SandboxAnswer | Promise<SandboxAnswer>;
}

/** A running sandbox network. */
export interface Sandbox {
  /** Base address, `http://127.0.0.1:PORT/api/v3`. */
  readonly url: string;
  readonly port: number;
  /** Masterchain seqno of the newest block. */
  readonly head: () => number;
  /** The answer to a GET, such as `/blocks?mc_seqno=5`, without HTTP, rate limit and `intercept`. */
  readonly ask: (target: string) => SandboxAnswer;
  /** Ends all connections. */
  close(): Promise<void>;
}

/**
 * Starts a network that imitates the API over HTTP on the loopback interface. Same seed, same bytes.
 * @throws {UsageError} when an option is out of range or the port is taken
 */
export async function startSandbox(options: SandboxOptions = {}): Promise<Sandbox> {
  const { seed = 1, blocks = 10_000, blockMs, blockTimeMs = 400, activity = 1, intercept } = options;
  if (!Number.isInteger(blocks) || blocks < 1 || blocks > MAX_BLOCKS) {
    throw usage(`1 to ${MAX_BLOCKS} blocks`, blocks, undefined, { of: 'sandbox' });
  }
  if (!(activity >= 0 && activity <= MAX_ACTIVITY)) {
    throw usage(`an activity of 0 to ${MAX_ACTIVITY}`, activity, undefined, { of: 'sandbox' });
  }
  if (!Number.isInteger(blockTimeMs) || blockTimeMs < 1) {
    throw usage('a block time in whole milliseconds', blockTimeMs, undefined, { of: 'sandbox' });
  }
  const nowMs = options.nowMs ?? (() => performance.now());
  const startedAt = nowMs();
  const head = (): number =>
    blockMs === undefined ? blocks : Math.min(MAX_BLOCKS, blocks + Math.floor((nowMs() - startedAt) / blockMs));
  const actionLag = options.actionLag ?? (blockMs === undefined ? 0 : ACTION_LAG);
  const hasCells = blocks <= MAX_BLOCKS_WITH_CELLS;
  const view = viewOf(seed, head, { tieSeqno: options.tieSeqno, activity, blockTimeMs, actionLag, hasCells });
  const bucket = new TokenBucket(options.rps);
  let requests = 0;
  const respond = (request: SandboxRequest): SandboxAnswer => {
    if (!bucket.take(nowMs())) return TOO_MANY;
    requests += 1;
    return answer(view, request, requests);
  };
  const headers = hasCells ? {} : { 'x-hashes': 'made-up' };
  const listening = await listen(options.port ?? 0, { compresses: options.gzip ?? false, headers }, (request) =>
    intercept === undefined ? respond(request) : intercept(request, () => respond(request)),
  );
  const ask = (target: string): SandboxAnswer => {
    const { pathname: path, searchParams: query } = new URL(target, 'http://sandbox');
    return answer(view, { method: 'GET', target, path, query, headers: {}, body: '' }, requests);
  };
  return { ...listening, head, ask };
}

/** Every endpoint of the vendored facts. */
const ENDPOINTS: Readonly<Record<EndpointKey, Endpoint>> = {
  ...calls,
  ...chainLists,
  ...eventLists,
  ...pendingLists,
  ...stateLists,
  ...tokenLists,
};

function isEndpoint(key: string): key is EndpointKey {
  return Object.hasOwn(ENDPOINTS, key);
}

/** Answers a request. @param count number of the request, which decides the order of ties */
function answer(view: View, request: SandboxRequest, count: number): SandboxAnswer {
  try {
    const shuffle = mixOf(view.chain.seed, count, 77);
    const { path } = request;
    const method = request.method === 'HEAD' ? 'GET' : request.method;
    const key = `${method} ${path}`;
    if (isEndpoint(key)) return { status: 200, body: ENDPOINTS[key](new ParsedRequest(view, request, key, shuffle)) };
    const isKnown = isEndpoint(`GET ${path}`);
    const problem = isKnown ? 'Method Not Allowed' : `Cannot ${method} ${path.slice(1)}`;
    throw new ApiError(500, `internal server error: ${problem}`);
  } catch (error) {
    if (error instanceof ApiError) return { status: error.status, body: `{"error":${jsonText(error.message)}}` };
    const message = error instanceof Error ? error.message : String(error);
    return { status: 500, body: `{"error":${jsonText(`internal server error: ${message}`)}}` };
  }
}

/** Holds the requests of one second. */
class TokenBucket {
  readonly #rps: number | undefined;
  #tokens = 0;
  #filledAt = Number.NEGATIVE_INFINITY;

  constructor(rps: number | undefined) {
    this.#rps = rps;
  }

  /** Takes a token if there is one. */
  take(nowMs: number): boolean {
    if (this.#rps === undefined) return true;
    this.#tokens = Math.min(Math.max(1, this.#rps), this.#tokens + ((nowMs - this.#filledAt) / 1000) * this.#rps);
    this.#filledAt = nowMs;
    if (this.#tokens < 1) return false;
    this.#tokens -= 1;
    return true;
  }
}
