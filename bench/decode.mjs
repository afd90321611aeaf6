// Decoder beside JSON.parse, on the same bytes in the same process.
//   npm run build && node bench/decode.mjs [folder of pages] [--laps 7] [--only scan|batches|parse|objects] [--write]
// Without a folder: 30,000 transactions of the sandbox network, in pages of 1000.
import { readdirSync, readFileSync } from 'node:fs';
import { parseArgs } from 'node:util';
import transactions from '../dist/pipelines/transactions.js';
import { Decoder } from '../dist/src/decode/decoder.js';
import { startSandbox } from '../dist/src/sandbox/index.js';
import { rowsOfPage } from '../dist/tools/object-decoder.js';
import { count, median, publish, round, table } from './lib/report.mjs';

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { laps: { type: 'string', default: '7' }, only: { type: 'string' }, write: { type: 'boolean' } },
});
const SANDBOX_PAGES = 30;
const WARM_UP_LAPS = 2;

async function fetchPages() {
  const sandbox = await startSandbox({ blocks: 3000 });
  const pages = [];
  for (let page = 0; page < SANDBOX_PAGES; page++) {
    const query = `sort=asc&limit=1000&offset=${page * 1000}`;
    const response = await fetch(`${sandbox.url}/transactions?${query}`);
    pages.push(Buffer.from(await response.arrayBuffer()));
  }
  await sandbox.close();
  return pages;
}

function readPages(folder) {
  const names = readdirSync(folder).filter((name) => name.endsWith('.json'));
  return names.sort().map((name) => readFileSync(`${folder}/${name}`));
}

const [folder] = positionals;
const pages = folder === undefined ? await fetchPages() : readPages(folder);
const bytes = pages.reduce((sum, page) => sum + page.length, 0);
const decoder = new Decoder(transactions);
let rows = 0;

const ways = {
  scan: [
    'bytes to Arrow columns',
    () => {
      decoder.clear();
      for (const page of pages) {
        const [refused] = decoder.decode(page).refused;
        if (refused !== undefined) throw new Error(`refused: ${refused.pointer} ${refused.raw.slice(0, 200)}`);
      }
      rows = decoder.records;
    },
  ],
  batches: [
    'bytes to Arrow columns and batches',
    () => {
      ways.scan[1]();
      decoder.batches();
    },
  ],
  parse: [
    'JSON.parse, nothing kept',
    () => {
      for (const page of pages) rows += JSON.parse(page.toString('utf8')).transactions.length;
    },
  ],
  objects: [
    'JSON.parse + object decoder',
    () => {
      for (const page of pages) rowsOfPage(transactions, JSON.parse(page.toString('utf8')));
    },
  ],
};

function lap(run) {
  const cpu = process.cpuUsage();
  const start = performance.now();
  run();
  const seconds = (performance.now() - start) / 1000;
  const { user, system } = process.cpuUsage(cpu);
  return { seconds, cpu: (user + system) / 1e6 };
}

const chosen = Object.entries(ways).filter(([name]) => values.only === undefined || name === values.only);
const laps = new Map(chosen.map(([name]) => [name, []]));
for (let i = 0; i < WARM_UP_LAPS + Number(values.laps); i++) {
  for (const [name, [, run]] of chosen) {
    // The object decoder takes ten times as long as all others together.
    if (name === 'objects' && i % 4 !== 2) continue;
    const measured = lap(run);
    if (i >= WARM_UP_LAPS) laps.get(name).push(measured);
  }
}

const records = pages.reduce((sum, page) => sum + JSON.parse(page.toString('utf8')).transactions.length, 0);
if (rows < records) throw new Error(`expected ${records} transactions, got ${rows}`);
const secondsOf = (name) => median(laps.get(name).map(({ seconds }) => seconds));
const text = table(
  chosen.map(([name, [title]]) => ({
    way: title,
    'MB/s': count(bytes / 1e6 / secondsOf(name)),
    'tx/s': count(records / secondsOf(name)),
    'CPU s per 10k tx': round((median(laps.get(name).map(({ cpu }) => cpu)) / records) * 10_000, 3),
    'speed of JSON.parse': laps.has('parse') ? `${round(secondsOf('parse') / secondsOf(name))} x` : '-',
  })),
);
publish(
  'decode',
  `${text}\n\n${pages.length} pages, ${count(records)} transactions, ${round(bytes / 1e6, 1)} MB. Median of ${values.laps} laps in one process.`,
);
