// The published tables in every engine that can be installed: count, nulls, least, greatest and sum of every column beside DuckDB over the
// files; an older snapshot; a query for one day.
//   npm run build && node bench/iceberg-readers.mjs [--blocks 100] [--engines duckdb,pyiceberg,polars,clickhouse,spark] [--write]
// Python packages come from PyPI, the Iceberg runtime of Spark from Maven Central; Spark needs Java 17.
import { spawnSync } from 'node:child_process';
import { cpSync, existsSync, mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { must, root, scratch } from './lib/process.mjs';
import { count, publish, table } from './lib/report.mjs';

const { values } = parseArgs({
  options: {
    blocks: { type: 'string', default: '100' },
    engines: { type: 'string', default: 'duckdb,pyiceberg,polars,clickhouse,spark' },
    write: { type: 'boolean', default: false },
  },
});
const DUCKDB = '1.5.5';
const PACKAGES = [
  `duckdb==${DUCKDB}`,
  `duckdb-extension-iceberg==${DUCKDB}`,
  `duckdb-extension-avro==${DUCKDB}`,
  ...['pyiceberg[pyarrow]==0.12.0', 'polars==2.1.0', 'chdb==4.4.0', 'pyspark==4.1.4'],
];
const JAR = 'iceberg-spark-runtime-4.1_2.13-1.12.0.jar';
const MAVEN = `https://repo1.maven.org/maven2/org/apache/iceberg/iceberg-spark-runtime-4.1_2.13/1.12.0/${JAR}`;
/** Made once, and used again. */
const tools = join(tmpdir(), 'tonlake-bench-iceberg');
const python = join(tools, 'bin/python');

function installTools() {
  if (existsSync(join(tools, 'ready'))) return;
  const run = (command, ...args) => {
    const { status } = spawnSync(command, args, { stdio: ['ignore', 'ignore', 'inherit'] });
    if (status !== 0) throw new Error(`${command} ${args.join(' ')} failed`);
  };
  run('python3', '-m', 'venv', '--clear', tools);
  run(python, '-m', 'pip', 'install', '-q', ...PACKAGES);
  run('curl', '-sSf', '-o', join(tools, JAR), MAVEN);
  writeFileSync(join(tools, 'ready'), '');
}

/** DuckDB's extensions as it looks for them. */
function installExtensions(folder) {
  const site = join(tools, 'lib', readdirSync(join(tools, 'lib'))[0], 'site-packages');
  const platform = `${process.platform}_${process.arch === 'x64' ? 'amd64' : process.arch}`;
  const to = join(folder, 'extensions', `v${DUCKDB}`, platform);
  mkdirSync(to, { recursive: true });
  for (const name of ['avro', 'iceberg'])
    cpSync(
      join(site, `duckdb_extension_${name}/extensions/v${DUCKDB}/${name}.duckdb_extension`),
      join(to, `${name}.duckdb_extension`),
    );
}

installTools();
const folder = scratch();
installExtensions(folder);
const warehouse = join(folder, 'w');
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
await tonlake('mart', 'build');
await tonlake('compact');
const lines = (await tonlake('publish', 'iceberg', '--json'))
  .trim()
  .split('\n')
  .map((line) => JSON.parse(line));
const names = lines.flatMap((line) => (line.event === 'table' ? [line.table] : []));
const tables = {};
for (const name of names) {
  const files = (await tonlake('files', name)).split('\n').filter((path) => path !== '');
  tables[name] = { folder: join(warehouse, 'iceberg', name), files };
}
const old = { table: 'transactions', tag: `entry-${before.entry}` };
writeFileSync(
  join(folder, 'asked.json'),
  JSON.stringify({ tables, old, day: '2026-05-01', warehouse, jar: join(tools, JAR) }),
);
const asked = spawnSync(python, [join(root, 'bench/iceberg/readers.py'), folder, ...values.engines.split(',')], {
  encoding: 'utf8',
  maxBuffer: 2 ** 28,
});
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
const rows = told.map(({ engine, tables: read, figures, differ, seconds, old: rowsBefore, failed }) => ({
  engine: labels[engine],
  tables: read,
  figures: count(figures),
  differ: failed === undefined ? differ.length : 'failed',
  'rows of the older snapshot': rowsBefore === undefined ? '' : `${count(rowsBefore)} of ${count(oldRows)}`,
  seconds: seconds ?? '',
}));
publish(
  'iceberg-readers',
  `${table(rows)}\n\n${last - first + 1} blocks of the sandbox over two days, all pipelines and marts, compacted. A figure is the number of rows, or nulls, least, greatest or sum of one column; one more is asked of the transactions of one day.`,
);
if (told.some(({ differ, failed }) => differ.length > 0 || failed !== undefined)) process.exitCode = 1;
