import type { SmallObjects } from '../objects/object-store.ts';
import { decodeAvro } from './format/avro-container.ts';
import type { ManifestFile } from './format/manifest.ts';
import { nameIn, snapshotOfManifest } from './plan-manifests.ts';
import { type TableMetadata, versionOf } from './table-metadata.ts';

/** Metadata of so many versions stays, for readers that have just read the hint. */
const KEPT_VERSIONS = 20;
/** Others may be writing younger files for a version that is not there yet; they give up long before this. */
const LEAST_AGE_MS = 3_600_000;

/**
 * Removes the metadata of old versions, of expired snapshots, and of attempts that did not succeed. A manifest that an expired snapshot
 * wrote is in use as long as every later snapshot has it, so the oldest snapshot that is left tells which ones are.
 *
 * @param metadata of the newest version
 * @returns how many objects
 */
export async function sweepMetadata(objects: SmallObjects, version: number, metadata: TableMetadata): Promise<number> {
  const [oldest] = metadata.snapshots;
  const list = oldest && (await objects.get(nameIn(objects, oldest['manifest-list'])));
  // Nothing can be told without it.
  if (list === undefined) return 0;
  const used = new Set(
    (decodeAvro(Buffer.from(list)) as readonly ManifestFile[]).map((one) => nameIn(objects, one.manifest_path)),
  );
  const ids = new Set(metadata.snapshots.map((one) => one['snapshot-id']));
  const found = await objects.list('metadata/');
  // The clock of an object store may differ from ours. Its newest object is at most as old as this version.
  const now = found.reduce((latest, { putAt }) => Math.max(latest, putAt), 0);
  const gone = found.flatMap(({ key, putAt }) =>
    used.has(key) || isInUse(key, ids, version) || now - putAt < LEAST_AGE_MS ? [] : [key],
  );
  await objects.remove(gone);
  return gone.length;
}

/** True for objects that are not ours, too. */
function isInUse(key: string, snapshots: ReadonlySet<number>, version: number): boolean {
  const own = versionOf(key);
  if (own !== undefined) return own > version - KEPT_VERSIONS;
  const [, list] = /^metadata\/snap-(\d+)-\d+\.avro$/.exec(key) ?? [];
  const id = list === undefined ? snapshotOfManifest(key) : Number(list);
  if (id !== undefined) return snapshots.has(id);
  return !/^metadata\/\.draft-[0-9a-f]+-/.test(key);
}
