import { availableParallelism } from 'node:os';
import type { TableDef } from '../../declare/table.ts';
import { guarded } from '../../files/file-failure.ts';
import { takeS3Traffic } from '../../objects/s3-client.ts';
import type { Database } from '../../sql/database.ts';
import { logTraffic } from '../../sql/http-traffic.ts';
import { readIdentity } from '../ledger/ledger-folder.ts';
import { noWarehouse } from '../no-warehouse.ts';
import { ledgerReader } from '../parquet-store/parquet-reader.ts';
import type { Reader, ReaderOptions } from '../reader.ts';
import { readerSettings } from '../reader-settings.ts';
import { ledgerIn, openPlace, remoteAccess } from './bucket-place.ts';
import { BucketScans } from './bucket-scans.ts';

/** Threads wait for answers of the store most of the time: two of them take five times as long as eight, at 30 ms an answer. */
const THREADS = 16;

function waiting(): Readonly<Record<string, string>> {
  return { threads: String(Math.max(THREADS, availableParallelism())) };
}

/** Opens a warehouse in an object store for reading, also while it is written. @throws {StoreError} `no-warehouse`, `needs-migration` */
export async function openBucketReader(
  path: string,
  tables: readonly TableDef[],
  options: ReaderOptions,
): Promise<Reader> {
  const place = openPlace(path);
  return guarded(`warehouse ${path}`, async () => {
    const identity = await readIdentity(path, place.files);
    if (identity === undefined) throw noWarehouse(path);
    const scans = new BucketScans();
    const reader = await ledgerReader({
      ...{
        path,
        tables,
        options,
        network: identity.network,
        ledger: ledgerIn(place),
        settings: { ...readerSettings(), ...waiting() },
      },
      pathOf: (file) => `${path}/${file}`,
      ...{ prepare: accessTo(path, options), scans, confinement: options.confinement },
      takeLedgerTraffic: options.countsTraffic === true ? takeS3Traffic : undefined,
    });
    return {
      ...reader,
      close: async () => {
        await reader.close();
        await scans.close();
      },
    };
  });
}

function accessTo(path: string, { countsTraffic }: ReaderOptions): (database: Database) => Promise<void> {
  const access = remoteAccess(path);
  let isLogging = countsTraffic !== true;
  return async (database) => {
    await access(database);
    if (!isLogging) await logTraffic(database);
    isLogging = true;
  };
}
