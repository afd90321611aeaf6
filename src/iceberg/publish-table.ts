import { randomUUID } from 'node:crypto';
import { isDeepStrictEqual } from 'node:util';
import { StoreError } from '../core/errors.ts';
import { suggest } from '../core/suggest.ts';
import type { SmallObjects } from '../objects/object-store.ts';
import type { DataFile, TableInForce } from '../warehouse/index.ts';
import { evolveSchema, findUnreadable } from './evolve-schema.ts';
import { decodeAvro } from './format/avro-container.ts';
import { encodeManifestList, type ManifestFile, partitionFields } from './format/manifest.ts';
import { nextMetadata, nextSnapshot } from './next-metadata.ts';
import { nameIn, snapshotOfManifest, uriIn, writeManifests } from './plan-manifests.ts';
import type { TableVersions } from './publish-target.ts';
import {
  type CurrentTable,
  currentSnapshot,
  NO_SNAPSHOT,
  newestEntry,
  type PartitionField,
  type PartitionSpec,
  type SnapshotCoverage,
  type TableMetadata,
  versionOf,
} from './table-metadata.ts';

/**
 * Why the history of a table starts over. `moved`: the warehouse has moved, and manifests have absolute paths. `replaced`: the published ledger
 * was another one. `foreign`: another program has written to the table, or its metadata cannot be read. `damaged`: a manifest is missing or
 * damaged. `changed`: a type changed in a way that Iceberg does not allow, or the partitioning changed.
 */
export type Restart = 'moved' | 'replaced' | 'foreign' | 'damaged' | 'changed';

export interface PublishTableOptions {
  readonly versions: TableVersions;
  readonly table: TableInForce;
  /** Number of the newest ledger entry of `table`. */
  readonly entry: number;
  /** Snapshots of older entries expire. */
  readonly oldest: number;
  /** True if another ledger was published before. */
  readonly isReplaced: boolean;
  /** Coverage of the table, for the summary of the snapshot. */
  readonly coverage: SnapshotCoverage;
  /** Address of a data file for readers. */
  readonly uriOf: (file: DataFile) => string;
  /** Makes the addresses of files permanent; called for files that are new to the table. */
  readonly pin: (files: readonly DataFile[]) => Promise<void>;
  /** Wall clock, milliseconds since 1970. */
  readonly now: () => number;
  /** 12 lower-case hex digits. */
  readonly freshId: () => string;
}

/** Result of publishing a table. */
export interface PublishedTable {
  /** `published`: it has a new snapshot. `unchanged`: the last snapshot also shows this entry. `overtaken`: it shows a newer entry. */
  readonly outcome: 'published' | 'unchanged' | 'overtaken';
  readonly restarted?: Restart | undefined;
  readonly version: number;
  readonly added: number;
  readonly removed: number;
  /** Manifests of the snapshot, and how many of them were written. */
  readonly manifests: number;
  readonly written: number;
}

/** Maximum number of attempts if other publishers are faster. */
const ATTEMPTS = 50;
/** Versions between two sweeps. */
const SWEEP_VERSIONS = 10;
/** Number of versions whose metadata is retained, for readers that have just read the hint. */
const RETAINED_VERSIONS = 20;
/** Other publishers may be writing younger files for an uncommitted version; they give up long before this. */
const MIN_AGE_MS = 3_600_000;
/** A longer attempt starts over: a sweep may already have removed its manifests as those of a killed publisher. */
const ATTEMPT_MS = 30 * 60_000;

/**
 * Publishes the files in force of one table as its newest snapshot. The table is readable after each step: readers ignore files that the
 * metadata does not name, and the metadata of a version is put if absent.
 *
 * @throws {StoreError} `mixed-rows` if files cannot be read as one table
 */
export async function publishTable(options: PublishTableOptions): Promise<PublishedTable> {
  const { versions, table } = options;
  const problem = findUnreadable(table);
  if (problem !== undefined) {
    throw new StoreError(`store: table ${table.table.name} is not published: ${problem}`, {
      code: 'mixed-rows',
      hint: `build the mart in full, then publish again: ${suggest('build', `${table.table.name} --full`)}`,
    });
  }
  let restart: Restart | undefined;
  for (let attempt = 1; ; attempt++) {
    if (attempt > ATTEMPTS) throw alwaysOvertaken(table.table.name);
    const current = await versions.current();
    restart = restart ?? reasonToRestart(options, current);
    const isOvertaken = current?.metadata !== undefined && newestEntry(current.metadata) > options.entry;
    if (restart === undefined && isOvertaken)
      return { outcome: 'overtaken', version: current.version, added: 0, removed: 0, manifests: 0, written: 0 };
    try {
      const done = await publishVersion(options, current, restart);
      // Another publisher has committed this version: retry from there.
      if (done === undefined) continue;
      await versions.settle(done.version);
      if (done.version % SWEEP_VERSIONS === 0) await sweep(versions);
      return done;
    } catch (error) {
      if (!(error instanceof DamagedTable) || restart !== undefined) throw error;
      restart = 'damaged';
    }
  }
}

function alwaysOvertaken(table: string): StoreError {
  return new StoreError(`store: table ${table} is not published: others were faster ${ATTEMPTS} times`, {
    code: 'store-busy',
    retryable: true,
    hint: 'run the same command again later',
  });
}

function reasonToRestart(
  { versions, table, isReplaced }: PublishTableOptions,
  current: CurrentTable | undefined,
): Restart | undefined {
  if (current === undefined) return undefined;
  const { metadata } = current;
  const isEmpty = metadata?.['current-snapshot-id'] === NO_SNAPSHOT;
  if (metadata === undefined || (!isEmpty && currentSnapshot(metadata) === undefined)) return 'foreign';
  if (metadata.location !== versions.objects.url) return 'moved';
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
  const { versions, table, entry } = options;
  const { partition } = table;
  const { objects } = versions;
  const startedAt = options.now();
  const metadata = current?.metadata;
  const history = restart === undefined ? metadata : undefined;
  const previous = history && currentSnapshot(history);
  // Manifests with only removed files belong to the previous snapshot alone.
  const before = (previous === undefined ? [] : await readManifestList(objects, previous['manifest-list'])).filter(
    (manifest) => manifest.added_files_count + manifest.existing_files_count > 0,
  );
  const { schema, lastColumnId } = evolveSchema(table.table, metadata);
  const spec = specOf(metadata, partitionFields(schema, partition));
  const next = {
    id: Number.parseInt(options.freshId(), 16),
    sequence: (metadata?.['last-sequence-number'] ?? 0) + 1,
    schema,
    specId: spec['spec-id'],
  };
  const changes = await damageIn(() => writeManifests({ ...options, objects, before, next }));
  const isSame =
    changes.written === 0 &&
    changes.manifests.length === before.length &&
    previous?.['schema-id'] === schema['schema-id'] &&
    isDeepStrictEqual({ ...previous.summary, ...options.coverage }, previous.summary);
  const result = {
    manifests: changes.manifests.length,
    written: changes.written,
    added: changes.added.files,
    removed: changes.removed.files,
    restarted: restart,
  };
  // Readers and catalogs refuse times that go back by more than a minute; clocks may be set back.
  const now = Math.max(versions.timeOf(startedAt), metadata?.['last-updated-ms'] ?? 0);
  const uuid = metadata?.['table-uuid'] ?? randomUUID();
  const shared = { ...options, now, location: objects.url, uuid, history, schema, lastColumnId, spec };
  if (previous !== undefined && isSame) {
    const tagged = nextMetadata({ ...shared, lastSequence: next.sequence - 1, snapshot: previous });
    const version = hasSameRefs(history, tagged) ? current?.version : await versions.commit(current, tagged);
    return version === undefined ? undefined : { outcome: 'unchanged', ...result, version };
  }
  const list = `metadata/snap-${next.id}-${entry}.avro`;
  await objects.put(list, encodeManifestList(next, previous?.['snapshot-id'], changes.manifests));
  const snapshot = nextSnapshot({ ...shared, next, changes, parent: previous, list: uriIn(objects, list) });
  if (options.now() - startedAt > ATTEMPT_MS) return undefined;
  const version = await versions.commit(current, nextMetadata({ ...shared, lastSequence: next.sequence, snapshot }));
  return version === undefined ? undefined : { outcome: 'published', ...result, version };
}

/** The partition spec of the table with these fields, or a new one. */
function specOf(metadata: TableMetadata | undefined, fields: readonly PartitionField[]): PartitionSpec {
  const specs = metadata?.['partition-specs'] ?? [];
  const same = specs.find((one) => isDeepStrictEqual(one.fields, fields));
  return (
    same ?? { 'spec-id': 1 + specs.reduce((most, one) => Math.max(most, one['spec-id']), -1), fields: [...fields] }
  );
}

/** True if a version would neither add nor remove a reference. */
function hasSameRefs(history: TableMetadata | undefined, { refs }: TableMetadata): boolean {
  return isDeepStrictEqual(Object.keys(refs).sort(), Object.keys(history?.refs ?? {}).sort());
}

/**
 * Removes the metadata of old versions, of expired snapshots, and of failed attempts. A manifest of an expired snapshot is still in use if
 * the oldest remaining snapshot lists it.
 */
async function sweep(versions: TableVersions): Promise<void> {
  const { objects } = versions;
  const { version = 0, metadata } = (await versions.current()) ?? {};
  const oldest = metadata?.snapshots[0];
  if (oldest === undefined) return;
  const manifests = await readManifestList(objects, oldest['manifest-list']).catch((error: unknown) => {
    if (error instanceof DamagedTable) return undefined;
    throw error;
  });
  // Without the list, the manifests in use are unknown.
  if (manifests === undefined) return;
  const used = new Set(manifests.map((one) => nameIn(objects, one.manifest_path)));
  const ids = new Set(metadata?.snapshots.map((one) => one['snapshot-id']));
  const found = await objects.list('metadata/');
  // The clock of an object store may differ from ours. Its newest object is at most as old as this version.
  const now = found.reduce((latest, { putAt }) => Math.max(latest, putAt), 0);
  const unused = found.filter(
    ({ key, putAt }) => !used.has(key) && !isInUse(key, ids, version) && now - putAt >= MIN_AGE_MS,
  );
  await objects.remove(unused.map(({ key }) => key));
}

/** Also true for objects that are not ours. */
function isInUse(key: string, snapshots: ReadonlySet<number>, version: number): boolean {
  const own = versionOf(key);
  if (own !== undefined) return own > version - RETAINED_VERSIONS;
  const [, list] = /^metadata\/snap-(\d+)-\d+\.avro$/.exec(key) ?? [];
  const id = list === undefined ? snapshotOfManifest(key) : Number(list);
  if (id !== undefined) return snapshots.has(id);
  return !/^metadata\/\.draft-[0-9a-f]+-/.test(key);
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
function readManifestList(objects: SmallObjects, uri: string): Promise<readonly ManifestFile[]> {
  return damageIn(async () => {
    const bytes = await objects.get(nameIn(objects, uri));
    if (bytes === undefined) throw new RangeError(`${uri} is missing`);
    // Written by us: the metadata that names it was.
    return decodeAvro(Buffer.from(bytes)) as readonly ManifestFile[];
  });
}
