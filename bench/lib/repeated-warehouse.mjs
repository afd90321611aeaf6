// A large warehouse in minutes: some blocks of the sandbox are exported, and DuckDB repeats them with later blocks, times and hashes, which is
// several times faster than exporting all. Entries have the evidence of their own rows, so that `verify` and `test` find nothing wrong.
import { createHash } from 'node:crypto';
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { DuckDBInstance } from '@duckdb/node-api';
import { loadRegistry } from '../../dist/src/declare/registry.js';
import { addEvidence, measureRows } from '../../dist/src/warehouse/staging/row-evidence.js';
import { cli, must } from './process.mjs';

/** The first block that is exported. */
const FIRST_BLOCK = 1000;
/** Blocks that are exported, of 53 minutes. */
const COPY_BLOCKS = 8000;
export const COPIES_A_DAY = 27;
/** The last block of a warehouse with some copies. */
export const lastBlock = (copies) => FIRST_BLOCK + copies * COPY_BLOCKS - 1;

/** Columns that differ from copy to copy, by kind. */
const SEQNOS = ['seqno', 'block_seqno'];
const MC_SEQNOS = ['mc_block_seqno', 'tx_mc_block_seqno', 'master_ref_seqno', 'min_ref_mc_seqno'];
const LTS = ['lt', 'prev_trans_lt', 'start_lt', 'end_lt', 'tx_lt', 'created_lt', 'last_trans_lt'];
const TIMES = ['now', 'gen_utime', 'tx_now', 'created_at', 'timestamp'];
const HASHES = [
  ...['hash', 'trace_id', 'prev_trans_hash', 'root_hash', 'file_hash'],
  ...['account_state_hash_before', 'account_state_hash_after', 'last_trans_hash'],
  ...['tx_hash', 'msg_hash', 'msg_hash_norm', 'in_msg_tx_hash', 'out_msg_tx_hash'],
];
/** As exports have them: row groups of this size, with Bloom filters, which DuckDB writes of dictionaries. */
const LAYOUT =
  'FORMAT parquet, COMPRESSION zstd, COMPRESSION_LEVEL 1, ROW_GROUP_SIZE 30720, DICTIONARY_SIZE_LIMIT 32768, STRING_DICTIONARY_PAGE_SIZE_LIMIT 100000000';

/** SQL for the seqno of a block, so that it follows the blocks of the copy before: the two halves of the basechain have seqnos of their own. */
const laterSeqno = (seqno, copy) =>
  `${seqno} + ${copy} * CASE WHEN ${seqno} >= 43000000 THEN 7104 WHEN ${seqno} >= 41000000 THEN 6912 ELSE ${COPY_BLOCKS} END`;

/** SQL for a hash that no other copy has. */
const laterHash = (column, copy) => `'${String(copy).padStart(6, '0')}' || ${column}[7:]`;

/**
 * Makes a warehouse with at least some transactions, or some copies of the exported blocks.
 *
 * @param network URL of a sandbox network with blocks of 0.4 s; default: the embedded one
 * @param seen called with the number of copies that are there
 */
export async function repeatedWarehouse(
  warehouse,
  { transactions = 0, copies = 0, network = 'sandbox', pipelines = ['transactions'], seen = () => {} },
) {
  const range = `${FIRST_BLOCK}:${lastBlock(1)}`;
  const words = ['run', ...pipelines, '--network', network, '--range', range, '--warehouse', warehouse];
  await must(process.execPath, [cli, ...words]);
  const folder = join(warehouse, '_ledger');
  const names = readdirSync(folder).filter((name) => /^\d+\.json$/.test(name));
  const entries = names.map((name) => JSON.parse(readFileSync(join(folder, name), 'utf8')));
  const registry = await loadRegistry();
  const instance = await DuckDBInstance.create();
  const duckdb = await instance.connect();
  await duckdb.run('SET preserve_insertion_order = true');
  const query = async (sql) => ({ rows: (await duckdb.runAndReadAll(sql)).getRows() });
  const held = entries.reduce((sum, { tables }) => sum + (tables.transactions?.rows ?? 0), 0);
  let number = entries.length;
  for (let copy = 1; copy < copies || copy * held < transactions; copy++) {
    const last = await lastHash(network, lastBlock(copy + 1));
    for (const entry of entries) {
      number++;
      const id = number.toString(16).padStart(12, '0');
      const span = { from: entry.span.from + copy * COPY_BLOCKS, to: entry.span.to + copy * COPY_BLOCKS };
      const tables = {};
      for (const [name, own] of Object.entries(entry.tables)) {
        const table = registry.tables.find((each) => each.name === name);
        const copied = [];
        for (const [at, file] of own.files.entries())
          copied.push(...(await repeatFile({ warehouse, query, file, table, copy, last, span, id: `${id}${at}` })));
        const evidence = addEvidence(
          copied.map((each) => each.evidence),
          table,
        );
        tables[name] = { ...own, ...evidence, files: copied.map((each) => each.file) };
      }
      writeFileSync(
        join(folder, `${String(number).padStart(8, '0')}.json`),
        JSON.stringify({ ...entry, number, id, span, tables }),
      );
    }
    await seen(copy + 1);
  }
  duckdb.closeSync();
}

/** The last block of a copy as the network has it: a later run compares it with the source before it requests more. */
async function lastHash(network, seqno) {
  if (network === 'sandbox') return undefined;
  const response = await fetch(`${network}/blocks?workchain=-1&seqno=${seqno}`);
  const { blocks } = await response.json();
  return { seqno, hash: blocks[0].root_hash };
}

async function repeatFile({ warehouse, query, file, table, copy, last, span, id }) {
  const from = join(warehouse, file.path);
  const described = await query(`DESCRIBE FROM read_parquet('${from}', hive_partitioning = false)`);
  const columns = described.rows.map(([column]) => column);
  // The sandbox makes a block in 0.4 s and 2,000,000 of logical time.
  const seconds = Math.round(copy * COPY_BLOCKS * 0.4);
  const replaced = columns.flatMap((column) => {
    if (SEQNOS.includes(column)) return [`${laterSeqno(column, copy)} AS ${column}`];
    if (MC_SEQNOS.includes(column)) return [`${column} + ${copy * COPY_BLOCKS} AS ${column}`];
    if (column === 'prev_blocks') {
      const links = `from_json(prev_blocks, '[{"workchain":"INTEGER","shard":"VARCHAR","seqno":"INTEGER"}]')`;
      const later = `{workchain: each.workchain, shard: each.shard, seqno: ${laterSeqno('each.seqno', copy)}}`;
      return [`to_json(list_transform(${links}, lambda each: ${later}))::VARCHAR AS prev_blocks`];
    }
    if (LTS.includes(column)) return [`${column} + ${copy * COPY_BLOCKS * 2_000_000}::BIGINT AS ${column}`];
    if (TIMES.includes(column)) return [`${column} + ${seconds} AS ${column}`];
    if (column === 'root_hash' && last !== undefined)
      return [
        `CASE WHEN workchain = -1 AND ${laterSeqno('seqno', copy)} = ${last.seqno} THEN '${last.hash}' ELSE ${laterHash(column, copy)} END AS root_hash`,
      ];
    if (HASHES.includes(column)) return [`${laterHash(column, copy)} AS ${column}`];
    if (column === 'block_time') return [`block_time + INTERVAL ${seconds} SECOND AS block_time`];
    return [];
  });
  const select = `SELECT * REPLACE (${replaced.join(', ')}) FROM read_parquet('${from}', hive_partitioning = false)`;
  const days = await query(`SELECT DISTINCT block_time::DATE::VARCHAR FROM (${select}) ORDER BY 1`);
  const copied = [];
  for (const [day] of days.rows) {
    const path = `tables/${table.name}/block_date=${day}/${span.from}-${span.to}-${id}.parquet`;
    const to = join(warehouse, path);
    mkdirSync(dirname(to), { recursive: true });
    await query(`COPY (SELECT * FROM (${select}) WHERE block_time::DATE = '${day}') TO '${to}' (${LAYOUT})`);
    const rows = `(SELECT *, block_time::DATE AS block_date FROM read_parquet('${to}', hive_partitioning = false))`;
    const [evidence] = await measureRows(query, table, rows, Object.keys(file.bounds));
    const content = readFileSync(to);
    const sha256 = createHash('sha256').update(content).digest('hex');
    const { rows: counted, bounds } = evidence;
    copied.push({ evidence, file: { ...file, path, rows: counted, bytes: content.length, sha256, bounds } });
  }
  return copied;
}
