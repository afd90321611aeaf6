import { mkdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { TableDef } from '../../declare/table.ts';
import type { Batch } from '../../decode/batch.ts';
import { guarded } from '../../files/file-failure.ts';
import { FileWriter } from '../../parquet/parquet-writer.ts';
import { loadZstd } from '../../parquet/zstd.ts';
import { storedColumns } from '../file-layout.ts';
import { OrderCheck } from './order-check.ts';

/** `plain`: for a DuckDB file to read once. `final`: what readers of a Parquet warehouse get. */
export type FileForm = 'plain' | 'final';

/** Rows of one table in a Parquet file. Plain data, so that a worker thread can send it. */
export interface RowFile {
  readonly table: string;
  readonly path: string;
  readonly rows: number;
  /** Bytes that the rows take in PLAIN encoding. */
  readonly plainBytes: number;
  /** Whether the rows were written in the table's order. */
  readonly isSorted: boolean;
  /** True if readers can use the file as it is: sorted, in `final` form. */
  readonly isFinal: boolean;
}

interface Opened {
  readonly writer: FileWriter;
  readonly order: OrderCheck;
}

/** Writes the batches of a span to a folder of Parquet files, one per table. */
export class RowFolder {
  readonly #folder: string;
  readonly #form: FileForm;
  readonly #tables = new Map<string, Opened>();

  constructor(folder: string, form: FileForm) {
    this.#folder = folder;
    this.#form = form;
  }

  /** The batch's memory may be reused afterwards. */
  async write(batch: Batch): Promise<void> {
    await guarded(this.#subject, async () => {
      const { writer, order } = this.#tables.get(batch.table.name) ?? (await this.#open(batch.table));
      order.add(batch);
      writer.write(batch, order.isSorted);
    });
  }

  /** Closes the files. No write may follow. */
  async finish(): Promise<readonly RowFile[]> {
    return guarded(this.#subject, async () => {
      const files: RowFile[] = [];
      for (const [table, { writer, order }] of this.#tables) {
        writer.finish();
        const { path, rows, plainBytes } = writer;
        const { isSorted } = order;
        const isFinal = this.#form === 'final' && isSorted;
        files.push({ table, path, rows, plainBytes, isSorted, isFinal });
      }
      return files;
    });
  }

  /** Removes everything that was written. */
  async discard(): Promise<void> {
    for (const { writer } of this.#tables.values()) writer.abandon();
    await rm(this.#folder, { recursive: true, force: true });
  }

  get #subject(): string {
    return `stage ${this.#folder}`;
  }

  async #open(table: TableDef): Promise<Opened> {
    await mkdir(this.#folder, { recursive: true });
    const path = join(this.#folder, `${table.name}.rows.parquet`);
    const isFinal = this.#form === 'final';
    const writer = isFinal
      ? new FileWriter(path, table, await loadZstd(), storedColumns(table))
      : new FileWriter(path, table);
    const opened = { writer, order: new OrderCheck(table) };
    this.#tables.set(table.name, opened);
    return opened;
  }
}
