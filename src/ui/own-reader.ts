import PQueue from 'p-queue';
import { coversBlocks } from '../declare/pipeline.ts';
import type { TableDef } from '../declare/table.ts';
import { tablesIn } from '../warehouse/query/coverage.ts';
import { type OpenWarehouse, openWarehouse, requireSameNetwork } from '../warehouse/query/warehouse-registry.ts';

/** Reads a warehouse for the pages. It stays open, unless that would lock out writers. */
export class OwnReader {
  readonly #warehouse: string;
  readonly #turns = new PQueue({ concurrency: 1 });
  #opened: OpenWarehouse | undefined;

  constructor(warehouse: string) {
    this.#warehouse = warehouse;
  }

  /** @throws {StoreError} `no-warehouse`, `busy`; {UsageError} `other-network` */
  async requireNetwork(network: string | undefined): Promise<void> {
    await this.use(async ({ reader }) => requireSameNetwork(reader.path, reader.network, network));
  }

  /** One after the other. @throws {StoreError} `no-warehouse`, `busy` */
  use<T>(work: (opened: OpenWarehouse) => Promise<T>): Promise<T> {
    return this.#turns.add(async () => {
      const opened = this.#opened ?? (await openWarehouse(this.#warehouse));
      this.#opened = opened;
      try {
        return await work(opened);
      } finally {
        if (opened.reader.blocksWriters || (await hasUnknown(opened))) await this.close();
      }
    });
  }

  async close(): Promise<void> {
    await this.#opened?.reader.close();
    this.#opened = undefined;
  }
}

/** The first table of blocks in the warehouse that is as sought. */
export async function findTable(
  { reader, registry }: OpenWarehouse,
  isSought: (table: TableDef) => boolean,
): Promise<TableDef | undefined> {
  const filled = tablesIn(await reader.ledger());
  const tables = registry.pipelines.filter(coversBlocks).flatMap((pipeline) => pipeline.tables);
  return tables.find((table) => filled.has(table.name) && isSought(table));
}

/** Whether rows of a pipeline were committed that was not known when the warehouse was opened. */
async function hasUnknown({ reader, registry }: OpenWarehouse): Promise<boolean> {
  const names = new Set(registry.pipelines.map(({ name }) => name));
  return (await reader.ledger()).some(({ pipeline, mart }) => mart === undefined && !names.has(pipeline));
}
