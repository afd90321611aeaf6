// What functions over message bodies cost: CPU seconds of a million bodies of the sandbox, with the query that reads them.
//   npm run build && node bench/sql-bodies.mjs [--rows 1000000] [--laps 3] [--write]
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { collectRows } from '../dist/src/sql/query-result.js';
import { openQueries } from '../dist/src/warehouse/query/query.js';
import { cli, must, scratch } from './lib/process.mjs';
import { count, publish, round, table } from './lib/report.mjs';

const { values } = parseArgs({
  options: {
    rows: { type: 'string', default: '1000000' },
    laps: { type: 'string', default: '3' },
    write: { type: 'boolean', default: false },
  },
});
const CALLS = [
  'octet_length(body)',
  'opcode_of(body)',
  'boc_hash(body)',
  "parse_boc(body, 'op uint32, query_id uint64, amount coins, to address')",
  'decode_body(body)',
];

const folder = scratch();
const warehouse = join(folder, 'w');
await must(process.execPath, [
  ...[cli, 'run', 'transactions', '--network', 'sandbox', '--range', '1000:1200', '--warehouse', warehouse],
]);
const queries = await openQueries(warehouse);
await queries.read(
  `CREATE TEMP TABLE bodies AS SELECT body_boc AS body FROM messages, range(${values.rows}) WHERE body_boc IS NOT NULL LIMIT ${values.rows}`,
  collectRows,
);
const rows = [];
for (const call of CALLS) {
  const seconds = [];
  let found = 0;
  for (let lap = 0; lap < Number(values.laps); lap++) {
    const before = process.cpuUsage();
    found = Number((await queries.read(`SELECT count(${call}) FROM bodies`, collectRows)).rows[0][0]);
    const { user, system } = process.cpuUsage(before);
    seconds.push((user + system) / 1e6);
  }
  rows.push({ call: `\`${call}\``, values: count(found), 'CPU s': round(Math.min(...seconds)) });
}
await queries.close();
rmSync(folder, { recursive: true });
publish('sql-bodies', `${table(rows)}\n\n${count(Number(values.rows))} bodies, the best of ${values.laps} laps.`);
