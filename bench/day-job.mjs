// What a job needs for a day of mainnet's size, 3.6 million transactions in 216,000 blocks, by step.
//   npm run build && node bench/day-job.mjs [--range 2026-05-02] [--pipelines transactions,jetton_transfers,nft_transfers] [--write]
// The sandbox network is a process of its own and makes each page when it is requested, so seconds are mostly its own; CPU and memory are
// those of the job alone.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { parseArgs } from 'node:util';
import { cli, scratch } from './lib/process.mjs';
import { count, publish, round, table } from './lib/report.mjs';

const { values } = parseArgs({
  options: {
    range: { type: 'string', default: '2026-05-02' },
    pipelines: { type: 'string', default: 'transactions,jetton_transfers,nft_transfers' },
    write: { type: 'boolean', default: false },
  },
});
const SAMPLE_MS = 25;

const folder = scratch();
// The second day of the sandbox is over after block 221,000.
const network = 'http://127.0.0.1:48732/api/v3';
const sandbox = spawn(process.execPath, [cli, 'sandbox', '--port', '48732', '--blocks', '223000'], {
  stdio: ['ignore', 'pipe', 'inherit'],
});
process.once('exit', () => sandbox.kill());
await once(sandbox.stdout, 'data');

const job = {
  network,
  warehouse: join(folder, 'w'),
  pipelines: values.pipelines.split(','),
  range: values.range,
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
writeFileSync(join(folder, 'day.yaml'), JSON.stringify(job));

const child = spawn(process.execPath, [cli, 'job', 'run', 'day.yaml', '--json'], {
  cwd: folder,
  stdio: ['ignore', 'pipe', 'inherit'],
});
const ended = once(child, 'exit');
let step = { peakMb: 0, cpu: 0 };
const timer = setInterval(() => {
  step.peakMb = Math.max(step.peakMb, rssMb());
  step.cpu = cpuSeconds() ?? step.cpu;
}, SAMPLE_MS);

/** By kind of step: its greatest memory, and CPU. */
const steps = new Map();
let rows = {};
for await (const line of createInterface({ input: child.stdout })) {
  const event = JSON.parse(line);
  if (event.event === 'end' && event.state !== 'done') throw new Error(`the job is not done: ${line.slice(0, 2000)}`);
  if (event.event !== 'step') continue;
  if (event.kind === 'export') rows = event.rows;
  const before = steps.get(event.kind) ?? { peakMb: 0, seconds: 0, cpu: 0 };
  steps.set(event.kind, {
    peakMb: Math.max(before.peakMb, step.peakMb),
    seconds: before.seconds + event.seconds,
    cpu: before.cpu + step.cpu - (step.from ?? 0),
  });
  process.stderr.write(`${event.kind} ${event.name}: ${event.seconds} s, ${Math.round(step.peakMb)} MB\n`);
  step = { peakMb: rssMb(), cpu: step.cpu, from: step.cpu };
}
clearInterval(timer);
const [code] = await ended;
sandbox.kill();
if (code !== 0) throw new Error(`the job ended with ${code}`);

const list = [...steps].map(([kind, { peakMb, seconds, cpu }]) => ({
  step: kind,
  'peak MB': Math.round(peakMb),
  'CPU s': round(cpu, 1),
  seconds: round(seconds, 1),
}));
const greatest = Math.max(...list.map((one) => one['peak MB']));
publish(
  'day-job',
  `${count(rows.transactions)} transactions with ${count(rows.messages)} messages; at most ${greatest} MB.\n\n${table(list)}`,
);

/** Memory of the job, 0 after its end. */
function rssMb() {
  return Number(/VmRSS:\s+(\d+)/.exec(readOr(`/proc/${child.pid}/status`))?.[1] ?? 0) / 1024;
}

/** CPU of the job until now. */
function cpuSeconds() {
  const stat = readOr(`/proc/${child.pid}/stat`);
  if (stat === '') return undefined;
  const [user, system] = stat
    .slice(stat.lastIndexOf(')') + 2)
    .split(' ')
    .slice(11, 13)
    .map(Number);
  return (user + system) / 100;
}

function readOr(path) {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return '';
  }
}
