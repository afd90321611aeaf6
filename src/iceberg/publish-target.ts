import { objectsBelow, type SmallObjects } from '../objects/object-store.ts';
import type { DataFiles } from '../warehouse/index.ts';
import { folderVersions, type TableVersions } from './table-versions.ts';

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
