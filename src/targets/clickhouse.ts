import { randomUUID } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { Readable } from 'node:stream';
import type { ClickHouseClient } from '@clickhouse/client';
import { StoreError } from '../core/errors.ts';
import { notInstalled } from '../core/not-installed.ts';
import { unescaped } from '../core/unescaped.ts';
import { quoteName } from '../sql/canonical-text.ts';
import type { RowStream } from '../sql/query-result.ts';
import { CellNotes } from './cell-notes.ts';
import {
  type ClickhouseSession,
  type ClickhouseTable,
  clickhouseName,
  clickhousePath,
  clickhouseText,
  partitionOf,
  prepareClickhouse,
} from './clickhouse-table.ts';
import type { ExportedColumn, ExportedRows } from './exported-rows.ts';
import {
  type DayReport,
  NO_DAY,
  OWN_TABLE,
  parseTableName,
  replaceEach,
  type TableOptions,
  targetFailed,
  unreachable,
} from './owned-table.ts';
import { tabLine } from './tab-separated.ts';

/** Timeout of a request: long statements send nothing while they run. */
const TIMEOUT_MS = 3_600_000;
/** Staging tables of killed exports are removed after this many hours. */
const STAGING_HOURS = 24;
/** Years of ClickHouse's dates and times; it silently clamps others. */
const [FIRST_DAY, LAST_DAY] = ['1900-01-01', '2299-12-31'];

/**
 * Writes rows to a table of a ClickHouse database by its HTTP interface. Each day is a partition: its rows are written to a staging table,
 * counted, and then replace the partition in one step, so readers see the old rows or the new ones.
 *
 * @param url without a password, which comes from CLICKHOUSE_PASSWORD or the file that CLICKHOUSE_PASSWORD_FILE names
 * @throws {StoreError} `unreachable`; as `prepareClickhouse`
 */
export async function writeClickhouse(
  rows: ExportedRows,
  url: URL,
  options: TableOptions,
): Promise<readonly DayReport[]> {
  const { schema, name } = parseTableName(options.name, 'a table or database.table');
  const table = { database: schema ?? (unescaped(url.pathname.slice(1)) || 'default'), name };
  const client = await connect(url, options);
  const session = sessionOf(client);
  try {
    await prepareClickhouse(session, table, rows);
    await clearStaging(session, table);
    const writing = { client, url, session, table, rows };
    return await replaceEach(rows, (day) => replaceDay(writing, day, options), options.onDay);
  } catch (error) {
    throw targetFailed(`ClickHouse at ${url.host}`, error);
  } finally {
    await client.close();
  }
}

/** Tries to log in. @throws {StoreError} `unreachable` */
export async function tryClickhouse(url: URL): Promise<void> {
  await (await connect(url, { notes: new CellNotes() })).close();
}

async function connect(url: URL, { notes }: Pick<TableOptions, 'notes'>): Promise<ClickHouseClient> {
  const password = await readPassword();
  const isLocal = /^(localhost|127\.\d+\.\d+\.\d+|\[::1\])$/.test(url.hostname);
  if (url.protocol === 'http:' && !isLocal && password !== '')
    notes.addMessage('the password was sent to ClickHouse without encryption: use https');
  const { createClient } = await import('@clickhouse/client').catch((error: unknown) => {
    throw notInstalled(error, '@clickhouse/client', 'ClickHouse');
  });
  const client = createClient({
    url: url.origin,
    application: 'tonlake',
    request_timeout: TIMEOUT_MS,
    password,
    username: unescaped(url.username) || process.env['CLICKHOUSE_USER'] || 'default',
    // Repeated inserts of identical rows are intended; nulls must not silently become defaults.
    clickhouse_settings: { insert_deduplicate: 0, async_insert: 0, wait_end_of_query: 1 },
    log: { level: 127 },
  });
  try {
    await sessionOf(client).rows('SELECT 1');
    return client;
  } catch (cause) {
    await client.close();
    const hint =
      'ports are 8123 (http) and 8443 (https); the password is read from CLICKHOUSE_PASSWORD, or from the file that CLICKHOUSE_PASSWORD_FILE names';
    throw unreachable(`ClickHouse at ${url.host}`, hint, cause);
  }
}

async function readPassword(): Promise<string> {
  const path = process.env['CLICKHOUSE_PASSWORD_FILE'];
  const given = process.env['CLICKHOUSE_PASSWORD'];
  if (given !== undefined || path === undefined) return given ?? '';
  const text = await readFile(path, 'utf8').catch((cause: unknown) => {
    throw new StoreError('store: the file that CLICKHOUSE_PASSWORD_FILE names cannot be read', {
      code: 'unreachable',
      hint: 'its first line is the password',
      cause,
    });
  });
  return text.split(/\r?\n/, 1)[0] ?? '';
}

function sessionOf(client: ClickHouseClient): ClickhouseSession {
  return {
    command: async (sql) => {
      await client.command({ query: sql });
    },
    rows: async (sql) => {
      const response = await client.query({ query: sql, format: 'JSONCompactEachRow' });
      return (await response.json<readonly unknown[]>()).map((row) => row.map(String));
    },
  };
}

/** Removes staging tables of killed exports. */
async function clearStaging(session: ClickhouseSession, table: ClickhouseTable): Promise<void> {
  const old = await session.rows(
    `SELECT name FROM system.tables WHERE database = ${clickhouseText(table.database)}
      AND startsWith(name, ${clickhouseText(stagingPrefix(table))})
      AND metadata_modification_time < now() - INTERVAL ${STAGING_HOURS} HOUR`,
  );
  for (const [name = ''] of old) await session.command(`DROP TABLE IF EXISTS ${clickhousePath({ ...table, name })}`);
}

function stagingPrefix({ name }: ClickhouseTable): string {
  return `_tonlake_staging_${name}_`;
}

interface Writing {
  readonly client: ClickHouseClient;
  readonly url: URL;
  readonly session: ClickhouseSession;
  readonly table: ClickhouseTable;
  readonly rows: ExportedRows;
}

/** @returns the number of rows */
async function replaceDay(
  writing: Writing,
  day: string | null | undefined,
  { exportedAt }: TableOptions,
): Promise<number> {
  const { session, table, rows } = writing;
  const path = clickhousePath(table);
  const staging = clickhousePath({
    ...table,
    name: `${stagingPrefix(table)}${randomUUID().replaceAll('-', '').slice(0, 12)}`,
  });
  const partition = `PARTITION ID '${partitionOf(day)}'`;
  await session.command(`CREATE TABLE ${staging} AS ${path}`);
  try {
    const names = rows.columns.map(({ name }) => clickhouseName(name)).join(', ');
    const insert = `INSERT INTO ${staging} (${names}) SETTINGS input_format_null_as_default = 0 FORMAT TabSeparated`;
    const count = await rows.read(day, (stream) => insertRows(writing, insert, stream), [
      tabLine(rows.columns, ownText),
    ]);
    const [[stored] = []] = await session.rows(`SELECT toString(count()) FROM ${staging}`);
    if (stored !== String(count)) throw new Error(`expected ${count} rows to be stored, got ${stored}`);
    // Without rows there is no partition that could take the place of the old one.
    const change = count === 0 ? `DROP ${partition}` : `REPLACE ${partition} FROM ${staging}`;
    await session.command(`ALTER TABLE ${path} ${change}`);
    await session.command(
      `INSERT INTO ${clickhousePath({ ...table, name: OWN_TABLE })} VALUES (${clickhouseText(table.name)},
        '${day ?? NO_DAY}', ${count}, ${clickhouseText(rows.network)}, '${exportedAt.slice(0, 23).replace('T', ' ')}')`,
    );
    return count;
  } finally {
    await session.command(`DROP TABLE IF EXISTS ${staging}`).catch(() => undefined);
  }
}

/** Skips the statement without rows, because ClickHouse would refuse it. @returns the number of rows */
async function insertRows({ client, url }: Writing, insert: string, rows: RowStream): Promise<number> {
  const chunks = rows.chunks()[Symbol.asyncIterator]();
  let next = await chunks.next();
  if (next.done === true) return 0;
  let count = 0;
  let readFailure: unknown;
  async function* lines(): AsyncGenerator<string> {
    try {
      for (; next.done !== true; next = await chunks.next()) {
        count += next.value.length;
        yield `${next.value.map(([line]) => String(line)).join('\n')}\n`;
      }
    } catch (error) {
      readFailure = error;
      throw error;
    }
  }
  try {
    const { stream } = await client.exec({ query: insert, values: Readable.from(lines(), { objectMode: false }) });
    stream.resume();
  } catch (error) {
    throw readFailure ?? targetFailed(`ClickHouse at ${url.host}`, error);
  }
  return count;
}

/** Values that ClickHouse parses differently from PostgreSQL. */
function ownText({ classed, name }: ExportedColumn, value: string): string | undefined {
  switch (classed.class) {
    case 'text':
    case 'json':
      return `replace(${value}, chr(0), '\\0')`;
    case 'bytes':
      return `regexp_replace(hex(${value}), '(..)', '\\\\x\\1', 'g')`;
    case 'date':
    case 'timestamp':
      return within(`${value}::VARCHAR`, value, name);
    default:
      return undefined;
  }
}

/** The text of a date or time, or an error that names its column. */
function within(text: string, value: string, column: string): string {
  const message = `column ${column}: expected a date from ${FIRST_DAY} to ${LAST_DAY}, which ClickHouse can hold, got `;
  return `CASE WHEN ${value}::DATE BETWEEN DATE '${FIRST_DAY}' AND DATE '${LAST_DAY}' OR ${quoteName(column)} IS NULL THEN ${text}
    ELSE error('${message.replaceAll("'", "''")}' || ${text}) END`;
}
