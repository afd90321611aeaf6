import { StoreError } from '../core/errors.ts';
import { quoteText } from '../sql/canonical-text.ts';
import { type TargetTypes, typeIn } from './column-class.ts';
import { DAY_COLUMN, type ExportedRows } from './exported-rows.ts';
import { columnsToAdd, NO_DAY, OWN_TABLE, requireOwnTable, type TargetColumn } from './owned-table.ts';

/** Runs a statement; `rows` are those of a query, every value as text. */
export interface ClickhouseSession {
  command(sql: string): Promise<void>;
  rows(sql: string): Promise<readonly (readonly string[])[]>;
}

/** A table of a ClickHouse database, and how its statements name it. */
export interface ClickhouseTable {
  readonly database: string;
  readonly name: string;
}

/** ClickHouse reads backslashes in names and texts as escapes. */
export function clickhouseName(name: string): string {
  return `\`${name.replace(/[\\`]/g, '\\$&')}\``;
}

export function clickhouseText(text: string): string {
  return quoteText(text.replaceAll('\\', '\\\\'));
}

/** The quoted name of a table, in its database. */
export function clickhousePath({ database, name }: ClickhouseTable): string {
  return `${clickhouseName(database)}.${clickhouseName(name)}`;
}

/** ClickHouse's types, as `system.columns` reports them. */
const CLICKHOUSE_TYPES: TargetTypes = {
  boolean: 'Bool',
  int32: 'Int32',
  int64: 'Int64',
  decimal: (precision, scale) => `Decimal(${precision}, ${scale})`,
  double: 'Float64',
  text: 'String',
  json: 'String',
  bytes: 'String',
  date: 'Date32',
  timestamp: "DateTime64(6, 'UTC')",
};

/** The columns of the table; those of the key cannot be null, because the table is sorted by them. */
function clickhouseColumns({ columns, key }: ExportedRows): readonly TargetColumn[] {
  return columns.map(({ name, classed, isNullable }) => {
    const type = typeIn(CLICKHOUSE_TYPES, classed);
    return { name, type: key.includes(name) && !isNullable ? type : `Nullable(${type})` };
  });
}

/** The partition of a day, which is replaced in one step: `20260501`, `0` for rows whose day is null, `all` for a table without days. */
export function partitionOf(day: string | null | undefined): string {
  if (day === undefined) return 'all';
  return day === null ? '0' : day.replaceAll('-', '');
}

/**
 * Creates the table of the exports and the table of the rows, or adds columns to an existing one.
 *
 * @throws {StoreError} `other-network`
 */
export async function prepareClickhouse(
  session: ClickhouseSession,
  table: ClickhouseTable,
  rows: ExportedRows,
): Promise<void> {
  const own = clickhousePath({ ...table, name: OWN_TABLE });
  await session.command(`CREATE DATABASE IF NOT EXISTS ${clickhouseName(table.database)}`);
  await session.command(
    `CREATE TABLE IF NOT EXISTS ${own} (table_name String, day String, rows UInt64, network String, exported_at DateTime64(3, 'UTC'))
      ENGINE = ReplacingMergeTree(exported_at) ORDER BY (table_name, day)`,
  );
  const place = `database = ${clickhouseText(table.database)} AND table = ${clickhouseText(table.name)}`;
  const found = await session.rows(`SELECT name, type FROM system.columns WHERE ${place} ORDER BY position`);
  const wanted = clickhouseColumns(rows);
  if (found.length === 0) {
    await session.command(createTable(table, rows, wanted));
    await recordTable(session, table, rows);
    return;
  }
  const records = await session.rows(
    `SELECT argMax(network, exported_at) FROM ${own} WHERE table_name = ${clickhouseText(table.name)} HAVING count() > 0`,
  );
  // An export that was killed before its table was recorded left it empty: nothing can be lost.
  const isOurs = records.length > 0 || !(await isEmpty(session, table));
  if (isOurs) requireOwnTable(table.name, records[0]?.[0], rows.network);
  await requirePartitions(session, rows, place);
  const existing = found.map(([name = '', type = '']) => ({ name, type }));
  for (const { name, type } of columnsToAdd(table.name, wanted, existing))
    await session.command(`ALTER TABLE ${clickhousePath(table)} ADD COLUMN ${clickhouseName(name)} ${type}`);
  if (!isOurs) await recordTable(session, table, rows);
}

/** Records that tonlake made the table, before its first day is written. */
async function recordTable(
  session: ClickhouseSession,
  table: ClickhouseTable,
  { network }: ExportedRows,
): Promise<void> {
  await session.command(
    `INSERT INTO ${clickhousePath({ ...table, name: OWN_TABLE })}
      VALUES (${clickhouseText(table.name)}, '${NO_DAY}', 0, ${clickhouseText(network)}, now64(3))`,
  );
}

async function isEmpty(session: ClickhouseSession, table: ClickhouseTable): Promise<boolean> {
  const [[count] = []] = await session.rows(`SELECT toString(count()) FROM ${clickhousePath(table)}`);
  return count === '0';
}

function createTable(table: ClickhouseTable, rows: ExportedRows, columns: readonly TargetColumn[]): string {
  const docs = new Map(rows.columns.map(({ name, doc }) => [name, doc]));
  const list = columns.map(({ name, type }) => {
    const doc = docs.get(name);
    return `${clickhouseName(name)} ${type}${doc === undefined ? '' : ` COMMENT ${clickhouseText(doc)}`}`;
  });
  const sorted = [...(rows.isDated ? [DAY_COLUMN] : []), ...rows.key.filter((name) => name !== DAY_COLUMN)];
  return `CREATE TABLE ${clickhousePath(table)} (${list.join(', ')}) ENGINE = MergeTree
    PARTITION BY ${partitionKey(rows)} ORDER BY (${sorted.map(clickhouseName).join(', ')})
    SETTINGS allow_nullable_key = 1${rows.doc === undefined ? '' : ` COMMENT ${clickhouseText(rows.doc)}`}`;
}

function partitionKey({ isDated }: ExportedRows): string {
  return isDated ? `ifNull(toYYYYMMDD(${DAY_COLUMN}), 0)` : 'tuple()';
}

/** Days can be replaced only if each is a partition. */
async function requirePartitions(session: ClickhouseSession, rows: ExportedRows, place: string): Promise<void> {
  const [[key] = []] = await session.rows(
    `SELECT partition_key FROM system.tables WHERE ${place.replace(' table =', ' name =')}`,
  );
  const expected = rows.isDated ? [partitionKey(rows)] : ['', 'tuple()'];
  if (expected.includes(key ?? '')) return;
  throw new StoreError(
    `store: the table of the target: expected ${rows.isDated ? 'a partition for each day' : 'one partition'}, got the partition key ${key || 'tuple()'}`,
    { hint: 'choose another name with --as, or remove the table' },
  );
}
