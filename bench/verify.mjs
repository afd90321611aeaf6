// `tonlake verify` beside `select count(distinct hash)` over the same files; each in a process of its own.
//   npm run build && node bench/verify.mjs [warehouse] [--blocks 55000] [--laps 3]
// Without a warehouse: one of the sandbox network over HTTP, about 18 transactions a masterchain block.
import { spawn, spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';

const CLI = fileURLToPath(new URL('../dist/src/cli.js', import.meta.url));
const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    blocks: { type: 'string', default: '55000' },
    laps: { type: 'string', default: '3' },
    child: { type: 'string' },
  },
});

const distinct = async (warehouse) => {
  const { openReader } = await import('../dist/src/store/reader.js');
  const { loadRegistry } = await import('../dist/src/registry.js');
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
  const folder = mkdtempSync(join(tmpdir(), 'tonlake-bench-'));
  try {
    const warehouse = positionals[0] ?? (await exportSandbox(join(folder, 'w')));
    const laps = Object.fromEntries(Object.keys(tasks).map((name) => [name, []]));
    for (let lap = 0; lap < Number(values.laps); lap++) {
      for (const name of Object.keys(tasks)) laps[name].push(measure(name, warehouse));
    }
    const median = (name, of) => laps[name].map((each) => each[of]).sort((a, b) => a - b)[Number(values.laps) >> 1];
    const [base] = Object.keys(tasks);
    console.log(`${median(base, 'transactions')} transactions; ${values.laps} laps, medians; node ${process.version}`);
    const row = (name) => ({
      seconds: Number(median(name, 'seconds').toFixed(2)),
      ratio: Number((median(name, 'seconds') / median(base, 'seconds')).toFixed(1)),
      'CPU s': Number(median(name, 'cpu').toFixed(1)),
      'RSS MB': Math.round(median(name, 'rss')),
    });
    console.table(Object.fromEntries(Object.keys(tasks).map((name) => [name, row(name)])));
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

function measure(name, warehouse) {
  const args = [fileURLToPath(import.meta.url), warehouse, '--child', name];
  const { stdout, stderr, status } = spawnSync(process.execPath, args, { encoding: 'utf8' });
  if (status !== 0) throw new Error(stderr);
  return JSON.parse(stdout);
}

async function exportSandbox(warehouse) {
  const blocks = Number(values.blocks);
  const sandbox = spawn(process.execPath, [CLI, 'sandbox', '--port', '0', '--blocks', String(blocks + 1000)]);
  const line = await new Promise((resolve) => sandbox.stdout.once('data', (text) => resolve(String(text))));
  const url = /http:\S+\/v3/.exec(line)?.[0] ?? '';
  const args = ['run', 'transactions', '--network', url, '--walk', 'window', '--range', `2:${blocks}`];
  const { status } = spawnSync(process.execPath, [CLI, ...args, '--warehouse', warehouse], { stdio: 'inherit' });
  sandbox.kill();
  if (status !== 0) throw new Error('expected the export to end well');
  return warehouse;
}
