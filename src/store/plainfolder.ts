import { mkdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { TableDef } from '../declare/table.ts';
import type { Batch } from '../flatten/batch.ts';
import { guarded } from './failure.ts';
import { PlainWriter } from './plain.ts';
import { OrderCheck } from './sorted.ts';

/** Rows of one table in a PLAIN file. Plain data, so that a worker thread can hand it over. */
export interface PlainTable {
  readonly table: string;
  readonly path: string;
  readonly rows: number;
  /** Whether the rows were written in the table's order. */
  readonly isSorted: boolean;
}

/** Batches of a span on their way into a folder of PLAIN files, one for each table. */
export class PlainFolder {
  readonly #folder: string;
  readonly #tables = new Map<string, { readonly writer: PlainWriter; readonly order: OrderCheck }>();

  constructor(folder: string) {
    this.#folder = folder;
  }

  /** The batch's memory may be reused afterwards. */
  async write(batch: Batch): Promise<void> {
    await guarded(this.#subject, async () => {
      const { writer, order } = this.#tables.get(batch.table.name) ?? (await this.#open(batch.table));
      writer.write(batch);
      order.add(batch);
    });
  }

  /** Closes the files. No write may follow. */
  async finish(): Promise<readonly PlainTable[]> {
    return guarded(this.#subject, async () => {
      const tables: PlainTable[] = [];
      for (const [table, { writer, order }] of this.#tables) {
        writer.finish();
        tables.push({ table, path: writer.path, rows: writer.rows, isSorted: order.isSorted });
      }
      return tables;
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

  async #open(table: TableDef): Promise<{ readonly writer: PlainWriter; readonly order: OrderCheck }> {
    await mkdir(this.#folder, { recursive: true });
    const writer = new PlainWriter(join(this.#folder, `${table.name}.plain.parquet`), table);
    const opened = { writer, order: new OrderCheck(table) };
    this.#tables.set(table.name, opened);
    return opened;
  }
}
