import { createHash } from 'node:crypto';
import type { Client } from 'pg';
import { StoreError } from '../core/errors.ts';
import { quoteName, quoteText } from '../sql/canonical-text.ts';
import { type TargetTypes, typeIn } from './column-class.ts';
import { DAY_COLUMN, type ExportedRows } from './exported-rows.ts';
import { columnsToAdd, NO_DAY, OWN_TABLE, parseTableName, requireOwnTable, type TableName } from './owned-table.ts';

/** PostgreSQL cuts longer names off. */
const NAME_BYTES = 63;

/** A table of a PostgreSQL database. @throws {UsageError} */
export function parsePostgresTable(text: string): TableName {
  return parseTableName(text, `a table or schema.table, each of at most ${NAME_BYTES} bytes`, NAME_BYTES);
}

/** The quoted name of a table, in its schema. */
export function qualified({ schema, name }: TableName): string {
  return schema === undefined ? quoteName(name) : `${quoteName(schema)}.${quoteName(name)}`;
}

/** PostgreSQL's types, as `format_type` reports them. */
export const POSTGRES_TYPES: TargetTypes = {
  boolean: 'boolean',
  int32: 'integer',
  int64: 'bigint',
  decimal: (precision, scale) => `numeric(${precision},${scale})`,
  double: 'double precision',
  text: 'text',
  json: 'json',
  bytes: 'bytea',
  date: 'date',
  timestamp: 'timestamp without time zone',
};

/**
 * Creates the table of the exports and the table of the rows, with key, index and comments, or adds columns to an existing one. Part of
 * a transaction.
 *
 * @throws {StoreError} `other-network`
 */
export async function prepareTable(client: Client, table: TableName, rows: ExportedRows): Promise<void> {
  const { columns, network } = rows;
  const long = columns.find(({ name }) => Buffer.byteLength(name) > NAME_BYTES);
  if (long !== undefined) {
    throw new StoreError(`store: expected names of columns of at most ${NAME_BYTES} bytes, got ${long.name}`, {
      hint: 'rename it in a query: select ... as shorter',
    });
  }
  await createOwnTable(client, table);
  const existing = await readColumns(client, table);
  const wanted = columns.map(({ name, classed }) => ({ name, type: typeIn(POSTGRES_TYPES, classed) }));
  if (existing.length === 0) {
    await createTable(client, table, rows);
    // If the export ends before its first day, the table is still known to be ours.
    await client.query(`DELETE FROM ${ownTable(table)} WHERE table_name = $1`, [table.name]);
    await client.query(`INSERT INTO ${ownTable(table)} VALUES ($1, $2, 0, $3, now())`, [table.name, NO_DAY, network]);
    return;
  }
  const record = await client.query(`SELECT network FROM ${ownTable(table)} WHERE table_name = $1 LIMIT 1`, [
    table.name,
  ]);
  requireOwnTable(table.name, record.rows[0]?.network, network);
  for (const { name, type } of columnsToAdd(table.name, wanted, existing))
    await client.query(`ALTER TABLE ${qualified(table)} ADD COLUMN ${quoteName(name)} ${type}`);
}

/** The table of the exports, in the schema of the table. */
export function ownTable({ schema }: TableName): string {
  return qualified({ schema, name: OWN_TABLE });
}

async function createOwnTable(client: Client, table: TableName): Promise<void> {
  // Two sessions that create the same table or schema at once would fail.
  await client.query('SELECT pg_advisory_xact_lock($1)', [lockOf(OWN_TABLE)]);
  if (table.schema !== undefined) {
    const { rowCount } = await client.query('SELECT 1 FROM pg_namespace WHERE nspname = $1', [table.schema]);
    if (rowCount === 0) await client.query(`CREATE SCHEMA ${quoteName(table.schema)}`);
  }
  const found = await client.query('SELECT to_regclass($1) IS NULL AS is_missing', [ownTable(table)]);
  if (found.rows[0]?.is_missing !== true) return;
  await client.query(
    `CREATE TABLE ${ownTable(table)} (table_name text, day text, rows bigint NOT NULL, network text NOT NULL,
      exported_at timestamp with time zone NOT NULL, PRIMARY KEY (table_name, day))`,
  );
}

async function readColumns(client: Client, table: TableName) {
  const { rows } = await client.query(
    `SELECT attname AS name, format_type(atttypid, atttypmod) AS type FROM pg_attribute
     WHERE attrelid = to_regclass($1) AND attnum > 0 AND NOT attisdropped ORDER BY attnum`,
    [qualified(table)],
  );
  return rows.map(({ name, type }) => ({ name: String(name), type: String(type) }));
}

async function createTable(
  client: Client,
  table: TableName,
  { columns, key, doc, isDated }: ExportedRows,
): Promise<void> {
  const name = qualified(table);
  const list = columns.map((column) => `${quoteName(column.name)} ${typeIn(POSTGRES_TYPES, column.classed)}`);
  // Some keys have a column that can be null, which a primary key cannot.
  const unique = key.length === 0 ? [] : [`UNIQUE (${key.map(quoteName).join(', ')})`];
  await client.query(`CREATE TABLE ${name} (${[...list, ...unique].join(', ')})`);
  if (isDated) await client.query(`CREATE INDEX ON ${name} (${DAY_COLUMN})`);
  if (doc !== undefined) await client.query(`COMMENT ON TABLE ${name} IS ${quoteText(doc)}`);
  for (const { name: column, doc: text } of columns) {
    if (text === undefined) continue;
    await client.query(`COMMENT ON COLUMN ${name}.${quoteName(column)} IS ${quoteText(text)}`);
  }
}

/** A number for an advisory lock: 64 bits of a hash. */
export function lockOf(name: string): string {
  return createHash('sha256').update(`tonlake ${name}`).digest().readBigInt64BE().toString();
}
