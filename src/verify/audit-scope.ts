import { formatSpans, type Span } from '../core/span.ts';
import { seqnoColumn } from '../declare/block-column.ts';
import { ROLES } from '../declare/roles.ts';
import type { TableDef } from '../declare/table.ts';
import { quoteName } from '../sql/canonical-text.ts';
import type { Database } from '../sql/database.ts';
import { type DamagedStore, type LedgerEntry, roleView } from '../warehouse/index.ts';
import type { BadRow } from './finding.ts';

/** Number of first 64 bits of addresses: those of all shards of a workchain together. */
export const EVERYTHING = '18446744073709551616';

/** Maximum number of masterchain blocks found by one query. Further ones are found after these are repaired. */
const MAX_BAD = 100_000;

/** Runs a query that returns `blame` (a list of masterchain blocks), `expected` and `got` for each fault. */
export async function findBad(warehouse: DamagedStore, sql: string): Promise<readonly BadRow[]> {
  const { rows } = await warehouse.database.query(
    `SELECT unnest(list_distinct(blame))::INTEGER AS seqno, expected::VARCHAR, got::VARCHAR FROM (${sql})
     ORDER BY 1, 2 LIMIT ${MAX_BAD}`,
  );
  return rows.map(([seqno, expected, got]): BadRow => [Number(seqno), String(expected), String(got)]);
}

/** The runs of the tables `runs` and `headers` of a database, as text. */
const [runsIn, headersIn] = [new WeakMap<Database, string>(), new WeakMap<Database, string>()];

/** Creates the table `runs` of consecutive blocks to audit. */
export async function setRuns({ database }: DamagedStore, runs: readonly Span[]): Promise<void> {
  runsIn.delete(database);
  await database.run('CREATE OR REPLACE TEMP TABLE runs (run INTEGER, run_from INTEGER, run_to INTEGER)');
  for (let at = 0; at < runs.length; at += 1000) {
    const values = runs.slice(at, at + 1000).map(({ from, to }, i) => `(${at + i}, ${from}, ${to})`);
    await database.run(`INSERT INTO runs VALUES ${values.join(', ')}`);
  }
  runsIn.set(database, formatSpans(runs));
}

/** Creates a view of a table's rows in some entries, under the names of the table and of its role. */
export async function setView(
  warehouse: DamagedStore,
  table: TableDef,
  entries: readonly LedgerEntry[],
): Promise<void> {
  await warehouse.database.run(
    `CREATE OR REPLACE TEMP VIEW ${quoteName(table.name)} AS ${warehouse.select(table, entries)}`,
  );
  const role = table.plays === undefined ? undefined : roleView(table.plays, table);
  if (role !== undefined) await warehouse.database.run(role.statement());
}

/** SQL for a table's rows inside the runs, with `mc` and `run`. */
export function inRuns(table: TableDef): string {
  return relationInRuns(quoteName(table.name), seqnoColumn(table));
}

function relationInRuns(relation: string, seqno: string): string {
  return `(SELECT src.*, src.${quoteName(seqno)} AS mc, run FROM ${relation} src
    JOIN runs ON src.${quoteName(seqno)} BETWEEN run_from AND run_to)`;
}

/**
 * Creates `headers` (one row per block, with the addresses `lo` to `hi` that its shard covers) and `links` (a block and a block that it
 * follows) of the runs, unless they exist. The view of the headers must exist, and must not change.
 */
export async function setHeaders({ database }: DamagedStore): Promise<void> {
  const runs = runsIn.get(database);
  if (runs !== undefined && headersIn.get(database) === runs) return;
  headersIn.delete(database);
  const rows = relationInRuns(ROLES.headers.relation, 'mc_block_seqno');
  await database.run(`CREATE OR REPLACE TEMP MACRO unsigned_shard(s) AS
    CASE WHEN s < 0 THEN s::HUGEINT + ${EVERYTHING} ELSE s::HUGEINT END`);
  await database.run(`CREATE OR REPLACE TEMP MACRO signed_shard(u) AS
    (CASE WHEN u >= 9223372036854775808 THEN u - ${EVERYTHING} ELSE u END)::BIGINT`);
  await database.run(`CREATE OR REPLACE TEMP MACRO block_name(w, s, q) AS
    concat(w, ':', printf('%X', unsigned_shard(s)::UBIGINT), ':', q)`);
  // Files are opened once: many small ones take longer to open than to read.
  await database.run(`CREATE OR REPLACE TEMP TABLE header_rows AS
    SELECT run, mc, workchain, shard, seqno, tx_count, start_lt, end_lt, gen_utime, prev_blocks FROM ${rows}`);
  await database.run(`CREATE OR REPLACE TEMP TABLE headers AS
    SELECT run, mc, workchain, shard, seqno, tx_count, start_lt, end_lt, gen_utime, u - (u & -u) AS lo, u + (u & -u) - 1 AS hi
    FROM (SELECT *, unsigned_shard(shard) AS u FROM header_rows)`);
  await database.run(`CREATE OR REPLACE TEMP TABLE links AS
    SELECT run, mc, workchain, shard, seqno, prev.workchain AS prev_workchain, prev.seqno AS prev_seqno,
      signed_shard(TRY_CAST('0x' || prev.shard AS UBIGINT)::HUGEINT) AS prev_shard
    FROM (SELECT run, mc, workchain, shard, seqno, unnest(from_json(CASE WHEN json_valid(prev_blocks) THEN prev_blocks END,
        '[{"workchain":"INTEGER","shard":"VARCHAR","seqno":"INTEGER"}]')) AS prev
      FROM header_rows)`);
  await database.run('DROP TABLE header_rows');
  if (runs !== undefined) headersIn.set(database, runs);
}

/** Blocks without a successor in their run: the newest of each shard. */
export const TIPS = `(SELECT * FROM headers h WHERE NOT EXISTS (FROM links l WHERE l.run = h.run
  AND l.prev_workchain = h.workchain AND l.prev_shard = h.shard AND l.prev_seqno = h.seqno))`;

/** Blocks without a predecessor in their run: the oldest of each shard. */
export const FIRSTS = `(SELECT * FROM headers h WHERE NOT EXISTS (FROM links l JOIN headers p ON l.run = p.run
  AND l.prev_workchain = p.workchain AND l.prev_shard = p.shard AND l.prev_seqno = p.seqno
  WHERE l.run = h.run AND l.workchain = h.workchain AND l.shard = h.shard AND l.seqno = h.seqno))`;
