// What a view of `ton` costs beside the table behind it: CPU seconds of the same queries over both.
//   node bench/ton-views.mjs --warehouse data/sandbox [--rows 1600000] [--laps 5]
// The rows of the warehouse are copied to Parquet files until there are enough of them.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { Database } from '../dist/src/sql/database.js';
import { collectRows } from '../dist/src/sql/query-result.js';
import { tonViews } from '../dist/src/sql/ton-views.js';
import { openQueries } from '../dist/src/warehouse/query/query.js';

const { values } = parseArgs({
  options: {
    warehouse: { type: 'string', default: 'data/sandbox' },
    rows: { type: 'string', default: '1600000' },
    laps: { type: 'string', default: '5' },
  },
});
/** A query takes too little time to be measured once. */
const REPEATS = 20;
const QUERIES = {
  transactions: [
    'SELECT block_date, count(*), sum(total_fees) FROM T GROUP BY 1',
    'SELECT count(*) FROM T WHERE now BETWEEN 1777679900 AND 1777679910 AND total_fees > 1000000',
    'SELECT account, max(lt), count_if(aborted) FROM T GROUP BY 1 ORDER BY 2 DESC LIMIT 10',
  ],
  messages: [
    'SELECT opcode, count(*), sum(value) FROM T GROUP BY 1',
    "SELECT count(*) FROM T WHERE direction = 'in' AND tx_now > 1777679990",
  ],
};

const folder = mkdtempSync(join(tmpdir(), 'ton-views-'));
const queries = await openQueries(values.warehouse);
const database = await Database.open(':memory:', { threads: '1' });
await database.run('CREATE SCHEMA ton');
process.stdout.write('| view | query | table, CPU s | view, CPU s | ratio |\n|---|---|---:|---:|---:|\n');
for (const [table, list] of Object.entries(QUERIES)) {
  const { rows } = await queries.read(`SELECT count(*) FROM ${table}`, collectRows);
  const copies = Math.ceil(Number(values.rows) / Number(rows[0][0]));
  const file = join(folder, `${table}.parquet`);
  await queries.read(
    `COPY (SELECT * FROM ${table}, range(${copies})) TO '${file}' (ROW_GROUP_SIZE 120000)`,
    collectRows,
  );
  await database.run(`CREATE VIEW ${table} AS FROM read_parquet('${file}')`);
  const { sql } = tonViews().find(({ name }) => name === table);
  await database.run(`CREATE VIEW ton.${table} AS ${sql}`);
  for (const sql of list) {
    const seconds = { [table]: [], [`ton.${table}`]: [] };
    for (let lap = 0; lap <= Number(values.laps); lap++) {
      for (const name of Object.keys(seconds)) {
        const before = process.cpuUsage();
        for (let at = 0; at < REPEATS; at++) await database.query(sql.replace(' T ', ` ${name} `));
        const { user, system } = process.cpuUsage(before);
        if (lap > 0) seconds[name].push((user + system) / 1e6 / REPEATS);
      }
    }
    const [plain, view] = Object.values(seconds).map((all) => Math.min(...all));
    process.stdout.write(
      `| ton.${table} | \`${sql}\` | ${plain.toFixed(3)} | ${view.toFixed(3)} | ${(view / plain).toFixed(2)} |\n`,
    );
  }
}
await queries.close();
database.close();
rmSync(folder, { recursive: true });
