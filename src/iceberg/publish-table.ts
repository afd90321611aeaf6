import { randomUUID } from 'node:crypto';
import { StoreError } from '../core/errors.ts';
import type { DataFile, TableInForce } from '../warehouse/index.ts';
import { evolveSchema, findUnreadable } from './evolve-schema.ts';
import { decodeAvro, encodeAvro } from './format/avro-container.ts';
import { type ManifestFile, partitionFields } from './format/manifest.ts';
import { manifestFileSchema } from './format/manifest-schemas.ts';
import { nextMetadata, nextSnapshot } from './next-metadata.ts';
import type { ObjectFolder } from './object-folder.ts';
import { nameIn, writeManifests } from './plan-manifests.ts';
import { sweepMetadata } from './sweep-metadata.ts';
import {
  type CurrentTable,
  currentSnapshot,
  HINT,
  metadataName,
  newestEntry,
  readCurrent,
  type TableMetadata,
} from './table-metadata.ts';

/**
 * Why the history of a table begins anew. `moved`: the warehouse lies elsewhere now, and manifests have absolute paths. `replaced`: its
 * ledger is not the one that was published. `foreign`: another program has written to the table, or its metadata cannot be read. `damaged`:
 * a manifest is missing or damaged. `changed`: a column changed its type in a way that Iceberg does not allow, or files are partitioned
 * otherwise.
 */
export type Restart = 'moved' | 'replaced' | 'foreign' | 'damaged' | 'changed';

export interface PublishTableOptions {
  /** Of the table; its metadata lies in `metadata/`. */
  readonly folder: ObjectFolder;
  readonly table: TableInForce;
  /** Number of the ledger entry up to which `table` is told. */
  readonly entry: number;
  /** Snapshots of older entries expire. */
  readonly oldest: number;
  /** True if the ledger is not the one that was published before. */
  readonly isReplaced: boolean;
  /** What readers call a data file. */
  readonly uriOf: (file: DataFile) => string;
  /** Makes sure that a file keeps that name; called for files that the table does not have yet. */
  readonly keep: (file: DataFile) => Promise<void>;
  /** Milliseconds since 1970. */
  readonly now: number;
  /** 12 lower-case hex digits. */
  readonly freshId: () => string;
}

/** What became of a table. */
export interface PublishedTable {
  /** `published`: it has a new snapshot. `unchanged`: the newest one shows this entry, too. `overtaken`: a newer entry is shown already. */
  readonly outcome: 'published' | 'unchanged' | 'overtaken';
  readonly restarted?: Restart | undefined;
  readonly version: number;
  readonly added: number;
  readonly removed: number;
  /** Manifests in force, and those of them that were written. */
  readonly manifests: number;
  readonly written: number;
}

/** Versions between two sweeps, and those whose metadata stays for readers that have just read the hint. */
const SWEEP_VERSIONS = 10;

/**
 * Publishes the files in force of one table as its newest snapshot. Each step leaves a table that can be read: files without a name in the
 * metadata do not count, and the metadata of a version is put if absent.
 *
 * @throws {StoreError} `mixed-rows` if files cannot be read as one table
 */
export async function publishTable(options: PublishTableOptions): Promise<PublishedTable> {
  const { folder, table } = options;
  const problem = findUnreadable(table, table.partition);
  if (problem !== undefined) {
    throw new StoreError(`store: table ${table.table.name} is not published: ${problem}`, {
      code: 'mixed-rows',
      hint: 'build the mart in full, then publish again: tonlake mart build --full',
    });
  }
  let restart: Restart | undefined;
  for (;;) {
    const current = await readCurrent(folder);
    restart = restart ?? reasonToRestart(options, current);
    const isOvertaken = current?.metadata !== undefined && newestEntry(current.metadata) > options.entry;
    if (restart === undefined && isOvertaken)
      return { outcome: 'overtaken', version: current.version, added: 0, removed: 0, manifests: 0, written: 0 };
    try {
      const done = await publishVersion(options, current, restart);
      // Another publisher has taken the number: begin again from what it wrote.
      if (done === undefined) continue;
      await tellVersion(folder, done.version);
      if (done.version % SWEEP_VERSIONS === 0) await sweepMetadata(folder, done.version, options.now);
      return done;
    } catch (error) {
      if (!(error instanceof DamagedTable) || restart !== undefined) throw error;
      restart = 'damaged';
    }
  }
}

function reasonToRestart(
  { folder, table, isReplaced }: PublishTableOptions,
  current: CurrentTable | undefined,
): Restart | undefined {
  if (current === undefined) return undefined;
  const { metadata } = current;
  if (metadata === undefined || currentSnapshot(metadata) === undefined) return 'foreign';
  if (metadata.location !== locationOf(folder)) return 'moved';
  if (isReplaced) return 'replaced';
  const { schema, isBreaking } = evolveSchema(table.table, metadata);
  const [before] = metadata['partition-specs'];
  const [now] = partitionFields(schema, table.partition);
  return isBreaking || before?.fields[0]?.['source-id'] !== now?.['source-id'] ? 'changed' : undefined;
}

/** @returns undefined if another publisher was faster */
async function publishVersion(
  options: PublishTableOptions,
  current: CurrentTable | undefined,
  restart: Restart | undefined,
): Promise<PublishedTable | undefined> {
  const { folder, table, entry } = options;
  const metadata = current?.metadata;
  const history = restart === undefined ? metadata : undefined;
  const held = history && currentSnapshot(history);
  // One that only tells of removed files has done so in the snapshot before.
  const before = (held === undefined ? [] : await readManifestList(folder, held['manifest-list'])).filter(
    (manifest) => manifest.added_files_count + manifest.existing_files_count > 0,
  );
  const { schema, lastColumnId } = evolveSchema(table.table, metadata);
  const partition = table.partition;
  const specId = (metadata?.['default-spec-id'] ?? 0) + (restart === 'changed' ? 1 : 0);
  const next = {
    ...{ id: Number.parseInt(options.freshId(), 16), sequence: (metadata?.['last-sequence-number'] ?? 0) + 1 },
    ...{ schema, specId },
  };
  const changes = await damageIn(() => writeManifests({ ...options, before, next }));
  const isSame =
    changes.written === 0 && changes.manifests.length === before.length && held?.['schema-id'] === schema['schema-id'];
  const counts = { added: changes.added.files, removed: changes.removed.files };
  const told = { manifests: changes.manifests.length, written: changes.written, restarted: restart, ...counts };
  const version = (current?.version ?? 0) + 1;
  const base = { location: locationOf(folder), uuid: metadata?.['table-uuid'] ?? randomUUID(), version };
  const spec = { 'spec-id': specId, fields: partitionFields(schema, partition) };
  const shared = { ...options, ...base, history, schema, lastColumnId, spec, lastSequence: next.sequence };
  if (held !== undefined && isSame) {
    const tagged = nextMetadata({ ...shared, snapshot: held, lastSequence: next.sequence - 1 });
    if (isShown(history, tagged)) return { outcome: 'unchanged', ...told, version: version - 1 };
    return (await putVersion(folder, version, tagged)) ? { outcome: 'unchanged', ...told, version } : undefined;
  }
  const list = `metadata/snap-${next.id}-${entry}.avro`;
  const header = {
    ...{ 'snapshot-id': String(next.id), 'parent-snapshot-id': String(held?.['snapshot-id'] ?? 'null') },
    ...{ 'sequence-number': String(next.sequence), 'format-version': '2' },
  };
  await folder.put(
    list,
    encodeAvro(
      manifestFileSchema,
      header,
      changes.manifests.map((one) => ({ ...one })),
    ),
  );
  const snapshot = nextSnapshot({ ...shared, next, changes, parent: held, list: folder.uri(list) });
  const fresh = nextMetadata({ ...shared, snapshot });
  return (await putVersion(folder, version, fresh)) ? { outcome: 'published', ...told, version } : undefined;
}

/** True if a version would tell nothing new. */
function isShown(history: TableMetadata | undefined, { refs }: TableMetadata): boolean {
  const names = Object.keys(refs);
  return (
    names.length === Object.keys(history?.refs ?? {}).length && names.every((name) => history?.refs[name] !== undefined)
  );
}

function putVersion(folder: ObjectFolder, version: number, metadata: TableMetadata): Promise<boolean> {
  return folder.putIfAbsent(metadataName(version), JSON.stringify(metadata));
}

/** Writes the hint, and goes on while another publisher has written a newer version, so that the hint never stays behind. */
async function tellVersion(folder: ObjectFolder, version: number): Promise<void> {
  if (String((await folder.get(HINT)) ?? '') !== String(version)) await folder.put(HINT, String(version));
  let newest = version;
  while ((await folder.get(metadataName(newest + 1))) !== undefined) newest += 1;
  if (newest > version) await tellVersion(folder, newest);
}

/** Where a table says that it lies. */
function locationOf(folder: ObjectFolder): string {
  return folder.uri('').replace(/\/$/, '');
}

/** A manifest or a manifest list is missing or damaged. */
class DamagedTable extends Error {}

async function damageIn<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (error instanceof RangeError) throw new DamagedTable(error.message, { cause: error });
    throw error;
  }
}

/** The manifests of a snapshot. */
function readManifestList(folder: ObjectFolder, uri: string): Promise<readonly ManifestFile[]> {
  return damageIn(async () => {
    const bytes = await folder.get(nameIn(folder, uri));
    if (bytes === undefined) throw new RangeError(`${uri} is missing`);
    // Written by us: the metadata that names it was.
    return decodeAvro(bytes) as readonly ManifestFile[];
  });
}
