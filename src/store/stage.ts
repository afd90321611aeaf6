import { mkdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { TableDef } from '../declare/table.ts';
import type { Batch } from '../flatten/batch.ts';
import type { Span } from '../span.ts';
import { quoteName, quoteText } from './canonical.ts';
import { Database } from './database.ts';
import { statIfAny, syncPath } from './disk.ts';
import { addEvidence, type DatedEvidence, measureRows } from './evidence.ts';
import { guarded } from './failure.ts';
import { PlainWriter } from './plain.ts';
import { readFiles } from './relation.ts';
import { schemaOf } from './schema.ts';
import { OrderCheck } from './sorted.ts';
import type { Stage, StagedFile, StagedSpan, StagedTable } from './store.ts';

/** What a thread needs to write rows of spans by itself. Plain data, so that it can be handed to a worker thread. */
export interface StagerOptions {
  readonly kind: 'parquet' | 'duckdb';
  /** Absolute path of the folder of staged files. */
  readonly stagingPath: string;
  /** Bound of DuckDB's memory in megabytes. Default 256. */
  readonly memoryMb?: number;
}

/** Bounds of a row group of a table's file: DuckDB holds a whole one, before it is compressed, in memory. */
const rowGroupLimit = { rows: 122_880, bytes: 32 * 2 ** 20 } as const;

/** Rows in a row group, a multiple of DuckDB's vectors, for rows of that size. */
function rowGroupRows(plainBytes: number, rows: number): number {
  const fitting = Math.floor((rowGroupLimit.bytes * rows) / plainBytes / 2048) * 2048;
  return Math.min(rowGroupLimit.rows, Math.max(2048, fitting));
}

/** Makes stages. One for each thread: it owns the DuckDB instance that encodes their files. */
export class Stager {
  readonly #options: StagerOptions;
  readonly #freshId: () => string;
  #database: Promise<Database> | undefined;

  constructor(options: StagerOptions, freshId: () => string) {
    this.#options = options;
    this.#freshId = freshId;
  }

  stage(span: Span): Stage {
    const id = this.#freshId();
    const folder = join(this.#options.stagingPath, id);
    return new FolderStage({ id, folder, span, kind: this.#options.kind, connect: () => this.#connect() });
  }

  async close(): Promise<void> {
    const database = this.#database;
    this.#database = undefined;
    if (database !== undefined) (await database).close();
  }

  async #connect(): Promise<Database> {
    const { stagingPath, memoryMb = 256 } = this.#options;
    this.#database ??= Database.open(':memory:', {
      // One thread, and no cache of files that are read once: memory stays near the size of a span.
      threads: '1',
      enable_external_file_cache: 'false',
      memory_limit: `${memoryMb}MB`,
      // Two instances that spill into one folder would overwrite each other's files.
      temp_directory: join(stagingPath, `spill-${this.#freshId()}`),
    });
    return (await this.#database).connect();
  }
}

interface FolderStageOptions {
  readonly id: string;
  readonly folder: string;
  readonly span: Span;
  readonly kind: 'parquet' | 'duckdb';
  readonly connect: () => Promise<Database>;
}

class FolderStage implements Stage {
  readonly #options: FolderStageOptions;
  readonly #writers = new Map<string, PlainWriter>();
  readonly #orders = new Map<string, OrderCheck>();

  constructor(options: FolderStageOptions) {
    this.#options = options;
  }

  async write(batch: Batch): Promise<void> {
    await guarded(this.#subject(), async () => {
      const writer = this.#writers.get(batch.table.name) ?? (await this.#open(batch.table));
      await writer.write(batch);
      this.#orders.get(batch.table.name)?.add(batch);
    });
  }

  async finish(): Promise<StagedSpan> {
    return guarded(this.#subject(), async () => {
      const tables: Record<string, StagedTable> = {};
      if (this.#writers.size === 0) return { id: this.#options.id, tables };
      const database = await this.#options.connect();
      try {
        for (const [name, writer] of this.#writers) {
          await writer.finish();
          tables[name] = await this.#finishTable(database, writer);
        }
      } finally {
        database.disconnect();
      }
      await syncPath(this.#options.folder);
      return { id: this.#options.id, tables };
    });
  }

  async discard(): Promise<void> {
    for (const writer of this.#writers.values()) await writer.abandon().catch(() => {});
    await rm(this.#options.folder, { recursive: true, force: true });
  }

  #subject(): string {
    return `stage ${this.#options.folder}`;
  }

  async #open(table: TableDef): Promise<PlainWriter> {
    await mkdir(this.#options.folder, { recursive: true });
    const writer = await PlainWriter.open(join(this.#options.folder, `${table.name}.plain.parquet`), table);
    this.#writers.set(table.name, writer);
    this.#orders.set(table.name, new OrderCheck(table));
    return writer;
  }

  async #finishTable(database: Database, writer: PlainWriter): Promise<StagedTable> {
    const { table, path, rows } = writer;
    const schema = schemaOf(table).id;
    const isSorted = this.#orders.get(table.name)?.isSorted === true;
    if (rows === 0) {
      await rm(path);
      return { schema, isSorted, ...addEvidence([], table), files: [] };
    }
    const source = readFiles([path]);
    const parts = await measureRows(database.query, table, source);
    const evidence = addEvidence(parts, table);
    if (this.#options.kind === 'duckdb') {
      await syncPath(path);
      const bytes = (await statIfAny(path))?.size ?? 0;
      return { schema, isSorted, ...evidence, files: [{ stagedPath: path, path: '', rows, bytes }] };
    }
    const groupRows = rowGroupRows((await statIfAny(path))?.size ?? 0, rows);
    const files: StagedFile[] = [];
    for (const part of parts) {
      files.push(await this.#encodeFile(database, table, source, part, groupRows, parts.length === 1));
    }
    await rm(path);
    return { schema, isSorted, ...evidence, files };
  }

  async #encodeFile(
    database: Database,
    table: TableDef,
    source: string,
    part: DatedEvidence,
    groupRows: number,
    isWhole: boolean,
  ): Promise<StagedFile> {
    const { id, folder, span } = this.#options;
    const date = part.date === undefined ? undefined : (part.date ?? '__HIVE_DEFAULT_PARTITION__');
    const partition = date === undefined ? [] : [`block_date=${date}`];
    const stagedPath = join(folder, `${[table.name, ...partition].join('-')}.parquet`);
    const only = part.date === null ? 'IS NULL' : `= DATE ${quoteText(part.date ?? '')}`;
    const where = isWhole ? '' : ` WHERE ${quoteName('block_date')} ${only}`;
    const order =
      this.#orders.get(table.name)?.isSorted === true ? '' : ` ORDER BY ${table.sort.map(quoteName).join(', ')}`;
    const copy = `COPY (SELECT * FROM ${source}${where}${order}) TO ${quoteText(stagedPath)} (FORMAT parquet, COMPRESSION zstd, COMPRESSION_LEVEL 1, ROW_GROUP_SIZE ${groupRows})`;
    await database.withMemory(() => database.run(copy));
    await syncPath(stagedPath);
    const bytes = (await statIfAny(stagedPath))?.size ?? 0;
    const path = ['tables', table.name, ...partition, `${span.from}-${span.to}-${id}.parquet`].join('/');
    return { stagedPath, path, rows: part.rows, bytes };
  }
}
