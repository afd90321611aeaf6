import { mkdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { Span } from '../../core/span.ts';
import type { TableDef } from '../../declare/table.ts';
import type { Batch } from '../../decode/batch.ts';
import { hashFile, statIfAny, syncPath } from '../../files/disk.ts';
import { guarded } from '../../files/file-failure.ts';
import { quoteName, quoteText } from '../../sql/canonical-text.ts';
import { Database } from '../../sql/database.ts';
import { DATE_COLUMN, datePlace, encodingOf, partitionOf, pathOfFile, storedColumns } from '../file-layout.ts';
import { writeNewest } from '../relations/newest-rows.ts';
import { readFiles, stagedRows } from '../relations/table-relation.ts';
import { schemaOf } from '../relations/table-schema.ts';
import type { FileStage, NewestRule, StagedFile, StagedSpan, StagedTable, StagerOptions } from '../store.ts';
import { addEvidence, type DatedEvidence, measureRows } from './row-evidence.ts';
import { type FileForm, type RowFile, RowFolder } from './row-folder.ts';

/** Makes stages. It owns the DuckDB instance that encodes their files. */
export class Stager {
  readonly #options: StagerOptions;
  readonly #freshId: () => string;
  #database: Promise<Database> | undefined;

  constructor(options: StagerOptions, freshId: () => string) {
    this.#options = options;
    this.#freshId = freshId;
  }

  stage(span: Span): FileStage {
    const id = this.#freshId();
    const folder = join(this.#options.stagingPath, id);
    return new FolderStage({ id, folder, span, form: this.#options.form, connect: () => this.#connect() });
  }

  async close(): Promise<void> {
    const database = this.#database;
    this.#database = undefined;
    // The caller already got the open error.
    (await database?.catch(() => undefined))?.close();
  }

  async #connect(): Promise<Database> {
    const { stagingPath, memoryMb = 256 } = this.#options;
    this.#database ??= Database.open(':memory:', {
      // One thread, and no cache of files that are read once, so that memory stays near the size of a span.
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
  readonly form: FileForm;
  readonly connect: () => Promise<Database>;
}

/** A file with rows of a table, for this stage to finish. */
type GivenFile = Omit<RowFile, 'rows'>;

class FolderStage implements FileStage {
  readonly #options: FolderStageOptions;
  readonly #rows: RowFolder;
  readonly #tables = new Map<string, TableDef>();
  readonly #adopted: GivenFile[] = [];

  constructor(options: FolderStageOptions) {
    this.#options = options;
    this.#rows = new RowFolder(options.folder, this.form);
  }

  get folder(): string {
    return this.#options.folder;
  }

  get form(): FileForm {
    return this.#options.form;
  }

  async write(batch: Batch): Promise<void> {
    this.#tables.set(batch.table.name, batch.table);
    await this.#rows.write(batch);
  }

  async adopt(table: TableDef, path: string, options: Parameters<FileStage['adopt']>[2] = {}): Promise<void> {
    const { isSorted = false, isFinal = false, plainBytes = await sizeOf(path) } = options;
    this.#tables.set(table.name, table);
    this.#adopted.push({ table: table.name, path, isSorted, isFinal, plainBytes });
    await mkdir(this.#options.folder, { recursive: true });
  }

  async finish(newest: Readonly<Record<string, NewestRule>> = {}): Promise<StagedSpan> {
    return guarded(this.#subject(), async () => {
      const tables: Record<string, StagedTable> = {};
      if (this.#tables.size === 0) return { id: this.#options.id, tables };
      const written = [...(await this.#rows.finish()), ...this.#adopted];
      const database = await this.#options.connect();
      try {
        for (const [name, table] of this.#tables) {
          const all = written.filter((file) => file.table === name);
          const rule = newest[name];
          const given = rule === undefined ? all : await this.#keepNewest(database, table, rule, all);
          tables[name] = await this.#finishTable(database, table, given);
        }
      } finally {
        database.disconnect();
      }
      await syncPath(this.#options.folder);
      return { id: this.#options.id, tables };
    });
  }

  async discard(): Promise<void> {
    await this.#rows.discard();
  }

  #subject(): string {
    return `stage ${this.#options.folder}`;
  }

  /** The files without rows that were written again in a newer form. */
  async #keepNewest(
    database: Database,
    table: TableDef,
    rule: NewestRule,
    given: readonly GivenFile[],
  ): Promise<readonly GivenFile[]> {
    const kept: GivenFile[] = [];
    for (const file of given) {
      const to = `${file.path}.newest`;
      const isWritten = await writeNewest(database, table, rule, { from: file.path, to });
      if (isWritten) await rm(file.path);
      kept.push(isWritten ? { ...file, path: to, isSorted: true, isFinal: false } : file);
    }
    return kept;
  }

  async #finishTable(database: Database, table: TableDef, given: readonly GivenFile[]): Promise<StagedTable> {
    const schema = schemaOf(table).id;
    const paths = given.map(({ path }) => path);
    const isSorted = given.length === 1 && given.every((file) => file.isSorted);
    const isFinal = given.length === 1 && given.every((file) => file.isFinal);
    const source = this.form === 'final' ? stagedRows(table, paths) : readFiles(paths);
    const parts = paths.length === 0 ? [] : await measureRows(database.query, table, source);
    const evidence = addEvidence(parts, table);
    if (evidence.rows === 0) {
      for (const path of paths) await rm(path);
      return { schema, isSorted, ...evidence, files: [] };
    }
    const { rows } = evidence;
    const bytes = given.reduce((sum, { plainBytes }) => sum + plainBytes, 0);
    if (this.form === 'plain') {
      for (const path of paths) await syncPath(path);
      const files = paths.map((stagedPath) => ({ stagedPath, path: '', rows, bytes }));
      return { schema, isSorted, ...evidence, files };
    }
    const [whole] = parts;
    if (isFinal && parts.length === 1 && whole !== undefined) {
      const files = [await this.#describeFile(table, whole, paths[0] as string)];
      return { schema, isSorted, ...datePlace(table), ...evidence, files };
    }
    const encoding = encodingOf(bytes, rows);
    const files: StagedFile[] = [];
    for (const part of parts) {
      const shape = { encoding, isWhole: parts.length === 1, isSorted };
      files.push(await this.#encodeFile(database, table, source, part, shape));
    }
    for (const path of paths) await rm(path);
    return { schema, isSorted, ...datePlace(table), ...evidence, files };
  }

  async #encodeFile(
    database: Database,
    table: TableDef,
    source: string,
    part: DatedEvidence,
    { encoding, isWhole, isSorted }: { encoding: string; isWhole: boolean; isSorted: boolean },
  ): Promise<StagedFile> {
    const { folder } = this.#options;
    const stagedPath = join(folder, `${[table.name, ...partitionOf(part.date)].join('-')}.parquet`);
    const only = part.date === null ? 'IS NULL' : `= DATE ${quoteText(part.date ?? '')}`;
    const where = isWhole ? '' : ` WHERE ${quoteName(DATE_COLUMN)} ${only}`;
    const order = isSorted ? '' : ` ORDER BY ${table.sort.map(quoteName).join(', ')}`;
    const columns = storedColumns(table).map(quoteName).join(', ');
    const copy = `COPY (SELECT ${columns} FROM ${source}${where}${order}) TO ${quoteText(stagedPath)} (${encoding})`;
    await database.withMemory(() => database.run(copy));
    return this.#describeFile(table, part, stagedPath);
  }

  /** A file as readers will get it, safe on the disk. */
  async #describeFile(table: TableDef, part: DatedEvidence, stagedPath: string): Promise<StagedFile> {
    const { id, span } = this.#options;
    await syncPath(stagedPath);
    const bytes = await sizeOf(stagedPath);
    return {
      stagedPath,
      path: pathOfFile(table.name, part.date, span, id),
      rows: part.rows,
      bytes,
      sha256: await hashFile(stagedPath),
    };
  }
}

async function sizeOf(path: string): Promise<number> {
  return (await statIfAny(path))?.size ?? 0;
}
