import { readText, type SmallObjects } from '../objects/object-store.ts';
import { type CurrentTable, metadataName, parseMetadata, type TableMetadata, versionOf } from './table-metadata.ts';

/** The versions of a table's metadata, and who decides which one is the newest. */
export interface TableVersions {
  /** Objects of the table; its manifests lie in `metadata/`. The address is what readers call the table's location. */
  readonly objects: SmallObjects;
  /** Undefined if there is no table. */
  current(): Promise<CurrentTable | undefined>;
  /** Adds a version after `before`. @returns its number; undefined if another publisher was faster */
  commit(before: CurrentTable | undefined, next: TableMetadata): Promise<number | undefined>;
  /** A time of this machine, as the clock of who decides has it. Both in milliseconds since 1970. */
  timeOf(own: number): number;
  /** Completes a version that may be that of a publisher which was killed. */
  settle(version: number): Promise<void>;
}

/** The file that tells readers of a folder the newest version. */
const HINT = 'metadata/version-hint.text';

/** Versions as files beside the manifests: each is put if absent, and the hint follows. Readers of folders and buckets need nothing else. */
export function folderVersions(objects: SmallObjects): TableVersions {
  return {
    objects,
    current: () => readCurrent(objects),
    commit: async (before, next) => {
      const version = (before?.version ?? 0) + 1;
      return (await objects.putOrGet(metadataName(version), Buffer.from(JSON.stringify(next)))) === undefined
        ? version
        : undefined;
    },
    timeOf: (own) => own,
    settle: (version) => tellVersion(objects, version),
  };
}

/** The newest version, which the hint may not tell yet; undefined if there is no table. */
async function readCurrent(objects: SmallObjects): Promise<CurrentTable | undefined> {
  const hinted = Number(await readText(objects, HINT));
  let version = Number.isSafeInteger(hinted) ? hinted : 0;
  let text = version === 0 ? undefined : await readText(objects, metadataName(version));
  // The hint is lost, or so old that its version is gone.
  if (text === undefined) version = await newestVersion(objects);
  for (;;) {
    const next = await readText(objects, metadataName(version + 1));
    if (next === undefined) break;
    [version, text] = [version + 1, next];
  }
  text ??= version === 0 ? undefined : await readText(objects, metadataName(version));
  return text === undefined ? undefined : { version, metadata: parseMetadata(text) };
}

/** The greatest version that a listing finds, or 0. */
async function newestVersion(objects: SmallObjects): Promise<number> {
  const versions = (await objects.list('metadata/')).flatMap(({ key }) => versionOf(key) ?? []);
  return versions.reduce((most, version) => Math.max(most, version), 0);
}

/** Writes the hint, and goes on while another publisher has written a newer version, so that the hint never stays behind. */
async function tellVersion(objects: SmallObjects, version: number): Promise<void> {
  if ((await readText(objects, HINT)) !== String(version)) await objects.put(HINT, Buffer.from(String(version)));
  let newest = version;
  while ((await objects.get(metadataName(newest + 1))) !== undefined) newest += 1;
  if (newest > version) await tellVersion(objects, newest);
}
