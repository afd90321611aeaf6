import { setImmediate } from 'node:timers/promises';
import { realEffects } from '../../../src/core/effects.ts';
import { followHead } from '../../../src/follow/follow-head.ts';
import type { History } from './history.ts';
import { FIRST, LAST, LOOKUPS, OF_BLOCKS, OPTIONAL } from './warehouse-rows.ts';

export async function exportSome(history: History): Promise<void> {
  const [pipelines, span] = [history.some(OF_BLOCKS), history.span()];
  history.require((await history.run(pipelines, span)) === true, 'a run is not complete');
  history.cover(pipelines, span);
}

/** A run that another pipeline can refuse, which needs what is left out. */
export async function exportNarrow(history: History): Promise<void> {
  const [pipelines, span] = [history.some(OF_BLOCKS), history.span()];
  if ((await history.run(pipelines, span, { without: history.some(OPTIONAL) })) === true) {
    history.isNarrow = true;
    history.cover(pipelines, span);
  } else await history.learn();
}

/** A run that is stopped, or whose source fails, after some requests. */
export async function exportPart(history: History): Promise<void> {
  const stop = new AbortController();
  const [most, isStopped] = [history.rng.below(20), history.rng.chance(0.5)];
  await withoutSource(history, most, isStopped ? stop : undefined, async () => {
    await history.run(history.some(OF_BLOCKS), history.span(), { signal: stop.signal });
  });
  await history.learn();
}

/** Does something of which the source answers some requests only. @param stop aborted instead, if it is given @param status of the others */
export async function withoutSource(
  { sandbox }: History,
  most: number,
  stop: AbortController | undefined,
  work: () => Promise<void>,
  status = 404,
): Promise<void> {
  let asked = 0;
  sandbox.answer = (passing) => {
    asked++;
    if (asked > most) stop?.abort();
    if (asked > most && stop === undefined) return { status, body: '{"error":"gone"}' };
    return passing.forward();
  };
  await work();
  sandbox.answer = undefined;
}

export async function lookUp(history: History): Promise<void> {
  const [pipelines, span] = [[history.rng.pick(LOOKUPS)], { from: FIRST, to: FIRST }];
  history.require((await history.run(pipelines, span)) === true, 'a lookup is not complete');
  history.cover(pipelines, span);
}

/** Two runs at once: in a bucket both are complete; elsewhere one may find that the other writes. */
export async function exportBoth(history: History): Promise<void> {
  const asked = [1, 2].map(() => ({ pipelines: history.some(OF_BLOCKS), span: history.span() }));
  await Promise.all(
    asked.map(async ({ pipelines, span }) => {
      const ended = await history.run(pipelines, span);
      const isBusy =
        typeof ended === 'string' && history.place !== 'bucket' && /is being written|in use by/.test(ended);
      history.require(ended === true || isBusy, `one of two runs ended with ${ended}`);
      if (ended === true) history.cover(pipelines, span);
    }),
  );
  await history.learn();
}

/** Marts that need no more than transactions. */
const OF_TRANSACTIONS = ['transactions_daily', 'gas_fees_daily', 'active_accounts_daily'];

/** Pauses after which a round is over, with all its attempts: one that has nothing to bring tells nothing. */
const PAUSES = { round: 200, most: 10_000 };

/** Follows up to a head in the range, with a mart at times. */
export async function follow(history: History): Promise<void> {
  const { sandbox, rng, path: warehouse } = history;
  const head = FIRST + rng.below(LAST - FIRST + 1);
  const first = Math.max(FIRST, head - rng.below(10));
  const marts = rng.chance(0.5) ? [rng.pick(OF_TRANSACTIONS)] : undefined;
  const pipelines = [...history.some(OF_BLOCKS), ...(marts === undefined ? [] : ['transactions'])];
  const { body } = sandbox.ask(`/blocks?workchain=-1&seqno=${head}`);
  const last = JSON.stringify(JSON.parse(body.toString()).blocks[0]);
  sandbox.answer = async (passing) => {
    const answer = await passing.forward();
    if (passing.path !== '/masterchainInfo') return answer;
    return { ...answer, body: answer.body.replace(/"last":.*,"first":/, `"last":${last},"first":`) };
  };
  const stop = new AbortController();
  const seen: string[] = [];
  let pauses = 0;
  const sleep = async (_: number, signal?: AbortSignal): Promise<void> => {
    if (++pauses === PAUSES.round) stop.abort();
    history.require(pauses < PAUSES.most, `following does not end: ${seen.slice(-20)}`);
    await pause(signal);
  };
  const effects = { ...realEffects, sleep };
  const options = { pipelines, warehouse, network: sandbox.url, from: `${first}:`, commitEveryMs: 0, effects };
  const ended = await followHead({
    ...options,
    ...(marts === undefined ? {} : { marts }),
    stop: stop.signal,
    onEvent: ({ event }) => {
      seen.push(event);
      if (event === 'lag' || event === 'waiting') stop.abort();
    },
  }).then(
    ({ complete }) => complete,
    (error: Error) => error.message,
  );
  sandbox.answer = undefined;
  history.note(`follow ${pipelines} ${first}:${head}, marts ${marts}: ${ended}`);
  history.require(typeof ended === 'boolean', `following failed: ${ended}`);
  await history.learn();
}

/** Time that passes as soon as what takes none is done. */
async function pause(signal?: AbortSignal): Promise<void> {
  signal?.throwIfAborted();
  await setImmediate();
}
