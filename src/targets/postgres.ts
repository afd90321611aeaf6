import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import type { Client, ClientConfig } from 'pg';
import { notInstalled } from '../core/not-installed.ts';
import { quoteName } from '../sql/canonical-text.ts';
import type { RowStream } from '../sql/query-result.ts';
import type { CellNotes } from './cell-notes.ts';
import { DAY_COLUMN, type ExportedColumn, type ExportedRows } from './exported-rows.ts';
import {
  type DayReport,
  NO_DAY,
  replaceEach,
  type TableName,
  type TableOptions,
  targetFailed,
  unreachable,
} from './owned-table.ts';
import { lockOf, ownTable, parsePostgresTable, prepareTable, qualified } from './postgres-table.ts';
import { tabLine } from './tab-separated.ts';

/**
 * Writes rows to a table of a PostgreSQL database. Each day is replaced in one transaction, rows without days together: readers see
 * the old rows or the new ones. After a kill, `_tonlake_exports` says which days are there; the next export replaces them again.
 *
 * @param url without a password, which comes from PGPASSWORD or the password file
 * @throws {StoreError} `unreachable`; as `prepareTable`
 */
export async function writePostgres(
  rows: ExportedRows,
  url: URL,
  options: TableOptions,
): Promise<readonly DayReport[]> {
  const table = parsePostgresTable(options.name);
  const client = await connect(url);
  // An error of a connection that is idle is reported by the next query.
  client.on('error', () => undefined);
  try {
    await transaction(client, () => prepareTable(client, table, rows));
    const replace = (day: string | null | undefined): Promise<number> =>
      transaction(client, () => replaceDay(client, table, rows, day, options));
    return await replaceEach(rows, replace, options.onDay);
  } catch (error) {
    throw targetFailed(`PostgreSQL at ${url.host || 'the socket'}`, error);
  } finally {
    await client.end().catch(() => undefined);
  }
}

/** Tries to log in. @throws {StoreError} `unreachable` */
export async function tryPostgres(url: URL): Promise<void> {
  await (await connect(url)).end();
}

/** Time for a server to answer the login: one of another kind may never do so. */
const CONNECT_MS = 15_000;

async function loadClient() {
  try {
    const [{ default: pg }, { from }] = await Promise.all([import('pg'), import('pg-copy-streams')]);
    return { pg, from };
  } catch (error) {
    throw notInstalled(error, 'pg pg-copy-streams', 'PostgreSQL');
  }
}

async function connect(url: URL): Promise<Client> {
  const { pg } = await loadClient();
  const client = new pg.Client({
    connectionString: url.href,
    application_name: 'tonlake',
    connectionTimeoutMillis: CONNECT_MS,
  } satisfies ClientConfig);
  try {
    await client.connect();
    return client;
  } catch (cause) {
    await client.end().catch(() => undefined);
    const hint = 'the password is read from PGPASSWORD, or from ~/.pgpass (PGPASSFILE)';
    throw unreachable(url.host || 'PostgreSQL', hint, cause);
  }
}

async function transaction<T>(client: Client, work: () => Promise<T>): Promise<T> {
  await client.query('BEGIN');
  try {
    const result = await work();
    await client.query('COMMIT');
    return result;
  } catch (error) {
    await client.query('ROLLBACK').catch(() => undefined);
    throw error;
  }
}

/** Part of a transaction. @returns the number of rows */
async function replaceDay(
  client: Client,
  table: TableName,
  rows: ExportedRows,
  day: string | null | undefined,
  { notes, exportedAt }: TableOptions,
): Promise<number> {
  const name = qualified(table);
  // Two exports of the same rows take turns.
  await client.query('SELECT pg_advisory_xact_lock($1)', [lockOf(`${name} ${day ?? ''}`)]);
  if (day === undefined) await client.query(`DELETE FROM ${name}`);
  else if (day === null) await client.query(`DELETE FROM ${name} WHERE ${DAY_COLUMN} IS NULL`);
  else await client.query(`DELETE FROM ${name} WHERE ${DAY_COLUMN} = $1`, [day]);
  const { from } = await loadClient();
  const columns = rows.columns.map((column) => quoteName(column.name)).join(', ');
  const count = await rows.read(
    day,
    async (stream) => {
      let read = 0;
      // Not before DuckDB has begun: a COPY that gets neither rows nor an error would block the connection.
      const copy = client.query(from(`COPY ${name} (${columns}) FROM STDIN`));
      const lines = copyLines(stream, notes, (more) => {
        read += more;
      });
      await pipeline(Readable.from(lines), copy);
      if (copy.rowCount !== read) throw new Error(`expected ${read} rows to be stored, got ${copy.rowCount}`);
      return read;
    },
    [tabLine(rows.columns, bytesOf)],
  );
  await client.query(
    `INSERT INTO ${ownTable(table)} VALUES ($1, $2, $3, $4, $5) ON CONFLICT (table_name, day)
     DO UPDATE SET rows = excluded.rows, network = excluded.network, exported_at = excluded.exported_at`,
    [table.name, day ?? NO_DAY, count, rows.network, exportedAt],
  );
  return count;
}

function bytesOf({ classed }: ExportedColumn, value: string): string | undefined {
  return classed.class === 'bytes' ? `'\\\\x' || lower(hex(${value}))` : undefined;
}

/** The lines of a COPY in pieces. PostgreSQL has no character U+0000; it becomes U+FFFD. */
async function* copyLines(rows: RowStream, notes: CellNotes, onRows: (count: number) => void): AsyncGenerator<string> {
  for await (const chunk of rows.chunks()) {
    onRows(chunk.length);
    const text = `${chunk.map(([line]) => String(line)).join('\n')}\n`;
    if (text.includes('\0')) {
      for (const [line] of chunk) {
        const found = String(line).split('\0').length - 1;
        for (let at = 0; at < found; at++)
          notes.add('the character U+0000, which PostgreSQL cannot hold, became U+FFFD', 'text');
      }
      yield text.replaceAll('\0', '\ufffd');
    } else yield text;
  }
}
