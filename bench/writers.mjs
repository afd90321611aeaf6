// Ways to write Parquet from Arrow batches, on the same batches in the same process.
//   npm run build && node bench/writers.mjs [--laps 5] [--write]
// nodejs-polars, parquet-wasm and hyparquet-writer are installed by the bench; they are left out where that cannot be done.
import { rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import * as zlib from 'node:zlib';
import * as duckdb from '@duckdb/node-api';
import { RecordBatchStreamWriter, Table, tableToIPC } from 'apache-arrow';
import transactions from '../dist/pipelines/transactions.js';
import { kinds } from '../dist/src/declare/kind.js';
import { toRecordBatch } from '../dist/src/decode/arrow.js';
import { Decoder } from '../dist/src/decode/decoder.js';
import { FileWriter } from '../dist/src/parquet/parquet-writer.js';
import { loadZstd, openWasm } from '../dist/src/parquet/zstd.js';
import { startSandbox } from '../dist/src/sandbox/index.js';
import { loadPackages } from './lib/packages.mjs';
import { scratch } from './lib/process.mjs';
import { count, median, publish, round, table } from './lib/report.mjs';

const { values } = parseArgs({
  options: { laps: { type: 'string', default: '5' }, write: { type: 'boolean', default: false } },
});
const PAGES = 10;
const folder = scratch();
const decoder = new Decoder(transactions);
const sandbox = await startSandbox({ blocks: 2000 });
for (let page = 0; page < PAGES; page++) {
  const response = await fetch(`${sandbox.url}/transactions?sort=asc&limit=1000&offset=${page * 1000}`);
  decoder.decode(Buffer.from(await response.arrayBuffer()));
}
await sandbox.close();
const batches = decoder.batches().filter(({ rows }) => rows > 0);
const arrow = batches.map((batch) => ({ name: batch.table.name, batch: toRecordBatch(batch) }));
const pathOf = (name) => join(folder, `${name}.parquet`);

const instance = await duckdb.DuckDBInstance.create(':memory:', { threads: '1' });
const connection = await instance.connect();

/** The program's own way: dictionaries, statistics and compressed pages, straight from the buffers. */
function encode(compress) {
  return async () => {
    for (const batch of batches) {
      const path = pathOf(batch.table.name);
      rmSync(path, { force: true });
      const writer = new FileWriter(path, batch.table, compress);
      writer.write(batch);
      writer.finish();
    }
  };
}

/** The buffers as PLAIN pages, which DuckDB reads and encodes. */
function transcode(options) {
  return async () => {
    for (const batch of batches) {
      const plain = `${pathOf(batch.table.name)}.plain`;
      rmSync(plain, { force: true });
      const writer = new FileWriter(plain, batch.table);
      writer.write(batch);
      writer.finish();
      await connection.run(
        `COPY (SELECT * FROM read_parquet('${plain}')) TO '${pathOf(batch.table.name)}' (FORMAT parquet, ${options})`,
      );
    }
  };
}

/** A value of Arrow as DuckDB's API takes it. */
function toDuckdb(sql, value) {
  if (value === null || value === undefined) return null;
  if (sql === 'TIMESTAMP') return new duckdb.DuckDBTimestampValue(BigInt(Math.round(Number(value) * 1000)));
  if (sql === 'DATE') return new duckdb.DuckDBDateValue(Math.round(Number(value) / 86_400_000));
  if (sql.startsWith('DECIMAL'))
    return new duckdb.DuckDBDecimalValue(BigInt(String(value)), Number(/\d+/.exec(sql)[0]), 0);
  return sql === 'BLOB' ? new duckdb.DuckDBBlobValue(value) : value;
}

/** Every value goes through DuckDB's API, in data chunks of its vector size. */
async function chunks() {
  for (const [at, { table: own }] of batches.entries()) {
    const { batch, name } = arrow[at];
    const sqls = own.columns.map(({ kind }) => kinds[kind].sql);
    await connection.run(
      `CREATE OR REPLACE TEMP TABLE "${name}" (${own.columns.map((column, i) => `"${column.name}" ${sqls[i]}`).join(', ')})`,
    );
    const appender = await connection.createAppender(name, undefined, 'temp');
    const types = sqls.map((_, i) => appender.columnType(i));
    for (let from = 0; from < batch.numRows; from += 2048) {
      const part = batch.slice(from, from + 2048);
      const chunk = duckdb.DuckDBDataChunk.create(types);
      chunk.setColumns(sqls.map((sql, i) => Array.from(part.getChildAt(i), (value) => toDuckdb(sql, value))));
      appender.appendDataChunk(chunk);
    }
    appender.closeSync();
    await connection.run(`COPY "${name}" TO '${pathOf(name)}' (FORMAT parquet, COMPRESSION zstd, COMPRESSION_LEVEL 1)`);
  }
}

const ways = {
  'from the buffers, zstd level 1': encode(await loadZstd()),
  'PLAIN file, transcoded by DuckDB, zstd level 1': transcode('COMPRESSION zstd, COMPRESSION_LEVEL 1'),
  'the same, zstd at its default level': transcode('COMPRESSION zstd'),
  'the same, snappy': transcode('COMPRESSION snappy'),
  'DuckDB data chunks, COPY, zstd level 1': chunks,
};

const polars = await loadPackages('nodejs-polars@0.24.0');
if (polars !== undefined) {
  const pl = polars.default ?? polars;
  ways['Arrow IPC, nodejs-polars 0.24.0, zstd'] = async () => {
    for (const { name, batch } of arrow) {
      const ipc = Buffer.from(tableToIPC(new Table([batch]), 'file'));
      pl.readIPC(ipc).writeParquet(pathOf(name), { compression: 'zstd' });
    }
  };
}
const wasm = await loadPackages('parquet-wasm@0.8.0');
if (wasm !== undefined) {
  ways['Arrow IPC, parquet-wasm 0.8.0, zstd'] = async () => {
    for (const { name, batch } of arrow) {
      const ipc = RecordBatchStreamWriter.writeAll([batch]).toUint8Array(true);
      const properties = new wasm.WriterPropertiesBuilder().setCompression(wasm.Compression.ZSTD).build();
      writeFileSync(pathOf(name), wasm.writeParquet(wasm.Table.fromIPCStream(ipc), properties));
    }
  };
}
const hyparquetWriter = await loadPackages('hyparquet-writer@0.17.0');
if (hyparquetWriter !== undefined) {
  const { parquetWriteBuffer } = hyparquetWriter;
  ways['hyparquet-writer 0.17.0, snappy'] = async () => {
    for (const [at, { table: own }] of batches.entries()) {
      const { name, batch } = arrow[at];
      const columnData = own.columns.map((column, i) => ({
        name: column.name,
        ...hyparquet(column, batch.getChildAt(i)),
      }));
      writeFileSync(pathOf(name), Buffer.from(parquetWriteBuffer({ columnData })));
    }
  };
}

/** hyparquet-writer has no DECIMAL of 38 digits and no timestamps of microseconds from bigints: those go as text. */
function hyparquet({ kind }, vector) {
  const { sql } = kinds[kind];
  const type = { BIGINT: 'INT64', INTEGER: 'INT32', BOOLEAN: 'BOOLEAN', BLOB: 'BYTE_ARRAY' }[sql] ?? 'STRING';
  const all = Array.from(vector);
  const data = type === 'STRING' ? all.map((value) => (value === null ? null : String(value))) : all;
  return { data, type, nullable: true };
}

/** Columns that come back from a way's files as another type than was declared. */
async function wrongTypes() {
  const wrong = [];
  for (const { table: own } of batches) {
    const reader = await connection.runAndReadAll(`DESCRIBE SELECT * FROM read_parquet('${pathOf(own.name)}')`);
    for (const [name, type] of reader.getRows()) {
      const declared = own.columns.find((column) => column.name === name);
      const sql = declared === undefined ? 'none' : kinds[declared.kind].sql;
      if (type !== (sql === 'JSON' ? 'VARCHAR' : sql)) wrong.push(`${sql} as ${type}`);
    }
  }
  return [...new Set(wrong)].join(', ') || '-';
}

// Where Node has zstd of its own, the first is that one.
if ('zstdCompressSync' in zlib) ways['from the buffers, zstd as WebAssembly'] = encode(await openWasm());

const laps = new Map(Object.keys(ways).map((name) => [name, []]));
const sizes = new Map();
const types = new Map();
for (let lap = 0; lap <= Number(values.laps); lap++) {
  for (const [name, write] of Object.entries(ways)) {
    const cpu = process.cpuUsage();
    try {
      await write();
    } catch (error) {
      if (lap === 0) process.stderr.write(`${name}: ${error.message}\n`);
      laps.delete(name);
      delete ways[name];
      continue;
    }
    const { user, system } = process.cpuUsage(cpu);
    // The first lap compiles.
    if (lap > 0) laps.get(name).push((user + system) / 1e6);
    if (lap === 0) types.set(name, await wrongTypes());
    sizes.set(
      name,
      arrow.reduce((sum, own) => sum + statSync(pathOf(own.name)).size, 0),
    );
  }
}
const [ours] = laps.keys();
const cpuOf = (name) => (median(laps.get(name)) / decoder.records) * 10_000;
const text = table(
  [...laps.keys()].map((name) => ({
    way: name,
    'CPU s per 10k tx': round(cpuOf(name), 3),
    'of the first': `${round(cpuOf(name) / cpuOf(ours))} x`,
    'MB of Parquet per 10k tx': round((sizes.get(name) / 1e6 / decoder.records) * 10_000, 2),
    'read back as other types': types.get(name),
  })),
);
const rows = batches.map((batch) => `${count(batch.rows)} ${batch.table.name.replaceAll('_', ' ')}`).join(', ');
publish('writers', `${text}\n\n${rows}. Median of ${values.laps} laps in one process.`);
