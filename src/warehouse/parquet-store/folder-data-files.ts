import { stat } from 'node:fs/promises';
import { join } from 'node:path';
import { StoreError } from '../../core/errors.ts';
import { failedWith, ifAny } from '../../files/disk.ts';
import { guarded } from '../../files/file-failure.ts';
import { diskObjects } from '../../objects/disk-objects.ts';
import { type DataFile, type DataFiles, readInForce } from '../data-files.ts';
import { LedgerFolder, readIdentity } from '../ledger/ledger-folder.ts';
import { noWarehouse } from '../no-warehouse.ts';
import { requireKind } from '../open-store.ts';
import type { Store } from '../store.ts';
import { pinFile, pinnedPath } from './pinned-files.ts';

/** @throws {StoreError} `no-files` for a DuckDB warehouse; `no-warehouse` */
export async function openFolderDataFiles(path: string, kind: Store['kind'] | undefined): Promise<DataFiles> {
  if ((await requireKind(path, kind)).kind === 'duckdb') {
    throw new StoreError(`store: warehouse ${path} is a single file, expected a folder of Parquet files`, {
      code: 'no-files',
      hint: 'export to a folder: --store parquet',
    });
  }
  const identity = await guarded(`warehouse ${path}`, () => readIdentity(path));
  if (identity === undefined) throw noWarehouse(path);
  const { network } = identity;
  return {
    ...{ path, network, objects: diskObjects(path) },
    read: (tables) => readInForce({ path, network }, new LedgerFolder(path), tables, pinnedPath),
    keep: (files) =>
      guarded(`warehouse ${path}`, async () => {
        for (const file of files) await keepFile(path, file);
      }),
  };
}

async function keepFile(warehouse: string, { path, lastingPath }: DataFile): Promise<void> {
  const isThere = async () => (await ifAny(stat(join(warehouse, lastingPath)))) !== undefined;
  if (await isThere()) return;
  try {
    if (await pinFile(warehouse, path)) return;
  } catch (error) {
    // The writer has given it the name meanwhile, or has superseded the file and removed the other name.
    if (failedWith(error, 'EEXIST', 'ENOENT') && (await isThere())) return;
    if (!failedWith(error, 'ENOENT')) throw error;
    throw new StoreError(`store: warehouse ${warehouse}: missing file ${path}, which its ledger names`, {
      code: 'bad-ledger',
      hint: `tonlake verify --repair --warehouse ${warehouse}`,
      cause: error,
    });
  }
  throw new StoreError(
    `store: warehouse ${warehouse} is on a file system without hard links, where superseded files change their paths`,
    {
      code: 'no-links',
      hint: 'move it to another file system: its tables can be published there',
    },
  );
}
