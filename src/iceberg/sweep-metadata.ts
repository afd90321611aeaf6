import type { SmallObjects } from '../objects/object-store.ts';
import { decodeAvro } from './format/avro-container.ts';
import type { ManifestFile } from './format/manifest.ts';
import { nameIn, snapshotOfManifest } from './plan-manifests.ts';
import { type TableMetadata, versionOf } from './table-metadata.ts';

/** Number of versions whose metadata is retained, for readers that have just read the hint. */
const RETAINED_VERSIONS = 20;
/** Other publishers may be writing younger files for an uncommitted version; they give up long before this. */
const MIN_AGE_MS = 3_600_000;

/**
 * Removes the metadata of old versions, of expired snapshots, and of failed attempts. A manifest of an expired snapshot is still in use if
 * the oldest remaining snapshot lists it.
 *
 * @param metadata of the newest version
 * @returns how many objects
 */
export async function sweepMetadata(objects: SmallObjects, version: number, metadata: TableMetadata): Promise<number> {
  const [oldest] = metadata.snapshots;
  const list = oldest && (await objects.get(nameIn(objects, oldest['manifest-list'])));
  // Without the list, the manifests in use are unknown.
  if (list === undefined) return 0;
  const used = new Set(
    (decodeAvro(Buffer.from(list)) as readonly ManifestFile[]).map((one) => nameIn(objects, one.manifest_path)),
  );
  const ids = new Set(metadata.snapshots.map((one) => one['snapshot-id']));
  const found = await objects.list('metadata/');
  // The clock of an object store may differ from ours. Its newest object is at most as old as this version.
  const now = found.reduce((latest, { putAt }) => Math.max(latest, putAt), 0);
  const gone = found.flatMap(({ key, putAt }) =>
    used.has(key) || isInUse(key, ids, version) || now - putAt < MIN_AGE_MS ? [] : [key],
  );
  await objects.remove(gone);
  return gone.length;
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
