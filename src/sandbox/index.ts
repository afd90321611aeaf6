import { createServer } from 'node:http';
import { UsageError } from '../core/errors.ts';
import { ADMIN_PATH, administer } from './admin.ts';
import { View } from './api/view.ts';
import { MAX_BLOCKS } from './chain/clock.ts';
import { Bucket, Chance, Holes } from './chance.ts';
import { NO_FAULTS, type SandboxFaults } from './faults.ts';
import { latenessOf } from './lateness.ts';
import { BASE_PATH, type Service, serve } from './server.ts';
import { RequestLog } from './stats.ts';

export { ALL_FAULTS, NO_FAULTS, parseFaults, type SandboxFaults } from './faults.ts';
export { DEEP_LIES, LIE_KINDS, LIES, type Lie, type LieKind, MESSAGE_LIES } from './lies/kinds.ts';
export type { RequestLog } from './stats.ts';

/** Default of `actionLag`, in blocks: actions come at least a second after their block. */
const ACTION_LAG = 3;
/** More transactions do not fit between the logical times of two blocks. */
const MAX_ACTIVITY = 8;

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
  /** Requests without this key get status 401. */
  readonly apiKey?: string | undefined;
  /** How many blocks actions are behind the head. Default 3 if the head grows, else 0. */
  readonly actionLag?: number | undefined;
  readonly faults?: Partial<SandboxFaults> | undefined;
  /** Adds more than 3,000 jetton transfers at one lt to this masterchain block, or the next one with a shard block. Default: none. */
  readonly tieSeqno?: number | undefined;
  /** Multiplier for the number of transactions, normally about 16 per block: 0 to 8. Default 1. */
  readonly activity?: number | undefined;
  /** Monotonic clock in milliseconds, for growth, rate limit and holes. Default: the real one. */
  readonly nowMs?: () => number;
}

/** A running sandbox network. */
export interface Sandbox {
  /** Base address, `http://127.0.0.1:PORT/api/v3`. */
  readonly url: string;
  readonly port: number;
  /** Masterchain seqno of the newest block. */
  readonly head: () => number;
  /** The requests so far; can be reset. */
  readonly requests: RequestLog;
  readonly faults: () => SandboxFaults;
  /** Changes these faults and keeps the others. Changing the faults of holes opens all holes again. */
  setFaults(faults: Partial<SandboxFaults>): void;
  /** Ends all connections. */
  close(): Promise<void>;
}

/**
 * Starts a network that imitates the API over HTTP on the loopback interface. Same seed, same bytes.
 * @throws {UsageError} when an option is out of range or the port is taken
 */
export async function startSandbox(options: SandboxOptions = {}): Promise<Sandbox> {
  const { seed = 1, blocks = 10_000, blockMs, activity = 1 } = options;
  if (!Number.isInteger(blocks) || blocks < 1 || blocks > MAX_BLOCKS) {
    throw new UsageError(`usage sandbox: expected 1 to ${MAX_BLOCKS} blocks, got ${blocks}`, { code: 'bad-blocks' });
  }
  if (!(activity >= 0 && activity <= MAX_ACTIVITY)) {
    throw new UsageError(`usage sandbox: expected an activity of 0 to ${MAX_ACTIVITY}, got ${activity}`, {
      code: 'bad-activity',
    });
  }
  const nowMs = options.nowMs ?? (() => performance.now());
  const startedAt = nowMs();
  const head = (): number =>
    blockMs === undefined ? blocks : Math.min(MAX_BLOCKS, blocks + Math.floor((nowMs() - startedAt) / blockMs));
  let faults: SandboxFaults = { ...NO_FAULTS, rps: options.rps ?? 0, gzip: options.gzip ?? false, ...options.faults };
  const holes = new Holes(seed, startedAt);
  const setFaults = (change: Partial<SandboxFaults>): void => {
    faults = { ...faults, ...change };
    if (['holes', 'holeRate', 'holeAsks', 'holeMs'].some((name) => name in change)) holes.reopen(nowMs());
  };
  const log = new RequestLog();
  const ageMsOf = (seqno: number): number =>
    blockMs === undefined ? Number.POSITIVE_INFINITY : nowMs() - startedAt - (seqno - blocks) * blockMs;
  const isLate = latenessOf(seed, () => faults, ageMsOf);
  const view = new View(
    seed,
    head,
    (seqno) => holes.isOpen(faults, seqno, nowMs()) || isLate(seqno, 'lateBlocks'),
    () => faults,
    {
      ...{ tieSeqno: options.tieSeqno, activity, isLate },
      actionLag: options.actionLag ?? (blockMs === undefined ? 0 : ACTION_LAG),
    },
  );
  const service: Service = {
    view,
    faults: () => faults,
    apiKey: options.apiKey,
    chance: new Chance(seed),
    holes,
    bucket: new Bucket(),
    log,
    nowMs,
  };
  const server = createServer({ maxHeaderSize: 1 << 20, keepAliveTimeout: 60_000 }, (request, response) => {
    const path = request.url ?? '/';
    const work = path.startsWith(`${ADMIN_PATH}/`)
      ? administer({ faults: () => faults, setFaults, log }, request, response)
      : serve(service, request, response);
    work.catch(() => response.destroy());
  });
  const port = await listen(server, options.port ?? 0);
  return {
    url: `http://127.0.0.1:${port}${BASE_PATH}`,
    port,
    head,
    requests: log,
    faults: () => faults,
    setFaults,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

function listen(server: ReturnType<typeof createServer>, port: number): Promise<number> {
  return new Promise((resolve, reject) => {
    server.once('error', (cause) => {
      const hint = 'choose another with --port';
      reject(new UsageError(`usage sandbox: cannot listen on port ${port}`, { code: 'port-taken', hint, cause }));
    });
    server.listen(port, '127.0.0.1', () => {
      const address = server.address();
      resolve(typeof address === 'object' ? (address?.port ?? port) : port);
    });
  });
}
