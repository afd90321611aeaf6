import { hashFile } from '../files/disk.ts';
import { isLocalPath } from '../files/local-path.ts';
import { quoteText } from '../sql/canonical-text.ts';
import type { Query } from '../sql/query-result.ts';
import type { Reader, TableFile } from '../warehouse/index.ts';
import type { RowFileFacts } from './explanation.ts';

/** Locates a row in its file, and compares the SHA-256 of the file with the ledger. Reads the whole file. @param absolute its path */
export async function readFileFacts(
  { query }: Reader,
  { path, rows, bytes, sha256 }: TableFile,
  absolute: string,
  row: number,
): Promise<RowFileFacts> {
  const groups = await query(
    `SELECT row_group_id, any_value(row_group_num_rows) FROM parquet_metadata(${quoteText(absolute)}) GROUP BY ALL ORDER BY ALL`,
  );
  let rowGroup = 0;
  let rowInGroup = row;
  for (const [id, count] of groups.rows) {
    rowGroup = Number(id);
    if (rowInGroup < Number(count)) break;
    rowInGroup -= Number(count);
  }
  return {
    path,
    rows,
    bytes,
    row,
    rowGroup,
    rowInGroup,
    checksum: (await hashOf(query, absolute)) === sha256 ? 'matches' : 'differs',
  };
}

/** DuckDB reads files of object stores. */
async function hashOf(query: Query, path: string): Promise<string> {
  if (isLocalPath(path)) return hashFile(path);
  const { rows } = await query(`SELECT sha256(content) FROM read_blob(${quoteText(path)})`);
  return String(rows[0]?.[0]);
}
