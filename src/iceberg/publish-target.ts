import { objectsBelow, readText, type SmallObjects } from '../objects/object-store.ts';
import type { DataFiles } from '../warehouse/index.ts';
import { type CurrentTable, metadataName, parseMetadata, type TableMetadata, versionOf } from './table-metadata.ts';

/** The versions of a table's metadata. */
export interface TableVersions {
  /** Objects of the table; its manifests lie in `metadata/`. The address is the location of the table for readers. */
  readonly objects: SmallObjects;
  /** Undefined if there is no table. */
  current(): Promise<CurrentTable | undefined>;
  /** Adds a version after `before`. @returns its number; undefined if another publisher was faster */
  commit(before: CurrentTable | undefined, next: TableMetadata): Promise<number | undefined>;
  /** Converts a time of this machine to the clock of the catalog. Both in milliseconds since 1970. */
  timeOf(own: number): number;
  /** Completes a version, possibly of a killed publisher. */
  settle(version: number): Promise<void>;
}

/** A place for the published tables of a warehouse. */
export interface PublishTarget {
  /** Lower-case hex digits, unique among the targets of a warehouse; undefined for the folder of the warehouse itself. */
  readonly id: string | undefined;
  /** Names of the published tables. */
  tables(): Promise<readonly string[]>;
  versionsOf(table: string): TableVersions;
  close(): Promise<void>;
}

/**
 * The folder `iceberg/` of the warehouse.
 *
 * @param location of the warehouse as readers see it
 * @param wrap for tests
 */
export function folderTarget(
  { objects }: Pick<DataFiles, 'objects'>,
  location: string,
  wrap = (own: SmallObjects) => own,
): PublishTarget {
  return {
    id: undefined,
    tables: async () => (await objects.folders('iceberg/')).filter((name) => !name.startsWith('_')),
    versionsOf: (table) => folderVersions(wrap(objectsBelow(objects, `iceberg/${table}`, location))),
    close: async () => {},
  };
}

/** The file with the newest version, for readers of a folder. */
const HINT = 'metadata/version-hint.text';

/** Versions as files next to the manifests: each is put if absent, and then the hint is updated. Readers need no catalog. */
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
    settle: (version) => writeHint(objects, version),
  };
}

/** The newest version, which may be newer than the hint; undefined if there is no table. */
async function readCurrent(objects: SmallObjects): Promise<CurrentTable | undefined> {
  const hinted = Number(await readText(objects, HINT));
  let version = Number.isSafeInteger(hinted) ? hinted : 0;
  let text = version === 0 ? undefined : await readText(objects, metadataName(version));
  // The hint is missing, or its version was removed.
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

/** Writes the hint, again for each newer version of another publisher, so that it is never stale. */
async function writeHint(objects: SmallObjects, version: number): Promise<void> {
  if ((await readText(objects, HINT)) !== String(version)) await objects.put(HINT, Buffer.from(String(version)));
  let newest = version;
  while ((await objects.get(metadataName(newest + 1))) !== undefined) newest += 1;
  if (newest > version) await writeHint(objects, newest);
}
