import { availableParallelism } from 'node:os';
import { groupBy } from '../../core/group-by.ts';
import { runLimited } from '../../core/run-limited.ts';
import { damagedData, missingFile } from '../../files/damaged-data.ts';
import { closeAll, guarded } from '../../files/file-failure.ts';
import { downloadObject, sumObject } from '../../objects/object-files.ts';
import type { ObjectStore } from '../../objects/object-store.ts';
import { requireConditionalPut } from '../../objects/object-trials.ts';
import { s3Access, takeS3Traffic } from '../../objects/s3-client.ts';
import { objectFailure } from '../../objects/s3-failure.ts';
import { parseLocation } from '../../objects/s3-location.ts';
import { openS3Store } from '../../objects/s3-store.ts';
import type { Database } from '../../sql/database.ts';
import { logTraffic } from '../../sql/http-traffic.ts';
import { loadHttpfs, putSecret, requireHttpfs } from '../../sql/httpfs.ts';
import { Instance } from '../../sql/instance.ts';
import type { Backend } from '../backend.ts';
import { LedgerFolder } from '../ledger/ledger-folder.ts';
import type { ReaderOptions } from '../reader.ts';
import { readerSettings } from '../reader-settings.ts';
import type { TableFile } from '../store.ts';
import { BucketScans } from './bucket-scans.ts';
import { BucketWrites } from './bucket-writes.ts';

/** Threads mostly wait for responses: at 30 ms a response, two threads take five times as long as eight. */
const THREADS = 16;
/** Minimum number of files of a table for which one listing costs less than a request for each. */
const LISTED_FILES = 50;
/** Files that are looked up concurrently. */
const LOOKUPS = 8;

/** A place in an object store. */
export interface BucketBackend extends Backend {
  readonly objects: ObjectStore;
}

/** {@link Backend} of a place in an object store. @param path `s3://bucket/prefix` */
export function bucketBackend(path: string, objects: ObjectStore = openS3Store(path)): BucketBackend {
  const access = () => remoteAccess(path);
  return {
    ...{ path, isShared: true, objects },
    ledger: () => new LedgerFolder(path, objects),
    lock: async () => ({ release: async () => {} }),
    pathOf: (file) => `${path}/${file}`,
    access,
    openReads: (options) => {
      const scans = new BucketScans();
      const threads = String(Math.max(THREADS, availableParallelism()));
      const instance = new Instance({ ...readerSettings(), threads });
      return {
        ...{ instance, prepare: accessTo(path, options), scans },
        close: () => closeAll([() => instance.close(), () => scans.close()]),
        takeLedgerTraffic: options.countsTraffic === true ? takeS3Traffic : undefined,
      };
    },
    openWrites: (ledger, options) => BucketWrites.open({ objects, access }, ledger, options),
    sizeOf: async (file) => (await objects.head(file))?.bytes,
    sumOf: (file) => sumObject(objects, file),
    download: async (file, to) => {
      const sum = await downloadObject(objects, file, to);
      return sum && { local: to, sum };
    },
    put: ({ path: key, bytes, sha256 }, local) => objects.upload(key, local, { bytes, sha256 }),
    requireWritable: ({ freshId }) => requireConditionalPut(objects, freshId()),
    requireQueries: requireHttpfs,
    stablePathOf: (file) => file,
    pin: (files) => guarded(`warehouse ${path}`, () => requireFiles(objects, files)),
  };
}

/** Lets a database read the data files of a location. */
export function remoteAccess(path: string): (database: Database) => Promise<void> {
  let given: string | undefined;
  return async (database) => {
    if (given === undefined) await loadHttpfs(database);
    const access = await s3Access(parseLocation(path)).catch((error: unknown) => {
      throw objectFailure(error, path);
    });
    const current = JSON.stringify(access);
    if (current === given) return;
    await putSecret(database, access);
    given = current;
  };
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

/** In an object store, superseded files keep their names, so it is enough that they exist. */
async function requireFiles(objects: ObjectStore, files: readonly TableFile[]): Promise<void> {
  const found = await sizesOf(objects, files);
  const lost = files.find(({ path, bytes }) => found.get(path) !== bytes);
  if (lost === undefined) return;
  const bytes = found.get(lost.path);
  if (bytes === undefined) throw missingFile(objects.url, lost.path);
  throw damagedData(objects.url, `${objects.url}/${lost.path} has ${bytes} of ${lost.bytes} bytes`);
}

async function sizesOf(objects: ObjectStore, files: readonly TableFile[]): Promise<ReadonlyMap<string, number>> {
  const found = new Map<string, number>();
  const byTable = groupBy(files, ({ path }) => path.split('/').slice(0, 2).join('/'));
  for (const [folder, own] of byTable) {
    if (own.length >= LISTED_FILES) {
      for (const { key, bytes } of await objects.list(`${folder}/`)) found.set(key, bytes);
      continue;
    }
    await runLimited(
      LOOKUPS,
      own.map(({ path }) => async () => {
        const object = await objects.head(path);
        if (object !== undefined) found.set(path, object.bytes);
      }),
    );
  }
  return found;
}
