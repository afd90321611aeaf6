// What a job needs for a day of mainnet's size, 3.6 million transactions in 216,000 blocks, by step; and whether a later day needs more.
//   npm run build && node bench/day-job.mjs [--days 8] [--pipelines transactions,jetton_transfers,nft_transfers] [--write]
//   npm run build && node bench/day-job.mjs --repeated [--write]
// The sandbox network is a process of its own and makes each page when it is requested, so seconds are mostly its own; CPU and memory are
// those of the job alone. With --repeated, the transactions of the day are there already, as a few blocks that are repeated, and the job exports
// 2,000 blocks more before it verifies, builds and checks all: what is not export is measured in minutes. Lists are left out, because their
// rows would not agree where copies meet.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { parseArgs } from 'node:util';
import { cli, must, scratch, usage } from './lib/process.mjs';
import { COPIES_A_DAY, lastBlock, repeatedWarehouse } from './lib/repeated-warehouse.mjs';
import { count, publish, round, table } from './lib/report.mjs';

const { values } = parseArgs({
  options: {
    days: { type: 'string', default: '8' },
    repeated: { type: 'boolean', default: false },
    pipelines: { type: 'string', default: 'transactions,jetton_transfers,nft_transfers' },
    write: { type: 'boolean', default: false },
  },
});
const days = values.repeated ? 1 : Number(values.days);
const DAY_MS = 86_400_000;
const DAY_BLOCKS = 216_000;
/** The first whole day of the sandbox; 5,000 blocks come before it. */
const FIRST_DAY = Date.parse('2026-05-02');
/** Copies of the repeated blocks that make a day, and the first blocks of the next. */
const COPIES = COPIES_A_DAY + 1;
const BLOCKS = 5000 + days * DAY_BLOCKS + 10_000;
const SAMPLE_MS = 25;

const folder = scratch();
const network = 'http://127.0.0.1:48732/api/v3';
const sandbox = spawn(process.execPath, [cli, 'sandbox', '--port', '48732', '--blocks', String(BLOCKS)], {
  stdio: ['ignore', 'pipe', 'inherit'],
});
process.once('exit', () => sandbox.kill());
await once(sandbox.stdout, 'data');

const job = {
  network,
  warehouse: join(folder, 'w'),
  pipelines: values.repeated ? ['transactions'] : values.pipelines.split(','),
  verify: true,
  marts: 'all',
  checks: 'all',
  reports: [
    {
      report: 'network-daily',
      params: { from: '{first_date}', to: '{date}' },
      output: join(folder, 'out/network.html'),
    },
  ],
  exports: [{ table: 'transactions_daily', output: join(folder, 'out/transactions.csv') }],
};

if (values.repeated) {
  await repeatedWarehouse(job.warehouse, { copies: COPIES, network, pipelines: job.pipelines });
}
const repeatedEnd = lastBlock(COPIES);

const all = [];
for (let day = 0; day < days; day += 1) {
  const range = values.repeated
    ? `${repeatedEnd + 1}:${repeatedEnd + 2000}`
    : new Date(FIRST_DAY + day * DAY_MS).toISOString().slice(0, 10);
  all.push(await measureDay(range));
  const peaks = [...all.at(-1).steps].map(
    ([kind, { cpu, peakMb }]) => `${kind} ${round(cpu, 1)} s ${round(peakMb)} MB`,
  );
  process.stderr.write(`${range}: ${peaks.join(', ')}\n`);
}
sandbox.kill();

const counted = ['blocks', 'transactions', 'messages', 'account_states']
  .map((name) => `(select count(*) from ${name}) as ${name}`)
  .join(', ');
const counting = await must(process.execPath, [
  cli,
  'sql',
  `select ${counted}`,
  '-w',
  job.warehouse,
  '--format',
  'json',
]);
const [rows] = JSON.parse(counting.stdout);
const total = Object.values(rows).reduce((sum, each) => sum + Number(each), 0);

const [first, last] = [all[0].steps, all.at(-1).steps];
const list = [...first].map(([kind, before]) => {
  const own = { step: kind, 'CPU s': round(before.cpu, 1), 'peak MB': Math.round(before.peakMb) };
  if (days === 1) return own;
  const { cpu, peakMb } = last.get(kind);
  return {
    ...own,
    [`CPU s, day ${days}`]: round(cpu, 1),
    ratio: round(cpu / before.cpu),
    [`peak MB, day ${days}`]: Math.round(peakMb),
  };
});
publish(
  'day-job',
  `${count(all.at(-1).rows.transactions)} transactions exported; ${count(total)} rows of the chain after ${days === 1 ? 'it' : `${days} days`}.\n\n${table(list)}`,
  { section: values.repeated ? 'day-job-repeated' : 'day-job' },
);

/** Runs the job for a day. @returns what it exported, and by kind of step its CPU seconds and greatest memory */
async function measureDay(range) {
  writeFileSync(join(folder, 'day.yaml'), JSON.stringify({ ...job, range }));
  const child = spawn(process.execPath, [cli, 'job', 'run', 'day.yaml', '--json'], {
    cwd: folder,
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const ended = once(child, 'exit');
  const steps = new Map();
  let [now, peakMb, cpuBefore, rows] = [{ cpu: 0, rssMb: 0 }, 0, 0, {}];
  const timer = setInterval(() => {
    now = usage(child.pid) ?? now;
    peakMb = Math.max(peakMb, now.rssMb);
  }, SAMPLE_MS);
  for await (const line of createInterface({ input: child.stdout })) {
    const event = JSON.parse(line);
    if (event.event === 'end' && event.state !== 'done') throw new Error(`the job is not done: ${line.slice(0, 2000)}`);
    if (event.event !== 'step') continue;
    if (event.kind === 'export') rows = event.rows;
    const before = steps.get(event.kind) ?? { peakMb: 0, cpu: 0 };
    steps.set(event.kind, { peakMb: Math.max(before.peakMb, peakMb), cpu: before.cpu + now.cpu - cpuBefore });
    [peakMb, cpuBefore] = [now.rssMb, now.cpu];
  }
  clearInterval(timer);
  const [code] = await ended;
  if (code !== 0) throw new Error(`the job ended with ${code}`);
  return { rows, steps };
}
