import { z } from 'zod';
import type { Effects } from '../core/effects.ts';
import { StoreError } from '../core/errors.ts';
import { markSchema, readFate, readMark } from '../files/process-liveness.ts';
import type { WorkQueue } from './work-queue.ts';

/** A run that is silent for so long does not ask any more. */
const LEASE_MS = 10_000;
const RENEW_MS = 2000;
const POLL_MS = 250;

const holderSchema = markSchema.extend({ token: z.string(), since: z.string() });

/** Takes or renews the lease if it is free, already ours, or of a run that is known to be gone; otherwise tells whose it is, and how long. */
const TAKE = `
local held = redis.call('get', KEYS[1])
if held and held ~= ARGV[1] and held ~= ARGV[3] then return { held, redis.call('pttl', KEYS[1]) } end
redis.call('set', KEYS[1], ARGV[1], 'px', ARGV[2])
return {}`;

const RELEASE = `if redis.call('get', KEYS[1]) == ARGV[1] then return redis.call('del', KEYS[1]) end return 0`;

export interface LeaseOptions {
  readonly effects: Effects;
  readonly stop?: AbortSignal | undefined;
  readonly renewMs?: number | undefined;
}

/**
 * The right to ask the workers of a warehouse that has no lock: two runs would withdraw each other's orders. It lies in the Redis server of
 * the queue. It saves work; that no row is there twice is for the ledger.
 */
export class CoordinatorLease {
  readonly #queue: WorkQueue;
  readonly #key: string;
  readonly #own: string;
  readonly #timer: NodeJS.Timeout;
  #isLost = false;

  private constructor(queue: WorkQueue, key: string, own: string, renewMs: number) {
    this.#queue = queue;
    this.#key = key;
    this.#own = own;
    this.#timer = setInterval(() => {
      // A server that is away, or came back empty, is asked again.
      takeLease(queue, key, [own, '']).then(
        (other) => {
          this.#isLost ||= other !== undefined;
        },
        () => undefined,
      );
    }, renewMs).unref();
  }

  /**
   * Waits for the lease of a run that was killed on another machine.
   *
   * @returns undefined if `stop` was aborted before
   * @throws {StoreError} `queue-busy` if another run asks these workers
   */
  static async take(queue: WorkQueue, id: string, options: LeaseOptions): Promise<CoordinatorLease | undefined> {
    const { effects, stop, renewMs = RENEW_MS } = options;
    const key = `tonlake:work:${id}:coordinator`;
    const since = new Date(effects.now()).toISOString();
    const own = JSON.stringify({ ...(await readMark()), token: effects.freshId(), since });
    let seen: Other | undefined;
    let gone = '';
    while (stop?.aborted !== true) {
      const other = await takeLease(queue, key, [own, gone]);
      if (other === undefined) return new CoordinatorLease(queue, key, own, renewMs);
      const { holder, leftMs } = other;
      const fate = await fateOf(holder);
      const isRenewed = holder === seen?.holder && leftMs > seen.leftMs;
      if (fate === 'running' || isRenewed) throw busy(holder);
      gone = fate === 'gone' ? holder : '';
      if (gone === '') await effects.sleep(POLL_MS, stop).catch(() => undefined);
      seen = other;
    }
    return undefined;
  }

  /** @throws {StoreError} `queue-busy` if this run was silent for so long that another one took over */
  require(): void {
    if (!this.#isLost) return;
    throw new StoreError('store: another run took over the workers, because this one was silent for too long', {
      code: 'queue-busy',
      hint: 'wait for that run; what is committed is safe',
    });
  }

  async release(): Promise<void> {
    clearInterval(this.#timer);
    await runScript(this.#queue, { name: 'tonlakeRelease', lua: RELEASE }, [this.#key, this.#own]).catch(
      () => undefined,
    );
  }
}

/** The run that has the lease, and how long it lasts without being renewed. */
interface Other {
  readonly holder: string;
  readonly leftMs: number;
}

/** @returns undefined if the lease is ours now */
async function takeLease(
  queue: WorkQueue,
  key: string,
  [own, gone]: readonly [own: string, gone: string],
): Promise<Other | undefined> {
  const answer = await runScript(queue, { name: 'tonlakeTake', lua: TAKE }, [key, own, String(LEASE_MS), gone]);
  const [holder, leftMs = 0] = z.tuple([z.string(), z.number()]).or(z.tuple([])).parse(answer);
  return holder === undefined ? undefined : { holder, leftMs };
}

/** @param given the key, and what else the script takes */
function runScript(
  queue: WorkQueue,
  { name, lua }: { readonly name: string; readonly lua: string },
  given: readonly string[],
): Promise<unknown> {
  return queue.use(async (bull) => {
    const client = await bull.client;
    client.defineCommand(name, { lua, numberOfKeys: 1 });
    return client.runCommand(name, [...given]);
  });
}

async function fateOf(holder: string): Promise<'running' | 'gone' | 'elsewhere'> {
  const mark = parseHolder(holder);
  // No file has the mark, so it cannot be on a local disk.
  return mark === undefined ? 'elsewhere' : readFate(mark, { path: '', since: mark.since });
}

function parseHolder(text: string): z.infer<typeof holderSchema> | undefined {
  try {
    return holderSchema.parse(JSON.parse(text));
  } catch {
    return undefined;
  }
}

function busy(holder: string): StoreError {
  const mark = parseHolder(holder);
  const by = mark === undefined ? 'another process' : `process ${mark.pid} on ${mark.host} since ${mark.since}`;
  return new StoreError(`store: the workers of this warehouse are asked by ${by}`, {
    code: 'queue-busy',
    hint: 'wait for that run, or give this machine a part of the range with --slice',
  });
}
