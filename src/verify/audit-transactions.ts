import type { ColumnDef } from '../declare/column.ts';
import { kinds } from '../declare/kind.ts';
import type { PipelineDef } from '../declare/pipeline.ts';
import type { TableDef } from '../declare/table.ts';
import { messageColumns } from '../proof/proof-columns.ts';
import { quoteName } from '../sql/canonical-text.ts';
import type { DamagedStore } from '../warehouse/index.ts';
import { findBad, inRuns } from './audit-scope.ts';
import { type BadRow, type Finding, groupBad } from './finding.ts';

/** Number of messages sent by an ordinary or tick-tock transaction, by its own fields; `expectedMessages` is the same rule for a page. */
const SENT = `CASE WHEN action_success THEN coalesce(action_msgs_created, 0) ELSE 0 END
  + CASE WHEN bounce = 'ok' THEN 1 ELSE 0 END`;

/**
 * Creates `t`: the transactions of the runs in a compact form that joins quickly. Texts are replaced by 64-bit hashes. A fault found with
 * them is confirmed with the texts, or could be wrong only if two hashes collide.
 */
export async function setTransactions(
  { database }: DamagedStore,
  transactions: TableDef,
  messages: TableDef | undefined,
  isDeep: boolean,
): Promise<void> {
  const deep = `, prev_trans_lt AS prev_lt, hash(prev_trans_hash) AS prev, hash(account_state_hash_before) AS state_before,
    hash(account_state_hash_after) AS state_after, orig_status, end_status,
    account_state_status_before IS NOT NULL AS known_before, account_state_status_after IS NOT NULL AS known_after`;
  const { time } = transactions;
  const copied = copiedColumns(messages, isDeep).map(({ from, as, digest }) => `, ${digest(from)} AS ${as}`);
  await database.run(`CREATE OR REPLACE TEMP TABLE t AS
    SELECT mc, run, block_workchain AS workchain, block_shard AS shard, block_seqno AS seqno, lt, hash(hash) AS h,
      ${time === undefined ? 'NULL' : quoteName(time)}::BIGINT AS utime,
      hash(account) AS a,
      CASE WHEN split_part(account, ':', 1) = block_workchain::VARCHAR
        THEN TRY_CAST('0x' || substr(split_part(account, ':', 2), 1, 16) AS UBIGINT) END AS address, CASE descr WHEN 'ord' THEN 1 WHEN 'tick_tock' THEN 0 END AS wanted_in,
      CASE WHEN descr IN ('ord', 'tick_tock') THEN ${SENT} END AS wanted_out ${copied.join('')} ${isDeep ? deep : ''}
    FROM ${inRuns(transactions)}`);
}

/** A column of messages with the value of their transaction. */
interface CopiedColumn {
  readonly name: string;
  /** Column of transactions. */
  readonly from: string;
  /** Its name in `t` and `m`. */
  readonly as: string;
  readonly digest: (column: string) => string;
}

/** Values that messages have from their transaction, besides its hash. Texts are compared only by deep audits. */
function copiedColumns(messages: TableDef | undefined, isDeep: boolean): readonly CopiedColumn[] {
  return (messages?.columns ?? []).flatMap(({ name, kind, origin }) => {
    if (origin.kind !== 'parent' || origin.column === 'hash') return [];
    const isText = kinds[kind].physical === 'utf8';
    if (isText && !isDeep) return [];
    // Null if a selection left out the column: it is not compared then.
    const digest = (column: string): string => {
      const quoted = quoteName(column);
      return isText ? `CASE WHEN ${quoted} IS NOT NULL THEN hash(${quoted}) END` : `${quoted}::BIGINT`;
    };
    return [{ name, from: origin.column, as: quoteName(`of_${name}`), digest }];
  });
}

/** Columns in which the ends of a message can differ, the normal form that servers fill in later, and bags, whose hashes are compared. */
const UNSHARED: readonly string[] = ['msg_hash', 'direction', 'msg_hash_norm', 'body_boc', 'init_state_boc'];

/** The columns that both ends of a message share: those of its cell. */
export function sharedColumns({ columns }: TableDef): readonly string[] {
  const shared: readonly string[] = messageColumns.filter((name) => !UNSHARED.includes(name));
  return columns.flatMap(({ name }) => (shared.includes(name) ? [quoteName(name)] : []));
}

/** Creates `m`: each end of a message in the runs, in the same form. */
export async function setMessages({ database }: DamagedStore, messages: TableDef, isDeep: boolean): Promise<void> {
  const deep = `, value IS NOT NULL AND created_lt IS NOT NULL AS is_internal, created_lt, hash(source) AS sender,
    hash(${sharedColumns(messages).join(', ')}) AS shared, TRY_CAST(split_part(source, ':', 1) AS INTEGER) AS workchain, source = '-1:${'0'.repeat(64)}' AS is_minted`;
  const copied = copiedColumns(messages, isDeep).map(({ name, as, digest }) => `, ${digest(name)} AS ${as}`);
  await database.run(`CREATE OR REPLACE TEMP TABLE m AS
    SELECT mc, hash(tx_hash) AS tx, hash(msg_hash) AS h, direction = 'in' AS is_in ${copied.join('')} ${isDeep ? deep : ''}
    FROM ${inRuns(messages)}`);
}

/** Compares `t` with `headers`: number of rows, time, logical times and accounts of each block, and duplicates. */
export async function auditTransactions(
  warehouse: DamagedStore,
  pipeline: string,
  main: TableDef,
): Promise<readonly Finding[]> {
  const what = { pipeline, table: main.name };
  const rows = quoteName(main.name);
  const name = 'block_name(h.workchain, h.shard, h.seqno)';
  const isForeign = '(r.placed <> r.n OR r.first < h.lo OR r.last > h.hi)';
  const counts = await findBad(
    warehouse,
    `SELECT [coalesce(h.mc, r.mc), coalesce(r.mc, h.mc)] AS blame,
       CASE WHEN h.mc IS NULL THEN concat('transactions of listed blocks only')
         WHEN r.mc <> h.mc THEN concat('transactions of block ', ${name}, ' in masterchain block ', h.mc)
         WHEN r.n IS DISTINCT FROM h.tx_count THEN concat(h.tx_count, ' transactions in block ', ${name})
         WHEN r.utime_from <> h.gen_utime OR r.utime_to <> h.gen_utime THEN concat('time ', h.gen_utime, ' in block ', ${name})
         WHEN ${isForeign} THEN concat('accounts of the shard of block ', ${name})
         ELSE concat('logical times ', h.start_lt, ' to ', h.end_lt, ' in block ', ${name}) END AS expected,
       CASE WHEN h.mc IS NULL THEN concat(r.n, ' of block ', block_name(r.workchain, r.shard, r.seqno))
         WHEN r.mc <> h.mc THEN concat('some in ', r.mc)
         WHEN r.n IS DISTINCT FROM h.tx_count THEN coalesce(r.n, 0)::VARCHAR
         WHEN r.utime_from <> h.gen_utime OR r.utime_to <> h.gen_utime THEN concat(r.utime_from, ' to ', r.utime_to)
         WHEN ${isForeign} THEN 'some of another'
         ELSE concat(r.lt_from, ' to ', r.lt_to) END AS got
     FROM headers h FULL JOIN (SELECT workchain, shard, seqno, mc, count(*) AS n, min(lt) AS lt_from, max(lt) AS lt_to,
         min(utime) AS utime_from, max(utime) AS utime_to, min(address) AS first, max(address) AS last, count(address) AS placed
       FROM t GROUP BY ALL) r ON r.workchain = h.workchain AND r.shard = h.shard AND r.seqno = h.seqno
     WHERE h.mc IS NULL OR coalesce(r.n, 0) <> h.tx_count OR r.mc <> h.mc OR r.lt_from < h.start_lt OR r.lt_to > h.end_lt
       OR r.utime_from <> h.gen_utime OR r.utime_to <> h.gen_utime OR ${isForeign}`,
  );
  const hashes = await findTwice(
    warehouse,
    ['t', 'h'],
    `SELECT list(mc_block_seqno) AS blame,
       concat('transaction ', hash, ' once') AS expected, concat(count(*), ' times') AS got FROM ${rows}
     WHERE hash(hash) IN (FROM twice) GROUP BY hash HAVING count(*) > 1`,
  );
  const times = await findTwice(
    warehouse,
    ['t', 'a, lt'],
    `SELECT list(mc_block_seqno) AS blame,
       concat('one transaction of ', account, ' at ', lt) AS expected, count(*)::VARCHAR AS got FROM ${rows}
     WHERE (hash(account), lt) IN (FROM twice) GROUP BY account, lt HAVING count(*) > 1`,
  );
  return [
    ...groupBad({ ...what, kind: 'block-rows' }, counts),
    ...groupBad({ ...what, kind: 'transaction-twice' }, [...hashes, ...times]),
  ];
}

/**
 * Creates the table `twice` of keys that occur more than once, and runs `sql` only if there are any, because its lists of blocks take memory
 * for each group.
 */
async function findTwice(
  warehouse: DamagedStore,
  [table, key]: readonly [table: string, key: string],
  sql: string,
): Promise<readonly BadRow[]> {
  const { database } = warehouse;
  const groups = `SELECT ${key} FROM ${table} GROUP BY ${key} HAVING count(*) > 1`;
  await database.run(`CREATE OR REPLACE TEMP TABLE twice AS ${groups}`);
  const { rows } = await database.query('SELECT 1 FROM twice LIMIT 1');
  return rows.length === 0 ? [] : findBad(warehouse, sql);
}

/**
 * Compares `m` with `t`: each row belongs to a transaction and has its values, each transaction has as many messages as its fields imply, and
 * there are no duplicates.
 */
export async function auditMessages(
  warehouse: DamagedStore,
  what: Pick<Finding, 'pipeline' | 'table'>,
  messages: TableDef,
  isDeep: boolean,
): Promise<readonly Finding[]> {
  const copied = copiedColumns(messages, isDeep);
  const ends = await findBad(
    warehouse,
    `SELECT [coalesce(t.mc, e.mc), coalesce(e.mc, t.mc)] AS blame,
       CASE WHEN t.h IS NULL THEN 'messages of listed transactions only'
         WHEN coalesce(e.received, 0) <> t.wanted_in THEN concat(t.wanted_in, ' received messages')
         WHEN coalesce(e.sent, 0) <> t.wanted_out THEN concat(t.wanted_out, ' sent messages')
         ELSE concat('the ', concat_ws(', ', NULL${copied.map(({ name, as }) => `, CASE WHEN ${differs(as)} THEN '${name}' END`).join('')}), ' of the transaction') END AS expected,
       CASE WHEN t.h IS NULL THEN 'some of another'
         WHEN coalesce(e.received, 0) <> t.wanted_in THEN concat(coalesce(e.received, 0), ' at ', t.lt)
         WHEN coalesce(e.sent, 0) <> t.wanted_out THEN concat(coalesce(e.sent, 0), ' at ', t.lt)
         ELSE concat('another in messages of the one at ', t.lt) END AS got
     FROM t FULL JOIN (SELECT tx, min(mc) AS mc, ${copied.map(({ as }) => `min(${as}) AS ${lowest(as)}, max(${as}) AS ${highest(as)}, `).join('')}
       count(*) FILTER (is_in) AS received, count(*) FILTER (NOT is_in) AS sent FROM m GROUP BY tx) e ON e.tx = t.h
     WHERE t.h IS NULL OR coalesce(e.received, 0) <> t.wanted_in OR coalesce(e.sent, 0) <> t.wanted_out
       ${copied.map(({ as }) => `OR ${differs(as)}`).join(' ')}`,
  );
  const twice = await findTwice(
    warehouse,
    ['m', 'tx, h, is_in'],
    `SELECT list(mc) AS blame, 'a message once at each end' AS expected, concat(count(*), ' times') AS got
     FROM m WHERE (tx, h, is_in) IN (FROM twice) GROUP BY tx, h, is_in`,
  );
  return [...groupBad({ ...what, kind: 'messages' }, ends), ...groupBad({ ...what, kind: 'message-twice' }, twice)];
}

const lowest = (as: string): string => as.replace('"of_', '"lowest_');
const highest = (as: string): string => as.replace('"of_', '"highest_');

/** SQL: messages have another value than their transaction. */
function differs(as: string): string {
  return `(e.${lowest(as)} <> t.${as} OR e.${highest(as)} <> t.${as})`;
}

/** Compares a table of projected records, such as account states, with the source records, value by value. */
export async function auditProjection(
  warehouse: DamagedStore,
  pipeline: PipelineDef,
  table: TableDef,
): Promise<readonly Finding[]> {
  const projection = projectionOf(pipeline, table);
  if (projection === undefined) return [];
  const { parent, columns, condition } = projection;
  const digest = (names: readonly string[]): string =>
    `SELECT mc, count(*) AS n, sum(hash(${names.map(quoteName).join(', ')})::HUGEINT) AS digest`;
  const bad = await findBad(
    warehouse,
    `SELECT [coalesce(p.mc, c.mc)] AS blame,
       concat(coalesce(p.n, 0), ' rows of ${table.name} as in ${parent.name}') AS expected,
       CASE WHEN coalesce(c.n, 0) <> coalesce(p.n, 0) THEN coalesce(c.n, 0)::VARCHAR ELSE 'other values' END AS got
     FROM (${digest(columns.map(({ from }) => from))} FROM ${inRuns(parent)} WHERE ${condition} GROUP BY mc) p
     FULL JOIN (${digest(columns.map(({ to }) => to))} FROM ${inRuns(table)} GROUP BY mc) c ON p.mc = c.mc
     WHERE p.n IS DISTINCT FROM c.n OR p.digest IS DISTINCT FROM c.digest`,
  );
  return groupBad({ kind: 'states', pipeline: pipeline.name, table: table.name }, bad);
}

export interface Projection {
  readonly parent: TableDef;
  /** Columns of the parent and their names in the projection. */
  readonly columns: readonly { readonly from: string; readonly to: string }[];
  /** SQL condition: true for rows of the parent that are in the projection. */
  readonly condition: string;
}

/** How a table is derived from another one of its pipeline; undefined if it is not, or if the selection left out needed columns. */
export function projectionOf(pipeline: PipelineDef, table: TableDef): Projection | undefined {
  const { rows } = table;
  if (rows.kind !== 'projection') return undefined;
  const parent = pipeline.tables.find(({ name }) => name === rows.of);
  if (parent === undefined) return undefined;
  const sourceOf = ({ name, origin }: ColumnDef): string | undefined =>
    origin.kind === 'time'
      ? name
      : parent.columns.find(
          (column) => column.origin.kind === 'path' && origin.kind === 'path' && column.origin.path === origin.path,
        )?.name;
  const columns = table.columns.flatMap((column) => {
    const from = sourceOf(column);
    return from === undefined ? [] : [{ from, to: column.name }];
  });
  const { unwritten = [] } = table;
  const sources = [...table.columns, ...unwritten].filter(({ name }) => rows.anyOf.includes(name)).map(sourceOf);
  // Without one of them it is unknown which records have a row.
  if (sources.includes(undefined)) return undefined;
  const set = sources.flatMap((from) => (from === undefined ? [] : [`${quoteName(from)} IS NOT NULL`]));
  return { parent, columns, condition: `(${set.join(' OR ') || 'false'})` };
}
