import { decodeAvro } from './format/avro-container.ts';
import type { ManifestFile } from './format/manifest.ts';
import type { ObjectFolder } from './object-folder.ts';
import { nameIn, snapshotOfManifest } from './plan-manifests.ts';
import { readCurrent, versionOf } from './table-metadata.ts';

/** Metadata of so many versions stays, for readers that have just read the hint. */
const KEPT_VERSIONS = 20;
/** Others may be writing younger files for a version that is not there yet. */
const LEAST_AGE_MS = 3_600_000;

/**
 * Removes the metadata of old versions, of expired snapshots, and of attempts that did not succeed. A manifest that an expired snapshot
 * wrote is in use as long as every later snapshot has it, so the oldest snapshot that is left tells which ones are.
 *
 * @param now milliseconds since 1970
 * @returns how many files
 */
export async function sweepMetadata(folder: ObjectFolder, version: number, now: number): Promise<number> {
  const metadata = (await readCurrent(folder))?.metadata;
  const [oldest] = metadata?.snapshots ?? [];
  if (metadata === undefined || oldest === undefined) return 0;
  const list = await folder.get(nameIn(folder, oldest['manifest-list']));
  // Nothing can be told without it.
  if (list === undefined) return 0;
  const used = new Set((decodeAvro(list) as readonly ManifestFile[]).map((one) => nameIn(folder, one.manifest_path)));
  const ids = new Set(metadata.snapshots.map((one) => one['snapshot-id']));
  let removed = 0;
  for (const name of await folder.list('metadata')) {
    const path = `metadata/${name}`;
    if (used.has(path) || isInUse(name, ids, version)) continue;
    if (now - ((await folder.writtenAt(path)) ?? now) < LEAST_AGE_MS) continue;
    await folder.remove(path);
    removed += 1;
  }
  return removed;
}

/** True for files that are not ours, too. */
function isInUse(name: string, snapshots: ReadonlySet<number>, version: number): boolean {
  const own = versionOf(name);
  if (own !== undefined) return own > version - KEPT_VERSIONS;
  const [, list] = /^snap-(\d+)-\d+\.avro$/.exec(name) ?? [];
  const id = list === undefined ? snapshotOfManifest(name) : Number(list);
  if (id !== undefined) return snapshots.has(id);
  return !/^\.draft-[0-9a-f]+-/.test(name);
}
