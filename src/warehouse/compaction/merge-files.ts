import { readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { ColumnDef } from '../../declare/column.ts';
import { kinds } from '../../declare/kind.ts';
import type { TableDef } from '../../declare/table.ts';
import { syncPath } from '../../files/disk.ts';
import type { ColumnChunk, RowGroup } from '../../parquet/file-footer.ts';
import { FileWriter } from '../../parquet/parquet-writer.ts';
import { decodeGroups, readFooter } from '../../parquet/read-footer.ts';
import type { StoredGroup } from '../../parquet/row-group.ts';
import { compareValues } from '../../parquet/statistics.ts';
import { loadZstd } from '../../parquet/zstd.ts';
import { columnOf, quoteName, quoteText } from '../../sql/canonical-text.ts';
import type { Database } from '../../sql/database.ts';
import { storedColumns } from '../file-layout.ts';
import { readSound, requireCommitted, sumFile } from '../parquet-store/entry-files.ts';
import { readFiles } from '../relations/table-relation.ts';
import type { TableFile } from '../store.ts';

/** Compressed bytes that are sorted at once. Sorting takes about six times as much memory. */
const CHUNK_BYTES = 8 * 2 ** 20;
/** Chunks are uncompressed, because they are read once. */
const CHUNK_ENCODING = 'FORMAT parquet, COMPRESSION uncompressed, DICTIONARY_SIZE_LIMIT 1, ROW_GROUP_SIZE 8192';
/**
 * Maximum overlap of the leading column's ranges, as a share of the second range, for rows to be merged without sorting. Where two spans
 * meet, the logical times of shards overlap by some blocks.
 */
const MAX_OVERLAP = 0.1;
/** Files with fewer rows are sorted together: their pages are too small for readers. */
const TINY_ROWS = 2048;

export interface MergeOptions {
  readonly database: Database;
  /** A folder with the files at their paths. */
  readonly warehouse: string;
  readonly table: TableDef;
  /** In the order of their spans. */
  readonly files: readonly TableFile[];
  /** Folder for temporary files. */
  readonly folder: string;
  /** Absolute path of the merged file. */
  readonly path: string;
}

/**
 * Merges files of a table into one. Files whose rows follow each other are copied row group by row group, others are sorted.
 *
 * @throws {StoreError} `damaged` if a file is not what was committed
 */
export async function mergeFiles(options: MergeOptions): Promise<void> {
  if (!(await copyFiles(options))) await sortFiles(options, options.files, options.path);
  await syncPath(options.path);
}

function columnsOf(table: TableDef): readonly ColumnDef[] {
  return storedColumns(table).map((name) => columnOf(table, name));
}

/** @returns false if the rows do not follow each other; nothing is written then */
async function copyFiles(options: MergeOptions): Promise<boolean> {
  const { table, path } = options;
  const { compress, decompress } = await loadZstd();
  const columns = columnsOf(table);
  const writer = new FileWriter(path, table, compress, storedColumns(table));
  let isInOrder = true;
  try {
    let before: RowGroup | undefined;
    for await (const stored of storedGroups(options)) {
      const order = before === undefined ? 'sorted' : orderOf(table, columns, before, stored.group);
      isInOrder = order !== 'mixed';
      if (!isInOrder) return false;
      writer.copy(stored, order === 'sorted', decompress);
      before = stored.group;
    }
    writer.finish();
    return true;
  } finally {
    writer.abandon();
    if (!isInOrder) await rm(path);
  }
}

/** The row groups of the files. Tiny files, and those not written by `FileWriter`, are sorted together first. */
async function* storedGroups(options: MergeOptions): AsyncGenerator<StoredGroup> {
  const { warehouse, table, files, folder } = options;
  const columns = columnsOf(table);
  let others: TableFile[] = [];
  const sortOthers = async function* (): AsyncGenerator<StoredGroup> {
    if (others.length === 0) return;
    const path = join(folder, `${table.name}-sorted.parquet`);
    await sortFiles(options, others, path);
    others = [];
    const file = await readFile(path);
    await rm(path);
    for (const group of readFooter(file, columns) ?? []) yield { file, group };
  };
  for (const source of files) {
    const file = source.rows < TINY_ROWS ? undefined : await readSound(warehouse, source);
    const groups = file && readFooter(file, columns);
    if (file === undefined || groups === undefined) {
      others.push(source);
      continue;
    }
    yield* sortOthers();
    for (const group of groups) yield { file, group };
  }
  yield* sortOthers();
}

/** The order of two successive row groups, by the bounds of the leading column: `seam` if they overlap a little. */
function orderOf(
  { sort }: TableDef,
  columns: readonly ColumnDef[],
  before: RowGroup,
  next: RowGroup,
): 'sorted' | 'seam' | 'mixed' {
  const at = columns.findIndex(({ name }) => name === sort[0]);
  const [own, other] = [before.chunks[at], next.chunks[at]] as readonly (ColumnChunk | undefined)[];
  const column = columns[at];
  // Nulls come last.
  if (column === undefined || own?.nulls !== 0 || !own.bounds || !other?.bounds) return 'mixed';
  const { physical } = kinds[column.kind];
  if (compareValues(physical, own.bounds.max, other.bounds.min) < 0) return 'sorted';
  const isLater = (['min', 'max'] as const).every(
    (end) => compareValues(physical, own.bounds?.[end] as Uint8Array, other.bounds?.[end] as Uint8Array) <= 0,
  );
  if (!isLater || (physical !== 'int32' && physical !== 'int64')) return 'mixed';
  const [max, from, to] = [own.bounds.max, other.bounds.min, other.bounds.max].map(toNumber) as [
    number,
    number,
    number,
  ];
  return max - from <= (to - from) * MAX_OVERLAP ? 'seam' : 'mixed';
}

function toNumber(value: Uint8Array): number {
  const bytes = Buffer.from(value);
  return bytes.length === 4 ? bytes.readInt32LE() : Number(bytes.readBigInt64LE());
}

/** A file to sort; absolute path. */
interface SortedFile {
  readonly path: string;
  readonly bytes: number;
}

/** Merges files in the table's order. Rows are sorted by ranges of the leading column, so memory does not grow with the files. */
async function sortFiles(
  { database, warehouse, table, folder }: MergeOptions,
  files: readonly TableFile[],
  path: string,
): Promise<void> {
  for (const file of files) requireCommitted(warehouse, file, await sumFile(join(warehouse, file.path)));
  const sources = files.map((file) => ({ path: join(warehouse, file.path), bytes: file.bytes }));
  const columns = columnsOf(table);
  const names = columns.map(({ name }) => quoteName(name)).join(', ');
  const order = `ORDER BY ${table.sort.map(quoteName).join(', ')}`;
  const chunk = join(folder, `${table.name}-chunk.parquet`);
  const writer = new FileWriter(path, table, (await loadZstd()).compress, storedColumns(table));
  try {
    for (const { paths, where } of await planChunks(database, table, sources)) {
      const select = `SELECT ${names} FROM ${readFiles(paths)} WHERE ${where} ${order}`;
      await database.withMemory(() => database.run(`COPY (${select}) TO ${quoteText(chunk)} (${CHUNK_ENCODING})`));
      for (const batch of decodeGroups(await readFile(chunk), table, columns)) writer.write(batch, true);
      await rm(chunk);
    }
    writer.finish();
  } finally {
    writer.abandon();
  }
}

/** A range of the rows. Ranges are in order. */
interface Chunk {
  readonly paths: readonly string[];
  /** SQL condition. */
  readonly where: string;
}

interface Range extends SortedFile {
  readonly from: bigint;
  readonly to: bigint;
}

async function planChunks(
  database: Database,
  table: TableDef,
  files: readonly SortedFile[],
): Promise<readonly Chunk[]> {
  const [leading = ''] = table.sort;
  const { kind, nullable } = columnOf(table, leading);
  const { physical } = kinds[kind];
  if (physical !== 'int32' && physical !== 'int64') return [{ paths: files.map(({ path }) => path), where: 'true' }];
  const name = kind === 'timestamp' ? `epoch_us(${quoteName(leading)})` : quoteName(leading);
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

/** Ascending boundaries of ranges of about equal size, assuming that values are distributed evenly. */
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
