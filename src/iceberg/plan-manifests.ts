import { createHash } from 'node:crypto';
import { groupBy } from '../core/group-by.ts';
import { runLimited } from '../core/run-limited.ts';
import type { SmallObjects } from '../objects/object-store.ts';
import type { DataFile, TableInForce } from '../warehouse/index.ts';
import { decodeAvro } from './format/avro-container.ts';
import {
  dataFileOf,
  ENTRIES_PER_MANIFEST,
  ENTRY_STATUS,
  encodeManifest,
  type ManifestEntry,
  type ManifestFile,
  type ManifestSnapshot,
} from './format/manifest.ts';
import type { IcebergSchema } from './table-metadata.ts';

/** Manifests that are written concurrently. */
const WRITES = 4;

/** The snapshot that is being made. */
export interface NextSnapshot extends ManifestSnapshot {
  readonly schema: IcebergSchema;
}

/** The changes of a snapshot. */
export interface ManifestChanges {
  readonly manifests: readonly ManifestFile[];
  readonly written: number;
  readonly added: { readonly files: number; readonly rows: number };
  readonly removed: { readonly files: number; readonly rows: number };
}

interface WriteOptions {
  readonly objects: SmallObjects;
  readonly table: TableInForce;
  /** Address of a data file for readers. */
  readonly uriOf: (file: DataFile) => string;
  /** Makes the addresses of files permanent; called once, with new files. */
  readonly pin: (files: readonly DataFile[]) => Promise<void>;
  /** Manifests of the previous snapshot. */
  readonly before: readonly ManifestFile[];
  readonly next: NextSnapshot;
}

/** A manifest that differs from the previous snapshot. */
interface ChangedManifest {
  readonly name: string;
  readonly entries: readonly ManifestEntry[];
}

/** Writes the manifests that differ from the previous snapshot. */
export async function writeManifests(options: WriteOptions): Promise<ManifestChanges> {
  const { objects, table, pin, next } = options;
  const fresh: DataFile[] = [];
  const planned = await planManifests(options, fresh);
  if (fresh.length > 0) await pin(fresh);
  const changes = { written: 0, added: { files: 0, rows: 0 }, removed: { files: 0, rows: 0 } };
  const write = async ({ name, entries }: ChangedManifest): Promise<ManifestFile> => {
    // The id makes the name unique, so that publishers never overwrite each other.
    const key = `metadata/${name}${next.id}.avro`;
    const { bytes, manifest } = encodeManifest(uriIn(objects, key), table.partition, next, entries);
    await objects.put(key, bytes);
    changes.written += 1;
    changes.added.files += manifest.added_files_count;
    changes.added.rows += manifest.added_rows_count;
    changes.removed.files += manifest.deleted_files_count;
    changes.removed.rows += manifest.deleted_rows_count;
    return manifest;
  };
  const manifests = await runLimited(
    WRITES,
    planned.map((one) => async () => ('entries' in one ? write(one) : one)),
  );
  return { manifests, ...changes };
}

/** The manifests of the next snapshot, in order. Adds files that are new to `fresh`. */
async function planManifests(
  options: WriteOptions,
  fresh: DataFile[],
): Promise<readonly (ManifestFile | ChangedManifest)[]> {
  const buckets = groupBy(options.table.files, ({ entry }) => Math.floor(entry / ENTRIES_PER_MANIFEST));
  const old = new Map(options.before.map((manifest) => [bucketOf(manifest), manifest]));
  const planned: (ManifestFile | ChangedManifest)[] = [];
  for (const bucket of [...new Set([...old.keys(), ...buckets.keys()])].sort((a, b) => a - b)) {
    const files = buckets.get(bucket) ?? [];
    const previous = old.get(bucket);
    const name = `m-${bucket}-${hashFiles(files)}-`;
    if (previous?.manifest_path.includes(`/${name}`) === true) {
      planned.push(previous);
      continue;
    }
    const entries = await entriesOf(options, files, previous, fresh);
    if (entries.length > 0) planned.push({ name, entries });
  }
  return planned;
}

/** Part of the name of a manifest: a manifest with the same hash is current, and need not be read. */
function hashFiles(files: readonly DataFile[]): string {
  const hash = createHash('sha256');
  for (const { path, bounds } of files) hash.update(`${path} ${JSON.stringify(bounds)}\n`);
  return hash.digest('hex').slice(0, 16);
}

function bucketOf({ manifest_path }: ManifestFile): number {
  return Number(/\/m-(\d+)-[0-9a-f]+-\d+\.avro$/.exec(manifest_path)?.[1]);
}

/** The id of the snapshot that a manifest was written for, from its file name; undefined for other files. */
export function snapshotOfManifest(key: string): number | undefined {
  const [, id] = /^metadata\/m-\d+-[0-9a-f]+-(\d+)\.avro$/.exec(key) ?? [];
  return id === undefined ? undefined : Number(id);
}

/** The entries of a manifest: existing, added and deleted files. */
async function entriesOf(
  { objects, table: { table, partition }, uriOf, next }: WriteOptions,
  files: readonly DataFile[],
  previous: ManifestFile | undefined,
  fresh: DataFile[],
): Promise<readonly ManifestEntry[]> {
  const known = new Map(
    previous === undefined ? [] : (await readManifest(objects, previous)).map((one) => [one.data_file.file_path, one]),
  );
  const entries: ManifestEntry[] = [];
  for (const file of files) {
    const uri = uriOf(file);
    const before = known.get(uri);
    known.delete(uri);
    if (before === undefined) fresh.push(file);
    entries.push({
      ...(before ?? { snapshot_id: next.id, sequence_number: null, file_sequence_number: null }),
      status: before === undefined ? ENTRY_STATUS.added : ENTRY_STATUS.existing,
      data_file: dataFileOf(uri, file, table, partition, next.schema),
    });
  }
  for (const gone of known.values()) entries.push({ ...gone, status: ENTRY_STATUS.deleted, snapshot_id: next.id });
  return entries;
}

/** The files in a manifest, with the numbers that new ones inherit from it. @throws {RangeError} if it is missing or damaged */
async function readManifest(objects: SmallObjects, manifest: ManifestFile): Promise<readonly ManifestEntry[]> {
  const bytes = await objects.get(nameIn(objects, manifest.manifest_path));
  if (bytes === undefined) throw new RangeError(`${manifest.manifest_path} is missing`);
  // Written by `encodeManifest`: the schema in the file says so.
  const entries = decodeAvro(Buffer.from(bytes)) as readonly ManifestEntry[];
  return entries
    .filter((entry) => entry.status !== ENTRY_STATUS.deleted)
    .map((entry) => ({
      ...entry,
      snapshot_id: entry.snapshot_id ?? manifest.added_snapshot_id,
      sequence_number: entry.sequence_number ?? manifest.sequence_number,
      file_sequence_number: entry.file_sequence_number ?? manifest.sequence_number,
    }));
}

/** The key of an object, from its address for readers. */
export function nameIn({ url }: SmallObjects, uri: string): string {
  return uri.slice(url.length + 1);
}

/** The address of an object for readers. */
export function uriIn({ url }: SmallObjects, key: string): string {
  return `${url}/${key}`;
}
