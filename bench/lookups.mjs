// Looking up single transactions in many rows: by hash and by account, in files of about 128 MB with and without Bloom filters, with
// DuckDB. CPU time is told beside seconds, for machines that do something else as well.
//   npm run build && node bench/lookups.mjs [--rows 2000000] [--laps 7] [--before DIST] [--write]
// --before: `dist` of an older build of this project, whose files are measured side by side.
// Pages of the sandbox repeat, with hashes and accounts changed in each repetition.
import { rmSync, statSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import * as duckdb from '@duckdb/node-api';
import { loadZstd } from '../dist/src/parquet/zstd.js';
import { startSandbox } from '../dist/src/sandbox/index.js';
import { scratch } from './lib/process.mjs';
import { count, median, publish, round, table } from './lib/report.mjs';

const { values } = parseArgs({
  options: {
    rows: { type: 'string', default: '2000000' },
    laps: { type: 'string', default: '7' },
    before: { type: 'string' },
    write: { type: 'boolean', default: false },
  },
});
const FILE_BYTES = 128e6;
/** Values are changed behind their beginning: as with real hashes, the bounds of every row group hold nearly all values. */
const MIDDLE = 20;
const PAGES = 10;
const folder = scratch();
const compress = await loadZstd();
const rowsWanted = Number(values.rows);

const sandbox = await startSandbox({ blocks: 2000 });
const pages = [];
for (let page = 0; page < PAGES; page++) {
  const response = await fetch(`${sandbox.url}/transactions?sort=asc&limit=1000&offset=${page * 1000}`);
  pages.push(Buffer.from(await response.arrayBuffer()));
}
await sandbox.close();

/** Changes values in place: the four characters from `from` on become the number of the repetition. */
function stamp({ offsets, values: bytes }, rows, from, repetition) {
  const digits = Buffer.from(repetition.toString(16).padStart(4, '0'));
  for (let row = 0; row < rows; row++) if (offsets[row + 1] > offsets[row]) bytes.set(digits, offsets[row] + from);
}

async function write(dist, name, hasFilters = true) {
  const load = (path) => import(resolve(dist, path));
  const { default: pipeline } = await load('pipelines/transactions.js');
  const { Decoder } = await load('src/decode/decoder.js');
  const { FileWriter } = await load('src/parquet/parquet-writer.js');
  const decoder = new Decoder(pipeline);
  for (const page of pages) decoder.decode(page);
  const batch = decoder.batches().find(({ table: made }) => made.name === 'transactions');
  const vectorOf = (column) => batch.vectors.find((vector) => vector.column.name === column);
  const columns = batch.table.columns.map((column) => (hasFilters ? column : { ...column, bloomFilter: undefined }));
  const own = { ...batch.table, columns };
  const paths = [];
  let writer;
  const start = process.cpuUsage();
  let rows = 0;
  for (let repetition = 0; rows < rowsWanted; repetition++) {
    for (const column of ['hash', 'trace_id', 'prev_trans_hash'])
      stamp(vectorOf(column), batch.rows, MIDDLE, repetition);
    // A third of the accounts comes back in each repetition.
    stamp(vectorOf('account'), batch.rows, MIDDLE, repetition % 3 === 0 ? 0 : repetition);
    if (writer === undefined) {
      paths.push(join(folder, `${name.replaceAll(' ', '-')}-${paths.length}.parquet`));
      writer = new FileWriter(paths.at(-1), own, compress);
    }
    writer.write(batch);
    rows += batch.rows;
    if (repetition % 10 === 9 && statSync(paths.at(-1)).size > FILE_BYTES) {
      writer.finish();
      writer = undefined;
    }
  }
  writer?.finish();
  const { user, system } = process.cpuUsage(start);
  return {
    name,
    paths,
    rows,
    cpu: (user + system) / 1e6,
    bytes: paths.reduce((sum, path) => sum + statSync(path).size, 0),
  };
}

const builds = [];
if (values.before !== undefined) builds.push(await write(values.before, 'before'));
builds.push(await write('dist', 'without filters', false));
builds.push(await write('dist', 'with filters'));

const instance = await duckdb.DuckDBInstance.create(':memory:');
const connection = await instance.connect();
const all = async (sql) => (await connection.runAndReadAll(sql)).getRowsJson();
const sourceOf = ({ paths }) => `read_parquet([${paths.map((path) => `'${path}'`).join(', ')}])`;
const [{ rows }] = builds;
// Accounts with few transactions: what comes back shall not be what is measured.
const sample = await all(
  `SELECT any_value(hash), account FROM ${sourceOf(builds[0])} GROUP BY account HAVING count(*) <= 3 ORDER BY md5(account) LIMIT 5`,
);
const absent = (value, at) => `${value.slice(0, at)}ffff${value.slice(at + 4)}`;
const lookups = {
  'one hash': sample.map(([hash]) => `SELECT * FROM SOURCE WHERE hash = '${hash}'`),
  'a hash that is not there': sample.map(([hash]) => `SELECT * FROM SOURCE WHERE hash = '${absent(hash, MIDDLE)}'`),
  'one account': sample.map(([, account]) => `SELECT * FROM SOURCE WHERE account = '${account}'`),
  'an account that is not there': sample.map(
    ([, account]) => `SELECT * FROM SOURCE WHERE account = '${absent(account, MIDDLE)}'`,
  ),
  'five hashes': [`SELECT * FROM SOURCE WHERE hash IN (${sample.map(([hash]) => `'${hash}'`).join(', ')})`],
  count: ['SELECT count(*), sum(total_fees) FROM SOURCE'],
};
const lines = [];
for (const [name, queries] of Object.entries(lookups)) {
  const times = new Map(builds.map((build) => [build.name, { seconds: [], cpu: [] }]));
  for (let lap = 0; lap <= Number(values.laps); lap++) {
    const answers = new Set();
    for (const build of builds) {
      const start = performance.now();
      const cpu = process.cpuUsage();
      const answer = [];
      for (const query of queries) answer.push(await all(query.replace('SOURCE', sourceOf(build))));
      // The first lap warms the disk's cache.
      if (lap > 0) {
        const { user, system } = process.cpuUsage(cpu);
        times.get(build.name).seconds.push((performance.now() - start) / queries.length);
        times.get(build.name).cpu.push((user + system) / 1000 / queries.length);
      }
      answers.add(JSON.stringify(answer.map((own) => own.map((row) => JSON.stringify(row)).sort())));
    }
    if (answers.size > 1) throw new Error(`the builds answer differently: ${name}`);
  }
  const line = { query: name };
  for (const { name: build } of builds) {
    const { seconds, cpu } = times.get(build);
    line[`${build}, ms`] = round(median(seconds), 1);
    line[`${build}, ms of CPU`] = round(median(cpu), 1);
  }
  lines.push(line);
}
const files = builds
  .map(
    ({ name, paths, bytes, cpu }) =>
      `${name}: ${paths.length} files, ${round(bytes / 1e6, 1)} MB, ${round(cpu, 1)} s CPU to write`,
  )
  .join('; ');
for (const path of builds.flatMap(({ paths }) => paths)) rmSync(path);
publish(
  'lookups',
  `${table(lines)}\n\n${count(rows)} transactions, all columns. ${files}. Median of ${values.laps} laps, in the disk's cache.`,
);
