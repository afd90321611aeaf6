import { rm, writeFile } from 'node:fs/promises';
import { StoreError } from '../../core/errors.ts';
import { writeAtomically } from '../../files/atomic-write.ts';
import { quoteName, quoteText } from '../../sql/canonical-text.ts';
import { Database } from '../../sql/database.ts';
import { writeRelation } from '../../sql/relation-writer.ts';
import type { Endpoint } from '../endpoint.ts';
import { parseSent } from './exact-json.ts';
import { cellsOf, columnsOf, rowsOf } from './response-rows.ts';

/**
 * Writes the rows of a response to a Parquet file, atomically. Fields are columns with the types that they have in tables; nested
 * values are JSON text.
 *
 * @throws {DecodeError} if the response is not JSON or has no rows
 * @throws {StoreError} if a value does not fit its type, or the file cannot be written
 */
export async function writeParquet(endpoint: Endpoint, body: Buffer, path: string): Promise<number> {
  const label = endpoint.path.slice(1);
  const columns = columnsOf(endpoint);
  const rows = rowsOf(endpoint, parseSent(body, label)).map((row) => cellsOf(columns, row));
  const text = rows.map((cells) => `${JSON.stringify(cells.map(wellFormed))}\n`);
  const longest = text.reduce((most, line) => Math.max(most, Buffer.byteLength(line)), 1024);
  const selected = columns.map(({ name, sql }, at) => `CAST(cells[${at + 1}] AS ${sql}) AS ${quoteName(name)}`);
  await writeAtomically(path, async (draft) => {
    const lines = `${draft}.rows`;
    const read = `read_json(${quoteText(lines)}, format = 'newline_delimited', records = false,
      columns = {cells: 'VARCHAR[]'}, maximum_object_size = ${longest * 2})`;
    const database = await Database.open();
    try {
      await writeFile(lines, text.join(''), { flag: 'wx' });
      await writeRelation(
        database,
        { sql: `SELECT ${selected.join(', ')} FROM ${read}` },
        { file: draft, format: 'parquet' },
      );
    } catch (cause) {
      const reason = cause instanceof Error ? (cause.message.split('\n')[0] ?? '') : String(cause);
      throw new StoreError(`store ${label}: cannot write ${path}: ${reason}`, { code: 'cannot-write', cause });
    } finally {
      database.close();
      await rm(lines, { force: true });
    }
  });
  return rows.length;
}

/** Lone surrogates become U+FFFD, as in every UTF-8 encoder. */
function wellFormed(cell: string | null): string | null {
  return cell === null ? null : Buffer.from(cell).toString();
}
