// Ten analyst queries: a Parquet warehouse before and after `compact`, and the same rows in a DuckDB file.
//   npm run build && node bench/queries.mjs [--rows 1000000] [--laps 5] [--files 1000] [--write]
// The warehouse before has about --files small files, as a follower of the head would leave them.
import { cpSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { run } from '../dist/src/export/run.js';
import { open } from '../dist/src/library/open.js';
import { cli, must, scratch, startServer } from './lib/process.mjs';
import { count, median, publish, round, table } from './lib/report.mjs';

const { values } = parseArgs({
  options: {
    rows: { type: 'string', default: '1000000' },
    files: { type: 'string', default: '1000' },
    laps: { type: 'string', default: '5' },
    write: { type: 'boolean', default: false },
  },
});
const ROWS_A_BLOCK = 18.2;
const TABLES_WITH_FILES = 4;
const rows = Number(values.rows);
const laps = Number(values.laps);
const blocks = Math.ceil(rows / ROWS_A_BLOCK);
const commits = Math.max(1, Math.round(Number(values.files) / TABLES_WITH_FILES));

const queries = [
  ['count', 'SELECT count(*) FROM transactions'],
  ['rows a day', 'SELECT block_date, count(*), sum(total_fees) FROM transactions GROUP BY 1 ORDER BY 1'],
  [
    'one hour',
    "SELECT count(*), sum(compute_gas_used) FROM transactions WHERE block_time BETWEEN '2026-05-01 01:00' AND '2026-05-01 02:00'",
  ],
  ['one block', 'SELECT * FROM transactions WHERE mc_block_seqno = 20000'],
  [
    'busiest accounts',
    'SELECT account, count(*) AS n, sum(total_fees) FROM transactions GROUP BY 1 ORDER BY n DESC, 1 LIMIT 20',
  ],
  [
    'failed by exit code',
    'SELECT compute_exit_code, count(*) FROM transactions WHERE NOT compute_success GROUP BY 1 ORDER BY 2 DESC, 1 LIMIT 20',
  ],
  [
    'value by opcode',
    "SELECT opcode, count(*), sum(value) FROM messages WHERE direction = 'in' GROUP BY 1 ORDER BY 2 DESC, 1 LIMIT 20",
  ],
  [
    'comments',
    'SELECT comment, count(*) FROM messages WHERE comment IS NOT NULL GROUP BY 1 ORDER BY 2 DESC, 1 LIMIT 20',
  ],
  [
    'senders and fees',
    "SELECT m.source, count(*), sum(t.total_fees) FROM messages m JOIN transactions t ON t.hash = m.tx_hash WHERE m.direction = 'in' GROUP BY 1 ORDER BY 2 DESC, 1 LIMIT 20",
  ],
  [
    'richest accounts',
    'SELECT account, arg_max(balance, last_trans_lt) AS b FROM account_states GROUP BY 1 ORDER BY b DESC, 1 LIMIT 20',
  ],
];

const folder = scratch();
const server = await startServer(blocks + 2000);
const paths = { many: join(folder, 'many'), compact: join(folder, 'compact'), duckdb: join(folder, 'w.duckdb') };
const size = Math.ceil(blocks / commits);
const ranges = Array.from(
  { length: commits },
  (_, at) => `${1000 + at * size}:${Math.min(999 + (at + 1) * size, 1000 + blocks)}`,
);
for (const range of ranges)
  await run({ pipelines: ['transactions'], network: server.url, range, warehouse: paths.many });
await run({
  pipelines: ['transactions'],
  network: server.url,
  range: `1000:${1000 + blocks}`,
  warehouse: paths.duckdb,
});
server.close();
cpSync(paths.many, paths.compact, { recursive: true });
const merge = await must(process.execPath, [cli, 'compact', '--warehouse', paths.compact, '--json']);
const merged = JSON.parse(merge.stdout.trim().split('\n').at(-1));

const warehouses = {};
for (const [name, path] of Object.entries(paths)) warehouses[name] = await open({ warehouse: path });
const results = queries.map(() => ({ many: [], compact: [], duckdb: [] }));
for (let lap = 0; lap <= laps; lap++) {
  for (const [at, [name, sql]] of queries.entries()) {
    const answers = [];
    for (const [which, warehouse] of Object.entries(warehouses)) {
      const start = performance.now();
      const answer = await warehouse.query(sql);
      // The first lap warms the disk's cache.
      if (lap > 0) results[at][which].push(performance.now() - start);
      answers.push(JSON.stringify(answer, (_, value) => (typeof value === 'bigint' ? String(value) : value)));
    }
    if (name !== 'one block' && new Set(answers).size > 1) throw new Error(`the warehouses differ in: ${name}`);
  }
}
for (const warehouse of Object.values(warehouses)) await warehouse.close();

const ms = (all) => median(all);
const total = (which) => results.reduce((sum, all) => sum + ms(all[which]), 0);
const line = (name, of) => ({
  query: name,
  [`${count(merged.files.before)} files, ms`]: round(of('many'), 1),
  [`compacted to ${count(merged.files.after)}, ms`]: round(of('compact'), 1),
  'faster by': `${round(of('many') / of('compact'), 1)} x`,
  'DuckDB file, ms': round(of('duckdb'), 1),
});
const text = table([...queries.map(([name], at) => line(name, (which) => ms(results[at][which]))), line('all', total)]);
publish(
  'queries',
  `${text}\n\n${count(rows)} transactions with messages, states and headers. Compacting took ${round(merge.seconds, 1)} s, ${merge.peakMb ?? '-'} MB at most, and
${round(merged.bytes.before / 1e6, 1)} MB became ${round(merged.bytes.after / 1e6, 1)} MB. Median of ${laps} laps, everything in the disk's cache.`,
);
