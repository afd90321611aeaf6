// What SQL over a warehouse in an object store costs: seconds, requests and bytes of queries, at first and again, over many small files and
// over many rows in large ones. The store is versitygw on this machine, behind a relay that counts, and answers as late as told.
//   npm run build && TONLAKE_VERSITYGW=PATH node bench/bucket-queries.mjs [--files 1000,10000] [--rows 10000000] [--seed-rows 150000] [--delay 0]
//     [--warehouse FOLDER] [--against OTHER/dist]
// Small files are those of one commit, linked under other names and days. Rows are exported and compacted, or those of --warehouse, and their
// entries are linked under further days until there are as many as asked: the sandbox has about 160,000, so large files need --warehouse.
// --against is another build, whose answers must be the same.
import { cpSync, linkSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { parseArgs } from 'node:util';
import { realEffects } from '../dist/src/core/effects.js';
import { openStore } from '../dist/src/warehouse/open-store.js';
import { accessTo, startObjectStore, startRelay } from './lib/object-store.mjs';
import { cli, must, root, scratch } from './lib/process.mjs';
import { count, publish, round, table } from './lib/report.mjs';

const { values } = parseArgs({
  options: {
    files: { type: 'string', default: '1000,10000' },
    rows: { type: 'string', default: '10000000' },
    'seed-rows': { type: 'string', default: '150000' },
    delay: { type: 'string', default: '0' },
    warehouse: { type: 'string' },
    against: { type: 'string' },
  },
});
const ROWS_A_BLOCK = 18.2;
const FILES_A_DAY = 400;
/** Blocks of the small file that is not copied, so that it alone has its hashes. */
const LONE = '1900:1909';
const folder = scratch();
const bucket = join(folder, 's3', 'lake');
mkdirSync(bucket, { recursive: true });
const tonlake = (warehouse, ...args) => must(process.execPath, [cli, ...args, '--warehouse', warehouse]);

/** Entries in force of transactions, and the number of the newest entry. */
function readLedger(warehouse) {
  const ledger = join(warehouse, '_ledger');
  const names = readdirSync(ledger).filter((name) => /^\d+\.json$/.test(name));
  const all = names.map((name) => JSON.parse(readFileSync(join(ledger, name), 'utf8')));
  const gone = new Set(all.flatMap(({ supersedes }) => supersedes));
  const entries = all.filter(({ id, pipeline }) => pipeline === 'transactions' && !gone.has(id));
  return { entries, newest: all.reduce((most, { number }) => Math.max(most, number), 0) };
}

/** Adds a copy of an entry, some days later, whose files are links. */
function addEntry(warehouse, entry, number, days) {
  const id = `c${number.toString(36)}`;
  const later = (_, date) => `block_date=${new Date(Date.parse(date) + days * 86_400_000).toISOString().slice(0, 10)}`;
  const place = (path, at) =>
    path.replace(/[^/]+$/, `${number}-${number}-${id}${at}.parquet`).replace(/block_date=([\d-]+)/, later);
  const link = (file, at) => {
    const path = place(file.path, at);
    mkdirSync(dirname(join(warehouse, path)), { recursive: true });
    linkSync(join(warehouse, file.path), join(warehouse, path));
    return { ...file, path };
  };
  const copied = Object.entries(entry.tables).map(([name, part]) => [name, { ...part, files: part.files.map(link) }]);
  const { spans, ...rest } = entry;
  const span = { from: number + 10_000_000, to: number + 10_000_000 };
  const text = JSON.stringify({
    ...rest,
    format: 1,
    number,
    id,
    span,
    tables: Object.fromEntries(copied),
    supersedes: [],
  });
  writeFileSync(join(warehouse, '_ledger', `${String(number).padStart(8, '0')}.json`), text);
}

/** Writes a checkpoint of the ledger, as a writer that made these entries would have. */
async function checkpoint(warehouse) {
  const { network } = JSON.parse(readFileSync(join(warehouse, 'tonlake.json'), 'utf8'));
  const store = await openStore({
    ...{ path: urlOf(warehouse), network, tables: [], effects: realEffects, command: 'bench' },
  });
  const stage = store.stage('bench', { from: 1, to: 1 });
  const staged = await stage.finish();
  const draft = {
    network,
    pipeline: 'bench',
    version: 1,
    span: { from: 1, to: 1 },
    verdict: 'accepted',
    requests: 0,
    retries: 0,
    supersedes: [],
  };
  await store.commit(staged, draft);
  await store.close();
}

const urlOf = (warehouse) => `s3://lake/${warehouse.slice(bucket.length + 1)}`;

async function smallFiles(files) {
  const warehouse = join(bucket, `small-${files}`);
  for (const range of ['1000:1009', LONE])
    await tonlake(warehouse, 'run', 'transactions', '--network', 'sandbox', '--range', range);
  const { entries, newest } = readLedger(warehouse);
  for (let at = 1; at < files - 1; at++) addEntry(warehouse, entries[0], newest + at, Math.floor(at / FILES_A_DAY));
  return warehouse;
}

async function manyRows(rows) {
  const seed = values.warehouse ?? join(folder, 'seed');
  if (values.warehouse === undefined) {
    const last = 1000 + Math.ceil(Number(values['seed-rows']) / ROWS_A_BLOCK);
    await tonlake(seed, 'run', 'transactions', '--network', 'sandbox', '--range', `1000:${last}`);
    await tonlake(seed, 'compact');
  }
  const warehouse = join(bucket, 'rows');
  cpSync(seed, warehouse, {
    recursive: true,
    filter: (path) => !/\/(_stage|_lock|_checkpoints|pinned|iceberg|warehouse\.duckdb)/.test(path.slice(seed.length)),
  });
  const { entries, newest } = readLedger(warehouse);
  const held = entries.reduce((sum, { tables }) => sum + tables.transactions.rows, 0);
  const days = new Set(
    entries.flatMap(({ tables }) => tables.transactions.files.map(({ path }) => /block_date=([^/]+)/.exec(path)?.[1])),
  );
  let number = newest;
  for (let copy = 1; copy * held < rows - held / 2; copy++) {
    for (const entry of entries) addEntry(warehouse, entry, ++number, copy * days.size);
  }
  return warehouse;
}

const seen = { requests: 0, bytes: 0 };

/** Runs something. @returns seconds, requests and bytes */
async function measured(work) {
  Object.assign(seen, { requests: 0, bytes: 0 });
  const startedAt = performance.now();
  const result = await work();
  return { result, seconds: (performance.now() - startedAt) / 1000, ...seen };
}

async function queriesFor(warehouse) {
  const { entries } = readLedger(warehouse);
  const lone = entries.find(({ span }) => `${span.from}:${span.to}` === LONE);
  const [file] = entries.at(-1).tables.transactions.files;
  const date = /block_date=([^/]+)/.exec(file.path)?.[1];
  const { openReader } = await import(join(root, 'dist/src/warehouse/open-store.js'));
  const reader = await openReader(warehouse, []);
  const firstOf = async ({ path }) => {
    const from = `read_parquet('${join(warehouse, path)}')`;
    const { rows } = await reader.query(`SELECT hash, mc_block_seqno FROM ${from} ORDER BY hash LIMIT 1`);
    return rows[0];
  };
  const [hash, block] = await firstOf(file);
  const [loneHash] = lone === undefined ? [hash] : await firstOf(lone.tables.transactions.files[0]);
  await reader.close();
  return [
    ['count', 'SELECT count(*) FROM transactions'],
    [
      'sums of a day',
      `SELECT count(*), sum(total_fees), count(DISTINCT account) FROM transactions WHERE block_date = '${date}'`,
    ],
    [
      'a block of a day',
      `SELECT count(*), sum(total_fees) FROM transactions WHERE block_date = '${date}' AND mc_block_seqno = ${block}`,
    ],
    [
      'a hash of a day',
      `SELECT account, lt FROM transactions WHERE block_date = '${date}' AND hash = '${hash}' ORDER BY ALL`,
    ],
    ['a hash', `SELECT account, lt, block_date FROM transactions WHERE hash = '${loneHash}' ORDER BY ALL`],
  ];
}

const builds = { now: join(root, 'dist'), ...(values.against === undefined ? {} : { against: values.against }) };

async function askBuild(dist, url, sql) {
  const { openReader } = await import(join(dist, 'src/warehouse/open-store.js'));
  const { warehouseRegistry } = await import(join(dist, 'src/warehouse/query/warehouse-registry.js'));
  const { tables } = await warehouseRegistry(url);
  const opened = await measured(() => openReader(url, tables));
  const reader = opened.result;
  // Loads what reading needs, and asks for what the ledger has got since.
  const first = await measured(() => reader.query(sql));
  const again = await measured(() => reader.query(sql));
  await reader.close();
  const text = JSON.stringify(first.result.rows, (_, value) => (typeof value === 'bigint' ? String(value) : value));
  return { opened, first, again, text };
}

const kinds = {
  ...Object.fromEntries(
    values.files
      .split(',')
      .filter(Boolean)
      .map((files) => [`${count(Number(files))} small files`, () => smallFiles(Number(files))]),
  ),
};
if (Number(values.rows) > 0) kinds.rows = () => manyRows(Number(values.rows));
const warehouses = {};
for (const [name, make] of Object.entries(kinds)) warehouses[name] = await make();
const endpoint = await startRelay(await startObjectStore('versitygw', dirname(bucket), 48_790), {
  see: () => void seen.requests++,
  count: (bytes, way) => (seen.bytes += way === 'received' ? bytes : 0),
  waitMs: Number(values.delay),
});
Object.assign(process.env, accessTo(endpoint));
for (const warehouse of Object.values(warehouses)) await checkpoint(warehouse);
const lines = [];
for (const [kind, warehouse] of Object.entries(warehouses)) {
  const { entries } = readLedger(warehouse);
  const files = entries.flatMap(({ tables }) => tables.transactions.files);
  const rows = files.reduce((sum, file) => sum + file.rows, 0);
  const megabytes = files.reduce((sum, file) => sum + file.bytes, 0) / 1e6;
  const name = `${count(rows)} rows, ${kind === 'rows' ? `${count(files.length)} files` : kind}, ${count(megabytes)} MB`;
  for (const [query, sql] of await queriesFor(warehouse)) {
    const texts = [];
    for (const [build, dist] of Object.entries(builds)) {
      const { opened, first, again, text } = await askBuild(dist, urlOf(warehouse), sql);
      texts.push(text);
      lines.push({
        ...{ warehouse: name, query, ...(values.against === undefined ? {} : { build }) },
        ...{
          'opening, s': round(opened.seconds, 1),
          'first, s': round(first.seconds),
          requests: count(first.requests),
          MB: round(first.bytes / 1e6),
        },
        ...{ 'again, s': round(again.seconds), 'requests then': count(again.requests) },
      });
      process.stderr.write(`${JSON.stringify(lines.at(-1))}\n`);
    }
    if (new Set(texts).size > 1) throw new Error(`the builds differ in: ${query}: ${texts.join(' ')}`);
  }
}
publish('bucket-queries', table(lines));
process.exit(0);
