import { rm, writeFile } from 'node:fs/promises';
import { StoreError } from '../../core/errors.ts';
import type { Kind } from '../../declare/kind.ts';
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
  const text = rows.map(
    (cells) => `${JSON.stringify(columns.map(({ kind }, at) => textOf(kind, cells[at] ?? null)))}\n`,
  );
  const longest = text.reduce((most, line) => Math.max(most, Buffer.byteLength(line)), 1024);
  const selected = columns.map(({ name, kind }, at) => `${typedCell(kind, `cells[${at + 1}]`)} AS ${quoteName(name)}`);
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
      throw new StoreError(`store ${label}: cannot write ${path}: ${reason}`, { cause });
    } finally {
      database.close();
      await rm(lines, { force: true });
    }
  });
  return rows.length;
}

/** The SQL value of a cell. */
function typedCell({ sql }: Kind, cell: string): string {
  return sql === 'BLOB' ? `from_base64(${cell})` : `CAST(${cell} AS ${sql})`;
}

/** A cell as DuckDB can read it: hex numbers in decimal, text without lone surrogates, as every UTF-8 encoder writes it. */
function textOf({ wire }: Kind, cell: string | null): string | null {
  if (cell === null) return null;
  if (wire === 'hex-shard') return signedDecimal(`0x${cell}`, 64);
  if (wire === 'hex-opcode') return signedDecimal(cell, 32);
  return Buffer.from(cell).toString();
}

/** A hex number of so many bits as a signed one; any other text as it is, for DuckDB to refuse. */
function signedDecimal(hex: string, bits: number): string {
  if (!/^0x[0-9a-f]+$/i.test(hex) || hex.length > 2 + bits / 4) return hex;
  return String(BigInt.asIntN(bits, BigInt(hex)));
}
