// Loaded by `node --import`, it kills its process (`kill -9`) at a step of the commit whose number, from 1, stands after it in KILL_AT:
//   staged 2  the rows lie in files of the staging folder, none is in its place
//   rows 2    the rows are in their places, the entry of the ledger is not
//   entry 2   the entry is there, what follows it is not
import fs from 'node:fs/promises';
import { createRequire, syncBuiltinESMExports } from 'node:module';

const [step, commit] = (process.env['KILL_AT'] ?? '').split(' ');
let commits = 1;

function reach(name) {
  if (name === step && commits === Number(commit)) process.kill(process.pid, 'SIGKILL');
}

/** A folder: what matters are the names that files get. */
const isRows = (path) => /\/tables\/[^/]+\/(.*\/)?[^/]+\.parquet$/.test(path);
const isEntry = (path) => /\/_ledger\/\d{8}\.json$/.test(path);
for (const name of ['rename', 'link']) {
  const original = fs[name];
  fs[name] = async (from, to) => {
    if (isRows(String(to))) reach('staged');
    if (isEntry(String(to))) reach('rows');
    await original(from, to);
    if (!isEntry(String(to))) return;
    reach('entry');
    commits++;
  };
}
syncBuiltinESMExports();

/** A DuckDB file: rows and entry are one transaction. */
const { DuckDBConnection } = createRequire(import.meta.url)('@duckdb/node-api');
const { run } = DuckDBConnection.prototype;
let hasEntry = false;
DuckDBConnection.prototype.run = async function (sql, ...more) {
  if (sql.startsWith('INSERT INTO _rows.')) reach('staged');
  if (sql === 'COMMIT' && hasEntry) reach('rows');
  const result = await run.call(this, sql, ...more);
  if (sql.startsWith('INSERT INTO _ledger ')) hasEntry = true;
  if (sql === 'COMMIT' && hasEntry) {
    reach('entry');
    commits++;
    hasEntry = false;
  }
  return result;
};
