import { copyFile, rename, rm } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { realEffects } from '../../core/effects.ts';
import { StoreError } from '../../core/errors.ts';
import { hashFile, makeFolder, statIfAny, syncPath } from '../../files/disk.ts';
import { takeLock } from '../../files/writer-lock.ts';
import { isObjectUrl } from '../../objects/s3-location.ts';
import { ledgerIn, openPlace } from '../bucket-store/bucket-place.ts';
import { fetchFile } from '../bucket-store/bucket-rows.ts';
import { requireConditionalPut } from '../bucket-store/require-conditional-put.ts';
import { folderFiles, LedgerFolder, layoutOf } from '../ledger/ledger-folder.ts';
import { steadyPath } from '../parquet-store/pinned-files.ts';
import type { TableFile } from '../store.ts';
import type { WarehouseFiles } from '../warehouse-files.ts';

/** A warehouse that is copied from. */
export interface CopySource {
  readonly files: WarehouseFiles;
  readonly ledger: LedgerFolder;
  /** A local file with the bytes that were committed; in `scratch` if it had to be fetched. @throws {StoreError} `damaged` */
  fetch(file: TableFile, scratch: string): Promise<string>;
}

/** A warehouse that is copied to. */
export interface CopyTarget {
  readonly files: WarehouseFiles;
  readonly ledger: LedgerFolder;
  /** True if it has this file, with these bytes. */
  has(file: TableFile): Promise<boolean>;
  put(file: TableFile, local: string): Promise<void>;
  close(): Promise<void>;
}

export function openSource(path: string): CopySource {
  if (isObjectUrl(path)) {
    const place = openPlace(path);
    return {
      files: place.files,
      ledger: ledgerIn(place),
      fetch: async (file, scratch) => {
        const local = join(scratch, file.path.replaceAll('/', '-'));
        await fetchFile(place, file, local);
        return local;
      },
    };
  }
  return {
    files: folderFiles(path),
    ledger: new LedgerFolder(path),
    fetch: async (file) => {
      const local = steadyPath(path, file.path);
      if (await isSame(local, file)) return local;
      throw damaged(path, file);
    },
  };
}

/** Takes the lock of a folder; in an object store there is none. */
export async function openTarget(path: string): Promise<CopyTarget> {
  if (isObjectUrl(path)) {
    const place = openPlace(path);
    const { objects, files } = place;
    await requireConditionalPut(objects, realEffects.freshId());
    return {
      files,
      ledger: ledgerIn(place),
      has: async ({ path: key, bytes, sha256 }) => {
        const there = await objects.head(key);
        return there?.bytes === bytes && there.sha256 === sha256;
      },
      put: async ({ path: key, bytes, sha256 }, local) => objects.upload(key, local, { bytes, sha256 }),
      close: async () => {},
    };
  }
  const { lock: lockPath, stage } = layoutOf(path);
  await makeFolder(stage);
  const options = { path: lockPath, subject: `warehouse ${path}`, command: 'tonlake copy', effects: realEffects };
  const lock = await takeLock(options);
  return {
    files: folderFiles(path),
    ledger: new LedgerFolder(path),
    has: (file) => isSame(join(path, file.path), file),
    put: async (file, local) => {
      const draft = join(stage, `copy-${realEffects.freshId()}`);
      const to = join(path, file.path);
      try {
        await copyFile(local, draft);
        await syncPath(draft);
        if (!(await isSame(draft, file))) throw damaged(path, file);
        await makeFolder(dirname(to));
        await rename(draft, to);
        await syncPath(dirname(to));
      } finally {
        await rm(draft, { force: true });
      }
    },
    close: () => lock.release(),
  };
}

async function isSame(local: string, { bytes, sha256 }: TableFile): Promise<boolean> {
  if ((await statIfAny(local))?.size !== bytes) return false;
  return (await hashFile(local)) === sha256;
}

function damaged(path: string, file: TableFile): StoreError {
  return new StoreError(`store: ${path}/${file.path} differs from the committed file`, {
    code: 'damaged',
    hint: `tonlake verify --repair --warehouse ${path}`,
  });
}
