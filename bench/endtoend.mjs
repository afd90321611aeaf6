// From a loopback server of ready pages to committed Parquet and DuckDB, beside bare parsing and beside other tools.
//   npm run build && node bench/endtoend.mjs [--blocks 15000] [--laps 5] [--peer-laps 3] [--slow-rows 10000] [--no-python] [--write]
// Each lap runs every contestant once, so that all see the same machine. What is slow gets fewer rows; figures are per row.
import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { cli, must, root, scratch, startServer } from './lib/process.mjs';
import { openPython } from './lib/python.mjs';
import { count, median, publish, round, table } from './lib/report.mjs';

const { values } = parseArgs({
  options: {
    blocks: { type: 'string', default: '15000' },
    laps: { type: 'string', default: '5' },
    'peer-laps': { type: 'string', default: '3' },
    'slow-rows': { type: 'string', default: '10000' },
    'no-python': { type: 'boolean', default: false },
    write: { type: 'boolean', default: false },
  },
});
const blocks = Number(values.blocks);
const laps = Number(values.laps);
const slowRows = Number(values['slow-rows']);
const folder = scratch();
const server = await startServer(blocks + 1000);

const run = (warehouse, more = [], network = server.url) => {
  for (const path of [warehouse, `${warehouse}.stage`]) rmSync(join(folder, path), { recursive: true, force: true });
  const range = ['--range', `100:${blocks}`, '--warehouse', join(folder, warehouse)];
  return must(process.execPath, [cli, 'run', '--network', network, ...range, '--json', ...more]);
};
const MASTERCHAIN = ['--walk', 'masterchain'];
const report = (result) => JSON.parse(result.stdout.trim().split('\n').at(-1));

// The first runs fill the server, and tell which pages tonlake asks for.
const first = report(await run('w'));
const rows = first.rows.transactions;
const { paths: asked } = await server.stat();
await run('w', MASTERCHAIN);
const origin = new URL(server.url).origin;
const list = Array.from(
  { length: Math.ceil(rows / 1000) },
  (_, at) => `/api/v3/transactions?limit=1000&offset=${at * 1000}&sort=asc`,
);
const addresses = join(folder, 'asked.txt');
const listed = join(folder, 'list.txt');
writeFileSync(addresses, asked.map((path) => origin + path).join('\n'));
writeFileSync(listed, list.map((path) => origin + path).join('\n'));
// The API compresses what it sends to clients that can take it.
const zipped = `${listed}.gzip`;
writeFileSync(zipped, list.map((path) => `${origin}/gzip${path}`).join('\n'));
const zippedUrl = server.url.replace(origin, `${origin}/gzip`);
const pages = join(folder, 'pages');
mkdirSync(pages);
let bytes = 0;
for (const [at, path] of list.entries()) {
  const body = Buffer.from(await (await fetch(origin + path)).arrayBuffer());
  bytes += body.length;
  writeFileSync(join(pages, `${String(at).padStart(6, '0')}.json`), body);
}
const listRows = list.length * 1000;

const peer = (name) => join(root, 'bench/peers', name);
const undici = (file, ...more) => must(process.execPath, [peer('undici.mjs'), file, ...more]);
const curl = (file, ...more) => must('bash', [peer('curl.sh'), file, folder, ...more]);
const contestants = [
  { name: 'tonlake to Parquet', rows, run: () => run('w') },
  {
    name: 'tonlake to Parquet, --walk masterchain',
    rows,
    run: () => run('w', MASTERCHAIN),
    isPeer: true,
  },
  { name: 'tonlake to DuckDB', rows, run: () => run('w.duckdb') },
  { name: 'undici + JSON.parse of the pages that tonlake asks for, nothing kept', rows, run: () => undici(addresses) },
  { name: 'undici + JSON.parse of pages of 1000, nothing kept', rows: listRows, run: () => undici(listed) },
  { name: 'undici alone, pages of 1000', rows: listRows, run: () => undici(listed, '--raw') },
  {
    name: 'DuckDB 1.5 read_json, typed, 2 threads; pages on disk, no HTTP',
    rows: listRows,
    run: () => must(process.execPath, [peer('duckdb.mjs'), pages, folder]),
  },
  { name: 'curl, 8 at once, to files; then DuckDB 1.5 read_json, typed', rows: listRows, run: () => curl(listed) },
  { name: 'gzip: tonlake to Parquet', rows, run: () => run('w', [], zippedUrl) },
  { name: 'gzip: undici + JSON.parse, nothing kept', rows: listRows, run: () => undici(zipped) },
  { name: 'gzip: curl, then DuckDB', rows: listRows, run: () => curl(zipped, '--compressed') },
];

const python = values['no-python'] ? undefined : openPython();
if (python !== undefined) {
  const script =
    (name, of, env = {}) =>
    () =>
      must(python.python, [peer(name), server.url, String(of), folder], {
        env: { RUNTIME__DLTHUB_TELEMETRY: 'false', ...env },
      });
  const tuned = {
    BENCH_FILE_FORMAT: 'parquet',
    NORMALIZE__WORKERS: '2',
    NORMALIZE__DATA_WRITER__DISABLE_COMPRESSION: 'true',
    SOURCES__DATA_WRITER__DISABLE_COMPRESSION: 'true',
    SOURCES__DATA_WRITER__FILE_MAX_ITEMS: '2500',
    DATA_WRITER__BUFFER_MAX_ITEMS: '20000',
  };
  const fast = Math.min(listRows, 40_000);
  const slow = Math.min(listRows, slowRows);
  contestants.push(
    { name: 'polars read_json + unnest', rows: fast, run: script('polars_unnest.py', fast), isPeer: true },
    { name: 'pandas json_normalize', rows: slow, run: script('pandas_normalize.py', slow), isPeer: true },
    { name: 'dlt to DuckDB, tuned', rows: slow, run: script('dlt_rest.py', slow, tuned), isPeer: true },
    { name: 'dlt to DuckDB, defaults', rows: slow, run: script('dlt_rest.py', slow), isPeer: true },
  );
}

const results = new Map(contestants.map(({ name }) => [name, []]));
for (let lap = 0; lap < laps; lap++) {
  for (const { name, run: go, isPeer } of contestants) {
    if (isPeer && lap >= Number(values['peer-laps'])) continue;
    results.get(name).push(await go());
    process.stderr.write(`lap ${lap + 1} of ${laps}: ${name}: ${results.get(name).at(-1).seconds} s\n`);
  }
}
const { cpu: serverCpu } = await server.stat();
server.close();

const [ours] = contestants;
const rate = ({ name, rows: of }) => of / median(results.get(name).map(({ seconds }) => seconds));
const cpuOf = ({ name, rows: of }) => (median(results.get(name).map(({ cpu }) => cpu)) / of) * 10_000;
const text = table(
  contestants.map((contestant) => ({
    contestant: contestant.name,
    rows: count(contestant.rows),
    'tx/s': count(rate(contestant)),
    'tonlake is faster by': contestant === ours ? '' : `${round(rate(ours) / rate(contestant))} x`,
    'CPU s per 10k tx': round(cpuOf(contestant), 3),
    'peak MB': Math.max(...results.get(contestant.name).map(({ peakMb }) => peakMb ?? 0)) || '-',
  })),
);
const parse = contestants[4];
publish(
  'endtoend',
  `${text}

${count(rows)} transactions and the headers that prove them, ${asked.length} requests; ${list.length} pages of 1000 are
${round(bytes / 1e6, 0)} MB. Median of ${laps} laps (slow contestants ${Math.min(laps, Number(values['peer-laps']))}); whole processes, start
included. CPU per transaction is ${round(cpuOf(ours) / cpuOf(parse))} x that of undici + JSON.parse. The server shares the machine: it took
${round(serverCpu, 0)} s of CPU in all. ${python === undefined ? '' : `Python: ${python.versions}.`}`,
);
