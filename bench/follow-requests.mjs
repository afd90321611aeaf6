// Requests per minute of following, by pipelines and lag, beside polling block by block. Time is simulated, so answers take none of it: on a
// network that answers late, rounds are closer together, at most about twice as close.
//   npm run build && node bench/follow-requests.mjs [--minutes 3] [--lags 10,60] [--pipelines 'transactions;traces,actions']
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { realEffects } from '../dist/src/core/effects.js';
import { loadRegistry, Registry } from '../dist/src/declare/registry.js';
import { followHead } from '../dist/src/follow/follow-head.js';
import { startSandbox } from '../dist/src/sandbox/index.js';
import { scratch } from './lib/process.mjs';
import { publish, table } from './lib/report.mjs';

const LISTS = 'message_links,jetton_transfers,jetton_burns,nft_transfers';
const { values } = parseArgs({
  options: {
    minutes: { type: 'string', default: '3' },
    lags: { type: 'string', default: '10,60' },
    pipelines: {
      type: 'string',
      default: `transactions;transactions,${LISTS};transactions,${LISTS},traces,actions`,
    },
  },
});
const BLOCK_MS = 400;
/** Look-back of lists, instead of thousands of blocks, so that each round reads a round before it for the last time. */
const LOOK_BACK = 100;

/** A clock that moves when somebody waits, and then at once; the writer of the catalog waits for nothing. */
function simulatedTime() {
  const clock = { elapsed: 0 };
  const sleep = async (ms, signal) => {
    signal?.throwIfAborted();
    if (!new Error().stack?.includes('parquet-store')) {
      clock.elapsed += ms;
      return;
    }
    await new Promise((_resolve, reject) => {
      signal?.addEventListener('abort', () => reject(signal.reason), { once: true });
    });
  };
  const effects = { now: () => Date.UTC(2026, 4, 1) + clock.elapsed, monotonic: () => clock.elapsed, sleep };
  return { clock, effects: { ...realEffects, ...effects } };
}

const shipped = await loadRegistry('');
const registry = new Registry(
  shipped.pipelines.map((pipeline) => {
    const { walk } = pipeline;
    return walk.lookBack > LOOK_BACK ? { ...pipeline, walk: { ...walk, lookBack: LOOK_BACK } } : pipeline;
  }),
);

async function measure(pipelines, lagSeconds) {
  const { clock, effects } = simulatedTime();
  const paths = new Map();
  const sandbox = await startSandbox({
    ...{ blocks: 1_000, blockMs: BLOCK_MS, activity: 0.2, nowMs: () => clock.elapsed },
    intercept: ({ path }, answer) => {
      paths.set(path, (paths.get(path) ?? 0) + 1);
      return answer();
    },
  });
  const stop = new AbortController();
  const warehouse = join(scratch(), 'w');
  let [rounds, begin] = [0, undefined];
  await followHead({
    ...{ pipelines, network: sandbox.url, warehouse, effects, lagMs: lagSeconds * 1000, from: '-2:', registry },
    ...{ commitEveryMs: 0, stop: stop.signal },
    onEvent: ({ event, block, blocks }) => {
      if (event !== 'lag' || blocks > 0 || block < 1_000 + 1.5 * LOOK_BACK) return;
      if (begin === undefined) {
        begin = clock.elapsed;
        paths.clear();
        return;
      }
      rounds++;
      if (clock.elapsed - begin >= 60_000 * Number(values.minutes)) stop.abort();
    },
  });
  const minutes = (clock.elapsed - begin) / 60_000;
  const requests = [...paths.values()].reduce((sum, n) => sum + n, 0);
  await sandbox.close();
  const most = [...paths]
    .map(([path, n]) => [path, n / rounds])
    .sort(([, a], [, b]) => b - a)
    .map(([path, n]) => `${path} ${n.toFixed(1)}`);
  return { requests: requests / minutes, rounds: rounds / minutes, perRound: requests / rounds, most };
}

const rows = [];
for (const list of values.pipelines.split(';')) {
  const pipelines = list.split(',');
  for (const lag of values.lags.split(',').map(Number)) {
    const { requests, rounds, perRound, most } = await measure(pipelines, lag);
    console.error(list, lag, requests.toFixed(1), most.join(', '));
    rows.push({
      pipelines: list.replaceAll(',', ', '),
      lag: `${lag}s`,
      'requests a minute': requests.toFixed(0),
      'rounds a minute': rounds.toFixed(1),
      'requests a round': perRound.toFixed(1),
      // The head, the headers, and one page for each pipeline.
      'block by block': ((60_000 / BLOCK_MS) * (2 + pipelines.length)).toFixed(0),
    });
  }
}
publish('follow-requests', table(rows));
process.exit();
