// The pages of tonlake ui over a large warehouse, in Chromium and as requests: the first time, and after it.
//   npm run build && node bench/ui.mjs [--rows 10000000] [--warehouse PATH] [--write]
// --rows counts transactions. Some blocks of the sandbox are exported, and DuckDB repeats them with later blocks, times and hashes, which is
// several times faster than exporting all. --warehouse measures one that is there.
import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { DuckDBInstance } from '@duckdb/node-api';
import { chromium } from 'playwright-core';
import { cli, scratch, usage } from './lib/process.mjs';
import { count, median, publish, round, table } from './lib/report.mjs';

const { values } = parseArgs({
  options: {
    rows: { type: 'string', default: '10000000' },
    warehouse: { type: 'string' },
    write: { type: 'boolean', default: false },
  },
});
/** Blocks that are exported. */
const BLOCKS = 8000;
const LAPS = 5;

/** Columns that differ from copy to copy, by kind. */
const SEQNOS = ['seqno', 'block_seqno', 'mc_block_seqno', 'tx_mc_block_seqno', 'master_ref_seqno', 'min_ref_mc_seqno'];
const LTS = ['lt', 'prev_trans_lt', 'start_lt', 'end_lt', 'tx_lt', 'created_lt', 'last_trans_lt'];
const TIMES = ['now', 'gen_utime', 'tx_now', 'created_at', 'timestamp'];
const HASHES = [
  ...['hash', 'trace_id', 'prev_trans_hash', 'root_hash', 'file_hash'],
  ...['tx_hash', 'msg_hash', 'msg_hash_norm', 'out_msg_tx_hash', 'last_trans_hash'],
];
/** As exports have them: row groups of this size, with Bloom filters, which DuckDB writes of dictionaries. */
const LAYOUT =
  'FORMAT parquet, COMPRESSION zstd, COMPRESSION_LEVEL 1, ROW_GROUP_SIZE 30720, DICTIONARY_SIZE_LIMIT 32768, STRING_DICTIONARY_PAGE_SIZE_LIMIT 100000000';

async function repeatedWarehouse() {
  const warehouse = join(scratch(), 'w');
  const range = `1000:${1000 + BLOCKS - 1}`;
  const words = ['run', 'transactions', '--network', 'sandbox', '--range', range, '--warehouse', warehouse];
  execFileSync(process.execPath, [cli, ...words], { stdio: ['ignore', 'ignore', 'inherit'] });
  const folder = join(warehouse, '_ledger');
  const names = readdirSync(folder).filter((name) => /^\d+\.json$/.test(name));
  const entries = names.map((name) => JSON.parse(readFileSync(join(folder, name), 'utf8')));
  const instance = await DuckDBInstance.create();
  const duckdb = await instance.connect();
  await duckdb.run('SET preserve_insertion_order = true');
  const held = entries.reduce((sum, { tables }) => sum + (tables.transactions?.rows ?? 0), 0);
  let number = entries.length;
  for (let copy = 1; copy * held < Number(values.rows); copy++) {
    for (const entry of entries) {
      number++;
      const id = number.toString(16).padStart(12, '0');
      const span = { from: entry.span.from + copy * BLOCKS, to: entry.span.to + copy * BLOCKS };
      const tables = {};
      for (const [name, own] of Object.entries(entry.tables)) {
        const files = [];
        for (const [at, file] of own.files.entries())
          files.push(...(await repeatFile({ warehouse, duckdb, file, name, copy, span, id: `${id}${at}` })));
        tables[name] = { ...own, files };
      }
      writeFileSync(
        join(folder, `${String(number).padStart(8, '0')}.json`),
        JSON.stringify({ ...entry, number, id, span, tables }),
      );
    }
  }
  duckdb.closeSync();
  return warehouse;
}

async function repeatFile({ warehouse, duckdb, file, name, copy, span, id }) {
  const from = join(warehouse, file.path);
  const described = await duckdb.runAndReadAll(`DESCRIBE FROM read_parquet('${from}', hive_partitioning = false)`);
  const columns = described.getRows().map(([column]) => column);
  // The sandbox makes a block in 0.4 s and 2,000,000 of logical time.
  const seconds = Math.round(copy * BLOCKS * 0.4);
  const replaced = columns.flatMap((column) => {
    if (SEQNOS.includes(column)) return [`${column} + ${copy * BLOCKS} AS ${column}`];
    if (LTS.includes(column)) return [`${column} + ${copy * BLOCKS * 2_000_000}::BIGINT AS ${column}`];
    if (TIMES.includes(column)) return [`${column} + ${seconds} AS ${column}`];
    if (HASHES.includes(column)) return [`'${String(copy).padStart(6, '0')}' || ${column}[7:] AS ${column}`];
    if (column === 'block_time') return [`block_time + INTERVAL ${seconds} SECOND AS block_time`];
    return [];
  });
  const select = `SELECT * REPLACE (${replaced.join(', ')}) FROM read_parquet('${from}', hive_partitioning = false)`;
  const days = await duckdb.runAndReadAll(
    `SELECT block_time::DATE::VARCHAR, count(*) FROM (${select}) GROUP BY 1 ORDER BY 1`,
  );
  const bounded = Object.keys(file.bounds ?? {}).filter((column) => columns.includes(column));
  const files = [];
  for (const [day, rows] of days.getRows()) {
    const path = `tables/${name}/block_date=${day}/${span.from}-${span.to}-${id}.parquet`;
    const to = join(warehouse, path);
    execFileSync('mkdir', ['-p', join(to, '..')]);
    await duckdb.run(`COPY (SELECT * FROM (${select}) WHERE block_time::DATE = '${day}') TO '${to}' (${LAYOUT})`);
    const ends = bounded.map((column) => `min(${column})::VARCHAR, max(${column})::VARCHAR`);
    const found = await duckdb.runAndReadAll(
      `SELECT ${ends.join(', ')} FROM read_parquet('${to}', hive_partitioning = false)`,
    );
    const [row = []] = found.getRows();
    const bounds = Object.fromEntries(bounded.map((column, at) => [column, [row[2 * at], row[2 * at + 1], 0]]));
    files.push({ ...file, path, rows: Number(rows), bytes: statSync(to).size, bounds });
  }
  return files;
}

const warehouse = values.warehouse ?? (await repeatedWarehouse());

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
