import { constants, copyFile, link, mkdir, rm } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { StoreError } from '../../core/errors.ts';
import type { Span } from '../../core/span.ts';
import type { TableDef } from '../../declare/table.ts';
import type { Batch } from '../../decode/batch.ts';
import { damagedData } from '../../files/damaged-data.ts';
import { hashFile, statIfAny, syncPath } from '../../files/disk.ts';
import { guarded } from '../../files/file-failure.ts';
import { quoteName, quoteText } from '../../sql/canonical-text.ts';
import type { Database } from '../../sql/database.ts';
import type { Instance } from '../../sql/instance.ts';
import { DATE_COLUMN, dateOf, encodingOf, partitionOf, pathOfFile, storedColumns } from '../file-layout.ts';
import { readFiles, stagedRows } from '../relations/table-relation.ts';
import { schemaOf } from '../relations/table-schema.ts';
import type {
  FileStage,
  FinishOptions,
  NewestRule,
  StagedFile,
  StagedSpan,
  StagedTable,
  StagerOptions,
  TableFile,
} from '../store.ts';
import { addEvidence, boundedColumns, type DatedEvidence, measureRows } from './row-evidence.ts';
import { type FileForm, type FolderState, type RowFile, RowFolder } from './row-folder.ts';

/** Creates stages, whose files a DuckDB instance measures and encodes. */
export class Stager {
  readonly #options: StagerOptions;
  readonly #instance: Instance;
  readonly #freshId: () => string;

  constructor(options: StagerOptions, instance: Instance, freshId: () => string) {
    this.#options = options;
    this.#instance = instance;
    this.#freshId = freshId;
  }

  stage(span: Span): FileStage {
    return this.#open({ span, form: this.#options.form, isMeasured: true });
  }

  /** See {@link Store.scratch}. */
  scratch(): FileStage {
    return this.#open({ span: { from: 0, to: 0 }, form: 'plain', isMeasured: false });
  }

  #open(options: Pick<FolderStageOptions, 'span' | 'form' | 'isMeasured'>): FileStage {
    const id = this.#freshId();
    const folder = join(this.#options.stagingPath, id);
    return new FolderStage({ ...options, id, folder, use: (work) => this.#instance.use(work) });
  }
}

interface FolderStageOptions {
  readonly id: string;
  readonly folder: string;
  readonly span: Span;
  readonly form: FileForm;
  /** False if nothing will be committed, so that no evidence is needed. */
  readonly isMeasured: boolean;
  /** Runs work on a separate connection. */
  readonly use: <T>(work: (database: Database) => Promise<T>) => Promise<T>;
}

/** A file with rows of a table that this stage finishes. The number of rows is unknown if another program wrote it. */
type GivenFile = Omit<RowFile, 'rows' | 'date'> & Partial<Pick<RowFile, 'rows'>> & Pick<Partial<DatedEvidence>, 'date'>;

class FolderStage implements FileStage {
  readonly #options: FolderStageOptions;
  readonly #rows: RowFolder;
  readonly #tables = new Map<string, TableDef>();
  readonly #adopted: GivenFile[] = [];

  constructor(options: FolderStageOptions) {
    this.#options = options;
    this.#rows = new RowFolder(options.folder, this.form);
  }

  get id(): string {
    return this.#options.id;
  }

  get folder(): string {
    return this.#options.folder;
  }

  get form(): FileForm {
    return this.#options.form;
  }

  async write(batch: Batch, startsPart?: boolean): Promise<FolderState> {
    this.#tables.set(batch.table.name, batch.table);
    return this.#rows.write(batch, startsPart);
  }

  async adopt(table: TableDef, path: string, known: Parameters<FileStage['adopt']>[2] = {}): Promise<void> {
    const { plainBytes = await sizeOf(path) } = known;
    this.#tables.set(table.name, table);
    const unknown = { isSorted: false, isFinal: false, date: dateOf(path) };
    this.#adopted.push({ ...unknown, ...known, table: table.name, path, plainBytes });
    await mkdir(this.#options.folder, { recursive: true });
  }

  async take(table: TableDef, { path, rows, sha256 }: TableFile, from: string): Promise<void> {
    const source = join(from, path);
    // The path has the day of the rows.
    const target = join(this.folder, path);
    await mkdir(dirname(target), { recursive: true });
    await link(source, target).catch(() => copyFile(source, target, constants.COPYFILE_FICLONE));
    if ((await hashFile(target)) !== sha256) {
      throw damagedData(from, `${source} differs from the committed file`);
    }
    await this.adopt(table, target, { rows, isSorted: true, isFinal: true });
  }

  async grow(): Promise<void> {}

  async finish({ span = this.#options.span, newest = {} }: FinishOptions = {}): Promise<StagedSpan> {
    return guarded(this.#subject(), async () => {
      const { id, use } = this.#options;
      const tables: Record<string, StagedTable> = {};
      if (this.#tables.size === 0) return { id, tables };
      const written = [...(await this.#rows.finish()), ...this.#adopted];
      await use(async (database) => {
        for (const [name, table] of this.#tables) {
          const all = written.filter((file) => file.table === name);
          const rule = newest[name];
          const given = rule === undefined ? all : await this.#keepNewest(database, table, rule, all);
          tables[name] = await this.#finishTable(database, table, await withRows(given), span);
        }
      });
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

  /** Removes older rows with the same key. @returns the files, some of them rewritten */
  async #keepNewest(
    database: Database,
    table: TableDef,
    rule: NewestRule,
    given: readonly GivenFile[],
  ): Promise<readonly GivenFile[]> {
    const result: GivenFile[] = [];
    for (const file of given) {
      const to = `${file.path}.newest`;
      const isWritten = await writeNewest(database, table, rule, { from: file.path, to });
      if (isWritten) await rm(file.path);
      const { rows: _uncounted, ...known } = file;
      result.push(isWritten ? { ...known, path: to, isSorted: true, isFinal: false } : file);
    }
    return result;
  }

  async #finishTable(
    database: Database,
    table: TableDef,
    given: readonly GivenFile[],
    span: Span,
  ): Promise<StagedTable> {
    const schema = schemaOf(table).id;
    if (this.form === 'plain') {
      const paths = given.map(({ path }) => path);
      const { isMeasured } = this.#options;
      const parts = isMeasured ? await measureFiles(database, table, given, readFiles(paths)) : [];
      for (const path of isMeasured ? paths : []) await syncPath(path);
      const evidence = addEvidence(parts, table);
      const bytes = sizeIn(given);
      const files = paths.map((stagedPath) => ({
        stagedPath,
        path: '',
        rows: evidence.rows,
        bytes,
        bounds: {},
        sha256: '',
      }));
      return { schema, isSorted: given.length < 2 && given.every((file) => file.isSorted), ...evidence, files };
    }
    const parts: DatedEvidence[] = [];
    const files: StagedFile[] = [];
    const add = async (part: DatedEvidence, path: string): Promise<void> => {
      parts.push(part);
      files.push(await this.#describeFile(table, part, path, span, files));
    };
    for (const file of given.filter(({ isFinal }) => isFinal)) {
      const own = stagedRows(table, [file.path]);
      const [part, ...others] = await measureFiles(database, table, [file], own, boundedColumns(table));
      if (part?.date !== file.date || others.length > 0) throw damaged(`rows of ${file.date} alone`, table);
      if (part !== undefined) await add(part, file.path);
    }
    const loose = given.filter(({ isFinal }) => !isFinal);
    const source = stagedRows(
      table,
      loose.map(({ path }) => path),
    );
    const rest = await measureFiles(database, table, loose, source, boundedColumns(table));
    const encoding = encodingOf(sizeIn(loose), addEvidence(rest, table).rows);
    const order = loose.length === 1 && loose.every((file) => file.isSorted) ? '' : ` ORDER BY ${sortOf(table)}`;
    for (const part of rest)
      await add(part, await this.#encodeFile(database, table, part, { source, order, encoding }));
    for (const { path } of loose) await rm(path);
    return { schema, isSorted: true, ...addEvidence(parts, table), files };
  }

  /** Writes the rows of a day, in order. @returns the path */
  async #encodeFile(
    database: Database,
    table: TableDef,
    { date }: DatedEvidence,
    { source, order, encoding }: Readonly<Record<'source' | 'order' | 'encoding', string>>,
  ): Promise<string> {
    const { folder } = this.#options;
    const stagedPath = join(folder, `${[table.name, ...partitionOf(date)].join('-')}.parquet`);
    const only = date === null ? 'IS NULL' : `= DATE ${quoteText(date ?? '')}`;
    const where = date === undefined ? '' : ` WHERE ${quoteName(DATE_COLUMN)} ${only}`;
    const columns = storedColumns(table).map(quoteName).join(', ');
    const copy = `COPY (SELECT ${columns} FROM ${source}${where}${order}) TO ${quoteText(stagedPath)} (${encoding})`;
    await database.withMemory(() => database.run(copy));
    return stagedPath;
  }

  /** Syncs a file in its final form, and describes it. */
  async #describeFile(
    table: TableDef,
    part: DatedEvidence,
    stagedPath: string,
    span: Span,
    others: readonly StagedFile[],
  ): Promise<StagedFile> {
    const pathOf = (id: string): string => pathOfFile(table.name, part.date, span, id);
    const { id } = this.#options;
    const isTaken = others.some(({ path }) => path === pathOf(id));
    await syncPath(stagedPath);
    const bytes = await sizeOf(stagedPath);
    return {
      stagedPath,
      path: pathOf(isTaken ? `${id}1` : id),
      rows: part.rows,
      bytes,
      sha256: await hashFile(stagedPath),
      bounds: part.bounds,
    };
  }
}

/** Removes files without rows. @returns the others */
async function withRows(given: readonly GivenFile[]): Promise<readonly GivenFile[]> {
  for (const { path, rows } of given) if (rows === 0) await rm(path);
  return given.filter(({ rows }) => rows !== 0);
}

/** @throws {StoreError} if files do not have the rows that were written to them */
async function measureFiles(
  database: Database,
  table: TableDef,
  files: readonly GivenFile[],
  source: string,
  bounded: readonly string[] = [],
): Promise<readonly DatedEvidence[]> {
  if (files.length === 0) return [];
  const parts = await measureRows(database.query, table, source, bounded);
  const { rows } = addEvidence(parts, table);
  const written = files.reduce((sum, file) => sum + (file.rows ?? Number.NaN), 0);
  if (!Number.isNaN(written) && written !== rows) throw damaged(`${written} rows, got ${rows}`, table);
  return parts;
}

function damaged(expected: string, { name }: TableDef): StoreError {
  return new StoreError(`store: a staged file of ${name} is damaged: expected ${expected}`, { code: 'damaged' });
}

function sortOf({ sort }: TableDef): string {
  return sort.map(quoteName).join(', ');
}

/** Bytes of PLAIN encoding. */
function sizeIn(files: readonly GivenFile[]): number {
  return files.reduce((sum, { plainBytes }) => sum + plainBytes, 0);
}

async function sizeOf(path: string): Promise<number> {
  return (await statIfAny(path))?.size ?? 0;
}

/**
 * Writes the rows of a file to another, sorted, with only the newest row of each key: the one with the greatest value of `rule.column`,
 * then the last one written. Only repeated keys take memory, and DuckDB spills them to disk if needed.
 *
 * @returns false if no key is repeated; nothing is written then
 */
async function writeNewest(
  database: Database,
  table: TableDef,
  rule: NewestRule,
  { from, to }: { readonly from: string; readonly to: string },
): Promise<boolean> {
  const key = rule.key.map(quoteName);
  const source = readFiles([from], 'hive_partitioning = false, file_row_number = true');
  const order = rule.column === undefined ? '0' : `coalesce(${quoteName(rule.column)}, -1)`;
  const version = `{'newest': ${order}, 'at': file_row_number}`;
  await database.withMemory(() =>
    database.run(
      `CREATE OR REPLACE TEMP TABLE repeated_keys AS
       SELECT ${key.map((name, at) => `${name} AS k${at}`).join(', ')}, max(${version}).at AS kept
       FROM ${source} GROUP BY ${key.join(', ')} HAVING count(*) > 1`,
    ),
  );
  try {
    const { rows } = await database.query('SELECT count(*) FROM repeated_keys');
    if (Number(rows[0]?.[0]) === 0) return false;
    const same = key.map((name, at) => `k${at} IS NOT DISTINCT FROM ${name}`).join(' AND ');
    const sort = table.sort.map(quoteName).join(', ');
    await database.withMemory(() =>
      database.run(
        `COPY (SELECT staged.* EXCLUDE (file_row_number) FROM ${source} AS staged LEFT JOIN repeated_keys ON ${same}
         WHERE kept IS NULL OR kept = file_row_number ORDER BY ${sort}) TO ${quoteText(to)} (FORMAT parquet)`,
      ),
    );
    return true;
  } finally {
    await database.run('DROP TABLE repeated_keys');
  }
}
