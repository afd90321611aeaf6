// The pages of tonlake ui over a large warehouse: the first time, and after it.
//   npm run build && node bench/ui.mjs [--rows 10000000] [--warehouse PATH] [--write]
// --warehouse measures one that is there, instead of exporting the sandbox.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { run } from '../dist/src/export/run.js';
import { cli, scratch, startServer } from './lib/process.mjs';
import { count, median, publish, round, table } from './lib/report.mjs';

const { values } = parseArgs({
  options: {
    rows: { type: 'string', default: '10000000' },
    warehouse: { type: 'string' },
    write: { type: 'boolean', default: false },
  },
});
/** Rows of all tables of the pipeline. */
const ROWS_A_BLOCK = 53;
const LAPS = 5;

async function exportRows() {
  const warehouse = join(scratch(), 'w');
  const blocks = Math.ceil(Number(values.rows) / ROWS_A_BLOCK);
  const server = await startServer(blocks + 2000);
  await run({ pipelines: ['transactions'], network: server.url, range: `1000:${1000 + blocks}`, warehouse });
  server.close();
  return warehouse;
}

const warehouse = values.warehouse ?? (await exportRows());
const server = spawn(process.execPath, [cli, 'ui', '--warehouse', warehouse, '--port', '0'], {
  stdio: ['ignore', 'pipe', 'inherit'],
});
const [printed] = await once(server.stdout.setEncoding('utf8'), 'data');
const url = new URL(printed.split('\n')[0]);
const entered = await fetch(url, { redirect: 'manual' });
const headers = { cookie: entered.headers.get('set-cookie').split(';')[0], 'content-type': 'application/json' };

async function ask(path, init = {}) {
  const response = await fetch(new URL(path, url), { headers, ...init });
  if (!response.ok) throw new Error(`${path}: ${await response.text()}`);
  return response.json();
}

const lines = [];
async function measure(name, work) {
  const laps = [];
  for (let lap = 0; lap <= LAPS; lap++) {
    const start = performance.now();
    await work(lap);
    laps.push(performance.now() - start);
  }
  lines.push({ page: name, 'first, ms': round(laps[0], 0), 'then, ms': round(median(laps.slice(1)), 0) });
}

await measure('overview', () => ask('/api/overview'));
await measure('coverage', () => ask('/api/coverage?cells=100'));
await measure('list of tables', () => ask('/api/tables'));
await measure('a table', () => ask('/api/tables/transactions'));
await measure('its first rows', () => ask('/api/tables/transactions/sample'));
await measure('profile of a column', () => ask('/api/tables/transactions/columns/total_fees/profile'));
const sql = 'select hash, account, lt, now, descr, aborted, total_fees, block_date from transactions limit 1000000';
let result;
await measure('query of a million rows of eight columns', async () => {
  result = await ask('/api/runs', { method: 'POST', body: JSON.stringify({ sql, params: {} }) });
});
await measure('rows at a place nobody has been', (lap) =>
  ask(`/api/results/${result.id}/rows?from=${Math.floor((result.count * lap) / (LAPS + 1))}&count=200`),
);
await measure('its last rows', () => ask(`/api/results/${result.id}/rows?from=${result.count - 200}&count=200`));
const [, rss] = /VmRSS:\s+(\d+) kB/.exec(readFileSync(`/proc/${server.pid}/status`, 'utf8'));
const { rows } = await ask('/api/overview');
server.kill('SIGTERM');
publish(
  'ui',
  `${table(lines)}\n\n${count(rows)} rows. Memory of the server at the end, with four results: ${round(Number(rss) / 1000, 0)} MB.`,
);
