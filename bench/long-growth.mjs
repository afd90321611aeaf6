// Whether the last million of transactions costs what the first did: one warehouse that grows to 30 million.
//   npm run build && node bench/long-growth.mjs [--rows 30000000] [--laps 3] [--store parquet|duckdb] [--write]
// The sandbox makes each page when it is requested (about half of all CPU time), because 30 million in memory would take 100 GB. So seconds
// are mostly its own; CPU and memory are those of tonlake alone.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { parseArgs } from 'node:util';
import { cli, must, scratch, usage } from './lib/process.mjs';
import { count, median, publish, round, table } from './lib/report.mjs';

const { values } = parseArgs({
  options: {
    rows: { type: 'string', default: '30000000' },
    laps: { type: 'string', default: '3' },
    store: { type: 'string', default: 'parquet' },
    write: { type: 'boolean', default: false },
  },
});
const MILLION = 1_000_000;
/** Transactions of a masterchain block of the sandbox. */
const ROWS_A_BLOCK = 16.59;
const FIRST = 1000;
const rows = Number(values.rows);
const blocksOf = (transactions) => FIRST + Math.ceil(transactions / ROWS_A_BLOCK);
const warehouse = join(scratch(), values.store === 'duckdb' ? 'w.duckdb' : 'w');

// The address is the name of the network, which the warehouse keeps.
const network = 'http://127.0.0.1:48731/api/v3';
const sandbox = spawn(
  process.execPath,
  [cli, 'sandbox', '--port', '48731', '--blocks', String(blocksOf(rows) + 2000)],
  { stdio: ['ignore', 'pipe', 'inherit'] },
);
process.once('exit', () => sandbox.kill());
await once(sandbox.stdout, 'data');

/** @returns one point for each million of transactions: CPU, seconds, and the memory that was used most until then. */
async function grow(from, to) {
  const args = [cli, 'run', 'transactions', '--network', network, '--range', `${from}:${to}`];
  const child = spawn(process.execPath, [...args, '--warehouse', warehouse, '--json'], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const ended = once(child, 'exit');
  const sample = (total) => ({ ...usage(child.pid), seconds: performance.now() / 1000, total });
  let total = 0;
  let last;
  const points = [];
  for await (const line of createInterface({ input: child.stdout })) {
    const event = JSON.parse(line);
    if (event.event === 'done' && !event.complete) throw new Error(`the run is not complete: ${line}`);
    if (event.event === 'start' && event.pipeline === 'transactions') last = sample(total);
    if (event.event !== 'span' || event.pipeline !== 'transactions') continue;
    total += event.rows.transactions;
    if (total - last.total < MILLION) continue;
    const now = sample(total);
    const share = MILLION / (now.total - last.total);
    const point = {
      cpu: (now.cpu - last.cpu) * share,
      seconds: (now.seconds - last.seconds) * share,
      peakMb: now.peakMb,
    };
    points.push(point);
    process.stderr.write(
      `${count(total)}: ${round(point.cpu)} s of CPU, ${round(point.seconds)} s, peak ${point.peakMb} MB\n`,
    );
    last = now;
  }
  const [code] = await ended;
  if (code !== 0) throw new Error(`the run ended with ${code}`);
  return points;
}

/** CPU seconds of commands on the warehouse as it is, medians. */
async function commands(end) {
  const each = {
    'sql "select 1"': () => ['sql', 'select 1'],
    status: () => ['status'],
    plan: (lap) => [
      'run',
      '--dry-run',
      'transactions',
      '--range',
      `${end + 1}:${end + 20 + lap}`,
      '--network',
      network,
    ],
    'a run that misses nothing': () => ['run', 'transactions', '--range', `${FIRST}:${FIRST}`, '--network', network],
    'one more commit': (lap) => ['run', 'blocks', '--range', `${end + 100 + 2 * lap}`, '--network', network],
  };
  const result = {};
  for (const [name, args] of Object.entries(each)) {
    const all = [];
    for (let lap = 0; lap < Number(values.laps); lap++) {
      all.push((await must(process.execPath, [cli, ...args(lap), '--warehouse', warehouse])).cpu);
    }
    result[name] = median(all);
  }
  const [kept] = JSON.parse(
    (await must(process.execPath, [cli, 'sql', COUNTS, '--warehouse', warehouse, '--format', 'json'])).stdout,
  );
  return { ...result, entries: Number(kept.entries), transactions: Number(kept.transactions) };
}
const COUNTS = 'select (select count(*) from _commits) as entries, (select count(*) from transactions) as transactions';

const early = blocksOf(MILLION * 1.02);
const first = await grow(FIRST, early);
const small = await commands(early);
// Behind the commits that were measured.
const rest = await grow(early + 200, blocksOf(rows));
const large = await commands(blocksOf(rows));
sandbox.kill();

const [a, b] = [first[0], rest.at(-1)];
const compared = [
  { '': 'CPU s of a million', first: round(a.cpu), last: round(b.cpu), ratio: round(b.cpu / a.cpu) },
  { '': 'seconds of a million', first: round(a.seconds), last: round(b.seconds), ratio: round(b.seconds / a.seconds) },
  { '': 'peak MB', first: a.peakMb, last: b.peakMb, ratio: round(b.peakMb / a.peakMb) },
  ...Object.keys(small)
    .filter((name) => name !== 'transactions' && name !== 'entries')
    .map((name) => ({
      '': `CPU s of \`${name}\``,
      first: small[name],
      last: large[name],
      ratio: round(large[name] / small[name]),
    })),
  { '': 'ledger entries', first: small.entries, last: large.entries, ratio: '' },
  { '': 'transactions', first: count(small.transactions), last: count(large.transactions), ratio: '' },
];
publish('long-growth', `${values.store}; medians of ${values.laps} runs of each command.\n\n${table(compared)}`);
