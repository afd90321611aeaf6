// The published tables in every engine that can be installed: count, nulls, least, greatest and sum of every column beside DuckDB over the
// files; an older snapshot; a query for one day, and in a bucket which files it opens.
//   npm run build && node bench/iceberg-readers.mjs [--blocks 100] [--engines duckdb,pyiceberg,polars,clickhouse,spark] [--write]
//   TONLAKE_VERSITYGW=PROGRAM TONLAKE_DUCKDB_EXTENSIONS=FOLDER node bench/iceberg-readers.mjs --store versitygw
//   TONLAKE_MINIO=PROGRAM TONLAKE_DUCKDB_EXTENSIONS=FOLDER node bench/iceberg-readers.mjs --store minio
// Python packages come from PyPI, the Iceberg runtime of Spark from Maven Central; Spark needs Java 17.
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { cpSync, existsSync, mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { openDataFiles } from '../dist/src/warehouse/index.js';
import { accessTo, startObjectStore, startRelay, stores } from './lib/object-store.mjs';
import { must, root, scratch } from './lib/process.mjs';
import { count, publish, table } from './lib/report.mjs';

const { values } = parseArgs({
  options: {
    blocks: { type: 'string', default: '100' },
    engines: { type: 'string', default: 'duckdb,pyiceberg,polars,clickhouse,spark' },
    store: { type: 'string', default: 'folder' },
    write: { type: 'boolean', default: false },
  },
});
const DUCKDB = '1.5.5';
const PACKAGES = [
  `duckdb==${DUCKDB}`,
  `duckdb-extension-iceberg==${DUCKDB}`,
  `duckdb-extension-avro==${DUCKDB}`,
  `duckdb-extension-httpfs==${DUCKDB}`,
  ...['pyiceberg[pyarrow]==0.12.0', 'polars==2.1.0', 'chdb==4.4.0', 'pyspark==4.1.4'],
];
const MAVEN = 'https://repo1.maven.org/maven2';
/** Of Spark: group, name and version. The last two are for object stores: access, and a catalog that tables can be registered in. */
const JARS = [
  ['org/apache/iceberg', 'iceberg-spark-runtime-4.1_2.13', '1.12.0'],
  ['org/apache/iceberg', 'iceberg-aws-bundle', '1.12.0'],
  ['org/xerial', 'sqlite-jdbc', '3.50.3.0'],
];
/** Made once, and used again. */
const tools = join(tmpdir(), 'tonlake-bench-iceberg');
const python = join(tools, 'bin/python');
const jarOf = ([, name, version]) => join(tools, `${name}-${version}.jar`);
const isBucket = stores.includes(values.store);
if (!isBucket && values.store !== 'folder') throw new Error(`--store is folder, ${stores.join(' or ')}`);

function installTools() {
  if (existsSync(join(tools, 'ready'))) return;
  const run = (command, ...args) => {
    const { status } = spawnSync(command, args, { stdio: ['ignore', 'ignore', 'inherit'] });
    if (status !== 0) throw new Error(`${command} ${args.join(' ')} failed`);
  };
  run('python3', '-m', 'venv', '--clear', tools);
  run(python, '-m', 'pip', 'install', '-q', ...PACKAGES);
  for (const jar of JARS) {
    const [group, name, version] = jar;
    run('curl', '-sSf', '-o', jarOf(jar), `${MAVEN}/${group}/${name}/${version}/${name}-${version}.jar`);
  }
  writeFileSync(join(tools, 'ready'), '');
}

/** DuckDB's extensions as it looks for them. */
function installExtensions(folder) {
  const site = join(tools, 'lib', readdirSync(join(tools, 'lib'))[0], 'site-packages');
  const platform = `${process.platform}_${process.arch === 'x64' ? 'amd64' : process.arch}`;
  const to = join(folder, 'extensions', `v${DUCKDB}`, platform);
  mkdirSync(to, { recursive: true });
  for (const name of ['avro', 'iceberg', 'httpfs'])
    cpSync(
      join(site, `duckdb_extension_${name}/extensions/v${DUCKDB}/${name}.duckdb_extension`),
      join(to, `${name}.duckdb_extension`),
    );
}

installTools();
const folder = scratch();
installExtensions(folder);
/** Data files of transactions that each engine opened for the rows of one day. */
const opened = {};
let marked;
const see = (_, url) => {
  const [, mark] = /^\/mark\/(.+)$/.exec(url) ?? [];
  const [, file] = /\/tables\/transactions\/([^?]+\.parquet)/.exec(decodeURIComponent(url)) ?? [];
  if (file !== undefined && marked !== undefined) opened[marked].add(file);
  if (mark === undefined) return undefined;
  marked = /^day-(\w+)/.exec(mark)?.[1];
  if (marked !== undefined) opened[marked] = new Set();
  return 204;
};
const endpoint = isBucket
  ? await startRelay(await startObjectStore(values.store, join(folder, 'store'), 17_490), { see })
  : undefined;
if (isBucket) Object.assign(process.env, accessTo(endpoint));
const warehouse = isBucket ? 's3://lake/w' : join(folder, 'w');
const tonlake = async (...args) =>
  (await must(process.execPath, [join(root, 'dist/src/cli.js'), ...args, '--warehouse', warehouse])).stdout;
const network = ['--network', 'sandbox'];
// Midnight is at block 5000.
const [first, last] = [5000 - Math.ceil(Number(values.blocks) / 2), 5000 + Math.floor(Number(values.blocks) / 2)];
await tonlake('run', 'transactions', ...network, '--range', `${first}:4999`);
const before = JSON.parse((await tonlake('publish', 'iceberg', '--json')).trim().split('\n').at(-1));
const oldRows = Number(
  (await tonlake('sql', 'select count(*) from transactions', '--format', 'csv')).trim().split('\n').at(-1),
);
await tonlake('run', '--all', ...network, '--range', `${first}:${last}`);
await tonlake('build');
await tonlake('compact');
// Some small files besides those that were merged.
await tonlake('run', 'transactions', ...network, '--range', `${last + 1}:${last + 4}`, '--commit-every', '0');
const lines = (await tonlake('publish', 'iceberg', '--json'))
  .trim()
  .split('\n')
  .map((line) => JSON.parse(line));
const names = lines.flatMap((line) => (line.event === 'table' ? [line.table] : []));
const tables = {};
const { objects } = await openDataFiles(warehouse);
for (const name of names) {
  const files = (await tonlake('files', name)).split('\n').filter((path) => path !== '');
  const read = async (file) => Buffer.from(await objects.get(`iceberg/${name}/metadata/${file}`)).toString();
  const newest = `v${await read('version-hint.text')}.metadata.json`;
  const { schemas, 'current-schema-id': current } = JSON.parse(await read(newest));
  const { fields } = schemas.find((schema) => schema['schema-id'] === current);
  const location = `${warehouse}/iceberg/${name}`;
  tables[name] = {
    ...{ location, metadata: `${location}/metadata/${newest}`, files },
    fields: fields.map((field) => [field.name, field.type]),
  };
}
const old = { table: 'transactions', tag: `entry-${before.entry}` };
const day = '2026-05-01';
const store = isBucket
  ? { endpoint, key: process.env.AWS_ACCESS_KEY_ID, secret: process.env.AWS_SECRET_ACCESS_KEY }
  : undefined;
const jars = JARS.slice(0, isBucket ? JARS.length : 1).map(jarOf);
writeFileSync(join(folder, 'asked.json'), JSON.stringify({ tables, old, day, warehouse, jars, store }));
const asked = { stdout: '', stderr: '' };
const reader = spawn(python, [join(root, 'bench/iceberg/readers.py'), folder, ...values.engines.split(',')]);
for (const name of ['stdout', 'stderr']) reader[name].setEncoding('utf8').on('data', (text) => (asked[name] += text));
await once(reader, 'close');
const told = asked.stdout
  .split('\n')
  .flatMap((line) => (line.startsWith('RESULT ') ? [JSON.parse(line.slice(7))] : []));
if (told.length === 0) throw new Error(asked.stderr.slice(-2000));
const labels = {
  truth: 'DuckDB 1.5.5 over the files',
  duckdb: 'DuckDB 1.5.5, `iceberg_scan`',
  pyiceberg: 'pyiceberg 0.12.0',
  polars: 'Polars 2.1.0',
  clickhouse: 'ClickHouse 26.9 (chdb 4.4.0)',
  spark: 'Spark 4.1.4, Iceberg 1.12.0',
};
for (const { engine, differ, failed } of told)
  for (const line of [...differ.slice(0, 10), ...(failed === undefined ? [] : [failed])])
    process.stderr.write(`${engine}: ${line}\n`);
/** How many files an engine opened for a day. @throws if one is of another day */
function filesOfDay(engine) {
  // Over the files themselves, all are opened.
  if (opened[engine] === undefined || engine === 'truth') return '';
  const others = [...opened[engine]].filter((file) => !file.includes(`block_date=${day}`));
  if (others.length > 0 || opened[engine].size === 0) {
    process.stderr.write(`${engine}: opened ${opened[engine].size} files, of other days: ${others.join(' ')}\n`);
    process.exitCode = 1;
  }
  return `${opened[engine].size} of ${tables.transactions.files.length}`;
}
const rows = told.map(({ engine, tables: read, figures, differ, seconds, old: rowsBefore, failed }) => ({
  engine: labels[engine],
  tables: read,
  figures: count(figures),
  differ: failed === undefined ? differ.length : 'failed',
  'rows of the older snapshot': rowsBefore === undefined ? '' : `${count(rowsBefore)} of ${count(oldRows)}`,
  ...(isBucket ? { 'files opened for one day': filesOfDay(engine) } : {}),
  seconds: seconds ?? '',
}));
publish(
  'iceberg-readers',
  `${table(rows)}\n\n${last - first + 1} blocks of the sandbox over two days, all pipelines and marts, compacted, and four more blocks. A figure is the number of rows, or nulls, least, greatest or sum of one column; one more is asked of the transactions of one day.`,
  { section: isBucket ? `iceberg-readers-${values.store}` : 'iceberg-readers' },
);
if (told.some(({ differ, failed }) => differ.length > 0 || failed !== undefined)) process.exitCode = 1;
