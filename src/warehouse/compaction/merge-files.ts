import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { kinds } from '../../declare/kind.ts';
import type { TableDef } from '../../declare/table.ts';
import { statIfAny, syncPath } from '../../files/disk.ts';
import { columnOf, quoteName, quoteText } from '../../sql/canonical-text.ts';
import type { Database } from '../../sql/database.ts';
import { encodingOf, storedColumns } from '../file-layout.ts';
import { readFiles } from '../relations/table-relation.ts';

/** Compressed bytes that are sorted at once; they take about six times as much memory. */
const CHUNK_BYTES = 8 * 2 ** 20;
/** Chunks are uncompressed between sorting and encoding: they are read once, and their size is that of the rows. */
const CHUNK_ENCODING = 'FORMAT parquet, COMPRESSION uncompressed, DICTIONARY_SIZE_LIMIT 1, ROW_GROUP_SIZE 8192';

/** A file to merge; absolute path. */
export interface MergedFile {
  readonly path: string;
  readonly bytes: number;
}

export interface MergeOptions {
  readonly database: Database;
  readonly table: TableDef;
  readonly files: readonly MergedFile[];
  /** Folder for temporary files. */
  readonly folder: string;
  /** The file to make; absolute. */
  readonly path: string;
}

/**
 * Merges files of a table into one, in the table's order. Rows are sorted by ranges of the leading column, so memory does not grow with
 * the files.
 */
export async function mergeFiles({ database, table, files, folder, path }: MergeOptions): Promise<void> {
  const columns = storedColumns(table).map(quoteName).join(', ');
  const order = `ORDER BY ${table.sort.map(quoteName).join(', ')}`;
  const chunks: string[] = [];
  let bytes = 0;
  for (const { paths, where } of await planChunks(database, table, files)) {
    const chunk = join(folder, `${table.name}-chunk-${chunks.length}.parquet`);
    const select = `SELECT ${columns} FROM ${readFiles(paths)} WHERE ${where} ${order}`;
    await database.withMemory(() => database.run(`COPY (${select}) TO ${quoteText(chunk)} (${CHUNK_ENCODING})`));
    bytes += (await statIfAny(chunk))?.size ?? 0;
    chunks.push(chunk);
  }
  const source = readFiles(chunks);
  const { rows } = await database.query(`SELECT count(*) FROM ${source}`);
  const encoding = encodingOf(bytes, Number(rows[0]?.[0] ?? 0));
  await database.withMemory(() => database.run(`COPY (SELECT * FROM ${source}) TO ${quoteText(path)} (${encoding})`));
  await syncPath(path);
  for (const chunk of chunks) await rm(chunk);
}

/** A range of the rows. Ranges are in order. */
interface Chunk {
  readonly paths: readonly string[];
  /** SQL condition. */
  readonly where: string;
}

interface Range extends MergedFile {
  readonly from: bigint;
  readonly to: bigint;
}

async function planChunks(
  database: Database,
  table: TableDef,
  files: readonly MergedFile[],
): Promise<readonly Chunk[]> {
  const [leading = ''] = table.sort;
  const { kind, nullable } = columnOf(table, leading);
  const { physical } = kinds[kind];
  if (physical !== 'int32' && physical !== 'int64') return [{ paths: files.map(({ path }) => path), where: 'true' }];
  const name = quoteName(leading);
  const source = readFiles(
    files.map(({ path }) => path),
    'hive_partitioning = false, filename = true',
  );
  const { rows } = await database.query(
    `SELECT filename, min(${name})::VARCHAR, max(${name})::VARCHAR FROM ${source} GROUP BY filename`,
  );
  const ends = new Map(rows.map(([path, from, to]) => [String(path), { from: toBigInt(from), to: toBigInt(to) }]));
  // A file without rows is in no group.
  const ranges: readonly Range[] = files.map((file) => ({ ...file, ...(ends.get(file.path) ?? { from: 0n, to: 0n }) }));
  const cuts = planCuts(ranges);
  return [undefined, ...cuts].map((from, at) => {
    const to = cuts[at];
    const isWithin = (range: Range): boolean =>
      (to === undefined || range.from < to) && (from === undefined || range.to >= from);
    const lower = from === undefined ? [] : [`${name} >= ${from}`];
    const upper = to === undefined ? [] : [`${name} < ${to}`];
    // Nulls come last.
    const hasNulls = nullable && to === undefined;
    const where = [...lower, ...upper].join(' AND ') || 'true';
    return {
      paths: ranges.filter((range) => hasNulls || isWithin(range)).map(({ path }) => path),
      where: hasNulls ? `(${where} OR ${name} IS NULL)` : where,
    };
  });
}

function toBigInt(value: unknown): bigint {
  return value === null || value === undefined ? 0n : BigInt(String(value));
}

/** Ascending boundaries of ranges of about equal size, assuming that rows are spread evenly. */
export function planCuts(ranges: readonly Range[]): readonly bigint[] {
  const steps = ranges.flatMap(({ from, to, bytes }) => {
    const pieces = Math.max(1, Math.ceil(bytes / CHUNK_BYTES));
    return Array.from({ length: pieces }, (_, at) => ({
      value: from + ((to - from) * BigInt(at)) / BigInt(pieces),
      bytes: bytes / pieces,
    }));
  });
  steps.sort((a, b) => (a.value < b.value ? -1 : a.value > b.value ? 1 : 0));
  const cuts: bigint[] = [];
  let bytes = 0;
  for (const step of steps) {
    const last = cuts.at(-1) ?? steps[0]?.value;
    if (bytes + step.bytes > CHUNK_BYTES && last !== undefined && step.value > last) {
      cuts.push(step.value);
      bytes = 0;
    }
    bytes += step.bytes;
  }
  return cuts;
}
