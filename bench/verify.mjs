// `tonlake verify` beside `select count(distinct hash)` over the same files; each in a process of its own.
//   npm run build && node bench/verify.mjs [warehouse] [--blocks 65000] [--laps 5] [--write]
// Without a warehouse: one of the sandbox network over HTTP, about 18 transactions a masterchain block.
import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { startSandbox } from '../dist/src/sandbox/index.js';
import { cli, must, scratch } from './lib/process.mjs';
import { count, median, publish, round, table } from './lib/report.mjs';

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    blocks: { type: 'string', default: '65000' },
    laps: { type: 'string', default: '5' },
    child: { type: 'string' },
    write: { type: 'boolean', default: false },
  },
});

const distinct = async (warehouse) => {
  const { openReader } = await import('../dist/src/warehouse/reader.js');
  const { loadRegistry } = await import('../dist/src/declare/registry.js');
  const reader = await openReader(warehouse, (await loadRegistry()).tables);
  await reader.query('SET threads = 2');
  // The views are made before the clock starts.
  await reader.query('SELECT 1 FROM transactions LIMIT 0');
  const startedAt = performance.now();
  const { rows } = await reader.query('SELECT count(DISTINCT hash) FROM transactions');
  const seconds = (performance.now() - startedAt) / 1000;
  await reader.close();
  return { seconds, transactions: Number(rows[0]?.[0]) };
};

const verify = async (warehouse, deep) => {
  const { verifyWarehouse } = await import('../dist/src/verify/verify.js');
  const startedAt = performance.now();
  const { proven } = await verifyWarehouse({ warehouse, deep });
  if (!proven) throw new Error(`expected ${warehouse} to be proven`);
  return { seconds: (performance.now() - startedAt) / 1000 };
};

const tasks = {
  'count(distinct hash)': (path) => distinct(path),
  verify: (path) => verify(path, false),
  'verify --deep': (path) => verify(path, true),
};

if (values.child !== undefined) {
  const measured = await tasks[values.child](positionals[0]);
  const { maxRSS, userCPUTime, systemCPUTime } = process.resourceUsage();
  console.log(JSON.stringify({ ...measured, rss: maxRSS / 1024, cpu: (userCPUTime + systemCPUTime) / 1e6 }));
} else await main();

async function main() {
  const warehouse = positionals[0] ?? (await exportSandbox(join(scratch(), 'w')));
  const names = Object.keys(tasks);
  const laps = Object.fromEntries(names.map((name) => [name, []]));
  for (let lap = 0; lap < Number(values.laps); lap++)
    for (const name of names) laps[name].push(measure(name, warehouse));
  const middle = (name, of) => median(laps[name].map((each) => each[of]));
  const [base] = names;
  const rows = names.map((name) => ({
    '': `\`${name}\``,
    seconds: round(middle(name, 'seconds'), 1),
    ratio: round(middle(name, 'seconds') / middle(base, 'seconds'), 1),
    'CPU s': round(middle(name, 'cpu'), 1),
    'RSS MB': Math.round(middle(name, 'rss')),
  }));
  publish(
    'verify',
    `${count(middle(base, 'transactions'))} transactions, medians of ${values.laps}.\n\n${table(rows)}`,
  );
}

function measure(name, warehouse) {
  const args = [fileURLToPath(import.meta.url), warehouse, '--child', name];
  const { stdout, stderr, status } = spawnSync(process.execPath, args, { encoding: 'utf8' });
  if (status !== 0) throw new Error(stderr);
  return JSON.parse(stdout);
}

async function exportSandbox(warehouse) {
  const blocks = Number(values.blocks);
  const sandbox = await startSandbox({ blocks: blocks + 1000 });
  const args = ['run', 'transactions', '--network', sandbox.url, '--walk', 'window', '--range', `2:${blocks}`];
  await must(process.execPath, [cli, ...args, '--warehouse', warehouse]);
  await sandbox.close();
  return warehouse;
}
