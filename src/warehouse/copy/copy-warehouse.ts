import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import PQueue from 'p-queue';
import type { Effects } from '../../core/effects.ts';
import { StoreError } from '../../core/errors.ts';
import { suggest } from '../../core/suggest.ts';
import { guarded } from '../../files/file-failure.ts';
import { readText, type WarehouseObjects } from '../../objects/object-store.ts';
import type { Backend } from '../backend.ts';
import { badLedger, entryName } from '../ledger/entries.ts';
import { filesIn } from '../ledger/entries-in.ts';
import { DECLARATIONS, IDENTITY, LEDGER, type LedgerFolder, readIdentity } from '../ledger/ledger-folder.ts';
import { noWarehouse } from '../no-warehouse.ts';
import { openBackend } from '../open-backend.ts';
import { isCommitted } from '../parquet-store/entry-files.ts';
import { fetchFile } from '../parquet-store/entry-rows.ts';
import type { TableFile } from '../store.ts';
import { detectStoreKind } from '../store-kinds.ts';
import { warehousePath } from '../store-options.ts';

export interface CopyOptions {
  /** Folder, or `s3://bucket/prefix`. */
  readonly from: string;
  /** Folder, or `s3://bucket/prefix`. Created if it does not exist; a copy of an earlier state is updated. */
  readonly to: string;
  readonly effects: Effects;
  /** Stops after the current files when aborted. */
  readonly stop?: AbortSignal | undefined;
  readonly onEvent?: ((event: CopiedFile) => void) | undefined;
}

/** A data file that was copied. */
export interface CopiedFile {
  readonly event: 'copied';
  /** Relative to the warehouse. */
  readonly path: string;
  readonly bytes: number;
  /** Files done so far, and in total. */
  readonly done: number;
  readonly files: number;
}

export interface CopyReport {
  readonly event: 'done';
  readonly from: string;
  readonly to: string;
  /** Number of the last entry of the copy. */
  readonly entry: number;
  /** Files and bytes that were copied, and files that the target already had. */
  readonly files: number;
  readonly bytes: number;
  readonly present: number;
  /** False if it was stopped. The same command continues it. */
  readonly complete: boolean;
  readonly seconds: number;
}

/** Folder of job records. */
const RECORDS = '_jobs/';

/** Number of files to copy concurrently. */
const CONCURRENCY = 4;

/**
 * Copies a warehouse of Parquet files: data files first, each compared with its checksum in the ledger, then the entries in order, and last
 * its identity, without which the copy cannot be opened. Also writes a checkpoint, and copies job records. Called again, it copies what is
 * missing; the identity is removed while entries are copied.
 *
 * @throws {StoreError} `no-warehouse`; `wrong-kind` for a DuckDB file; `damaged`; `diverged` if the target has other entries
 */
export async function copyWarehouse(options: CopyOptions): Promise<CopyReport> {
  const { effects } = options;
  const startedAt = effects.monotonic();
  const [from, to] = [warehousePath(options.from), warehousePath(options.to)];
  for (const path of [from, to]) if ((await detectStoreKind(path)).kind !== 'parquet') throw notParquet(path);
  if (from === to) throw diverged(to, 'it is the source itself');
  // Otherwise the files of one would lie among those of the other.
  if (to.startsWith(`${from}/`)) throw diverged(to, 'it is within the source');
  if (from.startsWith(`${to}/`)) throw diverged(to, 'the source is within it');
  return guarded(`copy of ${from} to ${to}`, async () => {
    const source = await openEnd(from);
    const identity = await readIdentity(source.objects);
    if (identity === undefined) throw noWarehouse(from);
    await source.ledger.refresh();
    const target = await openEnd(to);
    await target.backend.requireWritable(effects);
    const lock = await target.backend.lock('tonlake copy', effects);
    try {
      const first = await requirePrefix(source, target, to);
      const copied = await copyFiles(source, target, options);
      if (copied.complete) {
        // Files of superseded entries are not copied, so the copy must not be opened before it has all entries.
        if (first <= source.ledger.entries.lastNumber) await target.objects.remove([IDENTITY]);
        await copySmallFiles(source, target, first);
        await target.objects.putOrGet(IDENTITY, (await source.objects.get(IDENTITY)) ?? Buffer.alloc(0));
        if (first <= source.ledger.entries.lastNumber) await target.ledger.writeCheckpoint(source.ledger);
        await copyRecords(source.objects, target.objects);
      }
      const seconds = Math.round(effects.monotonic() - startedAt) / 1000;
      return { event: 'done', from, to, entry: source.ledger.entries.lastNumber, ...copied, seconds };
    } finally {
      await lock.release();
    }
  });
}

/** The source or target of a copy. */
interface CopyEnd {
  readonly backend: Backend;
  readonly objects: WarehouseObjects;
  readonly ledger: LedgerFolder;
}

async function openEnd(path: string): Promise<CopyEnd> {
  const backend = await openBackend(path);
  return { backend, objects: backend.objects, ledger: backend.ledger() };
}

/** Requires that the entries of a target are the first ones of the source. @returns number of the first missing entry */
async function requirePrefix(source: CopyEnd, target: CopyEnd, to: string): Promise<number> {
  const names = (await target.objects.names(LEDGER)).filter((name) => /^\d+\.json$/.test(name)).sort();
  const last = names.length;
  if (last === 0 && (await target.objects.get(IDENTITY)) !== undefined && source.ledger.entries.lastNumber > 0) {
    const [own, other] = await Promise.all([source, target].map(({ objects }) => readText(objects, IDENTITY)));
    if (own !== other) throw diverged(to, 'it is another warehouse');
  }
  if (last > source.ledger.entries.lastNumber) throw diverged(to, 'it has newer entries');
  for (const name of names.slice(-1)) {
    const [own, other] = await Promise.all(
      [source, target].map(({ objects }) => readText(objects, `${LEDGER}/${name}`)),
    );
    if (own !== other || name !== entryName(last)) throw diverged(to, 'it has other entries');
  }
  return last + 1;
}

/**
 * Copies the data files that entries in force name. If a file cannot be read because a writer of the source has superseded it meanwhile, goes
 * on with those that are in force now.
 */
async function copyFiles(
  source: CopyEnd,
  target: CopyEnd,
  { stop, onEvent }: CopyOptions,
): Promise<Pick<CopyReport, 'files' | 'bytes' | 'present' | 'complete'>> {
  const scratch = await mkdtemp(join(tmpdir(), 'tonlake-copy-'));
  const queue = new PQueue({ concurrency: CONCURRENCY });
  const done = new Set<string>();
  const missing = (): readonly TableFile[] =>
    filesIn(source.ledger.entries.effective).filter(({ path }) => !done.has(path));
  let [files, bytes, total] = [0, 0, 0];
  const copyOne = async (file: TableFile): Promise<void> => {
    if (stop?.aborted === true) return;
    const { path } = file;
    if (!(await hasFile(target.backend, file))) {
      const local = await fetchFile(source.backend, file, join(scratch, path.replaceAll('/', '-')));
      await target.backend.put(file, local);
      if (local.startsWith(scratch)) await rm(local, { force: true });
      files++;
      bytes += file.bytes;
      onEvent?.({ event: 'copied', path, bytes: file.bytes, done: done.size + 1, files: total });
    }
    done.add(path);
  };
  /** @returns the first failure; no further files are copied then */
  const copyAll = async (): Promise<{ readonly path: string; readonly error: unknown } | undefined> => {
    const [all, failures] = [missing(), new Map<string, unknown>()];
    total = done.size + all.length;
    const fail = (path: string, error: unknown): void => {
      failures.set(path, error);
      queue.clear();
    };
    for (const file of all) queue.add(() => copyOne(file).catch((error: unknown) => fail(file.path, error)));
    await queue.onIdle();
    const [first] = failures;
    return first && { path: first[0], error: first[1] };
  };
  try {
    for (let failed = await copyAll(); failed !== undefined; failed = await copyAll()) {
      const { path, error } = failed;
      await source.ledger.refresh();
      if (missing().some((file) => file.path === path)) throw error;
    }
  } finally {
    await rm(scratch, { recursive: true, force: true });
  }
  return { files, bytes, present: done.size - files, complete: missing().length === 0 };
}

/** True if the backend has this file with the committed bytes. */
async function hasFile(backend: Backend, file: TableFile): Promise<boolean> {
  if ((await backend.sizeOf(file.path)) !== file.bytes) return false;
  return isCommitted(file, await backend.sumOf(file.path));
}

/** Copies schemas, declarations and entries, in an order in which no file names one that is still missing. */
async function copySmallFiles(source: CopyEnd, target: CopyEnd, first: number): Promise<void> {
  const schemas = (await source.objects.names(LEDGER)).filter((name) => name.startsWith('schema-'));
  const declarations = await source.objects.names(DECLARATIONS);
  const named = [
    ...schemas.map((name) => `${LEDGER}/${name}`),
    ...declarations.map((name) => `${DECLARATIONS}/${name}`),
  ];
  for (const path of named) await copyObject(source.objects, target.objects, path);
  for (let number = first; number <= source.ledger.entries.lastNumber; number++) {
    await copyObject(source.objects, target.objects, `${LEDGER}/${entryName(number)}`);
  }
}

/** Copies the records and logs of jobs, but not locks and leases, which lie directly in the folder. */
async function copyRecords(from: WarehouseObjects, to: WarehouseObjects): Promise<void> {
  const present = new Map((await to.list(RECORDS)).map(({ key, bytes }) => [key, bytes]));
  for (const { key, bytes } of await from.list(RECORDS)) {
    const [job, name] = key.slice(RECORDS.length).split('/');
    if (job === undefined || name === undefined || name.startsWith('draft-') || present.get(key) === bytes) continue;
    const record = await from.get(key);
    if (record !== undefined) await to.put(key, record);
  }
}

async function copyObject(from: WarehouseObjects, to: WarehouseObjects, key: string): Promise<void> {
  const bytes = await from.get(key);
  if (bytes === undefined) {
    throw badLedger(`${from.url}/${key} is missing`, undefined, suggest('verify', '', { warehouse: from.url }));
  }
  if ((await to.putOrGet(key, bytes)) !== undefined) throw diverged(to.url, `its ${key} is another one`);
}

function notParquet(path: string): StoreError {
  return new StoreError(`store: expected a folder of Parquet files to copy from or to, got ${path}`, {
    code: 'wrong-kind',
    hint: 'a DuckDB file is copied like any file, and run --store duckdb exports into one',
  });
}

function diverged(to: string, why: string): StoreError {
  return new StoreError(`store: ${to} cannot become a copy: ${why}`, {
    code: 'diverged',
    hint: 'choose an empty place, or a copy of the same warehouse that was not written since',
  });
}
