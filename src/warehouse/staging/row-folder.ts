import { mkdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { greatest } from '../../core/span.ts';
import type { TableDef } from '../../declare/table.ts';
import type { Batch } from '../../decode/batch.ts';
import { guarded } from '../../files/file-failure.ts';
import { FileWriter } from '../../parquet/parquet-writer.ts';
import { loadZstd } from '../../parquet/zstd.ts';
import { DATE_COLUMN, storedColumns } from '../file-layout.ts';
import { OrderCheck } from './order-check.ts';

/** `plain`: a file that DuckDB reads once. `final`: a file as readers of a Parquet warehouse get it. */
export type FileForm = 'plain' | 'final';

/** Rows of one table in a Parquet file. Plain data that a thread can send. */
export interface RowFile {
  readonly table: string;
  readonly path: string;
  readonly rows: number;
  /** Bytes that the rows take in PLAIN encoding. */
  readonly plainBytes: number;
  /** True if the rows of each part were written in the table's order. */
  readonly isSorted: boolean;
  /** UTC day of all rows, in `final` form; undefined if they have no time, or are of several days. */
  readonly date: string | undefined;
  /** True if the file is in its final state: sorted, in `final` form, of one day. */
  readonly isFinal: boolean;
}

/** A file in `final` form that is still being written. It need not be rewritten if all further rows are of its day, in order. */
export interface GrowingFile {
  readonly table: string;
  readonly path: string;
  /** UTC day of all rows; undefined if they have no time. */
  readonly date: string | undefined;
  /** Bytes that are on the disk and will not change. */
  readonly bytes: number;
}

/** The state of the files that are being written. */
export interface FolderState {
  /** Size of the largest file, in bytes, without its incomplete row group. */
  readonly bytes: number;
  /** False if rows are of several UTC days, or a part is unsorted: no more parts should follow. */
  readonly isUniform: boolean;
  readonly growing: readonly GrowingFile[];
}

interface Opened {
  readonly table: TableDef;
  readonly writer: FileWriter;
  readonly order: OrderCheck;
  date: string | undefined;
}

/** The date of a file with rows of several days. */
const SEVERAL = 'several';

/** Writes batches to a folder of Parquet files: one per table, or in `final` form one per table and UTC day of the parts. */
export class RowFolder {
  readonly #folder: string;
  readonly #form: FileForm;
  readonly #files: Opened[] = [];
  /** The file of the current part, by table. */
  readonly #current = new Map<string, Opened>();

  constructor(folder: string, form: FileForm) {
    this.#folder = folder;
    this.#form = form;
  }

  get #state(): FolderState {
    const days = new Set(this.#files.flatMap(({ date }) => date ?? []));
    return {
      bytes: greatest(this.#files.map(({ writer }) => writer.bytes)),
      isUniform: days.size < 2 && !days.has(SEVERAL) && this.#files.every(({ order }) => order.isSorted),
      growing: this.#files
        .filter((file) => this.#isFinal(file))
        .map(({ table, writer, date }) => ({ table: table.name, path: writer.path, date, bytes: writer.bytes })),
    };
  }

  #isFinal({ order, date }: Opened): boolean {
    return this.#form === 'final' && order.isSorted && date !== SEVERAL;
  }

  /**
   * The batch's memory may be reused afterwards.
   *
   * @param startsPart true if the batch begins a part of the commit whose order may overlap with that of earlier rows
   */
  async write(batch: Batch, startsPart = false): Promise<FolderState> {
    return guarded(this.#subject, async () => {
      const { writer, order } = await this.#fileFor(batch, startsPart);
      writer.write(batch, order.add(batch, startsPart));
      return this.#state;
    });
  }

  /** Closes the files. No write may follow. */
  async finish(): Promise<readonly RowFile[]> {
    return guarded(this.#subject, async () => {
      const files: RowFile[] = [];
      for (const file of this.#files) {
        const { table, writer, order, date } = file;
        writer.finish();
        const { path, rows, plainBytes } = writer;
        const { isSorted } = order;
        files.push({ table: table.name, path, rows, plainBytes, isSorted, date, isFinal: this.#isFinal(file) });
      }
      return files;
    });
  }

  /** Removes everything that was written. */
  async discard(): Promise<void> {
    for (const { writer } of this.#files) writer.abandon();
    await rm(this.#folder, { recursive: true, force: true });
  }

  get #subject(): string {
    return `stage ${this.#folder}`;
  }

  async #fileFor(batch: Batch, startsPart: boolean): Promise<Opened> {
    const { table } = batch;
    const current = this.#current.get(table.name);
    if (current !== undefined && (batch.rows === 0 || this.#form === 'plain')) return current;
    const date = batch.rows === 0 || this.#form === 'plain' ? undefined : dayOf(batch);
    if (current?.writer.rows === 0) current.date = date;
    if (current !== undefined && !startsPart && current.date !== date) current.date = SEVERAL;
    if (current !== undefined && (!startsPart || current.date === date)) return current;
    const known = this.#files.find((file) => file.table.name === table.name && file.date === date);
    const opened = known ?? (await this.#open(table, date));
    this.#current.set(table.name, opened);
    return opened;
  }

  async #open(table: TableDef, date: string | undefined): Promise<Opened> {
    await mkdir(this.#folder, { recursive: true });
    const before = this.#files.filter((file) => file.table.name === table.name).length;
    const path = join(this.#folder, `${table.name}${before === 0 ? '' : `-${before}`}.rows.parquet`);
    const isFinal = this.#form === 'final';
    const writer = isFinal
      ? new FileWriter(path, table, (await loadZstd()).compress, storedColumns(table))
      : new FileWriter(path, table);
    const opened = { table, writer, order: new OrderCheck(table), date };
    this.#files.push(opened);
    return opened;
  }
}

/** The UTC day of all rows, {@link SEVERAL}, or undefined if rows have no time. */
function dayOf({ table, rows, vectors }: Batch): string | undefined {
  const vector = vectors.find(({ column }) => column.name === DATE_COLUMN);
  if (table.time === undefined || vector === undefined) return undefined;
  const days = new Int32Array(new Uint8Array(vector.values.subarray(0, rows * 4)).buffer);
  const isOne = vector.nullCount === 0 && days.every((day) => day === days[0]);
  const day = isOne ? new Date((days[0] ?? 0) * 86_400_000).toISOString() : '';
  // DuckDB finds the days of rows with years of more than four digits.
  return /^(\d{4}-\d{2}-\d{2})T/.exec(day)?.[1] ?? SEVERAL;
}
