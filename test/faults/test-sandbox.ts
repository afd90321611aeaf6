import { createHash } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import { onTestFinished } from 'vitest';
import { mixOf } from '../../src/sandbox/chain/mix.ts';
import {
  type Sandbox,
  type SandboxAnswer,
  type SandboxOptions,
  type SandboxRequest,
  startSandbox,
} from '../../src/sandbox/index.ts';
import { afterFile } from '../scratch.ts';
import { type Faults, NO_FAULTS } from './faults.ts';
import { joined, listIn, textOf } from './lists.ts';
import { Lying } from './lying.ts';
import { Missing } from './missing.ts';
import { RequestLog } from './request-log.ts';
import { Chance, isHit, refused, spoiled, timeoutOf } from './spoil.ts';

export interface Replied {
  readonly status: number;
  readonly body: string;
}

/** A request, and the answer that it would have. */
export interface Passing extends SandboxRequest {
  /** The answer with all faults but those of transport. */
  forward(): Promise<Replied>;
}

export interface TestSandboxOptions extends Omit<SandboxOptions, 'intercept' | 'gzip'> {
  readonly faults?: Partial<Faults>;
  /** True if changed answers are still said to have true hashes. Default false. */
  readonly hasTrueHashes?: boolean;
  /** Requests without this key get status 401. */
  readonly apiKey?: string;
}

/** A sandbox that can fail and lie. It is closed after the file's tests at the latest. */
export interface TestSandbox extends Sandbox {
  /** The requests so far; can be reset. */
  readonly requests: RequestLog;
  readonly faults: () => Faults;
  /** Changes these faults and keeps the others. Changing the faults of holes opens all holes again. */
  setFaults(faults: Partial<Faults>): void;
  /** Changes what is answered from now on; undefined answers as the sandbox does. */
  answer: ((passing: Passing) => Replied | Promise<Replied>) | undefined;
  /** Changes answers for the rest of a test; undefined leaves an answer as it is. */
  changeAnswers(change: (passing: Passing, answer: Replied) => Replied | undefined): void;
}

export async function startTestSandbox(options: TestSandboxOptions = {}): Promise<TestSandbox> {
  const { seed = 1, blocks = 10_000, blockMs, apiKey } = options;
  const nowMs = options.nowMs ?? (() => performance.now());
  const startedAt = nowMs();
  let faults: Faults = { ...NO_FAULTS, ...options.faults };
  const faultsNow = (): Faults => faults;
  const ageMsOf = (seqno: number): number =>
    blockMs === undefined ? Number.POSITIVE_INFINITY : nowMs() - startedAt - (seqno - blocks) * blockMs;
  const log = new RequestLog();
  const chance = new Chance(seed);
  const ask = (target: string): SandboxAnswer => started.ask(target);
  const missing = new Missing(seed, faultsNow, { ageMsOf, nowMs }, ask);
  const lying = new Lying(faultsNow, ask);

  const intercept = async (request: SandboxRequest, honest: () => SandboxAnswer): Promise<SandboxAnswer> => {
    const key = request.headers['x-api-key'] ?? request.query.get('api_key');
    if (apiKey !== undefined && key !== apiKey) {
      return { status: 401, body: '{"ok": false, "code": 401, "error": "API key does not exist"}' };
    }
    const fate = chance.next(faults, request);
    if (fate.slow) await delay(faults.slowMs);
    const forward = (): SandboxAnswer => {
      const whole = lying.answer(request, missing.answer(request, honest()));
      return request.path === '/masterchainInfo' ? lagging(whole, fate.lag) : limited(request, whole, fate.roll);
    };
    const answer = (): SandboxAnswer | Promise<SandboxAnswer> =>
      sandbox.answer === undefined ? forward() : sandbox.answer({ ...request, forward: async () => asText(forward()) });
    const given = refused(fate, request, faults) ?? spoiled(await answer(), fate);
    // Wrong records keep their hashes: what else shows that they are wrong is tested as on a network whose hashes are not those of cells.
    if (options.hasTrueHashes === true) return given;
    const isWrong = faults.lies.length > 0 || faults.broken.length > 0 || sandbox.answer !== undefined;
    return isWrong ? { ...given, headers: { ...given.headers, 'x-hashes': 'made-up' } } : given;
  };

  /** Whose `last` is some blocks behind the head. */
  const lagging = (answer: SandboxAnswer, lag: number): SandboxAnswer => {
    if (lag === 0) return answer;
    const behind = Math.max(1, started.head() - lag);
    const [last] = listIn(textOf(ask(`/blocks?workchain=-1&seqno=${behind}`)))?.records ?? [];
    return { ...answer, body: textOf(answer).replace(/"last":.*,"first":/, `"last":${last},"first":`) };
  };

  /** Without the records that a fault omits; a timeout if the list has too many. */
  const limited = (request: SandboxRequest, answer: SandboxAnswer, roll: number): SandboxAnswer => {
    const omission = faults.omits.find(({ path }) => `/${path}` === request.path);
    if (answer.status !== 200 || (omission === undefined && faults.heavyRows === 0)) return answer;
    const list = listIn(textOf(answer));
    if (list === undefined) return answer;
    if (faults.heavyRows > 0 && list.records.length > faults.heavyRows) return timeoutOf(request);
    const records = list.records.filter((record, place) => {
      if (omission === undefined) return true;
      const about = omission.lasting ? createHash('md5').update(record).digest().readUInt32LE(0) : roll;
      return !isHit(omission.rate, mixOf(about, omission.lasting ? 0 : place, 0x0317));
    });
    return { ...answer, body: joined({ ...list, records }) };
  };

  const started = await startSandbox({
    ...options,
    intercept: async (request, honest) => {
      log.begin(request, nowMs());
      let status = 0;
      try {
        const answer = await intercept(request, honest);
        status = answer.status;
        return answer;
      } finally {
        log.end(request, status);
      }
    },
  });
  afterFile(() => started.close());
  const sandbox: TestSandbox = {
    ...started,
    requests: log,
    faults: faultsNow,
    setFaults: (change) => {
      faults = { ...faults, ...change };
      if (['holes', 'holeRate', 'holeAsks', 'holeMs'].some((name) => name in change)) missing.reopen();
    },
    answer: undefined,
    changeAnswers: (change) => {
      sandbox.answer = async (passing) => {
        const answer = await passing.forward();
        return change(passing, answer) ?? answer;
      };
      onTestFinished(() => {
        sandbox.answer = undefined;
      });
    },
  };
  return sandbox;
}

function asText({ status, body }: SandboxAnswer): Replied {
  return { status, body: body.toString() };
}
