import { rm } from 'node:fs/promises';
import type { TableDef } from '../../declare/table.ts';
import { isObjectUrl } from '../../objects/s3-location.ts';
import { quoteText } from '../../sql/canonical-text.ts';
import type { Database } from '../../sql/database.ts';
import { loadExtension } from '../../sql/httpfs.ts';
import type { EntryGroup } from '../parquet-store/entry-files.ts';
import type { TableScans } from '../relations/warehouse-views.ts';
import type { ScanMetadata } from './scan-metadata.ts';
import { openWorkFolder } from './work-folder.ts';

/** Maximum number of files of a table that are read by their paths, with one request each for its size, but without more extensions. */
const FEW = 8;

/** Reads tables with many files through metadata made from the ledger; see {@link ScanMetadata}. */
export class BucketScans implements TableScans {
  #folder: string | undefined;
  /** Null if DuckDB's extensions are not available: all files are read by their paths then. */
  #metadata: Promise<ScanMetadata | null> | undefined;

  async confine(database: Database): Promise<readonly string[]> {
    this.#metadata ??= this.#open(database);
    await this.#metadata;
    return this.#folder === undefined ? [] : [this.#folder];
  }

  async scanOf(database: Database, table: TableDef, group: EntryGroup): Promise<string | undefined> {
    const remote = group.paths.filter(isObjectUrl);
    if (remote.length <= FEW) return undefined;
    this.#metadata ??= this.#open(database);
    const metadata = await this.#metadata;
    return metadata === null ? undefined : `iceberg_scan(${quoteText(metadata.write(table, group))})`;
  }

  async #open(database: Database): Promise<ScanMetadata | null> {
    try {
      await loadExtension(database, 'avro');
      await loadExtension(database, 'iceberg');
    } catch {
      return null;
    }
    this.#folder = await openWorkFolder();
    const { ScanMetadata } = await import('./scan-metadata.ts');
    return new ScanMetadata(this.#folder);
  }

  async close(): Promise<void> {
    if (this.#folder !== undefined) await rm(this.#folder, { recursive: true, force: true });
  }
}
