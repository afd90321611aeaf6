import PQueue from 'p-queue';
import { coversBlocks } from '../declare/pipeline.ts';
import type { TableDef } from '../declare/table.ts';
import { tablesIn } from '../warehouse/query/coverage.ts';
import { type OpenWarehouse, openWarehouse, requireSameNetwork } from '../warehouse/query/warehouse-registry.ts';

/** The reader that all routes share. It stays open between requests, unless that would lock out writers. */
export class SharedReader {
  readonly #warehouse: string;
  readonly #turns = new PQueue({ concurrency: 1 });
  #opened: OpenWarehouse | undefined;

  constructor(warehouse: string) {
    this.#warehouse = warehouse;
  }

  /** @throws {StoreError} `no-warehouse`, `busy`; {UsageError} */
  async requireNetwork(network: string | undefined): Promise<void> {
    await this.use(async ({ reader }) => requireSameNetwork(reader.path, reader.network, network));
  }

  /** Runs one `work` at a time. @throws {StoreError} `no-warehouse`, `busy` */
  use<T>(work: (opened: OpenWarehouse) => Promise<T>): Promise<T> {
    return this.#turns.add(async () => {
      const opened = this.#opened ?? (await openWarehouse(this.#warehouse));
      this.#opened = opened;
      try {
        return await work(opened);
      } finally {
        if (opened.reader.blocksWriters || (await hasNewPipeline(opened))) await this.close();
      }
    });
  }

  async close(): Promise<void> {
    await this.#opened?.reader.close();
    this.#opened = undefined;
  }
}

/** The first table with rows of blocks that satisfies a condition. */
export async function findTable(
  { reader, registry }: OpenWarehouse,
  matches: (table: TableDef) => boolean,
): Promise<TableDef | undefined> {
  const filled = tablesIn(await reader.ledger());
  const tables = registry.pipelines.filter(coversBlocks).flatMap((pipeline) => pipeline.tables);
  return tables.find((table) => filled.has(table.name) && matches(table));
}

/** True if rows of a pipeline were committed that the registry of the open reader lacks. */
async function hasNewPipeline({ reader, registry }: OpenWarehouse): Promise<boolean> {
  const names = new Set(registry.pipelines.map(({ name }) => name));
  return (await reader.ledger()).some(({ pipeline, mart }) => mart === undefined && !names.has(pipeline));
}
