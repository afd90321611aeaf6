// The pages of tonlake ui over a large warehouse, in Chromium and as requests: the first time, and after it.
//   npm run build && node bench/ui.mjs [--rows 10000000] [--warehouse PATH] [--write]
// --rows counts transactions, of a few exported blocks that are repeated. --warehouse measures one that is there.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { chromium } from 'playwright-core';
import { cli, scratch, usage } from './lib/process.mjs';
import { repeatedWarehouse } from './lib/repeated-warehouse.mjs';
import { count, median, publish, round, table } from './lib/report.mjs';

const { values } = parseArgs({
  options: {
    rows: { type: 'string', default: '10000000' },
    warehouse: { type: 'string' },
    write: { type: 'boolean', default: false },
  },
});
const LAPS = 5;

const warehouse =
  values.warehouse ?? (await repeatedWarehouse(join(scratch(), 'w'), { transactions: Number(values.rows) }));

async function startPage() {
  const server = spawn(process.execPath, [cli, 'ui', '--warehouse', warehouse, '--port', '0'], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const [printed] = await once(server.stdout.setEncoding('utf8'), 'data');
  return { server, url: new URL(printed.split('\n')[0]) };
}

const lines = [];
async function measure(name, work) {
  const laps = [];
  for (let lap = 0; lap <= LAPS; lap++) {
    const start = performance.now();
    await work(lap);
    laps.push(performance.now() - start);
  }
  lines.push({ request: name, 'first, ms': round(laps[0], 0), 'then, ms': round(median(laps.slice(1)), 0) });
}

/** First paint, first data and bytes of each page, loaded anew. */
async function measurePages({ url, lines: into }) {
  const browser = await chromium.launch({
    executablePath: process.env.CHROMIUM ?? '/usr/bin/chromium',
    args: process.getuid?.() === 0 ? ['--no-sandbox'] : [],
  });
  const page = await browser.newPage();
  page.setDefaultTimeout(120_000);
  const devtools = await page.context().newCDPSession(page);
  let bytes = 0;
  devtools.on('Network.loadingFinished', ({ encodedDataLength }) => {
    bytes += encodedDataLength;
  });
  await devtools.send('Network.enable');
  await devtools.send('Network.setCacheDisabled', { cacheDisabled: true });
  await page.goto(url.href);
  await page.locator('.place').waitFor();
  const pages = {
    '/overview': 'dl.figures-row',
    '/coverage': '.map-cells .cell',
    '/tables': '.table-list li a',
    '/tables/transactions': '.columns tbody tr',
    '/query': '.questions li',
    '/explore': 'dl.values a',
    '/jobs': 'h1',
    '/reports': '.report-list li',
  };
  for (const [path, data] of Object.entries(pages)) {
    const laps = [];
    for (let lap = 0; lap <= LAPS; lap++) {
      bytes = 0;
      const start = performance.now();
      await page.goto(new URL(path, url).href, { waitUntil: 'commit' });
      await page.locator(data).first().waitFor();
      const seen = performance.now() - start;
      const paint = await page.evaluate(() => performance.getEntriesByName('first-contentful-paint')[0]?.startTime);
      laps.push({ seen, paint, bytes });
    }
    const later = laps.slice(1);
    into.push({
      page: path,
      'first paint, ms': round(median(later.map(({ paint }) => paint)), 0),
      'first data, ms': round(laps[0].seen, 0),
      'again, ms': round(median(later.map(({ seen }) => seen)), 0),
      kB: round(Math.max(...laps.map(({ bytes }) => bytes)) / 1000, 0),
    });
  }
  await browser.close();
}

const pages = [];
const shown = await startPage();
await measurePages({ url: shown.url, lines: pages });
shown.server.kill('SIGTERM');

const { server, url } = await startPage();
const entry = await fetch(new URL('/api/entry', url), {
  method: 'POST',
  headers: { authorization: `Bearer ${url.hash.replace('#key=', '')}`, 'content-type': 'application/json' },
});
const { session } = await entry.json();
const headers = { authorization: `Bearer ${session}`, 'content-type': 'application/json' };

async function ask(path, init = {}) {
  const response = await fetch(new URL(path, url), { headers, ...init });
  if (!response.ok) throw new Error(`${path}: ${await response.text()}`);
  return response.json();
}

await measure('overview', () => ask('/api/overview'));
await measure('charts of the overview', () => ask('/api/activity'));
await measure('coverage', () => ask('/api/coverage?cells=100'));
await measure('list of tables', () => ask('/api/tables'));
await measure('a table', () => ask('/api/tables/transactions'));
await measure('its first rows', () => ask('/api/tables/transactions/sample'));
await measure('profile of a column', () => ask('/api/tables/transactions/columns/total_fees/profile'));
await measure('examples of explore', () => ask('/api/explore/examples'));
const examples = await ask('/api/explore/examples');
for (const { title, value } of examples) {
  const q = { q: value };
  await measure(`explore: ${title}`, () => ask(`/api/explore?${new URLSearchParams(q)}`));
  for (const where of ['indexed', 'others']) {
    const path = `/api/explore/places?${new URLSearchParams({ ...q, where })}`;
    await measure(`its rows by columns ${where === 'indexed' ? 'with' : 'without'} a filter`, () => ask(path));
  }
}
const sql = 'select hash, account, lt, now, descr, aborted, total_fees, block_date from transactions limit 1000000';
let result;
await measure('query of a million rows of eight columns', async () => {
  result = await ask('/api/runs', { method: 'POST', body: JSON.stringify({ sql, params: {} }) });
});
await measure('rows at a place nobody has been', (lap) =>
  ask(`/api/results/${result.id}/rows?from=${Math.floor((result.count * lap) / (LAPS + 1))}&count=200`),
);
await measure('its last rows', () => ask(`/api/results/${result.id}/rows?from=${result.count - 200}&count=200`));
const { rssMb } = usage(server.pid);
const tables = await ask('/api/tables');
const rowsOf = (name) => tables.find((each) => each.name === name)?.rows ?? 0;
server.kill('SIGTERM');
publish(
  'ui',
  `${table(pages)}\n\n${table(lines)}\n\n${count(rowsOf('transactions'))} transactions, ${count(rowsOf('blocks'))} blocks. Memory of the server at the end, with four results: ${round(rssMb, 0)} MB.`,
);
