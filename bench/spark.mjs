// Marts on Spark, over a warehouse in a bucket whose tables are in a REST catalog: the rows of every mart beside those of DuckDB, what later days
// change, and what a kill leaves; seconds of both.
//   npm run build && TONLAKE_VERSITYGW=PROGRAM TONLAKE_DUCKDB_EXTENSIONS=FOLDER TONLAKE_SPARK_PYTHON=PYTHON TONLAKE_CATALOG_SERVER=FOLDER \
//     node bench/spark.mjs [--transactions 1000000] [--days 45] [--more 10] [--executors 1,2] [--kills 5] [--write]
// PYTHON has pyspark and sqlglot; the folder of the catalog server is that of test/soak/catalog-server/pom.xml. Executors are processes with one
// core each (local-cluster). Spark fetches its jars from Maven.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { setTimeout as delay } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { loadRegistry } from '../dist/src/declare/registry.js';
import { loadMarts } from '../dist/src/marts/load-marts.js';
import { startSandbox } from '../dist/src/sandbox/index.js';
import { openReader } from '../dist/src/warehouse/index.js';
import { warehouseRegistry } from '../dist/src/warehouse/query/warehouse-registry.js';
import { accessTo, startObjectStore } from './lib/object-store.mjs';
import { cli, must, root, scratch } from './lib/process.mjs';
import { count, publish, round, table } from './lib/report.mjs';

const { values } = parseArgs({
  options: {
    transactions: { type: 'string', default: '1000000' },
    days: { type: 'string', default: '45' },
    more: { type: 'string', default: '10' },
    executors: { type: 'string', default: '1,2' },
    kills: { type: 'string', default: '5' },
    write: { type: 'boolean', default: false },
  },
});
const [days, more, kills] = [Number(values.days), Number(values.more), Number(values.kills)];
const executors = values.executors.split(',').map(Number);
/** Of a block of the sandbox, at its greatest activity. */
const TRANSACTIONS_A_BLOCK = 91.5;
const DAY_MS = 86_400_000;
const [storePort, catalogPort] = [await freePort(), await freePort()];
const catalog = `http://127.0.0.1:${catalogPort}`;
const warehouse = 's3://lake/w';
/** Below the warehouse, whose credentials DuckDB reads them with. */
const MARTS = `${warehouse}/spark`;
const PIPELINES = ['transactions', 'actions', 'jetton_transfers', 'jetton_burns', 'nft_transfers', 'jetton_wallets'];
const names = (await loadMarts(await loadRegistry())).map(({ name }) => name);
const folder = scratch();
const startedAt = Date.now();
const tell = (line) => process.stderr.write(`${Math.round((Date.now() - startedAt) / 1000)} s: ${line}\n`);
const timed = async (work) => {
  const from = Date.now();
  const result = await work();
  return { result, seconds: (Date.now() - from) / 1000 };
};

async function freePort() {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address();
  await new Promise((closed) => server.close(closed));
  return port;
}

async function startCatalog(endpoint) {
  const jars = process.env.TONLAKE_CATALOG_SERVER ?? '';
  if (!existsSync(jars))
    throw new Error('TONLAKE_CATALOG_SERVER is the folder of what test/soak/catalog-server/pom.xml names');
  const env = {
    ...process.env,
    ...{ CATALOG_REST_PORT: String(catalogPort), CATALOG_WAREHOUSE: MARTS },
    ...{ CATALOG_IO__IMPL: 'org.apache.iceberg.aws.s3.S3FileIO', CATALOG_S3_ENDPOINT: endpoint },
    CATALOG_S3_PATH__STYLE__ACCESS: 'true',
    // By default each connection has a database of its own, in memory.
    ...{ CATALOG_URI: `jdbc:sqlite:${join(folder, 'catalog.db')}`, CATALOG_CLIENTS: '1' },
  };
  const args = ['-Xmx256m', '-cp', `${jars}/*`, 'org.apache.iceberg.rest.RESTCatalogServer'];
  const server = spawn('java', args, { env, stdio: 'ignore' });
  process.once('exit', () => server.kill());
  server.once('exit', (code) => {
    throw new Error(`the catalog server ended with ${code}`);
  });
  const isUp = () =>
    fetch(`${catalog}/v1/config`).then(
      ({ ok }) => ok,
      () => false,
    );
  while (!(await isUp())) await delay(200);
}

/** CPU seconds of the processes of a group that run. */
function cpuOf(group) {
  const [seen, ticks] = [[], 100];
  for (const id of readdirSync('/proc').filter((name) => /^\d+$/.test(name))) {
    try {
      const fields = readFileSync(`/proc/${id}/stat`, 'utf8').split(') ')[1].split(' ');
      if (Number(fields[2]) === group) seen.push((Number(fields[11]) + Number(fields[12])) / ticks);
    } catch {
      // It has ended.
    }
  }
  return seen.reduce((sum, seconds) => sum + seconds, 0);
}

/** A Spark session in a process group of its own. */
function openSpark(endpoint, processes) {
  const packages = ['iceberg-spark-runtime-4.1_2.13', 'iceberg-aws-bundle'].map(
    (name) => `org.apache.iceberg:${name}:1.12.0`,
  );
  const settings = {
    ...{ 'spark.master': `local-cluster[${processes},1,1536]`, 'spark.executor.memory': '1536m' },
    ...{ 'spark.jars.packages': packages.join(','), 'spark.sql.catalog.ton.type': 'rest' },
    ...{ 'spark.sql.catalog.ton.uri': catalog, 'spark.sql.catalog.ton.s3.endpoint': endpoint },
    ...{ 'spark.sql.catalog.ton.io-impl': 'org.apache.iceberg.aws.s3.S3FileIO' },
    ...{ 'spark.sql.catalog.ton.s3.path-style-access': 'true', 'spark.sql.catalog.ton.warehouse': MARTS },
    // As Spark is by default.
    ...{ 'spark.sql.codegen.wholeStage': 'true', 'spark.sql.codegen.factoryMode': 'FALLBACK' },
    ...{ 'spark.driver.extraJavaOptions': '-XX:+UseParallelGC', 'spark.sql.shuffle.partitions': '4' },
  };
  const args = Object.entries(settings).map(([key, value]) => `${key}=${value}`);
  const driver = join(root, 'test/spark/driver.py');
  const child = spawn(process.env.TONLAKE_SPARK_PYTHON ?? 'python3', [driver, warehouse, ...args], {
    ...{ stdio: ['pipe', 'pipe', 'pipe'], cwd: folder, detached: true },
  });
  const kill = () => {
    try {
      process.kill(-child.pid, 'SIGKILL');
    } catch {
      // It has ended.
    }
  };
  process.once('exit', kill);
  let told = '';
  child.stderr.setEncoding('utf8').on('data', (text) => (told += text));
  const ended = once(child, 'exit');
  const answers = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  const ask = async (...order) => {
    child.stdin.write(`${JSON.stringify(order)}\n`);
    for (;;) {
      const { value, done } = await answers.next();
      if (done) throw new Error(`the session ended: ${told.slice(-3000)}`);
      if (value.startsWith('ANSWER ')) return JSON.parse(value.slice('ANSWER '.length));
    }
  };
  const build = async (into) => {
    const before = cpuOf(child.pid);
    const { result, seconds } = await timed(() => ask('build', '--from', 'ton.iceberg', '--into', `ton.${into}`));
    if (result.code !== 0) throw new Error(result.out);
    return { out: result.out, seconds, cpu: cpuOf(child.pid) - before };
  };
  const close = async () => {
    child.stdin.end();
    await ended;
  };
  const killNow = async () => {
    kill();
    await ended;
  };
  return { ask, build, close, kill: killNow };
}

const reader = async (work) => {
  const opened = await openReader(warehouse, (await warehouseRegistry(warehouse)).tables);
  try {
    return await work(opened);
  } finally {
    await opened.close();
  }
};

/** Rows, and a checksum of them, of each mart of a namespace. */
async function checksums(spark, namespace) {
  const built = await spark.ask('built', namespace, ...names);
  return reader(async ({ query }) => {
    const sums = {};
    for (const name of names) {
      const { columns, files } = built[name];
      const { rows } =
        files.length === 0
          ? { rows: [['empty']] }
          : await query(`SELECT ${checksumOf(columns)} FROM ${filesOf(files)}`);
      sums[name] = rows[0].map(String).join(' ');
    }
    return sums;
  });
}

const filesOf = (files) => `read_parquet([${files.map((file) => `'${file}'`).join(', ')}])`;
const checksumOf = (columns) =>
  `count(*), sum(hash(${columns
    .toSorted()
    .map((column) => `${column}::VARCHAR`)
    .join(', ')})::HUGEINT)`;

/** Marts whose rows or columns differ from those of DuckDB, value by value as text; and the rows of all. */
async function compare(spark, namespace) {
  const built = await spark.ask('built', namespace, ...names);
  return reader(async ({ query }) => {
    const differ = [];
    let total = 0;
    for (const name of names) {
      const { columns, files } = built[name];
      const own = `(SELECT * EXCLUDE (_coverage) FROM ${name})`;
      const described = await query(`DESCRIBE FROM ${own}`);
      const { rows } = await query(`SELECT count(*) FROM ${name}`);
      total += Number(rows[0][0]);
      const listed = columns.map((column) => `${column}::VARCHAR`).join(', ');
      const [ours, theirs] = [own, filesOf(files)].map((source) => `SELECT ${listed} FROM ${source}`);
      const differences =
        files.length === 0 ? [ours] : [`${ours} EXCEPT ALL ${theirs}`, `${theirs} EXCEPT ALL ${ours}`];
      let isSame =
        described.rows
          .map(([column]) => column)
          .sort()
          .join() === columns.toSorted().join();
      for (const sql of differences) isSame &&= (await query(`${sql} LIMIT 1`)).rows.length === 0;
      if (!isSame) differ.push(name);
    }
    return { differ, total };
  });
}

const endpoint = `http://127.0.0.1:${await startObjectStore('versitygw', join(folder, 'store'), storePort)}`;
Object.assign(process.env, accessTo(endpoint));
await startCatalog(endpoint);
const blocks = Math.ceil(Number(values.transactions) / TRANSACTIONS_A_BLOCK / (days + more));
const sandbox = await startSandbox({
  blocks: blocks * (days + more + 3),
  activity: 8,
  blockTimeMs: Math.floor(DAY_MS / blocks),
});
const tonlake = (...args) => must(process.execPath, [cli, ...args, '--warehouse', warehouse]);
const utimeOf = (seqno) =>
  JSON.parse(sandbox.ask(`/blocks?workchain=-1&shard=8000000000000000&seqno=${seqno}`).body).blocks[0].gen_utime;
const firstDay = Math.floor((utimeOf(1) * 1000) / DAY_MS) + 1;
const dayText = (number) => new Date((firstDay + number) * DAY_MS).toISOString().slice(0, 10);

async function exportDays(from, to) {
  const range = `${dayText(from)}:${dayText(to)}`;
  for (const pipeline of [...PIPELINES, 'account_latest'])
    await tonlake('run', pipeline, '--network', sandbox.url, '--range', range);
  await tonlake('publish', 'iceberg', '--catalog', catalog, '--namespace', 'iceberg');
}

/** Builds the marts of DuckDB. */
async function buildHere() {
  const { seconds, cpu } = await tonlake('build');
  return { seconds, cpu };
}

const seconds = [];
const problems = [];
async function requireSame(spark, namespace) {
  const { differ, total } = await compare(spark, namespace);
  if (differ.length > 0) problems.push(`${namespace}: other rows of ${differ.join(', ')}`);
  tell(
    `${namespace}: ${names.length - differ.length} of ${names.length} marts have the same rows, ${count(total)} rows`,
  );
  return total;
}

await exportDays(0, days - 1);
tell(`exported and published ${days} days`);
seconds.push({ what: 'DuckDB', all: await buildHere() });
tell(`DuckDB built in ${round(seconds[0].all.seconds, 1)} s`);
let spark;
let total;
for (const processes of executors) {
  const opened = await timed(async () => {
    spark = openSpark(endpoint, processes);
    await spark.ask('built', 'none');
  });
  const all = await spark.build(`by_${processes}`);
  seconds.push({
    what: `Spark, ${processes} ${processes === 1 ? 'executor' : 'executors'}`,
    start: opened.seconds,
    all,
  });
  tell(
    `Spark with ${processes} (${round(all.cpu, 1)} s of CPU) started in ${round(opened.seconds, 1)} s, built in ${round(all.seconds, 1)} s`,
  );
  total = await requireSame(spark, `by_${processes}`);
  if (processes !== executors.at(-1)) await spark.close();
}
const into = `by_${executors.at(-1)}`;
await spark.build('killed');
const before = await checksums(spark, 'killed');

await exportDays(days, days + more - 1);
tell(`exported and published ${more} more days`);
seconds[0].later = await buildHere();
const later = await spark.build(into);
seconds.at(-1).later = later;
tell(later.out);
const touched = {};
for (const [, name, built] of later.out.matchAll(/^(\w+): (\d+) of \d+ days built/gm)) {
  const summary = await spark.ask('summary', into, name);
  touched[name] = Number(summary['changed-partition-count'] ?? 0);
  if (touched[name] > Number(built)) problems.push(`${name}: ${touched[name]} days changed, ${built} built`);
}
tell(`days that changed by the snapshots: ${JSON.stringify(touched)}`);
await requireSame(spark, into);
const after = await checksums(spark, into);

const states = [];
for (let at = 1; at <= kills; at++) {
  const running = spark.ask('build', '--from', 'ton.iceberg', '--into', 'ton.killed').catch(() => {});
  // Later and later, so that other marts are being written.
  await delay((later.seconds * 1000 * at) / (kills + 1));
  await spark.kill();
  await running;
  spark = openSpark(endpoint, executors.at(-1));
  const left = await checksums(spark, 'killed');
  const [old, fresh] = [before, after].map((state) => names.filter((name) => left[name] === state[name]));
  const neither = names.filter((name) => !old.includes(name) && !fresh.includes(name));
  if (neither.length > 0) problems.push(`after kill ${at}: ${neither.join(', ')} in neither state`);
  states.push({ kill: at, old: names.length - fresh.length, new: fresh.length, neither: neither.length });
  tell(`after kill ${at}: ${JSON.stringify(states.at(-1))}`);
}
await spark.build('killed');
const rest = await checksums(spark, 'killed');
const behind = names.filter((name) => rest[name] !== after[name]);
if (behind.length > 0) problems.push(`after the kills: ${behind.join(', ')} are not current`);
const { rows } = await reader(({ query }) => query('SELECT count(*) FROM transactions'));
await spark.close();
await sandbox.close();

const spread = [...new Set(Object.values(touched))].sort((a, b) => a - b).join(' or ');
publish(
  'spark',
  `${table(
    seconds.map(({ what, start, all, later: next }) => ({
      'marts by': what,
      'start of the session, s': start === undefined ? '' : round(start, 1),
      [`all ${names.length} marts of ${days} days, s`]: round(all.seconds, 1),
      'CPU, s': round(all.cpu, 1),
      [`${more} more days, s`]: next === undefined ? '' : round(next.seconds, 1),
      'CPU then, s': next === undefined ? '' : round(next.cpu, 1),
    })),
  )}

${count(Number(rows[0][0]))} transactions of ${days + more} days of the sandbox in versitygw on the same machine, published to the catalog server of Iceberg's own tests; ${names.length} marts with ${count(total)} rows after the first build. All have the same rows as those of DuckDB${problems.length === 0 ? '' : `, but: ${problems.join('; ')}`}.
The second build changed ${spread} days of each mart that is built by the day, by its snapshots. After each of ${kills} kills (SIGKILL of driver and executors, later and later in that build), every mart was as before or as after: ${states.map((each) => each.new).join(', ')} of ${names.length} as after. The next build did the rest.`,
);
for (const problem of problems) process.stderr.write(`${problem}\n`);
if (problems.length > 0) process.exitCode = 1;
process.exit();
